// See device_library.h.
//
// Elementary functions are inlined always, what is large and called once for a task never.
#include "module/device_library.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <set>
#include <string>
#include <vector>

#include "base/bug.h"
#include "device/bitcode.h"

namespace axon::module {

namespace {

bool is_memory_function(const llvm::Function& f) {
  static const std::set<std::string> names{"memcpy", "memmove", "memset", "memcmp", "bcmp"};
  return names.contains(f.getName().str());
}

bool starts_with(const llvm::Function& f, const char* prefix) { return f.getName().starts_with(prefix); }

constexpr const char* mark_of_device = "axon-device";

bool is_of_gpus(const llvm::Function& f) { return starts_with(f, "axon_gpu_"); }

}  // namespace

std::unique_ptr<llvm::Module> device_module(llvm::LLVMContext& context, bool gpu) {
  const char* const begin = gpu ? axon_device_gpu_bitcode_begin : axon_device_bitcode_begin;
  const char* const end = gpu ? axon_device_gpu_bitcode_end : axon_device_bitcode_end;
  const llvm::StringRef bytes(begin, static_cast<size_t>(end - begin));
  auto parsed = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, "device"), context);
  if (!parsed) base::bug("module::device_module", llvm::toString(parsed.takeError()));
  for (llvm::Function& f : **parsed)
    for (const char* attribute : {"target-cpu", "target-features", "tune-cpu", "min-legal-vector-width",
                                  "no-trapping-math", "stack-protector-buffer-size"})
      f.removeFnAttr(attribute);
  for (llvm::Function& f : **parsed)
    if (!is_memory_function(f)) f.removeFnAttr("no-builtins");
  return std::move(*parsed);
}

bool is_of_device(const llvm::Function& f) { return f.hasFnAttribute(mark_of_device); }

void link_device(llvm::Module& m, bool gpu) {
  auto device = device_module(m.getContext(), gpu);
  for (llvm::Function& f : *device)
    if (is_of_gpus(f)) f.deleteBody();  // later
  std::set<std::string> names;
  for (const llvm::Function& f : *device)
    if (!f.isDeclaration()) names.insert(f.getName().str());
  std::vector<llvm::GlobalValue*> kept;
  // A declaration in use makes the linker take the memory functions along.
  for (const llvm::Function& f : *device)
    if (is_memory_function(f)) m.getOrInsertFunction(f.getName(), f.getFunctionType());
  if (llvm::Linker::linkModules(m, std::move(device), llvm::Linker::Flags::LinkOnlyNeeded))
    base::bug("module::link_device", "the device bitcode does not link");
  for (llvm::Function& f : m) {
    if (!names.contains(f.getName().str())) continue;
    if (is_memory_function(f)) {
      f.setLinkage(llvm::GlobalValue::LinkOnceODRLinkage);
      f.setVisibility(llvm::GlobalValue::HiddenVisibility);
      kept.push_back(&f);
      continue;
    }
    f.setLinkage(llvm::GlobalValue::InternalLinkage);
    const bool is_large =
        starts_with(f, "axon_mod_") || starts_with(f, "axon_check_") || starts_with(f, "axon_order");
    if (starts_with(f, "axon_") && !starts_with(f, "axon_event_") && !is_large) {
      f.removeFnAttr(llvm::Attribute::NoInline);
      f.addFnAttr(llvm::Attribute::AlwaysInline);
      continue;
    }
    if (is_large) f.addFnAttr(llvm::Attribute::NoInline);
    f.addFnAttr(mark_of_device);
  }
  llvm::appendToCompilerUsed(m, kept);
}

/// They come last: the emulator has its own, and what LLVM knew of their bodies before it would use.
void add_gpu_functions(llvm::Module& m) {
  if (llvm::Linker::linkModules(m, device_module(m.getContext(), true), llvm::Linker::Flags::LinkOnlyNeeded))
    base::bug("module::add_gpu_functions", "the device bitcode does not link");
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function& f : m) {
    if (!is_of_gpus(f)) continue;
    f.setLinkage(llvm::GlobalValue::InternalLinkage);
    for (llvm::User* user : f.users()) calls.push_back(llvm::cast<llvm::CallInst>(user));
  }
  for (llvm::CallInst* const call : calls) {  // a call would need a frame in memory
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(*call, info).isSuccess())
      base::bug("module::add_gpu_functions", "a call is not inlined");
  }
  for (llvm::Function& f : llvm::make_early_inc_range(m))
    if (is_of_gpus(f)) f.eraseFromParent();
}

}  // namespace axon::module
