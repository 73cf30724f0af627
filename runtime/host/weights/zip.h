// The directory of a zip archive, as far as .npz needs it: where each member's bytes are and how they are
// packed.
//
// Only the central directory is believed, and only as far as it agrees with the file: every range is inside
// the archive, no two members share bytes (which is how small archives unpack to petabytes), names are
// unique, methods are stored or deflate. Names are labels, never paths.
#pragma once
#include <string>
#include <vector>

#include "host/weights/file.h"

namespace axon::weights {

struct ZipMember {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  uint64_t begin = 0, packed = 0;  ///< bytes in the archive
  uint64_t unpacked = 0;
};

Result<std::vector<ZipMember>> read_zip_directory(const File&);

}  // namespace axon::weights
