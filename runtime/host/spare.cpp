// Spare memory (spare.h). Whoever finds the lock taken does without: so nobody waits, and a child that was
// forked while another thread had it goes on with new memory.
#include "host/spare.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <mutex>

namespace axon::host {
namespace {

constexpr uint32_t most = 256;

struct Spares {
  std::mutex mutex;
  Mapping kept[most];  ///< the oldest first
  uint32_t count = 0;
  uint64_t bytes = 0;

  Mapping remove(uint32_t index) {
    const Mapping removed = kept[index];
    std::move(kept + index + 1, kept + count, kept + index);
    --count;
    bytes -= removed.size;
    return removed;
  }
  void unmap_oldest() {
    const Mapping oldest = remove(0);
    munmap(oldest.data, oldest.size);
  }
};

Spares spares;  // without a destructor: tensors may be let go of until the process ends

}  // namespace

uint64_t spare_limit() {
  static const uint64_t limit = [] {
    const int64_t pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? std::min(spare_bytes, static_cast<uint64_t>(pages * bytes) / 32) : 0;
  }();
  return limit;
}

Mapping take_spare(uint64_t size) {
  const std::unique_lock lock(spares.mutex, std::try_to_lock);
  if (!lock) return {};
  uint32_t best = most;
  for (uint32_t i = 0; i < spares.count; ++i)
    if (spares.kept[i].size >= size && spares.kept[i].size / 2 <= size &&
        (best == most || spares.kept[i].size <= spares.kept[best].size))
      best = i;
  return best == most ? Mapping{} : spares.remove(best);
}

bool keep_spare(Mapping mapping) {
  if (mapping.size > spare_limit()) return false;
  const std::unique_lock lock(spares.mutex, std::try_to_lock);
  if (!lock) return false;
  while (spares.count == most || spares.bytes + mapping.size > spare_limit()) spares.unmap_oldest();
  spares.kept[spares.count++] = mapping;
  spares.bytes += mapping.size;
  return true;
}

bool drop_spares() {
  const std::unique_lock lock(spares.mutex, std::try_to_lock);
  if (!lock || spares.count == 0) return false;
  while (spares.count > 0) spares.unmap_oldest();
  return true;
}

}  // namespace axon::host
