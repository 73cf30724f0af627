// Anonymous mappings (memory.h).
#include "host/memory.h"

#include <sys/mman.h>

namespace axon::host {
namespace {

constexpr uint64_t huge_page = 2u << 20;

/// Maps `bytes`, aligned to a huge page: maps more and gives back the ends.
void* map_aligned(uint64_t bytes) {
  void* const raw =
      mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(raw);
  const uintptr_t aligned = round_up(begin, huge_page);
  if (aligned > begin) munmap(raw, aligned - begin);
  const uint64_t tail = begin + huge_page - aligned;
  if (tail > 0) munmap(reinterpret_cast<void*>(aligned + bytes), tail);
  madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(aligned);
}

}  // namespace

Memory::~Memory() {
  if (data_) munmap(data_, size_);
}

std::optional<Memory> Memory::allocate(uint64_t bytes) {
  Memory out;
  if (bytes == 0) return out;
  if (bytes > uint64_t{1} << 62) return std::nullopt;
  out.size_ = round_up(bytes, bytes >= huge_page ? huge_page : 4096);
  if (bytes >= huge_page) {
    out.data_ = map_aligned(out.size_);
  } else {
    void* const raw = mmap(nullptr, out.size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    out.data_ = raw == MAP_FAILED ? nullptr : raw;
  }
  if (!out.data_) return std::nullopt;
  return out;
}

}  // namespace axon::host
