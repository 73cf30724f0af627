// A GPU kernel on the CPU: the NVPTX module that would become PTX is compiled for x86-64 instead, every
// thread of the grid is a fiber, and what a GPU leaves undefined is found and reported.
//
// In: an LLVM module for nvptx64, the name of one of its kernels, a launch. Out: a report; without findings,
// memory is as a GPU would have left it. All blocks are resident. Nothing here depends on time: a seed fixes
// the run.
//
// Not modelled: values of weak memory (a missing order shows in the vector clocks), scopes of fences and
// atomics, sizes of registers, bank conflicts, the order in which mma adds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class Module;
}

namespace axon::emulator {

enum class Kind {
  unsupported,    ///< the module or the launch has what the emulator does not know
  race,           ///< two accesses of one byte, one a write, that nothing orders
  out_of_bounds,  ///< an access outside of the launch's regions and the block's shared memory
  read_only,      ///< a write to a region that is only read
  uninitialised,  ///< a read of shared memory that nothing has written
  misaligned,     ///< an access that its address is not a multiple of the required alignment for
  divergence,     ///< threads that are named in a barrier or warp operation, and left or wait elsewhere
  mask,           ///< a lane outside of its mask, or a value taken from such a lane
  event,          ///< an event word that goes back, differs between threads or is accessed as data
  deadlock,       ///< all threads wait
  step_limit,     ///< more steps than allowed
  trap,           ///< the kernel gave up itself
};
std::string_view name(Kind);

struct Finding {
  Kind kind;
  std::string message;
};

/// Memory that the kernel may touch, of the process that emulates.
struct Region {
  std::string name;
  void* base = nullptr;
  size_t bytes = 0;
  bool writable = false;
};

struct Options {
  uint64_t seed = 1;
  int switch_every = 16;  ///< another thread runs after so many accesses and primitives, on average
  bool check = true;  ///< without, a wrong access is as undefined as on a GPU, and ends the process at worst
  bool lockstep = false;  ///< the lanes of a warp take turns at every access, and do not race with each other
  int64_t most_steps = 100'000'000;
  size_t most_findings = 16;
};

struct Launch {
  std::vector<const void*> arguments;  ///< where the value of each parameter lies, as for cuLaunchKernel
  int blocks = 1;
  int threads = 32;         ///< of a block, at most 1024
  size_t shared_bytes = 0;  ///< of dynamic shared memory
  std::vector<Region> regions;
  std::vector<std::string> task_types;  ///< names for messages; a type without one is a number
  Options options;
};

struct Report {
  std::vector<Finding> findings;
  int64_t steps = 0;       ///< accesses, primitives and jumps back
  int64_t primitives = 0;  ///< of which primitives
  int64_t switches = 0;    ///< between threads
  bool ok() const { return findings.empty(); }
  bool has(Kind) const;
  /// One line per finding.
  std::string text() const;
};

/// A kernel ready to run, again and again, one run at a time.
class Program {
 public:
  /// What hinders is in `findings()`, and then `run` returns the same.
  Program(const llvm::Module&, std::string_view kernel);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::vector<Finding>& findings() const;
  Report run(const Launch&);

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace axon::emulator
