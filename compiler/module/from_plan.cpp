// In: a plan. Out: per variant one function (context, worker) that walks the plan's steps: loops, segments,
// in each the worker's own range of tasks with its waits before and its notification after. Task bodies are
// functions of their own.
//
// A launch with one worker skips every wait and notification: its own order is the program's.
#include "module/from_plan.h"

#include <algorithm>
#include <cstddef>

#include "device/abi.h"
#include "module/task_emitter.h"
#include "task/decided.h"
#include "task/ordering.h"

namespace axon::module {

using llvm::Value;
using task::LoopId;

namespace {

Dim product(const std::vector<Dim>& factors) {
  Dim result(1);
  for (const Dim& f : factors) result = result * f;
  return result;
}

class KernelEmitter {
 public:
  KernelEmitter(llvm::Module& m, const plan::Variant& v, std::shared_ptr<Graph> graph,
                const target::Level& level, const EmitOptions& options)
      : module_(m),
        v_(v),
        p_(v.program),
        level_(level),
        task_functions_(p_.types.size()),
        ahead_functions_(p_.types.size()),
        f_(declare(m, v), *graph, level) {
    for (uint32_t t = 0; t < p_.types.size(); ++t) emit_task(task::TaskTypeId{t}, graph, options);
  }

  void run() {
    auto& b = f_.b;
    workers_ = b.CreateZExt(f_.context_field(ContextType::workers, b.getInt32Ty()), b.getInt64Ty());
    worker_ = b.CreateZExt(f_.function->getArg(1), b.getInt64Ty());
    several_ = b.CreateICmpUGT(workers_, f_.i64(1));
    epoch_ = f_.context_field(ContextType::epoch, b.getInt32Ty());
    Value* scratch = f_.context_field(ContextType::scratch, b.getPtrTy());
    scratch_ = b.CreateLoad(b.getPtrTy(), b.CreateGEP(b.getPtrTy(), scratch, worker_), "scratch");
    begin_counts();
    leave_ = llvm::BasicBlock::Create(b.getContext(), "leave");
    walk(v_.steps);
    b.CreateBr(leave_);
    leave_->insertInto(f_.function);
    b.SetInsertPoint(leave_);
    b.CreateRetVoid();
  }

 private:
  static llvm::Function* declare(llvm::Module& m, const plan::Variant& v) {
    auto& c = m.getContext();
    auto* pointer = llvm::PointerType::getUnqual(c);
    auto* type =
        llvm::FunctionType::get(llvm::Type::getVoidTy(c), {pointer, llvm::Type::getInt32Ty(c)}, false);
    return llvm::Function::Create(type, llvm::Function::ExternalLinkage, v.symbol, m);
  }

  void emit_task(task::TaskTypeId id, const std::shared_ptr<Graph>& graph, const EmitOptions& options) {
    const Body body = make_body(p_, p_.types[id], graph, options);
    task_functions_[id.index] = declare_task(id, "");
    TaskEmitter(task_functions_[id.index], body, level_).run();
    if (std::none_of(body.stages.begin(), body.stages.end(),
                     [](const Stage& s) { return s.contract && s.contract->panel; }))
      return;
    ahead_functions_[id.index] = declare_task(id, ".ahead");
    TaskEmitter(ahead_functions_[id.index], body, level_).run_ahead();
  }

  /// (context, scratch, loop indices..., coordinates..., numbers of steps...)
  llvm::Function* declare_task(task::TaskTypeId id, const std::string& suffix) {
    const auto& type = p_.types[id];
    auto& c = module_.getContext();
    std::vector<llvm::Type*> params(2, llvm::PointerType::getUnqual(c));
    params.insert(params.end(), type.loops.size() + type.coordinates.size() + steps_read(p_, type).size(),
                  llvm::Type::getInt64Ty(c));
    auto* function = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(c), params, false),
                                            llvm::Function::InternalLinkage,
                                            v_.symbol + "." + type.name + suffix, module_);
    function->addFnAttr(llvm::Attribute::NoInline);
    function->addParamAttr(0, llvm::Attribute::NoAlias);
    return function;
  }

  // ---- steps ----

  void walk(const std::vector<plan::Step>& steps) {
    for (const plan::Step& step : steps) {
      for (uint32_t number : step.needs) know(v_.sizes[number]);
      if (step.segment) {
        emit_segment(*step.segment);
      } else {
        emit_loop(step);
      }
      for (uint32_t number : step.debugs) call_debug(number);
    }
  }

  void emit_loop(const plan::Step& step) {
    const auto& loop = p_.loops[step.loop];
    const Axis axis{loop.index, loop.extent};
    const auto decision = std::find_if(v_.decisions.begin(), v_.decisions.end(),
                                       [&](const plan::Decision& d) { return d.loop == step.loop; });
    const auto body = [&] {
      remember_counts(step.loop);
      walk(step.body);
    };
    if (decision == v_.decisions.end())
      return f_.loop(axis, f_.i64(0), f_.emit(loop.extent), LoopKind::plain, body);
    Counts& counts = counts_.at(step.loop);
    if (decision->left) counts.before = load(counts.steps);
    f_.loop_while(
        axis, loop.extent.vars().at(0), [&](Value* iteration) { return goes_on(*decision, iteration); },
        body);
    leave_run(*decision);
  }

  // ---- loops with a condition: see plan::Decision ----

  /// Of a loop with a condition that is nested: what its runs so far add up to.
  struct Counts {
    llvm::AllocaInst *steps = nullptr, *runs = nullptr;
    Value* before = nullptr;  ///< steps of the runs before the one that is being emitted
    /// Per loop around: `steps` at the start of its current iteration, of the one before, ...
    std::map<LoopId, std::vector<llvm::AllocaInst*>> history;
  };

  Value* load(llvm::AllocaInst* variable) { return f_.b.CreateLoad(f_.b.getInt64Ty(), variable); }
  llvm::AllocaInst* counter(const std::string& name) {
    llvm::AllocaInst* variable = f_.variable(f_.b.getInt64Ty(), name);
    f_.b.CreateStore(f_.i64(0), variable);
    return variable;
  }

  void begin_counts() {
    for (const plan::Decision& d : v_.decisions) {
      Counts& counts = counts_[d.loop];
      if (!d.left) continue;
      counts.steps = counter("steps");
      counts.runs = counter("runs");
    }
    for (const task::Wait& wait : p_.waits) {
      const auto lag = task::lag_of(p_, wait);
      if (!lag || lag->distance == 0) continue;
      const auto& loops = p_.types[p_.events[wait.event].producer].loops;
      for (size_t l = lag->level + 1; l < loops.size(); ++l) {
        if (!task::steps_of(p_, loops[l])) continue;
        auto& history = counts_.at(loops[l]).history[loops[lag->level]];
        while (history.size() < static_cast<size_t>(lag->distance)) history.push_back(counter("steps"));
      }
    }
  }

  /// At the start of an iteration.
  void remember_counts(LoopId loop) {
    for (auto& [inner, counts] : counts_) {
      const auto history = counts.history.find(loop);
      if (history == counts.history.end()) continue;
      auto& variables = history->second;
      for (size_t i = variables.size(); --i > 0;) f_.b.CreateStore(load(variables[i - 1]), variables[i]);
      f_.b.CreateStore(load(counts.steps), variables[0]);
    }
  }

  void leave_run(const plan::Decision& decision) {
    if (!decision.left) return;
    auto& b = f_.b;
    const Counts& counts = counts_.at(decision.loop);
    Value* steps = f_.find(p_.loops[decision.loop].extent.vars().at(0))->value;
    b.CreateStore(b.CreateAdd(counts.before, steps), counts.steps);
    b.CreateStore(b.CreateAdd(load(counts.runs), f_.i64(1)), counts.runs);
    notify_word(word(*decision.left, worker_), at_epoch(load(counts.runs)));
  }

  Value* at_epoch(Value* number) {
    return f_.b.CreateAdd(epoch_, f_.b.CreateTrunc(number, f_.b.getInt32Ty()));
  }

  /// Iteration `iteration` of the current, or the next, run among those of all runs.
  Value* number_of(const plan::Decision& decision, Value* iteration) {
    if (!decision.left) return iteration;
    auto& b = f_.b;
    const Counts& counts = counts_.at(decision.loop);
    return b.CreateAdd(b.CreateAdd(load(counts.steps), load(counts.runs)), iteration);
  }

  /// What the decision's word holds when iteration `iteration` does not start.
  Value* stop_word(const plan::Decision& decision, Value* iteration) {
    auto& b = f_.b;
    return at_epoch(b.CreateAdd(b.CreateShl(number_of(decision, iteration), 1), f_.i64(1)));
  }

  Value* goes_on(const plan::Decision& decision, Value* iteration) {
    auto& b = f_.b;
    Value* at = word(decision.word, f_.i64(0));
    Value* stop = stop_word(decision, iteration);
    wait_for(at, f_.i64(1), stop);
    auto* seen = b.CreateAlignedLoad(b.getInt32Ty(), at, llvm::Align(4));
    seen->setAtomic(llvm::AtomicOrdering::Monotonic);
    return b.CreateICmpNE(seen, stop);
  }

  /// After the task that computes a condition, by the worker that ran it.
  void publish(const plan::Decision& decision, const task::TaskType& type) {
    auto& b = f_.b;
    const task::Loop& loop = p_.loops[decision.loop];
    const graph::Node& node = p_.graph->nodes[loop.node];
    const graph::Carried& condition = node.carried[*node.condition];
    const bool first = type.node == condition.init.node;
    const task::Place& place = p_.place(first ? condition.init : condition.result);
    Value* address = f_.buffer(place.buffer.index);
    if (place.slot) address = b.CreateGEP(b.getInt8Ty(), address, f_.emit(*place.slot));
    Value* holds = b.CreateICmpNE(b.CreateLoad(b.getInt8Ty(), address), b.getInt8(0));
    Value* next = first ? f_.i64(0) : b.CreateAdd(f_.find(loop.index)->value, f_.i64(1));
    Value* endless = b.CreateAnd(
        holds, b.CreateOr(b.CreateICmpSGE(next, f_.i64(graph::step_limit)),
                          b.CreateICmpSGE(number_of(decision, next), f_.emit(most_iterations(decision)))));
    f_.when(endless, [&] { f_.check_failed(decision.check, next); });
    Value* starts = b.CreateAnd(holds, b.CreateNot(endless));
    if (first && decision.left) await_all_left(decision);
    notify_word(word(decision.word, f_.i64(0)),
                b.CreateAdd(stop_word(decision, next), b.CreateZExt(starts, b.getInt32Ty())));
  }

  /// Of all runs: no more than there are epochs for, with what stands in the loop and with two for each
  /// decision.
  static Dim most_iterations(const plan::Decision& decision) {
    const Dim each = shape::max(Dim(decision.left ? 2 : 1), decision.inner);
    return floor_div(Dim(plan::epoch_limit), each) - Dim(decision.left ? 2 : 0);
  }

  void await_all_left(const plan::Decision& decision) {
    auto& b = f_.b;
    Value* runs = load(counts_.at(decision.loop).runs);
    f_.when(b.CreateICmpNE(runs, f_.i64(0)),
            [&] { wait_for(word(*decision.left, f_.i64(0)), workers_, at_epoch(runs)); });
  }

  // ---- sizes that the data decides: see plan::SizeDecision ----

  Value* size_address(const plan::SizeDecision& decision) {
    auto& b = f_.b;
    return b.CreateConstGEP1_64(b.getInt64Ty(), f_.context_field(ContextType::sizes, b.getPtrTy()),
                                decision.size);
  }
  Value* size_target() { return f_.b.CreateAdd(epoch_, f_.b.getInt32(1)); }

  void settle(const plan::SizeDecision& decision) {
    auto& b = f_.b;
    const graph::Size& size = p_.graph->sizes[decision.size];
    const task::Place& place = p_.place(size.value);
    Value* address = f_.buffer(place.buffer.index);
    if (place.slot) address = b.CreateGEP(b.getInt64Ty(), address, f_.emit(*place.slot));
    Value* value = b.CreateLoad(b.getInt64Ty(), address);
    Value* most = f_.emit(size.equation);
    Value* known = b.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, f_.i64(0)), most);
    f_.when(b.CreateICmpNE(value, known), [&] { f_.check_failed(decision.check, value); });
    b.CreateStore(known, size_address(decision));
    notify_word(word(decision.word, f_.i64(0)), size_target());
  }

  void know(const plan::SizeDecision& decision) {
    auto& b = f_.b;
    wait_for(word(decision.word, f_.i64(0)), f_.i64(1), size_target());
    const graph::Size& size = p_.graph->sizes[decision.size];
    f_.bind(size.var, b.CreateLoad(b.getInt64Ty(), size_address(decision), size.name), 0,
            Dim(size.var) + Dim(1));
  }

  void notify_word(Value* at, Value* epoch) {
    auto& b = f_.b;
    auto* store = f_.device("axon_event_notify", b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt32Ty()});
    b.CreateCall(store, {f_.context(), at, epoch});
  }

  /// services->debug(context, number); such launches have one worker.
  void call_debug(uint32_t number) {
    auto& b = f_.b;
    Value* services = f_.context_field(ContextType::services, b.getPtrTy());
    constexpr uint64_t debug_field = offsetof(axon_services, debug) / sizeof(void*);
    Value* function = b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), services, debug_field));
    auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt32Ty()}, false);
    b.CreateCall(type, function, {f_.context(), b.getInt32(number)});
  }

  void emit_segment(const plan::Segment& segment) {
    auto& b = f_.b;
    const auto& type = p_.types[segment.type];
    std::vector<Dim> extents;
    for (const auto& c : type.coordinates) extents.push_back(c.extent);
    Value* tasks = f_.emit(product(extents));
    Value* first = b.CreateUDiv(b.CreateNUWMul(tasks, worker_), workers_);
    Value* end = b.CreateUDiv(b.CreateNUWMul(tasks, b.CreateAdd(worker_, f_.i64(1))), workers_);
    const Axis number{shape::fresh_var("task"), product(extents)};
    f_.loop(
        number, first, end, LoopKind::plain,
        [&] {
          Value* task = f_.find(number.var)->value;
          bind_coordinates(type, task);
          emit_waits(segment.per_task);
          call_task(segment.type, task_functions_);
          notify(segment.type, task);
          for (uint32_t d : segment.decides) publish(v_.decisions[d], type);
          for (uint32_t number : segment.settles) settle(v_.sizes[number]);
        },
        [&] {
          ask_ahead(segment, first);
          emit_waits(segment.hoisted);
        });
    if (segment.barrier_after) wait_for_all(segment.type);
  }

  void bind_coordinates(const task::TaskType& type, Value* task) {
    auto& b = f_.b;
    for (size_t c = type.coordinates.size(); c-- > 0;) {
      const auto& coordinate = type.coordinates[c];
      Value* extent = f_.emit(coordinate.extent);
      f_.bind(coordinate.var, c == 0 ? task : b.CreateURem(task, extent), INT32_MAX, coordinate.extent);
      if (c > 0) task = b.CreateUDiv(task, extent);
    }
  }

  /// Before the first waits of a worker's tasks, the memory system is idle: its first weights may come
  /// already.
  void ask_ahead(const plan::Segment& segment, Value* first) {
    if (segment.hoisted.empty() || !ahead_functions_[segment.type.index]) return;
    f_.when(several_, [&] {
      bind_coordinates(p_.types[segment.type], first);
      call_task(segment.type, ahead_functions_);
    });
  }

  void call_task(task::TaskTypeId id, const std::vector<llvm::Function*>& functions) {
    const auto& type = p_.types[id];
    std::vector<Value*> args{f_.context(), scratch_};
    for (task::LoopId l : type.loops) args.push_back(f_.find(p_.loops[l].index)->value);
    for (const auto& c : type.coordinates) args.push_back(f_.find(c.var)->value);
    for (Var steps : steps_read(p_, type)) args.push_back(f_.find(steps)->value);
    f_.b.CreateCall(functions[id.index], args);
  }

  // ---- events ----

  /// epoch + iteration + 1, iterations counted row-major over the loops around a type; from a nested loop
  /// with a condition on, over all of its runs.
  Value* target_epoch(const task::TaskType& producer, const std::vector<Dim>& iteration,
                      const std::optional<task::Lag>& lag = std::nullopt) {
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
      const bool this_run = is_this_run(lag, l);
      runs = this_run ? counts->second.before : steps_until(counts->second, producer, *lag);
      number = this_run ? iteration[l] : Dim(-1);
    }
    Value* of_run = f_.emit(number + Dim(1));
    return at_epoch(runs ? f_.b.CreateAdd(runs, of_run) : of_run);
  }

  /// Does the waiting task stand in the same run of the producer's loop number `l`?
  static bool is_this_run(const std::optional<task::Lag>& lag, size_t l) {
    return !lag || l < lag->level || (l == lag->level && lag->distance > 0);
  }

  /// Steps of the runs of a nested loop whose last iteration is waited for; null when there is no such loop.
  Value* runs_waited_for(const task::TaskType& producer, const std::optional<task::Lag>& lag) {
    Value* steps = nullptr;
    for (size_t l = 0; l < producer.loops.size(); ++l)
      if (const auto counts = counts_.find(producer.loops[l]);
          counts != counts_.end() && counts->second.steps && !is_this_run(lag, l))
        steps = steps_until(counts->second, producer, *lag);
    return steps;
  }

  /// Steps of all runs up to the iteration that the lag is about.
  Value* steps_until(const Counts& counts, const task::TaskType& producer, const task::Lag& lag) {
    if (lag.distance == 0) return load(counts.steps);
    return load(counts.history.at(producer.loops[lag.level])[static_cast<size_t>(lag.distance) - 1]);
  }

  std::vector<Dim> current_iteration(const task::TaskType& type) const {
    std::vector<Dim> iteration;
    for (task::LoopId l : type.loops) iteration.push_back(Dim(p_.loops[l].index));
    return iteration;
  }

  Value* word(uint32_t event, Value* task) {
    auto& b = f_.b;
    Value* offsets = f_.context_field(ContextType::event_offset, b.getPtrTy());
    Value* base = b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt64Ty(), offsets, event));
    return b.CreateGEP(b.getInt32Ty(), f_.context_field(ContextType::events, b.getPtrTy()),
                       b.CreateAdd(base, task));
  }

  void notify(task::TaskTypeId id, Value* task) {
    for (uint32_t e = 0; e < p_.events.size(); ++e) {
      if (p_.events[task::EventId{e}].producer != id) continue;
      f_.when(several_, [&] {
        const auto& type = p_.types[id];
        notify_word(word(e, task), target_epoch(type, current_iteration(type)));
      });
    }
  }

  void emit_waits(const std::vector<uint32_t>& waits) {
    for (uint32_t w : waits) {
      const task::Wait& wait = p_.waits[w];
      Value* needed = several_;
      const auto lag = task::lag_of(p_, wait);
      for (const Fact& fact : wait.guard) needed = f_.b.CreateAnd(needed, f_.emit(fact));
      if (Value* runs = runs_waited_for(p_.types[p_.events[wait.event].producer], lag))
        needed = f_.b.CreateAnd(needed, f_.b.CreateICmpNE(runs, f_.i64(0)));  // else all were empty
      f_.when(needed, [&] { emit_wait(wait.event, wait.box, wait.iteration, lag); });
    }
  }

  /// Waits for the words of the producers in a box. Kept coordinates run over [first, last], all others over
  /// everything; the innermost ranges whose followers are complete make one run of consecutive words.
  void emit_wait(task::EventId id, const std::vector<task::Wait::Range>& box,
                 const std::vector<Dim>& iteration, const std::optional<task::Lag>& lag = std::nullopt) {
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
    Value* target = target_epoch(producer, iteration, lag);
    wait_over(id, producer, ranges, 0, run, Dim(), words, target);
  }

  void wait_over(task::EventId id, const task::TaskType& producer,
                 const std::vector<task::Wait::Range>& ranges, size_t c, size_t run, const Dim& task,
                 const Dim& words, Value* target) {
    if (c + 1 < run) {
      const Axis axis{shape::fresh_var("producer"), producer.coordinates[c].extent};
      Value* end = f_.emit(ranges[c].last + Dim(1));
      f_.loop(axis, f_.emit(ranges[c].first), end, LoopKind::plain, [&] {
        wait_over(id, producer, ranges, c + 1, run,
                  (task + Dim(axis.var)) * producer.coordinates[c + 1].extent, words, target);
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
  void wait_for(Value* at, Value* count, Value* target) {
    auto& b = f_.b;
    auto* wait = f_.device("axon_event_wait_run", b.getInt1Ty(),
                           {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(), b.getInt32Ty()});
    wait->addRetAttr(llvm::Attribute::ZExt);
    Value* reached = b.CreateCall(wait, {f_.context(), at, count, target});
    auto* go_on = llvm::BasicBlock::Create(b.getContext(), "reached", f_.function);
    b.CreateCondBr(reached, go_on, leave_);
    b.SetInsertPoint(go_on);
  }

  void wait_for_all(task::TaskTypeId id) {
    for (uint32_t e = 0; e < p_.events.size(); ++e) {
      const auto& event = p_.events[task::EventId{e}];
      if (event.producer != id) continue;
      std::vector<task::Wait::Range> box;
      for (const Dim& extent : event.shape) box.push_back({Dim(0), extent - Dim(1)});
      f_.when(several_, [&] { emit_wait(task::EventId{e}, box, current_iteration(p_.types[id])); });
      return;
    }
  }

  llvm::Module& module_;
  const plan::Variant& v_;
  const task::Program& p_;
  const target::Level& level_;
  std::vector<llvm::Function*> task_functions_,
      ahead_functions_;  ///< the latter null where there is nothing to ask for
  std::map<LoopId, Counts> counts_;
  Frame f_;
  Value *workers_ = nullptr, *worker_ = nullptr, *several_ = nullptr, *epoch_ = nullptr, *scratch_ = nullptr;
  llvm::BasicBlock* leave_ = nullptr;  ///< where a cancelled wait goes
};

}  // namespace

void emit_variant(llvm::Module& m, const plan::Variant& v, const target::Level& level,
                  const EmitOptions& options) {
  KernelEmitter(m, v, std::make_shared<Graph>(*v.program.graph), level, options).run();
}

shape::Dim scratch_bytes(const plan::Variant& v, const EmitOptions& options) {
  auto graph = std::make_shared<Graph>(*v.program.graph);
  Dim most;
  for (const auto& type : v.program.types)
    most = shape::max(most, make_body(v.program, type, graph, options).scratch_bytes);
  return most;
}

}  // namespace axon::module
