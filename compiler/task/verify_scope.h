// What is known where an expression of a body stands, as the proofs of the boxes need it.
//
// In: a task type, and the index variables around the expression. Out: facts about them, and the span of an
// index over what a task knows: its coordinates, its loops' indices and the sizes. A span is guessed by
// interval arithmetic and then proved, so a wrong guess costs a proof and makes none.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "task/task.h"

namespace axon::task {

class Scope {
 public:
  Scope(const Program&, TaskTypeId);
  /// An index variable: 0 <= var < extent, and inside of `span`, which is over what a task knows.
  void add(const graph::Axis&, const std::optional<Interval>& span = std::nullopt);

  void assume(const Fact& fact) { facts_.push_back(fact); }

  const std::vector<Fact>& facts() const { return facts_; }
  /// Is the fact proved without the solver? Asked once.
  bool shows(const Fact&) const;
  /// Is lhs <= rhs, or lhs < rhs, shown by putting its ends in the place of each index variable, one after
  /// the other, where the difference is known to grow or to fall with it?
  bool shows_at_ends(const Fact&) const;
  /// Is it made of coordinates, loop indices and sizes alone?
  bool is_known(const Dim&) const;
  /// Holds all values of an index that lie in [0, extent): the narrowest span that is proved, else the axis.
  Interval span_of(const Dim& index, const Dim& extent) const;

 private:
  bool is_positive_at_ends(const Dim&) const;
  std::optional<Dim> most_of_quotient(const shape::Atom&) const;
  bool is_positive_at_ends_of_quotients(const Dim&) const;
  std::optional<Interval> guess(const Dim&) const;
  std::optional<Interval> guess(const shape::Term&) const;
  std::optional<Interval> guess(const shape::Atom&) const;

  const Program& p_;
  std::set<Var> known_;
  std::vector<Fact> facts_;
  std::map<Var, Interval> spans_;  ///< of index variables
  std::map<Var, Dim> extents_;     ///< of the same
  using Question = std::tuple<const shape::DimNode*, shape::Relation, const shape::DimNode*>;
  mutable std::map<Question, bool> asked_;
};

}  // namespace axon::task
