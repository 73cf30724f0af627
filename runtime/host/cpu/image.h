// Machine code of a bundle: one position-independent ELF image per instruction-set level, of which the best
// that this machine can run is loaded. Forced by AXON_LEVEL=x86-64-v2|v3|v4. Images have no undefined
// symbols, so nothing of the process can leak into them; they are loaded from anonymous memory, so nothing is
// written to disk.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "device/abi.h"
#include "host/container.h"
#include "host/error.h"

namespace axon::host {

/// "x86-64-v4", "x86-64-v3", "x86-64-v2": best first.
const std::vector<std::string>& known_levels();
bool machine_has(const std::string& level);

class Image {
 public:
  static Result<std::shared_ptr<Image>> load(const Container&);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  const std::string& level() const { return level_; }
  Result<axon_kernel> kernel(const std::string& symbol) const;

 private:
  Image() = default;
  std::string level_;
  void* handle_ = nullptr;
  int file_ = -1;  ///< open as long as the image: its number is the name that the loader knows the image by
};

}  // namespace axon::host
