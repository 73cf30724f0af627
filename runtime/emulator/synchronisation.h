// What atomic accesses and fences tell, by the rules of C++: a release store tells what the thread knows, a
// relaxed one what it knew at its last release fence; an update adds to what was told. An acquire load learns
// that, and so does an acquire fence of the relaxed loads before it. Scopes are not modelled.
#pragma once
#include <unordered_map>

#include "emulator/site.h"
#include "emulator/thread.h"

namespace axon::emulator {

class Synchronisation {
 public:
  void access(Thread& thread, uint64_t address, const Site& site) {
    Clock& told = told_[address];
    if (site.reads()) (site.acquire ? thread.knows : thread.seen).join(told);
    if (!site.writes()) return;
    if (!site.reads()) told = {};
    told.join(site.release ? thread.tell() : thread.release_fence);
  }
  static void fence(Thread& thread, const Site& site) { fence(thread, site.acquire, site.release); }
  static void fence(Thread& thread, bool acquire, bool release) {
    if (acquire) thread.knows.join(thread.seen);
    if (release) thread.release_fence = thread.tell();
  }

 private:
  std::unordered_map<uint64_t, Clock> told_;
};

}  // namespace axon::emulator
