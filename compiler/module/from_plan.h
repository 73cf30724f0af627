// A module before optimisation: a function for each variant and one per task type. See from_plan.cpp.
#pragma once
#include <llvm/IR/Module.h>

#include "module/module.h"

namespace axon::module {

void emit_variant(llvm::Module&, const plan::Variant&, const target::Level&, const EmitOptions&);

}  // namespace axon::module
