// Data-dependent values in a kernel: exit conditions of loops (plan::ExitCondition) and data-dependent sizes
// (plan::DataSize). The worker that ran the task that computes such a value publishes it in a word of the
// event area; every worker waits for that word before it uses the value.
#include <algorithm>

#include "module/kernel_emitter.h"
#include "task/trip_counts.h"

namespace axon::module {

using llvm::Value;
using task::LoopId;

namespace {

/// Returns how many iterations all runs of the loop together may have without using up the epochs.
Dim most_iterations(const plan::ExitCondition& exit) {
  const Dim each = shape::max(Dim(exit.left ? 2 : 1), exit.inner);
  return floor_div(Dim(plan::epoch_limit), each) - Dim(exit.left ? 2 : 0);
}

}  // namespace

Value* KernelEmitter::load(llvm::AllocaInst* variable) {
  return f_.b.CreateLoad(f_.b.getInt64Ty(), variable);
}

llvm::AllocaInst* KernelEmitter::counter(const std::string& name) {
  llvm::AllocaInst* variable = f_.variable(f_.b.getInt64Ty(), name);
  f_.b.CreateStore(f_.i64(0), variable);
  return variable;
}

void KernelEmitter::begin_counts() {
  for (const plan::ExitCondition& d : v_.exit_conditions) {
    Counts& counts = counts_[d.loop];
    if (!d.left) continue;
    counts.steps = counter("steps");
    counts.runs = counter("runs");
  }
  for (const task::Wait& wait : p_.waits) {
    const auto distance = task::distance_of(p_, wait);
    if (!distance || distance->iterations == 0) continue;
    const auto& loops = p_.types[p_.events[wait.event].producer].loops;
    for (size_t l = distance->level + 1; l < loops.size(); ++l) {
      if (!task::data_trip_count(p_, loops[l])) continue;
      auto& history = counts_.at(loops[l]).history[loops[distance->level]];
      while (history.size() < static_cast<size_t>(distance->iterations)) history.push_back(counter("steps"));
    }
  }
}

/// At the start of an iteration.
void KernelEmitter::remember_counts(LoopId loop) {
  for (auto& [inner, counts] : counts_) {
    const auto history = counts.history.find(loop);
    if (history == counts.history.end()) continue;
    auto& variables = history->second;
    for (size_t i = variables.size(); --i > 0;) f_.b.CreateStore(load(variables[i - 1]), variables[i]);
    f_.b.CreateStore(load(counts.steps), variables[0]);
  }
}

void KernelEmitter::leave_run(const plan::ExitCondition& exit) {
  if (!exit.left) return;
  auto& b = f_.b;
  const Counts& counts = counts_.at(exit.loop);
  Value* steps = f_.find(*task::data_trip_count(p_, exit.loop))->value;
  b.CreateStore(b.CreateAdd(counts.before, steps), counts.steps);
  b.CreateStore(b.CreateAdd(load(counts.runs), f_.i64(1)), counts.runs);
  notify_word(word(*exit.left, worker_), at_epoch(load(counts.runs)));
}

/// Iteration `iteration` of the current, or the next, run among those of all runs.
Value* KernelEmitter::number_of(const plan::ExitCondition& exit, Value* iteration) {
  if (!exit.left) return iteration;
  auto& b = f_.b;
  const Counts& counts = counts_.at(exit.loop);
  return b.CreateAdd(b.CreateAdd(load(counts.steps), load(counts.runs)), iteration);
}

/// Returns what the word of the exit condition holds if iteration `iteration` does not start.
Value* KernelEmitter::stop_word(const plan::ExitCondition& exit, Value* iteration) {
  auto& b = f_.b;
  return at_epoch(b.CreateAdd(b.CreateShl(number_of(exit, iteration), 1), f_.i64(1)));
}

Value* KernelEmitter::goes_on(const plan::ExitCondition& exit, Value* iteration) {
  auto& b = f_.b;
  Value* at = word(exit.word, f_.i64(0));
  Value* stop = stop_word(exit, iteration);
  wait_for(at, f_.i64(1), stop);
  auto* seen = b.CreateAlignedLoad(b.getInt32Ty(), at, llvm::Align(4));
  seen->setAtomic(llvm::AtomicOrdering::Monotonic);
  return b.CreateICmpNE(seen, stop);
}

/// After the task that computes a condition, by the worker that ran it.
void KernelEmitter::publish_exit(const plan::ExitCondition& exit, const task::TaskType& type) {
  auto& b = f_.b;
  const task::Loop& loop = p_.loops[exit.loop];
  const graph::Node& node = p_.graph->nodes[loop.node];
  const graph::Carried& condition = node.carried[*node.condition];
  const bool first = type.node == condition.init.node;
  const task::Place& place = p_.place(first ? condition.init : condition.result);
  Value* address = f_.buffer(place.buffer.index);
  if (place.slot) address = b.CreateGEP(b.getInt8Ty(), address, f_.emit(*place.slot));
  Value* holds = b.CreateICmpNE(b.CreateLoad(b.getInt8Ty(), address), b.getInt8(0));
  Value* next = first ? f_.i64(0) : b.CreateAdd(f_.find(loop.index)->value, f_.i64(1));
  Value* endless =
      b.CreateAnd(holds, b.CreateOr(b.CreateICmpSGE(next, f_.i64(graph::step_limit)),
                                    b.CreateICmpSGE(number_of(exit, next), f_.emit(most_iterations(exit)))));
  f_.when(endless, [&] { f_.check_failed(exit.check, next, f_.i64(graph::step_limit)); });
  // What is computed after a failed check is thrown away, and need not end by itself.
  Value* starts = b.CreateAnd(b.CreateAnd(holds, b.CreateNot(endless)), f_.none_failed());
  if (first && exit.left) await_all_left(exit);
  notify_word(word(exit.word, f_.i64(0)),
              b.CreateAdd(stop_word(exit, next), b.CreateZExt(starts, b.getInt32Ty())));
}

void KernelEmitter::await_all_left(const plan::ExitCondition& exit) {
  auto& b = f_.b;
  Value* runs = load(counts_.at(exit.loop).runs);
  f_.when(b.CreateICmpNE(runs, f_.i64(0)),
          [&] { wait_for(word(*exit.left, f_.i64(0)), workers_, at_epoch(runs)); });
}

Value* KernelEmitter::size_address(const plan::DataSize& data_size) {
  auto& b = f_.b;
  return b.CreateConstGEP1_64(b.getInt64Ty(), f_.context_field(ContextType::sizes, b.getPtrTy()),
                              data_size.size);
}

Value* KernelEmitter::size_target() { return f_.b.CreateAdd(epoch_, f_.b.getInt32(1)); }

void KernelEmitter::publish_size(const plan::DataSize& data_size) {
  auto& b = f_.b;
  const graph::Size& size = p_.graph->sizes[data_size.size];
  const task::Place& place = p_.place(size.value);
  Value* address = f_.buffer(place.buffer.index);
  if (place.slot) address = b.CreateGEP(b.getInt64Ty(), address, f_.emit(*place.slot));
  Value* value = b.CreateLoad(b.getInt64Ty(), address);
  // The table has what there is room for, until the size is known.
  Value* most =
      size.is_unbounded() ? b.CreateLoad(b.getInt64Ty(), size_address(data_size)) : f_.emit(size.equation);
  Value* known = b.CreateBinaryIntrinsic(
      llvm::Intrinsic::smin, b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, f_.i64(0)), most);
  f_.when(b.CreateICmpNE(value, known), [&] { f_.check_failed(data_size.check, value, most); });
  b.CreateStore(known, size_address(data_size));
  notify_word(word(data_size.word, f_.i64(0)), size_target());
}

void KernelEmitter::await_size(const plan::DataSize& data_size) {
  wait_for(word(data_size.word, f_.i64(0)), f_.i64(1), size_target());
  bind_size(data_size);
}

/// To what the table of sizes holds.
void KernelEmitter::bind_size(const plan::DataSize& data_size) {
  auto& b = f_.b;
  const graph::Size& size = p_.graph->sizes[data_size.size];
  f_.bind(size.var, b.CreateLoad(b.getInt64Ty(), size_address(data_size), size.name), 0,
          Dim(size.var) + Dim(1));
}

}  // namespace axon::module
