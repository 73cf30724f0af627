// What a run has found, each thing once.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "emulator/emulator.h"
#include "emulator/site.h"

namespace axon::emulator {

class Findings {
 public:
  /// True at the first time for these sites, or whatever stands for them, if there is room for more.
  bool is_new(Kind kind, uint64_t site, uint64_t other = 0) {
    return list_.size() < most_ && seen_.emplace(kind, site, other).second;
  }
  void add(Kind kind, std::string message) { list_.push_back({kind, std::move(message)}); }
  bool full() const { return list_.size() >= most_; }
  void set_most(size_t most) { most_ = most; }
  const std::vector<Finding>& list() const { return list_; }

 private:
  std::vector<Finding> list_;
  std::set<std::tuple<Kind, uint64_t, uint64_t>> seen_;
  size_t most_ = 1;
};

}  // namespace axon::emulator
