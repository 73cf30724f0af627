// See checker.h.
#include "lsp/checker.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace axon::lsp {

Checker::Checker(Tasks tasks) : tasks_(std::move(tasks)), thread_([this] { run(); }) {}

void Checker::end() {
  {
    const std::lock_guard state(state_lock_);
    ending_ = true;
    cancelled_ = true;
    if (stop_) stop_();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  for (const Job& job : std::exchange(jobs_, {})) job.drop();
}

Checker::Hold::Hold(Checker& checker) : checker_(checker) {
  {
    const std::lock_guard state(checker_.state_lock_);
    ++checker_.waiting_;
    if (checker_.stop_ && checker_.stops_for_waiters_) checker_.stop_();
  }
  checker_.session_lock_.lock();
}
Checker::Hold::~Hold() {
  checker_.session_lock_.unlock();
  {
    const std::lock_guard state(checker_.state_lock_);
    --checker_.waiting_;
  }
  checker_.changed_.notify_all();
}

Checker::Change::Change(Checker& checker) : checker_(checker) {
  {
    const std::lock_guard state(checker_.state_lock_);
    ++checker_.waiting_;
    checker_.cancelled_ = true;
    if (checker_.stop_) checker_.stop_();
  }
  checker_.session_lock_.lock();
  checker_.tasks_.outdate();
}
Checker::Change::~Change() {
  {  // before the session is given back: whoever has it next sees that it was changed
    const std::lock_guard state(checker_.state_lock_);
    checker_.dirty_ = true;
  }
  checker_.session_lock_.unlock();
  {
    const std::lock_guard state(checker_.state_lock_);
    --checker_.waiting_;
  }
  checker_.changed_.notify_all();
}

void Checker::set_delay(std::chrono::milliseconds delay) {
  const std::lock_guard state(state_lock_);
  delay_ = delay;
}

void Checker::add(Job job) {
  {
    const std::lock_guard state(state_lock_);
    early_jobs_waiting_ += job.before_check ? 1 : 0;
    ++jobs_waiting_;
    jobs_.push_back(std::move(job));
    if (stop_ && is_jobs_turn()) stop_();
  }
  changed_.notify_all();
}

// ---- Of the thread.

/// Whether what runs is to end, and not to be done over.
bool Checker::is_ended() const { return cancelled_ || is_jobs_turn(); }

/// Whether a job waits that comes before what runs.
bool Checker::is_jobs_turn() const {
  return (looks_ahead_ && jobs_waiting_ != 0) || (checks_ && early_jobs_waiting_ != 0);
}

void Checker::poll() {
  if (is_ended()) throw base::Cancelled{};
  if (waiting_ == 0 || outside_ != 0) return;
  if (exclusive_) throw base::Cancelled{};
  let_waiters_in();
  if (is_ended()) throw base::Cancelled{};
}

/// Takes the session when nobody waits for it any more.
void Checker::lock_after_waiters() {
  std::unique_lock state(state_lock_);
  changed_.wait(state, [&] { return waiting_ == 0; });
  state.unlock();
  session_lock_.lock();
}

void Checker::let_waiters_in() {
  session_lock_.unlock();
  lock_after_waiters();
}

void Checker::leave(const std::function<void()>& stop) {
  {
    const std::lock_guard state(state_lock_);
    stop_ = stop;
    stops_for_waiters_ = exclusive_;
    if (is_ended() || (exclusive_ && waiting_ != 0)) stop_();
  }
  if (outside_++ == 0 && !exclusive_) session_lock_.unlock();
}

void Checker::enter() {
  {
    const std::lock_guard state(state_lock_);
    stop_ = nullptr;
  }
  if (--outside_ == 0 && !exclusive_) lock_after_waiters();
}

void Checker::exclusively(const std::function<void()>& step) {
  for (;;) {
    exclusive_ = true;
    try {
      step();
      exclusive_ = false;
      return;
    } catch (const base::Cancelled&) {
      exclusive_ = false;
    } catch (...) {
      exclusive_ = false;
      throw;
    }
    if (is_ended()) throw base::Cancelled{};
    let_waiters_in();
    if (is_ended()) throw base::Cancelled{};
  }
}

/// False where it was ended, or a bug ended it.
bool Checker::attempt(const std::function<void()>& task) {
  try {
    task();
    return true;
  } catch (const base::Cancelled&) {
  } catch (const std::exception& bug) {
    tasks_.fail(bug.what());
  }
  return false;
}

void Checker::do_stage(const Job* job) {
  const base::Interruptible interruptible(*this);
  if (job) {
    if (!attempt(job->run)) job->drop();
    return;
  }
  if (stage_ == Stage::look_ahead) {
    if (attempt(tasks_.look_ahead) || !is_ended()) stage_ = Stage::nothing;
    return;
  }
  for (const std::string& path : std::vector(files_)) {
    attempt([&] {
      poll();
      tasks_.check(path);
    });
    if (is_ended()) return;
  }
  attempt(tasks_.finish);
  if (!is_ended()) stage_ = Stage::look_ahead;
}

/// Until there is something to do, and texts have been the same for a moment or a job waits for their check;
/// false at the end.
bool Checker::wait_for_work() {
  std::unique_lock state(state_lock_);
  changed_.wait(state, [&] { return dirty_ || ending_ || stage_ != Stage::nothing || !jobs_.empty(); });
  while (dirty_ && !ending_) {
    dirty_ = false;
    stage_ = Stage::check;
    changed_.wait_for(state, delay_, [&] { return dirty_ || ending_ || !jobs_.empty(); });
  }
  cancelled_ = ending_;
  return !ending_;
}

/// The job that is next, if one is; false where another change has come.
bool Checker::take(std::optional<Job>& job) {
  const std::lock_guard state(state_lock_);
  if (dirty_) return false;
  const auto next = std::find_if(jobs_.begin(), jobs_.end(),
                                 [&](const Job& one) { return one.before_check || stage_ != Stage::check; });
  if (next != jobs_.end()) {
    --jobs_waiting_;
    early_jobs_waiting_ -= next->before_check ? 1 : 0;
    job = std::move(*next);
    jobs_.erase(next);
  }
  looks_ahead_ = !job && stage_ == Stage::look_ahead;
  checks_ = !job && stage_ == Stage::check;
  return true;
}

/// Who types comes before what is checked, where there is no processor for each.
static void step_back() {
  constexpr int niceness = 5;
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness);
}

void Checker::run() {
  step_back();
  while (wait_for_work()) {
    lock_after_waiters();
    std::optional<Job> job;
    if (take(job)) do_stage(job ? &*job : nullptr);
    session_lock_.unlock();
    const std::lock_guard state(state_lock_);
    looks_ahead_ = checks_ = false;
  }
}

}  // namespace axon::lsp
