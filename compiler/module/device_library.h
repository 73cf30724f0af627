// The device pieces (runtime/device) in a module: bitcode, of which what is used is linked in.
//
// In: a module that calls device functions. Out: the same with their bodies. Invariant: they have no target's
// attributes and are internal; the memory functions alone stay, hidden.
#pragma once
#include <llvm/IR/Module.h>

#include <memory>

namespace axon::module {

/// All pieces, of CPUs or of GPUs. Bodies are read when they are linked: a program needs few of them.
std::unique_ptr<llvm::Module> device_module(llvm::LLVMContext&, bool gpu);
/// Links what is used, and gives each device function its linkage and inlining. The functions of device/gpu.h
/// stay declared.
void link_device(llvm::Module&, bool gpu);
/// Is it one of those that stay functions of their own?
bool is_of_device(const llvm::Function&);
/// Inlines the functions of device/gpu.h.
void add_gpu_functions(llvm::Module&);

}  // namespace axon::module
