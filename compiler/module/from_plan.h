// A part of a variant as a module before optimisation: the first has the variant's function, and each has
// those of its task types. See from_plan.cpp.
#pragma once
#include <llvm/IR/Module.h>

#include "module/task_functions.h"

namespace axon::module {

/// Why a variant has no code for a GPU; nullopt where it has.
std::optional<std::string> why_not_on_gpu(const plan::Variant&, const Bodies&, const target::Machine&);
void emit_variant(llvm::Module&, const plan::Variant&, const Bodies&, const Part&, const target::Machine&,
                  const EmitOptions&);

}  // namespace axon::module
