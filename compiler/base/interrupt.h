// What others may want of a thread that computes for long: that it stops, or lets them at what it holds.
//
// In: polls, from where work is counted, and stretches outside of all that is shared, such as a question to a
// solver. Out: Cancelled, thrown by a poll. Invariant: where no Interrupt is in force, nothing happens.
#pragma once
#include <cstdint>
#include <functional>

namespace axon::base {

/// The computation is to end, and its result is not wanted. Not an error: who cancelled it knows.
struct Cancelled {};

class Interrupt {
 public:
  virtual ~Interrupt() = default;
  /// Throws Cancelled to end the computation.
  virtual void poll() = 0;
  /// Until enter() the thread touches nothing that others see. `stop` ends that stretch early, from any
  /// thread.
  virtual void leave(const std::function<void()>& stop) = 0;
  virtual void enter() = 0;
};

namespace detail {
inline thread_local Interrupt* interrupt = nullptr;
inline thread_local uint32_t polls = 0;
}  // namespace detail

/// Called often: only each 256th time something is looked at.
inline void poll() {
  if (detail::interrupt && (++detail::polls & 255u) == 0) detail::interrupt->poll();
}

/// While it lives, this thread listens to the interrupt.
class Interruptible {
 public:
  explicit Interruptible(Interrupt& interrupt) : outer_(detail::interrupt) { detail::interrupt = &interrupt; }
  ~Interruptible() { detail::interrupt = outer_; }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  Interrupt* outer_;
};

/// A stretch outside.
class Outside {
 public:
  explicit Outside(const std::function<void()>& stop) : interrupt_(detail::interrupt) {
    if (interrupt_) interrupt_->leave(stop);
  }
  ~Outside() {
    if (interrupt_) interrupt_->enter();
  }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  Interrupt* interrupt_;
};

/// A poll at once, where what came before may have been stopped.
inline void poll_now() {
  if (detail::interrupt) detail::interrupt->poll();
}

}  // namespace axon::base
