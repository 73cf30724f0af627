// Everything that the threads of a grid may touch: areas with names, in the order of their addresses.
//
// In: the regions of a launch, the module's variables, and the shared variables of each block, for which
// memory is reserved here, below 2 GB, so that a 32-bit shared address is the address itself. Two areas never
// overlap.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/emulator.h"
#include "emulator/retarget.h"
#include "emulator/shadow.h"

namespace axon::emulator {

struct Area {
  std::string name;
  uint64_t base = 0;
  uint64_t bytes = 0;
  bool writable = false;
  int64_t block = -1;              ///< whose shared memory it is; -1: everybody's
  std::optional<Shadow> accesses;  ///< of what may be written, when accesses are checked

  bool holds(uint64_t address, uint64_t size) const {
    return address >= base && address - base < bytes && size <= bytes - (address - base);
  }
};

class Memory {
 public:
  Memory() = default;
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// False if there is no memory for that; the shared memory of a block has at most `window_bytes`.
  bool reserve_shared(const std::vector<SharedVariable>&, size_t dynamic_bytes, uint32_t blocks);
  void add(std::string name, void* base, size_t bytes, bool writable);
  /// To be called last. The names of two areas that overlap, or nothing.
  std::string arrange(bool check);

  std::byte* window(uint32_t block) const { return windows_ + block * window_bytes; }
  /// The area with this address, of whoever; null where there is none.
  Area* find(uint64_t address);
  /// "offset 12 of x".
  std::string describe(uint64_t address);

  static constexpr size_t window_bytes = 256 << 10;

 private:
  std::byte* windows_ = nullptr;
  size_t reserved_ = 0;
  std::vector<Area> areas_;
  Area* last_ = nullptr;
};

}  // namespace axon::emulator
