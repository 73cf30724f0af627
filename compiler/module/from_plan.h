// The whole module before optimisation: one function per variant, one per task type. See from_plan.cpp.
#pragma once
#include <llvm/IR/Module.h>

#include "module/module.h"

namespace axon::module {

void emit_plan(llvm::Module&, const plan::Plan&, const target::Level&, const EmitOptions&);

}  // namespace axon::module
