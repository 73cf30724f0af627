// In: a plan. Out: per variant one function (context, worker) that walks the plan's steps: loops, segments,
// in each the worker's own range of tasks with its waits before and its notification after. Tasks are
// functions of their own (task_functions.h).
#include "module/from_plan.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>
#include <cstddef>

#include "device/abi.h"
#include "module/kernel_emitter.h"
#include "module/task_programs.h"
#include "module/tiles/emit_program.h"
#include "plan/workers.h"
#include "task/trip_counts.h"

namespace axon::module {

static_assert(plan::most_workers == AXON_MOST_WORKERS);

using llvm::Value;

namespace {

Dim product(const std::vector<Dim>& factors) {
  Dim result(1);
  for (const Dim& f : factors) result = result * f;
  return result;
}

}  // namespace

KernelEmitter::KernelEmitter(llvm::Module& m, const plan::Variant& v, const Graph& graph,
                             const TaskFunctions& tasks, const target::Machine& level,
                             const std::string& symbol, bool traced)
    : v_(v),
      p_(v.program),
      tasks_(tasks),
      f_(declare(m, symbol, level), graph, level),
      tracing_(f_, traced) {}

void KernelEmitter::begin() {
  auto& b = f_.b;
  if (f_.level.is_gpu()) return begin_on_gpu();
  workers_ = b.CreateZExt(f_.context_field(ContextType::workers, b.getInt32Ty()), b.getInt64Ty());
  worker_ = b.CreateZExt(f_.function->getArg(1), b.getInt64Ty());
  Value* scratch = f_.context_field(ContextType::scratch, b.getPtrTy());
  scratch_ = b.CreateLoad(b.getPtrTy(), b.CreateGEP(b.getPtrTy(), scratch, worker_), "scratch");
}

/// A worker is a block, and its threads wait for each other also where it is alone.
void KernelEmitter::begin_on_gpu() {
  auto& b = f_.b;
  const auto number = [&](llvm::Intrinsic::ID id) {
    return b.CreateZExt(b.CreateIntrinsic(id, {}, {}), b.getInt64Ty());
  };
  workers_ = number(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
  worker_ = number(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  scratch_ = f_.shared_memory();
}

void KernelEmitter::run() {
  auto& b = f_.b;
  begin();
  several_ = f_.level.is_gpu() ? b.getTrue() : b.CreateICmpUGT(workers_, f_.i64(1));
  epoch_ = f_.context_field(ContextType::epoch, b.getInt32Ty());
  begin_counts();
  tracing_.begin();
  leave_ = llvm::BasicBlock::Create(b.getContext(), "leave");
  walk(v_.steps);
  b.CreateBr(leave_);
  leave_->insertInto(f_.function);
  b.SetInsertPoint(leave_);
  b.CreateRetVoid();
}

llvm::Function* KernelEmitter::declare(llvm::Module& m, const std::string& symbol,
                                       const target::Machine& level) {
  auto& c = m.getContext();
  if (level.is_gpu()) return declare_kernel(m, symbol, {llvm::PointerType::getUnqual(c)}, level);
  auto* pointer = llvm::PointerType::getUnqual(c);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(c), {pointer, llvm::Type::getInt32Ty(c)}, false);
  return llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, m);
}

void KernelEmitter::walk(const std::vector<plan::Step>& steps) {
  for (const plan::Step& step : steps) {
    for (uint32_t number : step.needs) await_size(v_.data_sizes[number]);
    if (step.segment) {
      emit_segment(*step.segment);
    } else {
      emit_loop(step);
    }
    for (uint32_t number : step.debugs) call_debug(number);
  }
}

void KernelEmitter::emit_loop(const plan::Step& step) {
  const auto& loop = p_.loops[step.loop];
  const Axis axis{loop.index, loop.extent};
  const auto exit = std::find_if(v_.exit_conditions.begin(), v_.exit_conditions.end(),
                                 [&](const plan::ExitCondition& d) { return d.loop == step.loop; });
  const auto body = [&] {
    remember_counts(step.loop);
    walk(step.body);
  };
  if (exit == v_.exit_conditions.end())
    return f_.loop(axis, f_.i64(0), f_.emit(loop.extent), LoopKind::plain, body);
  Counts& counts = counts_.at(step.loop);
  if (exit->left) counts.before = load(counts.steps);
  f_.loop_while(
      axis, *task::data_trip_count(p_, step.loop),
      [&](Value* iteration) { return goes_on(*exit, iteration); }, body);
  leave_run(*exit);
}

/// Such launches have one worker.
void KernelEmitter::call_debug(uint32_t number) {
  f_.call_service(offsetof(axon_services, debug), f_.b.getVoidTy(), {f_.context(), f_.b.getInt32(number)});
}

void KernelEmitter::emit_segment(const plan::Segment& segment) {
  const auto& type = p_.types[segment.type];
  const bool publishes = !segment.exit_conditions.empty() || !segment.data_sizes.empty();
  const auto [first, end] = each_task(
      segment,
      [&](Value* task) {
        tracing_.next(task);
        emit_waits(segment.per_task);
        if (f_.level.is_gpu()) name_task(segment.type, task);
        call_task(segment.type, tasks_.run);
        if (publishes && tracing_.is_on()) tracing_.close(f_.b.CreateAdd(task, f_.i64(1)));
        // These read what the task has written: behind its notification, memory may be another temporary's.
        for (uint32_t d : segment.exit_conditions) publish_exit(v_.exit_conditions[d], type);
        for (uint32_t number : segment.data_sizes) publish_size(v_.data_sizes[number]);
        notify(segment.type, segment.folded ? f_.emit(number_in_grid(type)) : task);
      },
      [&](Value* first) {
        ask_ahead(segment, first);
        emit_waits(segment.hoisted);
        tracing_.open(segment.type, first);
      });
  if (!publishes && tracing_.is_on())
    f_.when(f_.b.CreateICmpSLT(first, end), [&, end = end] { tracing_.close(end); });
  if (segment.barrier_after) wait_for_all(segment.type);
}

/// body() for every task of the worker's share, with its coordinates bound; prepare() once before the first.
/// Returns the share: its first task, and where it ends.
std::pair<Value*, Value*> KernelEmitter::each_task(const plan::Segment& segment,
                                                   const std::function<void(Value*)>& body,
                                                   const std::function<void(Value*)>& prepare) {
  const auto& type = p_.types[segment.type];
  std::vector<Dim> extents;
  for (const auto& c : type.coordinates) extents.push_back(c.extent);
  const auto named = [&](const char* name, Value* value) {
    const Var var = shape::fresh_var(name);
    f_.bind(var, value, 0, Dim(var) + Dim(1));
    return Dim(var);
  };
  const Dim tasks = named("tasks", f_.emit(product(extents)));
  const Dim worker = named("worker", worker_), workers = named("workers", workers_);
  const auto begin_of = [&](const Dim& w) {
    const bool from_end = segment.line && segment.line->from_end;
    Value* const shared = f_.emit(from_end ? plan::first_task_from_end(tasks, w, workers)
                                           : plan::first_task(tasks, w, workers));
    if (!segment.line) return shared;
    return f_.b.CreateSelect(f_.emit(plan::runs_side_by_side(segment.line->whole, workers)),
                             f_.emit(plan::first_task_in_line(tasks, segment.line->before, w)), shared);
  };
  Value* first = begin_of(worker);
  Value* end = begin_of(worker + Dim(1));
  const Axis number{shape::fresh_var("task"), product(extents)};
  f_.loop(
      number, first, end, LoopKind::plain,
      [&] {
        Value* task = f_.find(number.var)->value;
        bind_coordinates(segment, task);
        body(task);
      },
      [&] { prepare(first); });
  return {first, end};
}

/// Of the task at a position of the segment's grid.
void KernelEmitter::bind_coordinates(const plan::Segment& segment, Value* task) {
  auto& b = f_.b;
  const auto& type = p_.types[segment.type];
  for (size_t c = type.coordinates.size(); c-- > 0;) {
    const auto& coordinate = type.coordinates[c];
    Value* extent = f_.emit(coordinate.extent);
    Value* at = c == 0 ? task : b.CreateURem(task, extent);
    if (segment.folded == c) at = folded(at, coordinate.extent);
    f_.bind(coordinate.var, at, INT32_MAX, coordinate.extent);
    if (c > 0) task = b.CreateUDiv(task, extent);
  }
}

/// plan::tile_at the position.
Value* KernelEmitter::folded(Value* position, const Dim& extent) {
  auto& b = f_.b;
  const Var var = shape::fresh_var("half");
  f_.bind(var, b.CreateLShr(position, 1), INT32_MAX, extent);
  return b.CreateSelect(b.CreateTrunc(position, b.getInt1Ty()),
                        f_.emit(plan::tile_at(Dim(var), true, extent)),
                        f_.emit(plan::tile_at(Dim(var), false, extent)));
}

/// Of the task with the bound coordinates: its word in the events of its type.
Dim KernelEmitter::number_in_grid(const task::TaskType& type) {
  Dim number;
  for (const auto& c : type.coordinates) number = number * c.extent + Dim(c.var);
  return number;
}

/// Before the first waits of a worker's tasks, the memory system is idle: its first weights may come
/// already.
void KernelEmitter::ask_ahead(const plan::Segment& segment, Value* first) {
  if (segment.hoisted.empty() || !tasks_.ahead[segment.type.index]) return;
  f_.when(several_, [&] {
    bind_coordinates(segment, first);
    call_task(segment.type, tasks_.ahead);
  });
}

void KernelEmitter::name_task(task::TaskTypeId id, Value* task) {
  auto& b = f_.b;
  auto* name = f_.device("axon_gpu_task", b.getVoidTy(), {b.getInt32Ty(), b.getInt64Ty()});
  b.CreateCall(name, {b.getInt32(id.index), task});
}

void KernelEmitter::call_task(task::TaskTypeId id, const std::vector<llvm::Function*>& functions) {
  const auto& type = p_.types[id];
  std::vector<Value*> args{f_.context(), scratch_};
  for (task::LoopId l : type.loops) args.push_back(f_.find(p_.loops[l].index)->value);
  for (const auto& c : type.coordinates) args.push_back(f_.find(c.var)->value);
  for (Var steps : steps_read(p_, type)) args.push_back(f_.find(steps)->value);
  f_.b.CreateCall(functions[id.index], args);
}

void emit_variant(llvm::Module& m, const plan::Variant& v, const Bodies& bodies, const Part& part,
                  const target::Machine& level, const EmitOptions& options) {
  const TaskFunctions tasks = emit_tasks(m, v, bodies, part, level);
  if (part.first == 0) KernelEmitter(m, v, *bodies.graph, tasks, level, v.symbol, options.trace).run();
  if (level.is_gpu()) return;
  for (task::TaskTypeId t{part.first}; part.has(t); ++t.index)
    KernelEmitter(m, v, *bodies.graph, tasks, level, plan::kernel_symbol(v, t), false).run_alone(t);
}

}  // namespace axon::module
