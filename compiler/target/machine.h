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

inline constexpr int64_t bytes_of_cache_line = 64;  ///< of every x86-64 processor

/// What machines have in common.
struct Class {
  std::string_view name;
  int64_t panel_columns;  ///< of a weight that contractions stream: they lie next to each other for each k
  int64_t points;         ///< elements of a pointwise task
  int64_t line;           ///< of these at most, where there is one axis
  int64_t row;            ///< of these at most along the last of several axes
  int64_t rows, columns;  ///< of a task that multiplies matrices
  int64_t whole_rows;     ///< that a task writes along with what it reduces of them
  int64_t reduced;        ///< elements that a task reduces at least, where the length of rows is known
  int64_t runs;           ///< rows of a task that may each have a right operand of its own
  int64_t targets;        ///< elements of a task that scatters
};

struct Machine {
  std::string_view name;    ///< of the bundle's section, and of the processor for the code generator
  std::string_view suffix;  ///< of device functions made for it: "v4"
  int vector_bytes;         ///< of a register; of a GPU those that a thread loads at once
  int registers;            ///< that code can name
  bool half_conversions;    ///< f16 <-> f32 are instructions
  // Of a GPU:
  int ptx = 0;  ///< version of the PTX language
  int lanes = 1, warps = 1;
  int64_t scratch = 0;  ///< bytes of shared memory
  bool is_gpu() const { return ptx != 0; }
};

/// The class of every CPU, and that of every GPU.
const Class& x86_64();
const Class& nvidia();
const Class& class_of(const Machine&);
/// The CPUs, from the least to the most capable.
const std::vector<Machine>& machines();
const std::vector<Machine>& gpus();
/// Of any kind.
std::optional<Machine> find_machine(std::string_view name);
/// The best CPU that the processor at hand is.
const Machine& native_machine();
/// The CPU whose code the runtime loads here, where a bundle has it: the one that the environment variable AXON_LEVEL
/// names, as far as this machine can run it, else native_machine().
const Machine& loaded_machine();

}  // namespace axon::target
