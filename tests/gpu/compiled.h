// Entries compiled for GPUs.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "launch_image.h"
#include "module/module.h"
#include "pipeline.h"

namespace axon::testing {

struct Compiled {
  std::unique_ptr<Compilation> compilation;
  target::Machine machine;
  std::optional<module::GpuCode> code;
  std::string error;  ///< why there is no code

  const CompiledEntry& entry() const { return compilation->entries.front(); }
  const plan::Variant& variant() const { return entry().plan.variants.front(); }
  /// Of all sizes of the entry, by name; nullopt where one is missing.
  std::optional<shape::Assignment> sizes(const std::map<std::string, int64_t>&) const;
};

/// `file`: an .axn file.
Compiled compile(const std::string& file, const std::string& entry, const std::string& machine);
/// An entry of entries.axn: compiled once for each machine, for all tests of a process.
const Compiled& compiled_entry(const std::string& entry, const std::string& machine);

}  // namespace axon::testing
