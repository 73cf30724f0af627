// See level.h.
#include "target/level.h"

namespace axon::target {

const std::vector<Level>& levels() {
  static const std::vector<Level> all = {
      {"x86-64-v2", "v2", "x86-64-v2", "", 16, false},
      {"x86-64-v3", "v3", "x86-64-v3", "", 32, true},
      {"x86-64-v4", "v4", "x86-64-v4", "+avx512bf16", 64, true},
  };
  return all;
}

std::optional<Level> find_level(std::string_view name) {
  for (const Level& level : levels())
    if (level.name == name) return level;
  return std::nullopt;
}

const Level& native_level() {
  const auto& all = levels();
  if (__builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512bf16")) return all[2];
  return __builtin_cpu_supports("x86-64-v3") ? all[1] : all[0];
}

}  // namespace axon::target
