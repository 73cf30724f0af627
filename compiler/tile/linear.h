// Expressions of labels with numbers for everything else: what loops over the elements of a tile evaluate.
//
// In: a Dim, labels, and values of its other variables. Out: its value for values of the labels. Only the
// interpreter includes this.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "shape/dim.h"

namespace axon::tile {

class Linear {
 public:
  Linear(const shape::Dim& dim, const std::vector<shape::Var>& labels, const shape::Assignment& values) {
    shape::Dim rest = dim;
    for (size_t i = 0; i < labels.size(); ++i) {
      if (!rest.contains(labels[i])) continue;
      const auto split = rest.linear_in(labels[i]);
      const auto step = split ? split->first.evaluate(values) : std::nullopt;
      if (!step) {
        steps_.clear();
        general_.emplace_back(dim, labels);
        values_ = &values;
        return;
      }
      steps_.emplace_back(i, *step);
      rest = split->second;
    }
    constant_ = rest.evaluate(values);
  }
  std::optional<int64_t> operator()(const std::vector<int64_t>& at) const {
    if (!general_.empty()) {
      const auto& [dim, labels] = general_.front();
      return dim.evaluate([&](shape::Var v) -> std::optional<int64_t> {
        for (size_t i = 0; i < labels.size(); ++i)
          if (labels[i] == v) return at[i];
        const auto found = values_->find(v);
        return found == values_->end() ? std::nullopt : std::optional(found->second);
      });
    }
    if (!constant_) return std::nullopt;
    int64_t sum = *constant_;
    for (const auto& [label, step] : steps_) {
      int64_t part = 0;
      if (__builtin_mul_overflow(step, at[label], &part) || __builtin_add_overflow(sum, part, &sum))
        return std::nullopt;
    }
    return sum;
  }

 private:
  std::optional<int64_t> constant_;
  std::vector<std::pair<size_t, int64_t>> steps_;
  std::vector<std::pair<shape::Dim, std::vector<shape::Var>>> general_;
  const shape::Assignment* values_ = nullptr;
};

}  // namespace axon::tile
