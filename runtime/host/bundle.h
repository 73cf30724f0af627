// A loaded bundle: container, manifest and machine code together, immutable and shared by all that use it.
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
  std::shared_ptr<Image> image;
  std::vector<std::vector<axon_kernel>> kernels;  ///< per entry, per variant
  uint64_t manifest_hash = 0;                     ///< equal bundles have equal ones
  std::shared_ptr<const Costs> costs;             ///< null: it has not been calibrated

  const Entry* find(std::string_view name) const;
  std::string entry_list() const;  ///< for messages
};

Result<std::shared_ptr<Bundle>> load_bundle(Bytes);
/// With what the file of costs beside it says, if there is one for this bundle.
Result<std::shared_ptr<Bundle>> open_bundle(const std::string& path);

}  // namespace axon::host
