// When a kernel runs which tasks: what a traced one notes (runtime/host/trace.h).
//
// In: the segments and waits of a kernel as they are emitted. Out: notes of runs of tasks. A run is what a
// worker runs of a segment until it has to wait: it begins where the run before it, or a wait, has ended, and
// costs one look at the clock, however many tasks it has. A kernel that is not traced gets no code of it.
#pragma once
#include "module/frame.h"
#include "plan/plan.h"

namespace axon::module {

class Tracing {
 public:
  /// Of the kernel that the frame is of.
  Tracing(Frame& frame, bool traced) : f_(frame), traced_(traced) {}

  bool is_on() const { return traced_; }
  /// A run begins now. At the start of the kernel, and behind each wait.
  void begin();
  /// From here on runs are of this type; `first` is the first task of the worker's share, which is not empty.
  void open(task::TaskTypeId, llvm::Value* first);
  /// The task that comes next, which may have to wait.
  void next(llvm::Value* task);
  /// Before a wait: notes the tasks of the run that is open, if there is one.
  void pause();
  /// Notes the tasks up to `end`: no run is open any more.
  void close(llvm::Value* end);

 private:
  void note(llvm::Value* end);

  Frame& f_;
  const bool traced_;
  llvm::AllocaInst *begun_ = nullptr, *first_ = nullptr;  ///< of the run: when, and its first task
  task::TaskTypeId type_;                                 ///< invalid: no run is open
  llvm::Value* next_ = nullptr;                           ///< null: the share has just begun
};

}  // namespace axon::module
