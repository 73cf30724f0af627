// See digest.h.
#include "image/digest.h"

#include <llvm/Support/BLAKE3.h>

namespace axon::image {

std::string digest(std::string_view bytes) {
  llvm::BLAKE3 hasher;
  hasher.update(llvm::StringRef(bytes.data(), bytes.size()));
  std::string out;
  for (const uint8_t byte : hasher.final()) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

}  // namespace axon::image
