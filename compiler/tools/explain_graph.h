// etcc explain FILE [ENTRY] --graph: an entry as a page, or its graph as DOT.
#pragma once
#include <string>

#include "tools/common.h"

namespace axon::tools {

struct GraphOptions {
  CommonOptions common;
  std::string entry;   ///< empty: the only one
  std::string format;  ///< html or dot; empty: not asked for
  std::string out;     ///< empty: beside the file, or stdout for DOT
};

/// Writes it, and prints where; the exit status.
int explain_graph(const GraphOptions&);

}  // namespace axon::tools
