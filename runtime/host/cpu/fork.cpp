// Forks (fork.h), by pthread_atfork.
#include "host/cpu/fork.h"

#include <pthread.h>

#include <vector>

namespace axon::host {
namespace {

/// Never destroyed, since a process may fork while it ends.
struct Forks {
  std::mutex mutex;  ///< held by whoever forks, from before the copy until after it
  std::vector<ForkListener*> listeners;
};

Forks& forks() {
  static Forks* const forks = [] {
    static auto* const out = new Forks;
    pthread_atfork([] { out->mutex.lock(); }, [] { out->mutex.unlock(); },
                   [] {
                     for (ForkListener* const listener : out->listeners) listener->forked();
                     out->mutex.unlock();
                   });
    return out;
  }();
  return *forks;
}

}  // namespace

NoFork::NoFork() : lock_(forks().mutex) {}

void add_fork_listener(ForkListener* listener) {
  const NoFork whole;
  forks().listeners.push_back(listener);
}

void remove_fork_listener(ForkListener* listener) {
  const NoFork whole;
  std::erase(forks().listeners, listener);
}

}  // namespace axon::host
