// An NVPTX module made into one for x86-64.
//
// In: a module with a kernel. Out: the kernel and what it calls, with one address space, shared memory at
// offsets from the window of a block, primitives and accesses as calls of hooks (hooks.h), and a function
// `entry_name` that takes the kernel's arguments from memory. What cannot be made so is said in `problems`,
// and the module is then of no use.
#pragma once
#include <llvm/IR/Module.h>

#include <string>
#include <string_view>
#include <vector>

#include "emulator/site.h"

namespace axon::emulator {

inline constexpr const char* entry_name = "axon_emulator_entry";

/// A variable in shared memory. That of a dynamic array has no bytes here; it is the last.
struct SharedVariable {
  std::string name;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  bool dynamic = false;
};

/// A variable in the module itself, and the symbol that it has now.
struct GlobalVariable {
  std::string name;
  std::string symbol;
  uint64_t bytes = 0;
  bool writable = false;
};

struct Retargeted {
  Sites sites;
  std::vector<SharedVariable> shared;
  std::vector<GlobalVariable> globals;
  uint64_t parameters = 0;
  uint64_t most_threads = 1024;  ///< of a block
  bool copies_asynchronously = false;
  std::vector<std::string> problems;
};

Retargeted retarget(llvm::Module&, std::string_view kernel);

// The steps, in this order.

/// Keeps the kernel and what it reaches; primitives that the module defines are only declared.
void keep_reachable(llvm::Module&, std::string_view kernel, Retargeted&);
/// Shared variables become offsets from a call of `axon_emulator_shared`.
void place_shared_variables(llvm::Module&, Retargeted&);
/// Every pointer is one of address space 0.
void remove_address_spaces(llvm::Module&, Retargeted&);
/// A call of a hook before each access and on each way back of a loop.
void instrument_accesses(llvm::Module&, Retargeted&);
/// Calls of primitives become calls of a hook, values in memory.
void lower_primitives(llvm::Module&, Retargeted&);
/// Sites of one line of the source are a group.
void group_sites(Sites&);
/// The function `entry_name`, and what code generation for x86-64 calls of libraries.
void add_entry(llvm::Module&, std::string_view kernel, Retargeted&);
void add_conversions(llvm::Module&);

}  // namespace axon::emulator
