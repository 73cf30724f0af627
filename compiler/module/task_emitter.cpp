// See task_emitter.h.
#include "module/task_emitter.h"

#include "module/task_programs.h"

namespace axon::module {

TaskEmitter::TaskEmitter(llvm::Function* function, const Body& body, const target::Machine& level)
    : f_(function, *body.graph, level), body_(body), g_(*body.graph), s_(f_, body) {
  // Buffers, scratch tensors, one region per tensor for staged left operands, and the keys of an order.
  f_.region_count = body.program->buffers.size() + 2 * static_cast<uint32_t>(body.locals.size()) + 1;
  first_free_argument_ = bind_task_arguments(f_, *body.program, *body.type, first_free_argument_);
}

void TaskEmitter::run() {
  if (body_.stages.empty()) {
    emit_outputs();
  } else {
    f_.when(has_points(), [&] {  // of no points the locals are not read, nor what they read
      for (const Stage& stage : body_.stages) emit_stage(stage, {});
      emit_outputs();
    });
  }
  f_.b.CreateRetVoid();
}

/// Whether the tile has a point to compute.
llvm::Value* TaskEmitter::has_points() {
  llvm::Value* all = f_.b.getTrue();
  for (const Span& span : body_.spans)
    all = f_.b.CreateAnd(all, f_.b.CreateICmpSLT(f_.emit(span.low), f_.emit(span.end)));
  return all;
}

void TaskEmitter::emit_stage(const Stage& stage, const Overrides& overrides) {
  s_.enter();
  switch (stage.kind) {
    case Stage::Kind::points:
      emit_points(stage.local, false);
      break;
    case Stage::Kind::reduction:
      emit_reduction(stage.local, overrides, false);
      break;
    case Stage::Kind::scatter:
      emit_scatter(stage.local, *stage.scatter, overrides);
      break;
    case Stage::Kind::contract:
      emit_contract(stage.local, *stage.contract, overrides);
      break;
    case Stage::Kind::online:
      emit_online(*stage.online);
      break;
  }
  s_.leave();
}

}  // namespace axon::module
