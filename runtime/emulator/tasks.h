// The tasks that threads have said to be in, by number, from 1; 0 is none.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace axon::emulator {

class Tasks {
 public:
  explicit Tasks(const std::vector<std::string>& types) : types_(types) {}

  uint32_t number(int32_t type, int64_t task) {
    const auto [at, is_new] = numbers_.try_emplace({type, task}, static_cast<uint32_t>(list_.size() + 1));
    if (is_new) list_.emplace_back(type, task);
    return at->second;
  }
  int32_t type(uint32_t number) const { return list_[number - 1].first; }
  /// Empty for none.
  std::string describe(uint32_t number) const {
    if (number == 0) return "";
    const auto& [type, task] = list_[number - 1];
    const bool named = type >= 0 && static_cast<size_t>(type) < types_.size();
    return fmt::format("task {} {}",
                       named ? types_[static_cast<size_t>(type)] : fmt::format("of type {}", type), task);
  }

 private:
  const std::vector<std::string>& types_;
  std::map<std::pair<int32_t, int64_t>, uint32_t> numbers_;
  std::vector<std::pair<int32_t, int64_t>> list_;
};

}  // namespace axon::emulator
