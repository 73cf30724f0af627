// Machine descriptions as data. A native bundle holds one image per level; the loader takes the best that the
// machine has. A level is what the code generator may use (a processor name and extra features) and what
// tiles follow from it.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace axon::target {

struct Level {
  std::string_view name;       ///< of the bundle's section: "x86-64-v4"
  std::string_view suffix;     ///< of device functions made for it: "v4"
  std::string_view processor;  ///< for the code generator
  std::string_view features;
  int vector_bytes;
  bool half_conversions;  ///< f16 <-> f32 are instructions
};

/// From the least to the most capable.
const std::vector<Level>& levels();
std::optional<Level> find_level(std::string_view name);
/// The best level that this machine runs.
const Level& native_level();

}  // namespace axon::target
