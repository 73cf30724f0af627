// The kernel of one plan variant: (context, worker) that walks the plan's steps. Its parts are from_plan.cpp
// (steps and tasks), events.cpp (waits and notifications), data_dependent.cpp (exit conditions, sizes) and
// alone.cpp (one task type without all others).
//
// A launch with one worker skips every wait and notification: its own order is the program's.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "module/from_plan.h"
#include "module/tracing.h"
#include "task/happens_before.h"

namespace axon::module {

class KernelEmitter {
 public:
  /// `symbol` becomes the name of what is emitted; one call of run() or of run_alone().
  KernelEmitter(llvm::Module&, const plan::Variant&, const Graph&, const TaskFunctions&,
                const target::Machine&, const std::string& symbol, bool traced);
  void run();
  /// Instead: the function that runs the tasks of one type alone (plan::kernel_symbol).
  void run_alone(task::TaskTypeId);

 private:
  using Value = llvm::Value;
  using LoopId = task::LoopId;

  /// Of a loop with a condition; of one that is nested, what its runs so far add up to.
  struct Counts {
    llvm::AllocaInst *steps = nullptr, *runs = nullptr;
    Value* before = nullptr;  ///< steps of the runs before the one that is being emitted
    /// Per loop around: `steps` at the start of its current iteration, of the one before, ...
    std::map<LoopId, std::vector<llvm::AllocaInst*>> history;
  };

  // from_plan.cpp
  static llvm::Function* declare(llvm::Module& m, const std::string& symbol, const target::Machine&);
  void begin();
  void begin_on_gpu();
  void walk(const std::vector<plan::Step>& steps);
  void emit_loop(const plan::Step& step);
  void call_debug(uint32_t number);
  void emit_segment(const plan::Segment& segment);
  std::pair<Value*, Value*> each_task(const plan::Segment& segment,
                                      const std::function<void(Value* task)>& body,
                                      const std::function<void(Value* first)>& prepare);
  void bind_coordinates(const plan::Segment& segment, Value* task);
  Value* folded(Value* position, const Dim& extent);
  static Dim number_in_grid(const task::TaskType& type);
  void ask_ahead(const plan::Segment& segment, Value* first);
  void name_task(task::TaskTypeId id, Value* task);
  void call_task(task::TaskTypeId id, const std::vector<llvm::Function*>& functions);

  // alone.cpp
  const plan::Segment* segment_of(task::TaskTypeId, const std::vector<plan::Step>&) const;

  // events.cpp
  Value* at_epoch(Value* number);
  void notify_word(Value* at, Value* epoch);
  Value* target_epoch(const task::TaskType& producer, const std::vector<Dim>& iteration,
                      const std::optional<task::Distance>& distance = std::nullopt);
  Value* runs_waited_for(const task::TaskType& producer, const std::optional<task::Distance>& distance);
  Value* steps_until(const Counts& counts, const task::TaskType& producer, const task::Distance& distance);
  std::vector<Dim> current_iteration(const task::TaskType& type) const;
  Value* word(uint32_t event, Value* task);
  void notify(task::TaskTypeId id, Value* task);
  void emit_waits(const std::vector<uint32_t>& waits);
  void emit_wait(task::EventId id, const std::vector<task::Wait::Range>& box,
                 const std::vector<Dim>& iteration,
                 const std::optional<task::Distance>& distance = std::nullopt);
  void wait_over(task::EventId id, const task::TaskType& producer,
                 const std::vector<task::Wait::Range>& ranges, size_t c, size_t run, const Dim& task,
                 const Dim& words, Value* target);
  void wait_for(Value* at, Value* count, Value* target);
  void wait_for_all(task::TaskTypeId id);

  // data_dependent.cpp
  Value* load(llvm::AllocaInst* variable);
  llvm::AllocaInst* counter(const std::string& name);
  void begin_counts();
  void remember_counts(LoopId loop);
  void leave_run(const plan::ExitCondition& exit);
  Value* number_of(const plan::ExitCondition& exit, Value* iteration);
  Value* stop_word(const plan::ExitCondition& exit, Value* iteration);
  Value* goes_on(const plan::ExitCondition& exit, Value* iteration);
  void publish_exit(const plan::ExitCondition& exit, const task::TaskType& type);
  void await_all_left(const plan::ExitCondition& exit);
  Value* size_address(const plan::DataSize& data_size);
  Value* size_target();
  void publish_size(const plan::DataSize& data_size);
  void await_size(const plan::DataSize& data_size);
  void bind_size(const plan::DataSize& data_size);

  const plan::Variant& v_;
  const task::Program& p_;
  const TaskFunctions& tasks_;
  std::map<LoopId, Counts> counts_;
  Frame f_;
  Tracing tracing_;
  Value *workers_ = nullptr, *worker_ = nullptr, *several_ = nullptr, *epoch_ = nullptr, *scratch_ = nullptr;
  llvm::BasicBlock* leave_ = nullptr;  ///< where a cancelled wait goes
};

}  // namespace axon::module
