// See events.h.
#include "emulator/events.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/engine.h"

namespace axon::emulator {

Events::Word& Events::word(Thread& self, const uint32_t* address, bool writes, uint32_t site) {
  const auto [at, is_new] = words_.try_emplace(address);
  const auto bits = reinterpret_cast<uint64_t>(address);
  if (!engine_.checks()) return at->second;
  Area* area =
      engine_.check_place(self, {.address = bits, .bytes = sizeof(uint32_t), .writes = writes, .site = site});
  if (bits % sizeof(uint32_t) != 0)
    engine_.fail(
        Kind::misaligned, site,
        fmt::format("{}: an event word at {}", engine_.describe(self), engine_.memory().describe(bits)));
  if (is_new && area != nullptr && area->accesses &&
      !area->accesses->make_event(bits - (area->base & ~uint64_t{3})) && engine_.is_new(Kind::event, site))
    engine_.report(Kind::event, fmt::format("{}: {} is an event word, and was accessed as data ({})",
                                            engine_.describe(self), engine_.memory().describe(bits),
                                            engine_.site(site).place));
  return at->second;
}

void Events::wait(Thread& self, const uint32_t* address, uint32_t target, uint32_t site) {
  Word& waited = word(self, address, /*writes=*/false, site);
  while (!reached(*address, target)) {
    self.waiting = {.what = Waiting::For::event, .site = site, .word = address, .target = target};
    waited.waiting.push_back(&self);
    engine_.block(self);
  }
  self.waiting = {};
  const auto first = std::partition_point(waited.values.begin(), waited.values.end(),
                                          [&](const Value& value) { return !reached(value.epoch, target); });
  if (first != waited.values.end()) self.knows.join(first->told);
}

void Events::notify(Thread& self, uint32_t* address, uint32_t epoch, uint32_t site) {
  Word& told = word(self, address, /*writes=*/true, site);
  if (!reached(epoch, *address) && engine_.is_new(Kind::event, site))
    engine_.report(Kind::event,
                   fmt::format("{}: event word {} goes back from {} to {} ({})", engine_.describe(self),
                               engine_.memory().describe(reinterpret_cast<uint64_t>(address)), *address,
                               epoch, engine_.site(site).place));
  *address = epoch;
  told.values.push_back({epoch, self.tell()});
  for (Thread* thread : told.waiting) engine_.wake(*thread);
  told.waiting.clear();
}

}  // namespace axon::emulator
