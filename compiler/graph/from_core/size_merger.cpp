// See size_merger.h.
//
// Two sizes are the same number where they come from the same integer. Then the size is computed once more,
// where evaluation stands now; otherwise it is chosen like the values.
#include "graph/from_core/size_merger.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/clamp.h"

namespace axon::graph {

namespace {

Dim lesser(const Dim& one, const Dim& other, const BoundsChecker& bounds) {
  if (bounds.proof(shape::at_most(one, other)) == Proof::always) return one;
  return bounds.proof(shape::at_most(other, one)) == Proof::always ? other : shape::min(one, other);
}

shape::Substitution by_integer(const std::map<Var, ScalarId>& integers,
                               const std::map<ScalarId, Dim>& sizes) {
  shape::Substitution to;
  for (const auto& [size, integer] : integers) to[size] = sizes.at(integer);
  return to;
}

}  // namespace

bool SizeMerger::is_data_dependent(const Dim& d) const {
  const std::vector<Var> vars = d.vars();
  return std::any_of(vars.begin(), vars.end(), [&](Var v) { return sizes_.integer_of(v).has_value(); });
}

bool SizeMerger::is_same(const Dim& a, const Dim& b) const {
  return a == b || bounds_.proof(shape::equal(a, b)) == Proof::always;
}

/// The bound of a size that the data decides.
std::optional<Dim> SizeMerger::bound_of(Var size) const {
  if (const DynamicSize* d = sizes_.data_dependent(size)) return d->bound;
  for (const Size& s : g.sizes)
    if (s.var == size && !s.is_unbounded()) return s.equation;
  return std::nullopt;
}

/// A bound of both sizes, over sizes that are known before the data decides any.
std::optional<Dim> SizeMerger::most_of(const Dim& one, const Dim& other) const {
  std::optional<Dim> most;
  for (const Dim& d : {one, other}) {
    const Dim bound = sizes_.bound_of(d);
    const std::vector<Var> vars = bound.vars();
    const auto unbounded = [&](const Size& s) {
      return s.is_unbounded() && std::find(vars.begin(), vars.end(), s.var) != vars.end();
    };
    const bool has_one = std::none_of(g.sizes.begin(), g.sizes.end(), unbounded);
    const auto here = has_one ? at_most_before_data(g, bound) : std::nullopt;
    if (!here) return std::nullopt;
    most = most ? shape::max(*most, *here) : *here;
  }
  return most;
}

/// Do the same integers, with the same bounds, make both?
bool SizeMerger::is_same_integer(const Dim& a, const Dim& b) const {
  std::map<ScalarId, std::optional<Dim>> bounds;
  const auto made_of = [&](const Dim& d) {
    std::map<Var, ScalarId> integers;
    for (Var v : d.vars())
      if (const auto integer = sizes_.integer_of(v)) integers.emplace(v, *integer);
    return integers;
  };
  const std::map<Var, ScalarId> of_a = made_of(a), of_b = made_of(b);
  for (const auto& [size, integer] : of_a) bounds.emplace(integer, bound_of(size));
  for (const auto& [size, integer] : of_b) {
    const auto known = bounds.find(integer);
    if (known == bounds.end() || known->second != bound_of(size)) return false;
  }
  return substitute(g, index_of(g, a), of_a) == substitute(g, index_of(g, b), of_b);
}

/// Returns one size that equals both, computed where evaluation stands, if both are made of the same
/// integers.
std::optional<Dim> SizeMerger::data_size_here(const Dim& one, const Dim& other, const std::string& what) {
  struct Bound {
    std::set<bool> sides;
    std::optional<Dim> most;
  };
  std::map<ScalarId, Bound> bounds;
  std::map<Var, ScalarId> integers[2];
  for (const bool side : {false, true})
    for (Var v : (side ? other : one).vars()) {
      const auto integer = sizes_.integer_of(v);
      if (!integer) continue;
      integers[side].emplace(v, *integer);
      const auto most = bound_of(v);
      const auto [at, is_new] = bounds.emplace(*integer, Bound{{side}, most});
      at->second.sides.insert(side);
      if (is_new) continue;
      std::optional<Dim>& whole = at->second.most;
      if (whole != most) whole = whole && most ? std::optional(shape::max(*whole, *most)) : std::nullopt;
    }
  std::map<ScalarId, Dim> sizes;
  for (const auto& [integer, bound] : bounds)
    if (bound.sides.size() < 2) return std::nullopt;
  for (const auto& [integer, bound] : bounds) {
    const auto size = checked_.data_size(integer, what, bound.most);
    if (!size) return std::nullopt;
    sizes.emplace(integer, *size);
  }
  const Dim found = one.substitute(by_integer(integers[0], sizes));
  return found == other.substitute(by_integer(integers[1], sizes)) ? std::optional(found) : std::nullopt;
}

void SizeMerger::fit(Array& a, size_t axis, const Dim& wanted) {
  const Dim found = a.shape[axis];
  if (found == wanted) return;
  const bool same = is_same(found, wanted);
  if (!same && !is_same_integer(found, wanted)) return checks_.clamp(a, axis, wanted);
  a.shape[axis] = wanted;
  if (same) return;
  // Both are one number where evaluation reaches it; where it does not, what is read need only be there.
  std::vector<Fact> facts = sizes_.known_facts();
  for (size_t i = 0; i < a.vars.size(); ++i) {
    facts.push_back(shape::at_least(Dim(a.vars[i]), Dim(0)));
    facts.push_back(shape::less(Dim(a.vars[i]), a.shape[i]));
  }
  a.body = rewrite_loads(g, a.body, [&](ScalarId id) { return clamped_load(g, id, facts); });
}

std::shared_ptr<Array> SizeMerger::fitted(const std::shared_ptr<Array>& a, const std::vector<Dim>& shape) {
  std::shared_ptr<Array> own = a;
  for (size_t axis = 0; axis < a->shape.size() && !failed_; ++axis) {
    const Dim &found = a->shape[axis], &wanted = shape.at(shape.size() - a->shape.size() + axis);
    if (found == wanted || found.is(1) || !(is_data_dependent(found) || is_data_dependent(wanted))) continue;
    if (own == a) own = std::make_shared<Array>(*a);
    fit(*own, axis, wanted);
  }
  return own;
}

void SizeMerger::merge(ScalarId condition, Array& yes, Array& no, bool differ) {
  const std::string what = "the size of what an `if` chooses";
  for (size_t axis = 0; axis < yes.shape.size() && axis < no.shape.size() && !failed_; ++axis) {
    const Dim one = yes.shape[axis], other = no.shape[axis];
    const bool of_data = is_data_dependent(one) || is_data_dependent(other);
    if (!(of_data || differ) || is_same(one, other)) continue;
    auto chosen = of_data ? data_size_here(one, other, what) : std::nullopt;
    if (!chosen && !failed_) {
      const ScalarId size = apply(g, Op::select, {condition, sizes_.value_of(one), sizes_.value_of(other)});
      chosen = checked_.data_size(size, what, most_of(one, other));
      if (chosen && conditions_.empty() && sizes_.over_sizes(*chosen))
        g.facts.push_back(shape::at_least(*chosen, lesser(one, other, bounds_)));
    }
    if (!chosen) return;
    fit(yes, axis, *chosen);
    fit(no, axis, *chosen);
  }
}

void SizeMerger::fit_outside(Array& a, RegionId outside) {
  const size_t depth = builder_.depth_of(outside);
  const auto is_outside = [&](const Dim& d) {
    return builder_.region_for({}, {sizes_.value_of(d)}, std::nullopt, {}) <= depth;
  };
  for (size_t axis = 0; axis < a.shape.size() && !failed_; ++axis) {
    const Dim found = a.shape[axis];
    if (!sizes_.is_data_dependent(found) || is_outside(found)) continue;
    const auto size = data_size_here(found, found, "the size of what a loop computes");
    if (failed_) return;
    if (!size || !is_outside(*size))
      return void(unsupported("the steps of a loop compute arrays of different sizes"));
    fit(a, axis, *size);
  }
}

}  // namespace axon::graph
