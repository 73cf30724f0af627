// Anonymous mappings (memory.h).
#include "host/memory.h"

#include <sys/mman.h>

#include "host/spare.h"

namespace axon::host {
namespace {

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

void* map(uint64_t bytes) {
  if (bytes >= huge_page) return map_aligned(bytes);
  void* const raw = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return raw == MAP_FAILED ? nullptr : raw;
}

/// What a mapping of so many bytes has.
uint64_t mapped_size(uint64_t bytes) { return round_up(bytes, bytes >= huge_page ? huge_page : 4096); }

}  // namespace

Memory::~Memory() {
  if (data_ && !(is_result_ && keep_spare({data_, size_}))) munmap(data_, size_);
}

std::optional<Memory> Memory::allocate(uint64_t bytes) {
  Memory out;
  if (bytes == 0) return out;
  if (bytes > uint64_t{1} << 62) return std::nullopt;
  out.size_ = mapped_size(bytes);
  out.data_ = map(out.size_);
  if (!out.data_ && drop_spares()) out.data_ = map(out.size_);
  if (!out.data_) return std::nullopt;
  return out;
}

std::optional<Memory> Memory::allocate_result(uint64_t bytes) {
  if (bytes == 0 || bytes > spare_limit()) return allocate(bytes);
  const Mapping spare = take_spare(mapped_size(bytes));
  auto out = spare.data ? std::optional<Memory>(std::in_place) : allocate(bytes);
  if (spare.data) {
    out->data_ = spare.data;
    out->size_ = spare.size;
  }
  if (out) out->is_result_ = true;
  return out;
}

}  // namespace axon::host
