// The last steps of native code, for any module that emission has made. See module.h for those of plans.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Support/CodeGen.h>

#include <string>

#include "module/module.h"

namespace axon::module {

/// The module with the device code that it uses, optimised, as an object or as assembly: what tests of parts
/// of emission link and read.
std::string native_code(llvm::Module&, const target::Machine&, const EmitOptions&, llvm::CodeGenFileType);

}  // namespace axon::module
