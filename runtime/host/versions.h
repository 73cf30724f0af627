// Which bundles this library reads. Every bundle states three numbers; each rises only where an older reader
// would misread what is new, and a reader keeps reading all numbers from the first on. What an older reader
// may leave out (an optional key of the manifest, one more service behind the others) needs no new number.
#pragma once
#include "device/abi.h"
#include "host/error.h"

namespace axon::host {

struct VersionRange {
  uint32_t oldest, newest;
};
constexpr VersionRange container_formats{1, 1};
/// 4 is that of version 0.1.0, the first that was released: strides of arguments and results.
constexpr VersionRange manifest_formats{4, 4};
constexpr VersionRange kernel_interfaces{1, AXON_ABI_VERSION};

/// Nothing where the library reads this number of a bundle; else E0814, with the side that is too old.
inline Status check_version(const char* what, uint32_t found, VersionRange reads) {
  if (found >= reads.oldest && found <= reads.newest) return std::nullopt;
  const bool one = reads.oldest == reads.newest;
  return Failure{
      AXON_BAD_BUNDLE, code::version,
      text("the bundle has ", what, " ", found, ", this library reads ", reads.oldest,
           one ? std::string() : text(" to ", reads.newest),
           found > reads.newest ? ": it needs the library of the etcc that built it, or a later one"
                                : ": build it again with the etcc of this library")};
}

}  // namespace axon::host
