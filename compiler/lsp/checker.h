// The thread that checks, and the lock of what it checks in.
//
// In: that something has changed, and work that has to wait for the check. Out: calls of its tasks: each file
// that is open, once the texts have been the same for a moment; then what waits for that; then what may take
// long. Invariants: whoever holds the lock has the session for itself; the thread gives it up, in the middle
// of a check, to who waits for it; a change ends what the thread does.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/interrupt.h"

namespace axon::lsp {

class Checker : base::Interrupt {
 public:
  /// What the thread does, with the lock.
  struct Tasks {
    std::function<void(const std::string& path)> check;  ///< one file
    std::function<void()> finish;                        ///< once all were
    std::function<void()> look_ahead;                    ///< when nothing else is to be done
    std::function<void(const std::string& what)> fail;   ///< a bug ended one of them
    std::function<void()> outdate;  ///< a text changes; of the thread that changes it, with the lock
  };
  explicit Checker(Tasks tasks);
  ~Checker() override { end(); }
  /// Ends what the thread does, and the thread; what still waits is dropped. Until then its tasks may use the
  /// Checker.
  void end();

  /// The session, for who answers a request: a check that runs stands still.
  class Hold {
   public:
    explicit Hold(Checker& checker);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Checker& checker_;
  };
  /// The session, for who changes a text: the check that runs is ended, and begins again later.
  class Change {
   public:
    explicit Change(Checker& checker);
    ~Change();
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

   private:
    Checker& checker_;
  };

  /// What is done once all files are checked or, where it does what it needs itself, before: then it ends
  /// the check that runs, which begins again after it. A change that comes while it runs ends it: then `drop`
  /// is called.
  struct Job {
    std::function<void()> run, drop;
    bool before_check = false;
  };
  void add(Job job);
  /// For a job that leaves the session in another state for a while: who waits for the session ends the step,
  /// which then begins anew.
  void exclusively(const std::function<void()>& step);

  /// The files to check, with the lock; the first is checked first.
  void set_files(std::vector<std::string> paths) { files_ = std::move(paths); }
  /// How long texts have to stay the same before they are checked.
  void set_delay(std::chrono::milliseconds delay);

 private:
  enum class Stage : uint8_t { check, look_ahead, nothing };  ///< what is to be done next
  bool is_ended() const;
  bool is_jobs_turn() const;
  void poll() override;
  void leave(const std::function<void()>& stop) override;
  void enter() override;
  void lock_after_waiters();
  void let_waiters_in();
  void run();
  bool wait_for_work();
  bool take(std::optional<Job>& job);
  void do_stage(const Job* job);
  bool attempt(const std::function<void()>& task);

  const Tasks tasks_;
  std::vector<std::string> files_;

  std::mutex session_lock_;
  std::atomic<int> waiting_{0}, jobs_waiting_{0}, early_jobs_waiting_{0};
  std::atomic<bool> cancelled_{false};
  bool exclusive_ = false;  ///< of the thread itself, as is what is below
  bool looks_ahead_ = false, checks_ = false;
  int outside_ = 0;  ///< how many stretches outside are open: of the graph of an entry, of a question to Z3
  Stage stage_ = Stage::nothing;

  std::mutex state_lock_;  ///< of what is below
  std::condition_variable changed_;
  std::chrono::milliseconds delay_{20};
  bool dirty_ = false, ending_ = false, stops_for_waiters_ = false;
  std::function<void()> stop_;
  std::deque<Job> jobs_;
  std::thread thread_;
};

}  // namespace axon::lsp
