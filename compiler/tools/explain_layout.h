// etcc explain --layout 'FROM -> TO': the collectives between two placements on a mesh, and the bytes that
// they move.
#pragma once
#include <string>
#include <vector>

#include "tools/common.h"

namespace axon::tools {

struct LayoutOptions {
  CommonOptions common;              ///< of these the sizes: -D n=1024
  std::string layouts;               ///< FROM -> TO
  std::vector<std::string> mesh;     ///< x=4, y=2
  std::vector<std::string> partial;  ///< axes whose copies are partial sums
  std::string elem = "f32";
};

/// Derives the steps from the two layouts, runs them on shards, and prints what each moved.
int explain_layout(const LayoutOptions&);

}  // namespace axon::tools
