// See retarget.h: primitives as calls, the entry, and conversions.
#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>

#include <algorithm>

#include "emulator/place.h"
#include "emulator/primitives.h"
#include "emulator/retarget.h"

namespace axon::emulator {

namespace {

/// A value as the low bits of 64.
llvm::Value* as_word(llvm::IRBuilder<>& builder, llvm::Value* value) {
  llvm::Type* type = value->getType();
  if (type->isPointerTy()) return builder.CreatePtrToInt(value, builder.getInt64Ty());
  if (!type->isIntegerTy())
    value = builder.CreateBitCast(value, builder.getIntNTy(type->getPrimitiveSizeInBits()));
  return builder.CreateZExtOrTrunc(value, builder.getInt64Ty());
}

llvm::Value* from_word(llvm::IRBuilder<>& builder, llvm::Value* word, llvm::Type* type) {
  if (type->isPointerTy()) return builder.CreateIntToPtr(word, type);
  if (type->isIntegerTy()) return builder.CreateZExtOrTrunc(word, type);
  return builder.CreateBitCast(builder.CreateTrunc(word, builder.getIntNTy(type->getPrimitiveSizeInBits())),
                               type);
}

/// Calls in one function, which share the memory for values.
class CallLowering {
 public:
  explicit CallLowering(llvm::Function& function) {
    llvm::IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().begin());
    values_ = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt64Ty(), most_values));
    hook_ = function.getParent()->getOrInsertFunction("axon_emulator_primitive", builder.getVoidTy(),
                                                      builder.getPtrTy(), builder.getInt32Ty());
  }

  void lower(llvm::CallInst& call, uint32_t site) {
    llvm::IRBuilder<> builder(&call);
    for (unsigned i = 0; i < call.arg_size(); ++i)
      builder.CreateStore(as_word(builder, call.getArgOperand(i)), slot(builder, i));
    builder.CreateCall(hook_, {values_, builder.getInt32(site)});
    if (llvm::Value* result = results(builder, call.getType())) call.replaceAllUsesWith(result);
    call.eraseFromParent();
  }

 private:
  llvm::Value* slot(llvm::IRBuilder<>& builder, unsigned i) {
    return builder.CreateConstGEP1_32(builder.getInt64Ty(), values_, i);
  }

  llvm::Value* results(llvm::IRBuilder<>& builder, llvm::Type* type) {
    const auto load = [&](unsigned i, llvm::Type* part) {
      return from_word(builder, builder.CreateLoad(builder.getInt64Ty(), slot(builder, i)), part);
    };
    if (type->isVoidTy()) return nullptr;
    if (!type->isStructTy()) return load(0, type);
    llvm::Value* all = llvm::PoisonValue::get(type);
    for (unsigned i = 0; i < type->getStructNumElements(); ++i)
      all = builder.CreateInsertValue(all, load(i, type->getStructElementType(i)), i);
    return all;
  }

  llvm::Value* values_;
  llvm::FunctionCallee hook_;
};

/// What code generation for x86-64 calls for conversions to bfloat: round to nearest, ties to even. A double
/// first becomes a float that is odd where it is not exact.
constexpr const char* conversions = R"(
define bfloat @__truncsfbf2(float %x) {
  %bits = bitcast float %x to i32
  %nan = fcmp uno float %x, %x
  %high = lshr i32 %bits, 16
  %odd = and i32 %high, 1
  %half = add i32 %odd, 32767
  %sum = add i32 %bits, %half
  %rounded = lshr i32 %sum, 16
  %quiet = or i32 %high, 64
  %chosen = select i1 %nan, i32 %quiet, i32 %rounded
  %narrow = trunc i32 %chosen to i16
  %result = bitcast i16 %narrow to bfloat
  ret bfloat %result
}
define bfloat @__truncdfbf2(double %x) {
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %inexact = fcmp one double %back, %x
  %bits = bitcast float %near to i32
  %size = call double @llvm.fabs.f64(double %x)
  %size.near = call double @llvm.fabs.f64(double %back)
  %over = fcmp ogt double %size.near, %size
  %step = zext i1 %over to i32
  %below = sub i32 %bits, %step
  %odd = or i32 %below, 1
  %chosen = select i1 %inexact, i32 %odd, i32 %bits
  %float = bitcast i32 %chosen to float
  %result = call bfloat @__truncsfbf2(float %float)
  ret bfloat %result
}
declare double @llvm.fabs.f64(double)
)";

}  // namespace

void lower_primitives(llvm::Module& module, Retargeted& result) {
  for (llvm::Function& function : module) {
    std::vector<std::pair<llvm::CallInst*, Site>> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
      const Primitive* primitive = callee == nullptr ? nullptr : find_primitive(*callee);
      if (primitive == nullptr) continue;
      Site site;
      site.does = Site::Does::primitive;
      site.primitive = primitive;
      site.place = fmt::format("{} at {}", primitive->name, place_of(*call));
      calls.emplace_back(call, std::move(site));
    }
    if (calls.empty()) continue;
    CallLowering lowering(function);
    for (auto& [call, site] : calls) {
      result.copies_asynchronously |= site.primitive->name.find("cp.async") != std::string_view::npos;
      result.sites.push_back(std::move(site));
      lowering.lower(*call, static_cast<uint32_t>(result.sites.size() - 1));
    }
  }
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
}

void add_entry(llvm::Module& module, std::string_view kernel, Retargeted& result) {
  llvm::Function* callee = module.getFunction(kernel);
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, /*isVarArg=*/false);
  auto* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, entry_name, module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", entry));
  std::vector<llvm::Value*> arguments;
  for (llvm::Argument& parameter : callee->args()) {
    llvm::Value* slot =
        builder.CreateConstGEP1_32(builder.getPtrTy(), entry->getArg(0), parameter.getArgNo());
    llvm::Value* address = builder.CreateLoad(builder.getPtrTy(), slot);
    arguments.push_back(parameter.hasByValAttr() ? address
                                                 : builder.CreateLoad(parameter.getType(), address));
  }
  llvm::CallInst* call = builder.CreateCall(callee, arguments);
  for (llvm::Argument& parameter : callee->args())
    if (parameter.hasByValAttr())
      call->addParamAttr(parameter.getArgNo(),
                         llvm::Attribute::getWithByValType(context, parameter.getParamByValType()));
  builder.CreateRetVoid();
  callee->setLinkage(llvm::GlobalValue::InternalLinkage);
  if (!callee->getReturnType()->isVoidTy()) result.problems.emplace_back("the kernel returns a value");
}

void add_conversions(llvm::Module& module) {
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> made = llvm::parseAssemblyString(conversions, error, module.getContext());
  if (made != nullptr) {
    made->setDataLayout(module.getDataLayout());
    made->setTargetTriple(module.getTargetTriple());
  }
  if (made == nullptr || llvm::Linker::linkModules(module, std::move(made)))
    llvm::report_fatal_error("conversions to bfloat are not linked");
}

}  // namespace axon::emulator
