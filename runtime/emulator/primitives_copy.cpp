// See semantics.h: `cp.async`. Accesses are checked when a copy is issued, and its bytes move later.
#include <fmt/format.h>

#include <algorithm>

#include "emulator/engine.h"
#include "emulator/semantics.h"

namespace axon::emulator {

void copy_async(const Call& call) {
  Engine& engine = call.engine;
  const auto bytes = static_cast<uint32_t>(call.parameter % with_source_size);
  uint32_t source_bytes = bytes;
  if (call.parameter >= with_source_size)
    source_bytes = std::min(bytes, static_cast<uint32_t>(call.values[2]));
  if (engine.checks()) {
    Touch touch{.address = call.values[0],
                .bytes = bytes,
                .align = bytes,
                .writes = true,
                .site = call.site,
                .by_copies = true,
                .space = Touch::Space::shared};
    engine.check(call.self, touch);
    touch = {.address = call.values[1],
             .bytes = source_bytes,
             .align = bytes,
             .site = call.site,
             .by_copies = true,
             .space = Touch::Space::global};
    if (source_bytes != 0) engine.check(call.self, touch);
  }
  engine.add_copy(call.self, {.to = reinterpret_cast<void*>(call.values[0]),
                              .from = reinterpret_cast<const void*>(call.values[1]),
                              .bytes = bytes,
                              .source_bytes = source_bytes,
                              .group = call.self.copy_group});
}

void commit_copies(const Call& call) { ++call.self.copy_group; }

void wait_for_copies(const Call& call) {
  const uint64_t committed = call.self.copy_group - 1, missing = call.values[0] & 0xffffffff;
  if (committed > missing) call.engine.finish_copies(call.self, static_cast<uint32_t>(committed - missing));
}

void wait_for_all_copies(const Call& call) {
  call.engine.finish_copies(call.self, call.self.copy_group);
  ++call.self.copy_group;
}

}  // namespace axon::emulator
