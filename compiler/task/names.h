// Unique printable names for the variables of a task program: the graph's sizes keep theirs, loop indices and
// coordinates get a number when they clash.
#pragma once
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "task/task.h"

namespace axon::task {

class Names {
 public:
  explicit Names(const Program& p) {
    for (const auto& size : p.graph->sizes) give(size.var, size.name);
    for (const auto& loop : p.loops) {
      give(loop.index, shape::var_name(loop.index));
      if (p.graph->nodes[loop.node].condition)
        for (Var steps : loop.extent.vars()) give(steps, shape::var_name(steps));
    }
    for (const auto& type : p.types)
      for (const auto& c : type.coordinates) give(c.var, shape::var_name(c.var));
  }
  std::string operator()(Var v) const {
    const auto it = names_.find(v);
    return it == names_.end() ? shape::var_name(v) + "?" : it->second;
  }
  std::string operator()(const Dim& d) const {
    return d.str([this](Var v) { return (*this)(v); });
  }
  std::string operator()(const std::vector<Dim>& dims) const {
    std::string text;
    for (const Dim& d : dims) text += (text.empty() ? "" : ", ") + (*this)(d);
    return text;
  }
  /// " when m <= 1 and 1 <= n"; "" without facts.
  std::string operator()(const char* word, const std::vector<Fact>& facts) const {
    return shape::conditions(word, facts, [this](const Dim& d) { return (*this)(d); });
  }
  const std::map<Var, std::string>& all() const { return names_; }

 private:
  void give(Var v, std::string name) {
    if (names_.contains(v)) return;
    std::string unique = name;
    for (int n = 1; !used_.insert(unique).second; ++n) unique = name + std::to_string(n);
    names_[v] = unique;
  }
  std::map<Var, std::string> names_;
  std::set<std::string> used_;
};

}  // namespace axon::task
