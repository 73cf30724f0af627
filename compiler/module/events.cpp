// Events in a kernel: one word per producer task, which holds the epoch of its last finished iteration. A
// wait reads the words of a box of producers until they have reached the iteration that is meant.
#include "module/kernel_emitter.h"
#include "task/trip_counts.h"

namespace axon::module {

using llvm::Value;

namespace {

/// Does the waiting task stand in the same run of the producer's loop number `l`?
bool is_this_run(const std::optional<task::Distance>& distance, size_t l) {
  return !distance || l < distance->level || (l == distance->level && distance->iterations > 0);
}

}  // namespace

Value* KernelEmitter::at_epoch(Value* number) {
  return f_.b.CreateAdd(epoch_, f_.b.CreateTrunc(number, f_.b.getInt32Ty()));
}

void KernelEmitter::notify_word(Value* at, Value* epoch) {
  auto& b = f_.b;
  if (f_.level.is_gpu()) {
    auto* notify = f_.device("axon_gpu_notify", b.getVoidTy(), {b.getPtrTy(), b.getInt32Ty()});
    b.CreateCall(notify, {at, epoch});
    return;
  }
  auto* store = f_.device("axon_event_notify", b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt32Ty()});
  b.CreateCall(store, {f_.context(), at, epoch});
}

/// epoch + iteration + 1, iterations counted row-major over the loops around a type; from a nested loop
/// with a condition on, over all of its runs.
Value* KernelEmitter::target_epoch(const task::TaskType& producer, const std::vector<Dim>& iteration,
                                   const std::optional<task::Distance>& distance) {
  Dim number;
  Value* runs = nullptr;  // what the runs of a nested loop come to, to which `number` is added
  for (size_t l = 0; l < producer.loops.size(); ++l) {
    const LoopId loop = producer.loops[l];
    const auto counts = counts_.find(loop);
    if (counts == counts_.end() || !counts->second.steps) {
      number = number * p_.loops[loop].extent + iteration[l];
      if (runs) runs = f_.b.CreateMul(runs, f_.emit(p_.loops[loop].extent));
      continue;
    }
    const bool this_run = is_this_run(distance, l);
    runs = this_run ? counts->second.before : steps_until(counts->second, producer, *distance);
    number = this_run ? iteration[l] : Dim(-1);
  }
  Value* of_run = f_.emit(number + Dim(1));
  return at_epoch(runs ? f_.b.CreateAdd(runs, of_run) : of_run);
}

/// Steps of the runs of a nested loop whose last iteration is waited for; null when there is no such loop.
Value* KernelEmitter::runs_waited_for(const task::TaskType& producer,
                                      const std::optional<task::Distance>& distance) {
  Value* steps = nullptr;
  for (size_t l = 0; l < producer.loops.size(); ++l)
    if (const auto counts = counts_.find(producer.loops[l]);
        counts != counts_.end() && counts->second.steps && !is_this_run(distance, l))
      steps = steps_until(counts->second, producer, *distance);
  return steps;
}

/// Steps of all runs up to the iteration that the distance is about.
Value* KernelEmitter::steps_until(const Counts& counts, const task::TaskType& producer,
                                  const task::Distance& distance) {
  if (distance.iterations == 0) return load(counts.steps);
  return load(
      counts.history.at(producer.loops[distance.level])[static_cast<size_t>(distance.iterations) - 1]);
}

std::vector<Dim> KernelEmitter::current_iteration(const task::TaskType& type) const {
  std::vector<Dim> iteration;
  for (task::LoopId l : type.loops) iteration.push_back(Dim(p_.loops[l].index));
  return iteration;
}

Value* KernelEmitter::word(uint32_t event, Value* task) {
  auto& b = f_.b;
  Value* offsets = f_.context_field(ContextType::event_offset, b.getPtrTy());
  Value* base = b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt64Ty(), offsets, event));
  return b.CreateGEP(b.getInt32Ty(), f_.context_field(ContextType::events, b.getPtrTy()),
                     b.CreateAdd(base, task));
}

void KernelEmitter::notify(task::TaskTypeId id, Value* task) {
  for (uint32_t e = 0; e < p_.events.size(); ++e) {
    if (p_.events[task::EventId{e}].producer != id) continue;
    f_.when(several_, [&] {
      const auto& type = p_.types[id];
      notify_word(word(e, task), target_epoch(type, current_iteration(type)));
    });
  }
}

void KernelEmitter::emit_waits(const std::vector<uint32_t>& waits) {
  for (uint32_t w : waits) {
    const task::Wait& wait = p_.waits[w];
    Value* needed = several_;
    const auto distance = task::distance_of(p_, wait);
    for (const Fact& fact : wait.guard) needed = f_.b.CreateAnd(needed, f_.emit(fact));
    for (const task::LoopId l : plan::loops_waited_once(p_, wait))
      needed = f_.b.CreateAnd(needed, f_.b.CreateICmpEQ(f_.find(p_.loops[l].index)->value, f_.i64(0)));
    if (Value* runs = runs_waited_for(p_.types[p_.events[wait.event].producer], distance))
      needed = f_.b.CreateAnd(needed, f_.b.CreateICmpNE(runs, f_.i64(0)));  // else all were empty
    f_.when(needed, [&] { emit_wait(wait.event, wait.box, wait.iteration, distance); });
  }
}

/// Waits for the words of the producers in a box. Kept coordinates run over [first, last], all others over
/// everything; the innermost ranges whose followers are complete make one run of consecutive words.
void KernelEmitter::emit_wait(task::EventId id, const std::vector<task::Wait::Range>& box,
                              const std::vector<Dim>& iteration,
                              const std::optional<task::Distance>& distance) {
  const auto& event = p_.events[id];
  const auto& producer = p_.types[event.producer];
  const size_t rank = producer.coordinates.size();
  std::vector<task::Wait::Range> ranges(rank);
  std::vector<bool> kept(rank, false);
  for (size_t c = 0; c < rank; ++c) ranges[c] = {Dim(0), producer.coordinates[c].extent - Dim(1)};
  for (size_t k = 0; k < event.kept.size(); ++k) {
    ranges[event.kept[k]] = box[k];
    kept[event.kept[k]] = true;
  }
  size_t run = rank;  // coordinates from here on are complete, and the one before them is part of the run
  Dim words(1);
  while (run > 0 && !kept[run - 1]) words = words * producer.coordinates[--run].extent;
  Value* target = target_epoch(producer, iteration, distance);
  wait_over(id, producer, ranges, 0, run, Dim(), words, target);
}

void KernelEmitter::wait_over(task::EventId id, const task::TaskType& producer,
                              const std::vector<task::Wait::Range>& ranges, size_t c, size_t run,
                              const Dim& task, const Dim& words, Value* target) {
  if (c + 1 < run) {
    const Axis axis{shape::fresh_var("producer"), producer.coordinates[c].extent};
    Value* end = f_.emit(ranges[c].last + Dim(1));
    f_.loop(axis, f_.emit(ranges[c].first), end, LoopKind::plain, [&] {
      wait_over(id, producer, ranges, c + 1, run, (task + Dim(axis.var)) * producer.coordinates[c + 1].extent,
                words, target);
    });
    return;
  }
  Dim first = task, count = words;
  if (run > 0) {
    first = (task + ranges[c].first) * words;
    count = (ranges[c].last - ranges[c].first + Dim(1)) * words;
  }
  wait_for(word(id.index, f_.emit(first)), f_.emit(count), target);
}

/// Waits until `count` words from `at` on have reached the target, or leaves when the launch is cancelled.
void KernelEmitter::wait_for(Value* at, Value* count, Value* target) {
  auto& b = f_.b;
  if (f_.level.is_gpu()) {
    auto* wait = f_.device("axon_gpu_wait", b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty(), b.getInt32Ty()});
    b.CreateCall(wait, {at, count, target});
    return;
  }
  const auto wait = [&] {
    auto* wait_run = f_.device("axon_event_wait_run", b.getInt1Ty(),
                               {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(), b.getInt32Ty()});
    wait_run->addRetAttr(llvm::Attribute::ZExt);
    Value* reached = b.CreateCall(wait_run, {f_.context(), at, count, target});
    auto* go_on = llvm::BasicBlock::Create(b.getContext(), "reached", f_.function);
    b.CreateCondBr(reached, go_on, leave_);
    b.SetInsertPoint(go_on);
  };
  if (!tracing_.is_on()) return wait();
  auto* reached_run =
      f_.device("axon_event_reached_run", b.getInt1Ty(), {b.getPtrTy(), b.getInt64Ty(), b.getInt32Ty()});
  reached_run->addRetAttr(llvm::Attribute::ZExt);
  f_.when(b.CreateNot(b.CreateCall(reached_run, {at, count, target})), [&] {
    tracing_.pause();
    wait();
    tracing_.begin();
  });
}

void KernelEmitter::wait_for_all(task::TaskTypeId id) {
  for (uint32_t e = 0; e < p_.events.size(); ++e) {
    const auto& event = p_.events[task::EventId{e}];
    if (event.producer != id) continue;
    std::vector<task::Wait::Range> box;
    for (const Dim& extent : event.shape) box.push_back({Dim(0), extent - Dim(1)});
    f_.when(several_, [&] { emit_wait(task::EventId{e}, box, current_iteration(p_.types[id])); });
    return;
  }
}

}  // namespace axon::module
