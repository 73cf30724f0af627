// A loaded bundle: container, manifest and machine code together, immutable and shared by all that use it.
//
// A bundle may be without code: the compiler makes such ones of programs that it has not compiled yet.
// Weights are then bound as far as their names, types and shapes go, and the arguments of a call are checked
// (Call::check); nothing can be run.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "host/container.h"
#include "host/costs.h"
#include "host/cpu/image.h"
#include "host/manifest.h"

namespace axon::host {

struct Bundle {
  Manifest manifest;
  std::shared_ptr<Image> image;                   ///< null: it has no code
  std::vector<std::vector<axon_kernel>> kernels;  ///< per entry, per variant
  uint64_t manifest_hash = 0;                     ///< equal bundles have equal ones
  std::shared_ptr<const Costs> costs;             ///< null: it has not been calibrated

  const Entry* find(std::string_view name) const;
  std::string entry_list() const;  ///< for messages
};

Result<std::shared_ptr<Bundle>> load_bundle(Bytes);
/// The same code, one of the bundle's entries, and the weights that it has.
std::shared_ptr<Bundle> with_entry_alone(const Bundle&, const Entry&);
/// With what the file of costs beside it says, if there is one for this bundle.
Result<std::shared_ptr<Bundle>> open_bundle(const std::string& path);

}  // namespace axon::host
