// What a launch shows of its debugs: each value when it is complete; of one under an `if`, once the
// condition, too, is complete, the parts where that holds.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "host/manifest.h"

namespace axon::host {

class DebugValues {
 public:
  using Show = std::function<void(const std::string& name, const axon_view&)>;

  /// A launch begins.
  void begin(const std::vector<Debug>& debugs);
  /// The value of a debug is complete; it may be overwritten afterwards.
  void complete(uint32_t number, const axon_view& value, const Show& show);

 private:
  struct Kept {
    std::vector<uint8_t> bytes;
    std::vector<int64_t> shape;
    bool complete = false;
  };
  void show_taken(const Debug& debug, const Kept& condition, Kept& value, const Show& show) const;

  const std::vector<Debug>* debugs_ = nullptr;
  std::vector<Kept> kept_;  ///< conditions and their values
};

}  // namespace axon::host
