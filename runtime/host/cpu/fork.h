// What a fork of the process must not find half done, and who has to be told of it in the child.
//
// A child has the memory of its parent and none of its other threads: a lock that one of those held is held
// for ever. So forks wait while a NoFork exists, and what the child cannot go on with is given up by the
// listeners before the child does anything else.
#pragma once
#include <mutex>

namespace axon::host {

/// The process is not forked while one exists. For short work only, which takes no other lock of this
/// library.
class NoFork {
 public:
  NoFork();

 private:
  std::lock_guard<std::mutex> lock_;
};

class ForkListener {
 public:
  /// Called in a child, by its only thread. No NoFork exists.
  virtual void forked() = 0;

 protected:
  ForkListener() = default;
  ForkListener(const ForkListener&) = delete;
  ForkListener& operator=(const ForkListener&) = delete;
  ~ForkListener() = default;
};

/// Between these two calls a child tells the listener.
void add_fork_listener(ForkListener*);
void remove_fork_listener(ForkListener*);

}  // namespace axon::host
