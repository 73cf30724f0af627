// The thread that checks, and the lock of what it checks in.
//
// In: files that are open, and that something has changed. Out: what is said of each file, once the texts
// have been the same for a moment. Invariants: whoever holds the lock has the session for itself; the thread
// gives it up, in the middle of a check, to who waits for it; what is published is of the texts as they are.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/interrupt.h"
#include "session/session.h"

namespace axon::lsp {

class Checker : base::Interrupt {
 public:
  /// What is said of a file that was checked. Called by the thread, with the lock.
  using Publish = std::function<void(const std::string& path, const source::Diagnostics& found)>;
  /// Called once all files were checked.
  using Finish = std::function<void()>;

  Checker(session::Session& session, Publish publish, Finish finish);
  ~Checker() override;

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

  /// The files to check, with the lock; the first is checked first.
  void set_files(std::vector<std::string> paths) { files_ = std::move(paths); }
  /// How long texts have to stay the same before they are checked.
  void set_delay(std::chrono::milliseconds delay) { delay_ = delay; }

 private:
  void poll() override;
  void leave(const std::function<void()>& stop) override;
  void enter() override;
  void lock_after_waiters();
  void run();
  void check_all();

  session::Session& session_;
  const Publish publish_;
  const Finish finish_;
  std::vector<std::string> files_;
  std::chrono::milliseconds delay_{100};

  std::mutex session_lock_;
  std::atomic<int> waiting_{0};
  std::atomic<bool> cancelled_{false};
  std::mutex state_lock_;  ///< of what is below
  std::condition_variable changed_;
  bool dirty_ = false, ending_ = false;
  std::function<void()> stop_;
  std::thread thread_;
};

}  // namespace axon::lsp
