// See retarget.h: what is kept of the module, and what may not be in it.
#include "emulator/retarget.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include <set>

#include "emulator/place.h"
#include "emulator/primitives.h"

namespace axon::emulator {

namespace {

/// What `nvvm.annotations` say of a function under a name; null if nothing.
const llvm::ConstantInt* annotation(const llvm::Module& module, const llvm::Function* function,
                                    std::string_view key) {
  const llvm::NamedMDNode* list = module.getNamedMetadata("nvvm.annotations");
  if (list == nullptr) return nullptr;
  for (const llvm::MDNode* node : list->operands()) {
    if (node->getNumOperands() == 0) continue;
    const auto* of = llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0));
    if (of != function) continue;
    for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2)
      if (const auto* text = llvm::dyn_cast<llvm::MDString>(node->getOperand(i));
          text != nullptr && std::string_view(text->getString()) == key)
        return llvm::mdconst::dyn_extract<llvm::ConstantInt>(node->getOperand(i + 1));
  }
  return nullptr;
}

void drop_module_lists(llvm::Module& module) {
  for (const char* name : {"nvvm.annotations", "llvm.linker.options", "nvvmir.version"})
    if (llvm::NamedMDNode* list = module.getNamedMetadata(name)) module.eraseNamedMetadata(list);
  for (const char* name : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable* list = module.getNamedGlobal(name)) list->eraseFromParent();
}

void drop_unreachable(llvm::Module& module, const llvm::Function* kernel) {
  for (llvm::GlobalValue& value : module.global_values())
    if (&value != kernel && !value.isDeclaration()) {
      value.setLinkage(llvm::GlobalValue::InternalLinkage);
      value.setVisibility(llvm::GlobalValue::DefaultVisibility);
      if (auto* object = llvm::dyn_cast<llvm::GlobalObject>(&value)) object->setComdat(nullptr);
    }
  llvm::PassBuilder builder;
  llvm::ModuleAnalysisManager modules;
  llvm::FunctionAnalysisManager functions;
  llvm::LoopAnalysisManager loops;
  llvm::CGSCCAnalysisManager components;
  builder.registerModuleAnalyses(modules);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.registerCGSCCAnalyses(components);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::GlobalDCEPass().run(module, modules);
}

/// Why a call cannot be emulated; empty if it can.
std::string problem_of_call(const llvm::CallBase& call) {
  if (call.isInlineAsm()) return "inline assembly";
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration()) return "";
  const std::string name = callee->getName().str();
  if (const Primitive* primitive = find_primitive(*callee)) {
    if (primitive->arguments == any_number || primitive->arguments == call.arg_size()) return "";
    return fmt::format("call of {} with {} instead of {} arguments", name, call.arg_size(),
                       primitive->arguments);
  }
  if (!callee->isIntrinsic()) return fmt::format("unknown function {}", name);
  if (callee->getName().starts_with("llvm.nvvm.")) return fmt::format("unknown primitive {}", name);
  if (llvm::isa<llvm::MemIntrinsic>(call) || callee->doesNotAccessMemory()) return "";
  switch (callee->getIntrinsicID()) {
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::invariant_start:
    case llvm::Intrinsic::invariant_end:
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
    case llvm::Intrinsic::stacksave:
    case llvm::Intrinsic::stackrestore:
      return "";
    default:
      return fmt::format("unknown intrinsic {}", name);
  }
}

/// What holds of the function on a GPU, or of its accesses before there are hooks, is no longer true.
void forget_attributes(llvm::Function& function) {
  for (const char* name : {"target-cpu", "target-features", "frame-pointer"}) function.removeFnAttr(name);
  for (auto kind : {llvm::Attribute::Memory, llvm::Attribute::NoSync, llvm::Attribute::WillReturn,
                    llvm::Attribute::MustProgress, llvm::Attribute::NoFree})
    function.removeFnAttr(kind);
  function.setCallingConv(llvm::CallingConv::C);
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    instruction.dropUnknownNonDebugMetadata();
    auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call == nullptr || llvm::isa<llvm::IntrinsicInst>(call)) continue;
    call->removeFnAttr(llvm::Attribute::Memory);
    call->setCallingConv(llvm::CallingConv::C);
  }
}

}  // namespace

void keep_reachable(llvm::Module& module, std::string_view kernel, Retargeted& result) {
  llvm::Function* entry = module.getFunction(kernel);
  if (entry == nullptr || entry->isDeclaration()) {
    result.problems.push_back(fmt::format("the module has no function {}", kernel));
    return;
  }
  const llvm::ConstantInt* marked = annotation(module, entry, "kernel");
  if (marked == nullptr && entry->getCallingConv() != llvm::CallingConv::PTX_Kernel)
    result.problems.push_back(fmt::format("{} is not marked as a kernel", kernel));
  if (const llvm::ConstantInt* most = annotation(module, entry, "maxntidx"))
    result.most_threads = most->getZExtValue();
  result.parameters = entry->arg_size();
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && find_primitive(function) != nullptr) {
      function.deleteBody();
      function.setComdat(nullptr);
    }
  drop_module_lists(module);
  drop_unreachable(module, entry);
  std::set<std::string> problems;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (std::string problem = problem_of_call(*call); !problem.empty())
          problems.insert(fmt::format("{} in {}", problem, function.getName().str()));
  }
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) {
      forget_attributes(function);
      number_instructions(function);
    }
  for (const llvm::GlobalAlias& alias : module.aliases())
    problems.insert(fmt::format("{} is an alias", alias.getName().str()));
  result.problems.insert(result.problems.end(), problems.begin(), problems.end());
}

Retargeted retarget(llvm::Module& module, std::string_view kernel) {
  Retargeted result;
  result.sites.emplace_back();  // number 0: nowhere
  if (!module.getTargetTriple().starts_with("nvptx64"))
    result.problems.push_back(fmt::format("the module is for {}", module.getTargetTriple()));
  if (module.getDataLayoutStr().find("p3:32") != std::string::npos)
    result.problems.emplace_back("the module has short pointers");
  if (result.problems.empty()) keep_reachable(module, kernel, result);
  if (result.problems.empty()) place_shared_variables(module, result);
  if (!result.problems.empty()) return result;
  instrument_accesses(module, result);
  lower_primitives(module, result);
  remove_address_spaces(module, result);
  if (!result.problems.empty()) return result;
  add_entry(module, kernel, result);
  add_conversions(module);
  group_sites(result.sites);
  return result;
}

}  // namespace axon::emulator
