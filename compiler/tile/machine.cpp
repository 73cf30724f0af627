// See machine.h.
#include "tile/machine.h"

namespace axon::tile {

constexpr int64_t scratch_of_a_cpu = 2 * 1024 * 1024;

std::optional<Machine> find_machine(std::string_view name) {
#define MACHINE(suffix, level, vector_bytes, registers, halves, streams, ahead, ahead_of_rows)    \
  if (name == level)                                                                              \
    return Machine{level, true,         1, 1, registers, vector_bytes, scratch_of_a_cpu, streams, \
                   ahead, ahead_of_rows};
#define GPU(gpu, ptx, lanes, warps, registers, scratch) \
  if (name == gpu) return Machine{gpu, true, lanes, warps, registers, 4, scratch};
#include "device/machines.def"
  return std::nullopt;
}

}  // namespace axon::tile
