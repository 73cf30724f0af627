// One run of a kernel: its threads, and who of them runs.
//
// The hooks of compiled code (hooks.h) come here. Each may hand over to another thread before it does
// anything; then what it checks, and the access behind it, are one step that no other thread sees a part of.
// What makes the rest of a run meaningless ends it at once: the thread is left where it stands, before it
// does what is wrong.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/collectives.h"
#include "emulator/emulator.h"
#include "emulator/events.h"
#include "emulator/findings.h"
#include "emulator/memory.h"
#include "emulator/retarget.h"
#include "emulator/scheduler.h"
#include "emulator/stacks.h"
#include "emulator/synchronisation.h"
#include "emulator/tasks.h"
#include "emulator/thread.h"

namespace axon::emulator {

using Entry = void (*)(const void* const* arguments);

/// An access that a thread is about to make.
struct Touch {
  enum class Space { any, shared, global };
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t align = 1;
  bool writes = false;
  uint32_t site = 0;
  bool by_copies = false;  ///< at some time from now on
  Space space = Space::any;
};

class Engine {
 public:
  /// Memory is arranged. All of these live longer.
  Engine(const Retargeted&, Entry, const Launch&, Memory&, Stacks&);
  Report run();

  /// Of the system thread that runs an engine.
  static Engine& current();
  Thread& self() { return *now_; }

  // What hooks do.
  void access(uint64_t address, uint64_t bytes, uint32_t site);
  void fence(uint32_t site);
  void primitive(uint64_t* values, uint32_t site);
  /// A step of the thread, before which others may run.
  void step();

  // What primitives need.
  /// Others run until someone wakes the thread.
  void block(Thread&);
  void wake(Thread& thread) { scheduler_.add(thread); }
  /// Ends the thread.
  [[noreturn]] void leave(Thread&);
  /// Ends the run.
  [[noreturn]] void fail(Kind, uint32_t site, std::string message);
  /// Goes on with the run, unless there are enough findings.
  void report(Kind, std::string message);
  /// Whether what is found there has not been reported yet, and is now about to be.
  bool is_new(Kind kind, uint32_t site, uint32_t other = 0) {
    return findings_.is_new(kind, code_.sites[site].group, code_.sites[other].group);
  }
  /// Ends the run if an access is not allowed, and looks for races with it.
  void check(const Thread&, const Touch&);
  /// The area of an access, which is allowed; null on the thread's own stack.
  Area* check_place(const Thread&, const Touch&);
  /// Moves the bytes of the copies up to a group, of which the thread knows from now on.
  void finish_copies(Thread&, uint32_t group);
  void add_copy(Thread&, const PendingCopy&);

  bool checks() const { return launch_.options.check; }
  const Launch& launch() const { return launch_; }
  const Site& site(uint32_t number) const { return code_.sites[number]; }
  const std::vector<Thread>& threads() const { return threads_; }
  Memory& memory() { return memory_; }
  Collectives& collectives() { return collectives_; }
  Events& events() { return events_; }
  Tasks& tasks() { return tasks_; }
  /// "task matmul 3, block 1, warp 0, lane 5".
  std::string describe(const Thread&) const;

 private:
  static void start(boost::context::detail::transfer_t);
  static void jump(Fiber& from, Fiber& to);
  void yield(Thread&);
  [[noreturn]] void stop();
  void note(const Thread&, Area&, const Touch&);
  void report_race(const Thread&, const Touch&, const Access& before);
  std::string describe(const Access&) const;
  /// "block 1, warp 0, lane 5 writes 4 bytes at offset 8 of x".
  std::string describe(const Thread&, const Touch&);
  void move_some_copies();

  const Retargeted& code_;
  Entry entry_;
  const Launch& launch_;
  Memory& memory_;
  std::vector<Thread> threads_;
  Scheduler scheduler_;
  Findings findings_;
  Tasks tasks_;
  Collectives collectives_;
  Events events_;
  Synchronisation synchronisation_;
  Fiber main_;
  Thread* now_ = nullptr;
  size_t running_ = 0;  ///< threads that have not left
  std::vector<Thread*> copying_;
  uint32_t copy_delay_;  ///< 0: at once, the greatest: when waited for
  int64_t steps_ = 0, primitives_ = 0, switches_ = 0;
};

/// What no thread of a run goes on from, as findings.
std::vector<Finding> explain_standstill(Engine&);

}  // namespace axon::emulator
