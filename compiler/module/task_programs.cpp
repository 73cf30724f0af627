// See task_programs.h.
#include "module/task_programs.h"

#include <algorithm>

#include "module/tiles/emit_program.h"

namespace axon::module {

std::vector<Var> steps_read(const task::Program& p, const task::TaskType& type) {
  std::vector<Var> steps;
  for (const task::Loop& loop : p.loops) {
    const graph::Node& node = p.graph->nodes[loop.node];
    if (!node.condition) continue;
    const Var var = graph::steps_var(node);
    const bool read =
        std::any_of(type.accesses.begin(), type.accesses.end(), [&](const task::Access& access) {
          return std::any_of(access.box.begin(), access.box.end(), [&](const task::Interval& axis) {
            return axis.low.contains(var) || axis.high.contains(var);
          });
        });
    if (read) steps.push_back(var);
  }
  return steps;
}

unsigned bind_task_arguments(Frame& f, const task::Program& p, const task::TaskType& type, unsigned first) {
  unsigned argument = first;
  for (const task::LoopId l : type.loops) {
    const auto& loop = p.loops[l];
    f.bind(loop.index, f.function->getArg(argument++), 1, loop.extent);
  }
  for (const auto& c : type.coordinates) f.bind(c.var, f.function->getArg(argument++), 1, c.extent);
  for (const Var steps : steps_read(p, type))
    f.bind(steps, f.function->getArg(argument++), 1, Dim(graph::step_limit + 1));
  return argument;
}

namespace {

class ProgramsEmitter {
 public:
  ProgramsEmitter(llvm::Function* function, const TaskPrograms& task, const target::Machine& level)
      : task_(task), f_(function, task.graph, level) {
    const auto buffers = static_cast<uint32_t>(task.program.buffers.size());
    scratch_region_ = buffers;
    f_.region_count = buffers + 1;
    bind_task_arguments(f_, task.program, task.type, 2);
  }

  void run() {
    for (const tile::MadeProgram& one : task_.list) {
      if (one.program.guard.empty()) {
        emit(one);
        f_.b.CreateRetVoid();
        return;
      }
      llvm::Value* holds = f_.b.getTrue();
      for (const Fact& fact : one.program.guard) holds = f_.b.CreateAnd(holds, f_.emit(fact));
      auto& c = f_.b.getContext();
      auto* const then = llvm::BasicBlock::Create(c, "guarded", f_.function);
      auto* const next = llvm::BasicBlock::Create(c, "next", f_.function);
      f_.b.CreateCondBr(holds, then, next);
      f_.b.SetInsertPoint(then);
      emit(one);
      f_.b.CreateRetVoid();
      f_.b.SetInsertPoint(next);
    }
  }

 private:
  void emit(const tile::MadeProgram& one) {
    ProgramMemory memory;
    for (const task::BufferId buffer : one.buffers) {
      memory.tensors.push_back(f_.buffer(buffer.index));
      memory.regions.push_back(buffer.index);
    }
    memory.scratch = f_.function->getArg(1);
    memory.scratch_region = scratch_region_;
    memory.check_failed = [](Frame& f, llvm::Value* context, uint32_t check, llvm::Value* found,
                             llvm::Value* wanted) { f.check_failed(context, check, found, wanted); };
    memory.notes = f_.context();
    emit_program(f_, one.program, memory);
  }

  const TaskPrograms& task_;
  Frame f_;
  uint32_t scratch_region_ = 0;
};

}  // namespace

void emit_ahead(llvm::Function* function, const TaskPrograms& task, const target::Machine& level) {
  Frame f(function, task.graph, level);
  bind_task_arguments(f, task.program, task.type, 2);
  auto& b = f.b;
  const tile::FirstRead& read = task.list.front().first_read.value();
  const task::Buffer& buffer = task.program.buffers[read.buffer];
  const Dim bytes(base::elem_bytes(buffer.elem));
  auto* const prefetch = f.device("axon_prefetch", b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty()});
  const Dim first = layout::offset_of(buffer.placement, buffer.shape, read.index) * bytes;
  b.CreateCall(prefetch, {b.CreateGEP(b.getInt8Ty(), f.buffer(read.buffer.index), f.emit(first)),
                          f.emit(read.elements * bytes)});
  b.CreateRetVoid();
}

void emit_task(llvm::Function* function, const TaskPrograms& task, const target::Machine& level) {
  ProgramsEmitter(function, task, level).run();
}

}  // namespace axon::module
