// See checker.h.
#include "lsp/checker.h"

#include <chrono>

namespace axon::lsp {

Checker::Checker(session::Session& session, Publish publish, Finish finish)
    : session_(session),
      publish_(std::move(publish)),
      finish_(std::move(finish)),
      thread_([this] { run(); }) {}

Checker::~Checker() {
  {
    const std::lock_guard state(state_lock_);
    ending_ = true;
    cancelled_ = true;
    if (stop_) stop_();
  }
  changed_.notify_all();
  thread_.join();
}

Checker::Hold::Hold(Checker& checker) : checker_(checker) {
  ++checker_.waiting_;
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
    checker_.cancelled_ = true;
    if (checker_.stop_) checker_.stop_();
  }
  ++checker_.waiting_;
  checker_.session_lock_.lock();
}
Checker::Change::~Change() {
  checker_.session_lock_.unlock();
  {
    const std::lock_guard state(checker_.state_lock_);
    --checker_.waiting_;
    checker_.dirty_ = true;
  }
  checker_.changed_.notify_all();
}

void Checker::poll() {
  if (cancelled_) throw base::Cancelled{};
  if (waiting_ == 0) return;
  session_lock_.unlock();
  lock_after_waiters();
  if (cancelled_) throw base::Cancelled{};
}

/// Takes the session back when nobody waits for it any more.
void Checker::lock_after_waiters() {
  std::unique_lock state(state_lock_);
  changed_.wait(state, [&] { return waiting_ == 0; });
  state.unlock();
  session_lock_.lock();
}

void Checker::leave(const std::function<void()>& stop) {
  {
    const std::lock_guard state(state_lock_);
    stop_ = stop;
    if (cancelled_) stop_();
  }
  session_lock_.unlock();
}

void Checker::enter() {
  {
    const std::lock_guard state(state_lock_);
    stop_ = nullptr;
  }
  lock_after_waiters();
}

void Checker::check_all() {
  const base::Interruptible interruptible(*this);
  for (const std::string& path : files_) {
    poll();
    if (session_.documents().read(path)) publish_(path, session_.check_with_drafts(path));
  }
  finish_();
}

void Checker::run() {
  std::unique_lock state(state_lock_);
  for (;;) {
    changed_.wait(state, [&] { return dirty_ || ending_; });
    while (dirty_ && !ending_) {
      dirty_ = false;
      changed_.wait_for(state, delay_, [&] { return dirty_ || ending_; });
    }
    if (ending_) return;
    cancelled_ = false;
    state.unlock();
    lock_after_waiters();
    try {
      check_all();
    } catch (const base::Cancelled&) {
    }
    session_lock_.unlock();
    state.lock();
  }
}

}  // namespace axon::lsp
