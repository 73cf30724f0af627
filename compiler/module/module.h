// Native code from plans: one LLVM module per bundle and level, with one persistent function per plan
// variant.
//
// In: plan::Plan per entry. Out: ELF objects (image/ links them), or their LLVM or assembly text. A variant's
// function has the signature axon_kernel of runtime/device/abi.h and is named by Variant::symbol, and so has
// the function of each of its task types alone (plan::kernel_symbol); nothing else is visible but
// `axon_abi_version` and the memory functions, which are hidden. No symbol is left undefined.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "target/machine.h"

namespace axon::module {

/// A variant whose code would be longer than the compiler makes it: thrown, also by the threads of
/// emit_objects().
struct TooLarge {
  const plan::Variant* variant;
};

struct EmitOptions {
  int optimization = 3;  ///< 0 to 3
  bool trace = false;    ///< variants note when a worker runs which tasks (tracing.cpp); else no code differs
};

struct Objects {
  /// For each level relocatable ELF objects, those of each plan variant, compiled side by side: an image
  /// links them all.
  std::vector<std::vector<std::string>> of_level;
  /// Per variant the bytes of private memory that each worker of a launch needs, over the entry's sizes. The
  /// same for all levels.
  std::vector<shape::Dim> scratch_bytes;
};

/// The bytes do not depend on how many are made at a time. nullopt and `error` only for what the compiler
/// does not support; a malformed plan is a bug.
std::optional<Objects> emit_objects(const std::vector<const plan::Plan*>&,
                                    const std::vector<const target::Machine*>&, const EmitOptions&,
                                    std::string& error);
/// The module after optimisation, as text; `optimized` false: as first made, before device code is linked in.
std::optional<std::string> emit_llvm_text(const std::vector<const plan::Plan*>&, const target::Machine&,
                                          const EmitOptions&, bool optimized, std::string& error);
std::optional<std::string> emit_assembly(const std::vector<const plan::Plan*>&, const target::Machine&,
                                         const EmitOptions&, std::string& error);

/// Code of a GPU: kernels (context) with a thread block as worker, whose grid is the workers of a launch.
struct GpuCode {
  /// The module that PTX is made of, with the functions of device/gpu.h as calls: what the emulator runs.
  std::string bitcode;
  std::string ptx;
  std::vector<shape::Dim> scratch_bytes;  ///< per variant: of shared memory of each block
};
std::optional<GpuCode> emit_gpu(const std::vector<const plan::Plan*>&, const target::Machine&,
                                const EmitOptions&, std::string& error);

/// Byte offsets of the launch context's fields as generated code reads them, in order.
std::vector<size_t> context_offsets();

/// Every device function, visible under its own name: what tests of the device code link.
std::optional<std::string> emit_device_object(const target::Machine&, std::string& error);

}  // namespace axon::module
