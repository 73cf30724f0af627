// Machine descriptions as data (device/machines.def). Machines fall into classes: what a program is down to
// its tasks, events, proofs and the places of its weights is made once for a class, code once for each
// machine. A native bundle holds one image per machine; the loader takes the best that the processor at hand
// can run.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace axon::target {

/// What machines have in common.
struct Class {
  std::string_view name;
  int64_t panel_columns;  ///< of a weight that contractions stream: they lie next to each other for each k
};

struct Machine {
  std::string_view name;    ///< of the bundle's section, and of the processor for the code generator
  std::string_view suffix;  ///< of device functions made for it: "v4"
  int vector_bytes;
  int registers;          ///< vectors that code can name
  bool half_conversions;  ///< f16 <-> f32 are instructions
};

/// The class of every CPU.
const Class& x86_64();
/// Its machines, from the least to the most capable.
const std::vector<Machine>& machines();
std::optional<Machine> find_machine(std::string_view name);
/// The best that the processor at hand runs.
const Machine& native_machine();

}  // namespace axon::target
