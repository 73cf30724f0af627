// When a kernel runs which tasks: what a traced one notes (runtime/host/trace.h).
//
// In: the segments of a kernel as they are emitted. Out: calls of the host's clock before tasks and of its
// notes behind them. Between the two no worker waits: where the tasks of a segment wait one by one, or
// publish what others wait for, each is noted, else a worker's share of the segment as a whole, which costs
// two looks at the clock. A kernel that is not traced gets no code of it.
#pragma once
#include "module/frame.h"
#include "plan/plan.h"

namespace axon::module {

class Tracing {
 public:
  enum class Grain : uint8_t { nothing, task, share };

  /// Of the kernel that the frame is of.
  Tracing(Frame& frame, bool traced) : f_(frame), traced_(traced) {}

  Grain grain_of(const plan::Segment&) const;
  void begin();
  /// Tasks `first` to `end` of the type end here, if there are any.
  void end(task::TaskTypeId, llvm::Value* first, llvm::Value* end);

 private:
  Frame& f_;
  const bool traced_;
  llvm::AllocaInst* begun_ = nullptr;  ///< what the clock showed
};

}  // namespace axon::module
