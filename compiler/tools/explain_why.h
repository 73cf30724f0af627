// etcc explain --why FILE:LINE:COLUMN: the derivation of a type, or what clashes in an error.
#pragma once
#include <string>

#include "tools/common.h"

namespace axon::tools {

struct WhyOptions {
  CommonOptions common;
  std::string at;
  bool json = false;
};

/// Prints the steps, each behind its place; the exit status, 1 where there is nothing to say.
int explain_why(const WhyOptions&);

}  // namespace axon::tools
