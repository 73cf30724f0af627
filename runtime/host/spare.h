// Memory of large results that was let go of, kept for the next ones: the system takes longer to map and to
// zero new memory than most programs take to fill it. At most spare_limit() bytes are kept in this process,
// the last that were let go of, and none where the system refuses memory.
#pragma once
#include <cstdint>

namespace axon::host {

constexpr uint64_t spare_bytes = uint64_t{128} << 20;
/// `spare_bytes`, or a 32nd of the machine's memory where that is less.
uint64_t spare_limit();

struct Mapping {
  void* data = nullptr;
  uint64_t size = 0;
};

/// One of at least `size` bytes, with anything in it, and of at most twice as many; {} where there is none.
Mapping take_spare(uint64_t size);
/// False where it is not kept: too large, or another thread is just here.
bool keep_spare(Mapping);
/// Gives all of them back to the system; false where there is none.
bool drop_spares();

}  // namespace axon::host
