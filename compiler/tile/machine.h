// The machine that a tile program is for, as the numbers that its obligations speak of.
//
// In: the name of a row of device/machines.def, or numbers of a machine that has none. Out: a Machine.
// Invariant: nothing in tile/ knows more of a machine than this.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace axon::tile {

struct Machine {
  std::string name;
  bool listed = false;         ///< a row of machines.def: its name says its numbers
  int64_t lanes = 1;           ///< threads of a warp, which run in step
  int64_t warps = 1;           ///< of a worker
  int64_t registers = 0;       ///< that each thread can name
  int64_t register_bytes = 0;  ///< of one
  int64_t scratch = 0;         ///< bytes that all threads of a worker share
  int64_t streams = 1;         ///< places from which memory is read at once where it is read once
  int64_t ahead = 0;           ///< bytes from its use to what is asked for then, for one row; 0: nothing is
  int64_t ahead_of_rows = 0;   ///< the same for few rows
  int64_t threads() const { return lanes * warps; }
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// A CPU: one thread, whose scratch stays in its second cache. A GPU: a block of threads.
std::optional<Machine> find_machine(std::string_view name);

}  // namespace axon::tile
