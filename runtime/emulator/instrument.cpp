// See retarget.h: hooks before accesses and on the ways back of loops.
#include <fmt/format.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <string_view>
#include <unordered_map>

#include "emulator/place.h"
#include "emulator/retarget.h"

namespace axon::emulator {

namespace {

Site made_of(Site::Does does, bool atomic, llvm::AtomicOrdering order) {
  Site site;
  site.does = does;
  site.atomic = atomic;
  site.acquire = llvm::isAcquireOrStronger(order);
  site.release = llvm::isReleaseOrStronger(order);
  return site;
}

/// Of a variable on the thread's own stack, at a place that is known to be inside.
bool is_harmless(const llvm::Value* address, uint64_t bytes, const llvm::DataLayout& layout) {
  llvm::APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
  const auto* base = llvm::dyn_cast<llvm::AllocaInst>(
      address->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true));
  if (base == nullptr || offset.isNegative()) return false;
  const auto size = base->getAllocationSize(layout);
  return size.has_value() && !size->isScalable() && offset.getZExtValue() + bytes <= size->getFixedValue();
}

class Instrumenter {
 public:
  Instrumenter(llvm::Module& module, Sites& sites) : module_(module), sites_(sites) {}

  void run(llvm::Function& function) {
    std::vector<llvm::Instruction*> all;
    for (llvm::Instruction& instruction : llvm::instructions(function)) all.push_back(&instruction);
    for (llvm::Instruction* instruction : all) visit(*instruction);
    llvm::SmallVector<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>> back;
    if (!function.isDeclaration()) llvm::FindFunctionBackedges(function, back);
    for (const auto& edge : back) {
      auto* from = const_cast<llvm::BasicBlock*>(edge.first);
      call("axon_emulator_step", *from->getTerminator(), {});
    }
  }

 private:
  void visit(llvm::Instruction&);
  void visit_memory(llvm::MemIntrinsic&);
  void access(llvm::Instruction&, llvm::Value* address, llvm::Type*, llvm::Align, Site);
  llvm::Value* site(const llvm::Instruction&, Site);
  void call(const char* hook, llvm::Instruction& before, llvm::ArrayRef<llvm::Value*> arguments);
  static llvm::Value* generic(llvm::IRBuilder<>& builder, llvm::Value* address) {
    return builder.CreateAddrSpaceCast(address, builder.getPtrTy());
  }

  llvm::Module& module_;
  Sites& sites_;
};

llvm::Value* Instrumenter::site(const llvm::Instruction& instruction, Site site) {
  site.place = place_of(instruction);
  site.has_line = static_cast<bool>(instruction.getDebugLoc());
  sites_.push_back(std::move(site));
  return llvm::ConstantInt::get(llvm::Type::getInt32Ty(module_.getContext()), sites_.size() - 1);
}

void Instrumenter::call(const char* hook, llvm::Instruction& before, llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::IRBuilder<> builder(&before);
  std::vector<llvm::Type*> types;
  for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
  builder.CreateCall(module_.getOrInsertFunction(
                         hook, llvm::FunctionType::get(builder.getVoidTy(), types, /*isVarArg=*/false)),
                     arguments);
}

void Instrumenter::access(llvm::Instruction& instruction, llvm::Value* address, llvm::Type* type,
                          llvm::Align align, Site made) {
  const llvm::DataLayout& layout = module_.getDataLayout();
  made.bytes = static_cast<uint32_t>(layout.getTypeStoreSize(type).getFixedValue());
  made.align = static_cast<uint32_t>(align.value());
  if (is_harmless(address, made.bytes, layout)) return;
  llvm::IRBuilder<> builder(&instruction);
  call("axon_emulator_access", instruction, {generic(builder, address), site(instruction, std::move(made))});
}

/// Copies and fills read and write ranges whose length may vary.
void Instrumenter::visit_memory(llvm::MemIntrinsic& memory) {
  llvm::IRBuilder<> builder(&memory);
  llvm::Value* length = builder.CreateZExtOrTrunc(memory.getLength(), builder.getInt64Ty());
  if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&memory)) {
    Site read;
    read.align = static_cast<uint32_t>(transfer->getSourceAlign().valueOrOne().value());
    call("axon_emulator_range", memory,
         {generic(builder, transfer->getRawSource()), length, site(memory, std::move(read))});
  }
  Site write;
  write.does = Site::Does::write;
  write.align = static_cast<uint32_t>(memory.getDestAlign().valueOrOne().value());
  call("axon_emulator_range", memory,
       {generic(builder, memory.getRawDest()), length, site(memory, std::move(write))});
}

void Instrumenter::visit(llvm::Instruction& instruction) {
  using Does = Site::Does;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    access(*load, load->getPointerOperand(), load->getType(), load->getAlign(),
           made_of(Does::read, load->isAtomic() || load->isVolatile(), load->getOrdering()));
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    access(*store, store->getPointerOperand(), store->getValueOperand()->getType(), store->getAlign(),
           made_of(Does::write, store->isAtomic() || store->isVolatile(), store->getOrdering()));
  } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    access(*update, update->getPointerOperand(), update->getType(), update->getAlign(),
           made_of(Does::update, true, update->getOrdering()));
  } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    access(*exchange, exchange->getPointerOperand(), exchange->getNewValOperand()->getType(),
           exchange->getAlign(), made_of(Does::update, true, exchange->getMergedOrdering()));
  } else if (auto* fence = llvm::dyn_cast<llvm::FenceInst>(&instruction)) {
    call("axon_emulator_fence", *fence, {site(*fence, made_of(Does::fence, true, fence->getOrdering()))});
  } else if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
    visit_memory(*memory);
  }
}

}  // namespace

void group_sites(Sites& sites) {
  std::unordered_map<std::string_view, uint32_t> first;
  for (uint32_t i = 0; i < sites.size(); ++i)
    sites[i].group = first.try_emplace(sites[i].place, i).first->second;
}

void instrument_accesses(llvm::Module& module, Retargeted& result) {
  Instrumenter instrumenter(module, result.sites);
  for (llvm::Function& function : module) instrumenter.run(function);
}

}  // namespace axon::emulator
