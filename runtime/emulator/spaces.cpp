// See retarget.h: variables in shared memory, and the removal of address spaces.
#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/ReplaceConstant.h>

#include "emulator/retarget.h"

namespace axon::emulator {

namespace {

constexpr unsigned shared_space = 3, constant_space = 4;
constexpr uint64_t gap = 64;  ///< between two variables, so that an index past one does not meet the next

/// The start of the block's shared memory, known at the beginning of each function that has variables there.
llvm::Value* window_in(llvm::Function& function, llvm::DenseMap<llvm::Function*, llvm::Value*>& windows) {
  llvm::Value*& window = windows[&function];
  if (window != nullptr) return window;
  llvm::IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().getFirstInsertionPt());
  const llvm::FunctionCallee callee =
      function.getParent()->getOrInsertFunction("axon_emulator_shared", builder.getPtrTy());
  return window = builder.CreateCall(callee);
}

void place_shared_variable(llvm::GlobalVariable& variable, uint64_t offset,
                           llvm::DenseMap<llvm::Function*, llvm::Value*>& windows, Retargeted& result) {
  llvm::DenseMap<llvm::Function*, llvm::Value*> addresses;
  for (llvm::Use& use : llvm::make_early_inc_range(variable.uses())) {
    auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
    if (user == nullptr) {
      result.problems.push_back(
          fmt::format("the address of {} is used outside of functions", variable.getName().str()));
      return;
    }
    llvm::Value*& address = addresses[user->getFunction()];
    if (address == nullptr) {
      auto* window = llvm::cast<llvm::Instruction>(window_in(*user->getFunction(), windows));
      llvm::IRBuilder<> builder(window->getParent(), std::next(window->getIterator()));
      address = builder.CreateConstGEP1_64(builder.getInt8Ty(), window, offset);
    }
    use.set(address);  // of another pointer type, until address spaces are removed
  }
}

/// The scopes of a GPU are not those of x86-64.
void widen_scope(llvm::Instruction& instruction) {
  const auto scope = llvm::SyncScope::System;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) load->setSyncScopeID(scope);
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) store->setSyncScopeID(scope);
  if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) update->setSyncScopeID(scope);
  if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) exchange->setSyncScopeID(scope);
  if (auto* fence = llvm::dyn_cast<llvm::FenceInst>(&instruction)) fence->setSyncScopeID(scope);
}

/// Types, constants, functions and instructions without address spaces.
class Flattener {
 public:
  Flattener(llvm::Module& module, Retargeted& result) : module_(module), result_(result) {}

  void run() {
    replace_variables();
    replace_functions();
    for (llvm::Function& function : module_) change_instructions(function);
    for (llvm::GlobalValue* value : replaced_) {
      value->dropAllReferences();
    }
    for (llvm::GlobalValue* value : replaced_) {
      value->replaceAllUsesWith(llvm::PoisonValue::get(value->getType()));
      value->eraseFromParent();
    }
  }

 private:
  llvm::Type* flat(llvm::Type*);
  llvm::Constant* flat(llvm::Constant*);
  void replace_variables();
  void replace_functions();
  llvm::Function* new_function(llvm::Function&, llvm::FunctionType*);
  void change_instructions(llvm::Function&);
  void change_instruction(llvm::Instruction&);

  llvm::Module& module_;
  Retargeted& result_;
  llvm::DenseMap<llvm::Type*, llvm::Type*> types_;
  llvm::DenseMap<llvm::Constant*, llvm::Constant*> constants_;
  std::vector<llvm::GlobalValue*> replaced_;
};

llvm::Type* Flattener::flat(llvm::Type* type) {
  if (llvm::Type* known = types_.lookup(type)) return known;
  llvm::Type* made = type;
  std::vector<llvm::Type*> parts;
  for (llvm::Type* part : type->subtypes()) parts.push_back(flat(part));
  if (llvm::isa<llvm::PointerType>(type)) {
    made = llvm::PointerType::get(type->getContext(), 0);
  } else if (parts == std::vector<llvm::Type*>(type->subtypes().begin(), type->subtypes().end())) {
    made = type;
  } else if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    made = llvm::StructType::get(type->getContext(), parts, structure->isPacked());
  } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    made = llvm::ArrayType::get(parts[0], array->getNumElements());
  } else if (auto* vector = llvm::dyn_cast<llvm::VectorType>(type)) {
    made = llvm::VectorType::get(parts[0], vector->getElementCount());
  } else if (auto* function = llvm::dyn_cast<llvm::FunctionType>(type)) {
    made = llvm::FunctionType::get(parts[0], llvm::ArrayRef(parts).drop_front(), function->isVarArg());
  }
  return types_[type] = made;
}

llvm::Constant* Flattener::flat(llvm::Constant* constant) {
  if (llvm::Constant* known = constants_.lookup(constant)) return known;
  llvm::Type* type = flat(constant->getType());
  llvm::Constant* made = constant;
  std::vector<llvm::Constant*> parts;
  if (llvm::isa<llvm::ConstantAggregate, llvm::ConstantExpr>(constant))
    for (llvm::Value* part : constant->operands()) parts.push_back(flat(llvm::cast<llvm::Constant>(part)));
  if (auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(constant)) {
    made = expression->getOpcode() == llvm::Instruction::AddrSpaceCast
               ? parts[0]
               : expression->getWithOperands(parts, type);
  } else if (llvm::isa<llvm::ConstantArray>(constant)) {
    made = llvm::ConstantArray::get(llvm::cast<llvm::ArrayType>(type), parts);
  } else if (llvm::isa<llvm::ConstantStruct>(constant)) {
    made = llvm::ConstantStruct::get(llvm::cast<llvm::StructType>(type), parts);
  } else if (llvm::isa<llvm::ConstantVector>(constant)) {
    made = llvm::ConstantVector::get(parts);
  } else if (type != constant->getType()) {
    made = llvm::isa<llvm::PoisonValue>(constant)  ? llvm::PoisonValue::get(type)
           : llvm::isa<llvm::UndefValue>(constant) ? llvm::UndefValue::get(type)
                                                   : llvm::Constant::getNullValue(type);
  }
  return constants_[constant] = made;
}

/// Variables get symbols that the emulator can look up; their names stay for messages.
void Flattener::replace_variables() {
  std::vector<std::pair<llvm::GlobalVariable*, llvm::GlobalVariable*>> pairs;
  for (llvm::GlobalVariable& old : module_.globals()) {
    const unsigned space = old.getAddressSpace();
    if (space > constant_space || space == 2 || !old.hasInitializer())
      result_.problems.push_back(fmt::format("variable {} in address space {}", old.getName().str(), space));
    else
      pairs.emplace_back(&old, nullptr);
  }
  for (auto& [old, made] : pairs) {
    const std::string symbol = fmt::format("axon_emulator_variable_{}", result_.globals.size());
    const bool constant = old->isConstant() || old->getAddressSpace() == constant_space;
    made = new llvm::GlobalVariable(module_, flat(old->getValueType()), constant,
                                    llvm::GlobalValue::ExternalLinkage, nullptr, symbol);
    made->setAlignment(old->getAlign());
    constants_[old] = made;
    replaced_.push_back(old);
    result_.globals.push_back({llvm::demangle(std::string_view(old->getName())), symbol,
                               module_.getDataLayout().getTypeAllocSize(old->getValueType()), !constant});
  }
  for (auto& [old, made] : pairs) made->setInitializer(flat(old->getInitializer()));
}

void Flattener::replace_functions() {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : module_) functions.push_back(&function);
  for (llvm::Function* old : functions) {
    auto* type = llvm::cast<llvm::FunctionType>(flat(old->getFunctionType()));
    if (type == old->getFunctionType()) continue;
    constants_[old] = new_function(*old, type);
    replaced_.push_back(old);
  }
}

llvm::Function* Flattener::new_function(llvm::Function& old, llvm::FunctionType* type) {
  if (old.isIntrinsic()) {
    llvm::SmallVector<llvm::Type*> overloads;
    if (llvm::Intrinsic::getIntrinsicSignature(old.getIntrinsicID(), type, overloads))
      return llvm::Intrinsic::getDeclaration(&module_, old.getIntrinsicID(), overloads);
    result_.problems.push_back(fmt::format("intrinsic {} of address spaces", old.getName().str()));
    return &old;
  }
  llvm::Function* made = llvm::Function::Create(type, old.getLinkage(), 0, "", &module_);
  made->copyAttributesFrom(&old);
  made->takeName(&old);
  made->setSubprogram(old.getSubprogram());
  old.setSubprogram(nullptr);
  made->splice(made->begin(), &old);
  for (unsigned i = 0; i < old.arg_size(); ++i) {
    old.getArg(i)->mutateType(made->getArg(i)->getType());
    old.getArg(i)->replaceAllUsesWith(made->getArg(i));
  }
  return made;
}

void Flattener::change_instructions(llvm::Function& function) {
  std::vector<llvm::Instruction*> casts;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    change_instruction(instruction);
    if (llvm::isa<llvm::AddrSpaceCastInst>(instruction)) casts.push_back(&instruction);
  }
  for (llvm::Instruction* cast : casts) {
    cast->replaceAllUsesWith(cast->getOperand(0));
    cast->eraseFromParent();
  }
}

void Flattener::change_instruction(llvm::Instruction& instruction) {
  instruction.mutateType(flat(instruction.getType()));
  for (llvm::Use& operand : instruction.operands())
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(operand.get()); constant != nullptr)
      operand.set(flat(constant));
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
    call->mutateFunctionType(llvm::cast<llvm::FunctionType>(flat(call->getFunctionType())));
  widen_scope(instruction);
}

}  // namespace

void place_shared_variables(llvm::Module& module, Retargeted& result) {
  std::vector<llvm::GlobalVariable*> variables;
  std::vector<llvm::Constant*> constants;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == shared_space) {
      variables.push_back(&variable);
      constants.push_back(&variable);
    }
  llvm::convertUsersOfConstantsToInstructions(constants);
  const llvm::DataLayout& layout = module.getDataLayout();
  const auto dynamic = [&](const llvm::GlobalVariable* variable) {
    return layout.getTypeAllocSize(variable->getValueType()) == 0;
  };
  std::stable_partition(variables.begin(), variables.end(),
                        [&](auto* variable) { return !dynamic(variable); });
  uint64_t end = 0;
  uint64_t dynamic_start = 0;
  llvm::DenseMap<llvm::Function*, llvm::Value*> windows;
  for (llvm::GlobalVariable* variable : variables) {
    const uint64_t align = std::max<uint64_t>(16, variable->getAlign().valueOrOne().value());
    const uint64_t bytes = layout.getTypeAllocSize(variable->getValueType());
    uint64_t offset = llvm::alignTo(end, align);
    if (!dynamic(variable)) {
      end = offset + bytes + gap;
    } else {  // all dynamic arrays are one
      dynamic_start = offset = std::max(dynamic_start, offset);
    }
    result.shared.push_back(
        {llvm::demangle(std::string_view(variable->getName())), offset, bytes, dynamic(variable)});
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    if (result.shared[i].dynamic) result.shared[i].offset = dynamic_start;
    place_shared_variable(*variables[i], result.shared[i].offset, windows, result);
    if (result.problems.empty()) variables[i]->eraseFromParent();
  }
}

void remove_address_spaces(llvm::Module& module, Retargeted& result) { Flattener(module, result).run(); }

}  // namespace axon::emulator
