// The bundle container: named sections of bytes. In: untrusted bytes. Out: sections whose bounds and hashes
// are good.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"
#include "host/weights/span.h"

namespace axon::host {

using weights::Bytes;

constexpr std::string_view bundle_magic = "AXONBNDL";  ///< the first bytes of every bundle

struct Section {
  std::string name;
  Bytes bytes;
};

struct Container {
  std::vector<Section> sections;
  const Section* find(std::string_view name) const;
};

uint64_t fnv1a(Bytes);
/// The sections point into `bytes`.
Result<Container> read_container(Bytes bytes);

}  // namespace axon::host
