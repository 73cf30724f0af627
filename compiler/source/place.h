// Where a span begins, for messages that leave the compiler with the program.
#pragma once
#include <string>

#include "source/span.h"

namespace axon::source {

/// "f.axn:3:12": the file's name without its folder, so that what is compiled does not depend on where it
/// lay. Empty for an invalid span.
inline std::string place_of(const SourceManager& sources, Span span) {
  const std::string whole = sources.describe(span);
  const size_t folder = whole.rfind('/');
  return folder == std::string::npos ? whole : whole.substr(folder + 1);
}

}  // namespace axon::source
