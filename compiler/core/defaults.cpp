// See defaults.h.
#include "core/defaults.h"

#include <algorithm>

namespace axon::core {

using shape::Dim;
using shape::Var;

namespace {

constexpr size_t most_joins = 100;  ///< that one index looks through

bool any_dim(const Shape& s) { return std::any_of(s.begin(), s.end(), is_dim); }

/// How many sizes stand beside a variable in the result of a join, which has no other variable.
std::optional<size_t> sizes_beside(const Shape& result, ShapeVarId variable) {
  const auto sizes = static_cast<size_t>(std::count_if(result.begin(), result.end(), is_dim));
  const bool has = std::any_of(result.begin(), result.end(),
                               [&](const ShapeItem& i) { return is_var(i) && i.var == variable; });
  return has && result.size() == sizes + 1 ? std::optional(sizes) : std::nullopt;
}

}  // namespace

bool Defaults::pinned(ShapeVarId result, size_t by) const {
  if (!vars_.is_meta(result)) return true;
  for (size_t i = 0; i < by; ++i) {  // the first join that yields it defines it
    const Constraint& c = solver_.parked_[i];
    if (c.kind != Constraint::Kind::join || c.done) continue;
    if (auto r = lone(vars_.zonk(c.shapes[0])); r && *r == result) return true;
  }
  return false;
}

/// A result that none of these operands is long enough for: another one has the axes.
static bool has_more_axes(const Shape& result, const std::vector<Shape>& operands) {
  const auto axes = std::count_if(result.begin(), result.end(), is_dim);
  return std::all_of(operands.begin(), operands.end(), [&](const Shape& s) {
    return known_rank(s) && static_cast<std::ptrdiff_t>(s.size()) < axes;
  });
}

bool Defaults::default_join(Constraint& c) {
  solver_.active_ = c.context;
  Shape result = vars_.zonk(c.shapes[0]);
  std::vector<Shape> known, open;
  for (size_t i = 1; i < c.shapes.size(); ++i) {
    Shape s = vars_.zonk(c.shapes[i]);
    (any_dim(s) ? known : open).push_back(s);
  }
  const WhyId why = c.why;
  if (!known.empty() && !has_more_axes(result, known)) {
    if (open.empty()) return false;
    c.done = true;
    for (const Shape& s : open) solver_.park(Constraint::Kind::into, {s, result}, why);
    known.insert(known.begin(), result);
    solver_.park(Constraint::Kind::join, known, why);
    return true;
  }
  auto variable = lone(result);
  if (variable) {  // the same join twice?
    std::vector<ShapeVarId> mine;
    for (const Shape& s : open) {
      if (!lone(s)) return false;
      const auto inner = solver_.joined(*lone(s));
      if (inner.empty()) mine.push_back(*lone(s));
      mine.insert(mine.end(), inner.begin(), inner.end());
    }
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    if (mine == solver_.joined(*variable)) {
      c.done = true;
      return true;
    }
  }
  for (const Shape& s : open) {
    auto v = lone(s);
    if (!v || !vars_.is_meta(*v)) continue;
    c.done = true;
    for (const std::vector<Shape>* operands : {&open, &known})
      for (const Shape& other : *operands)
        if (!same(other, s)) solver_.park(Constraint::Kind::into, {other, result}, why);
    solver_.bind(*v, result, why);
    return true;
  }
  c.done = true;
  solver_.failed(Failure::Kind::rank, why);
  return true;
}

/// How many axes a shape has for certain: joins have those of their operands. Each join is seen once.
size_t Defaults::axes_at_least(const Shape& shape, std::set<size_t>& seen) const {
  size_t axes = 0;
  for (const ShapeItem& item : vars_.zonk(shape)) {
    if (is_dim(item)) ++axes;
    size_t most = 0;
    for (size_t i = 0; i < solver_.parked_.size() && is_var(item); ++i) {
      const Constraint& c = solver_.parked_[i];
      if (c.done || c.kind != Constraint::Kind::join) continue;
      const auto sizes = sizes_beside(vars_.zonk(c.shapes[0]), item.var);
      if (!sizes || seen.size() > most_joins || !seen.insert(i).second) continue;
      for (size_t k = 1; k < c.shapes.size(); ++k)
        most = std::max(most, std::max(axes_at_least(c.shapes[k], seen), *sizes) - *sizes);
    }
    axes += most;
  }
  return axes;
}

/// Decides the innermost join in a shape that has an operand of known axes.
bool Defaults::default_join_in(const Shape& shape, std::set<size_t>& seen) {
  for (const ShapeItem& item : vars_.zonk(shape))
    for (size_t i = 0; i < solver_.parked_.size() && is_var(item); ++i) {
      Constraint c = solver_.parked_[i];
      if (c.done || c.kind != Constraint::Kind::join || !sizes_beside(vars_.zonk(c.shapes[0]), item.var))
        continue;
      if (seen.size() > most_joins || !seen.insert(i).second) continue;
      bool known = false;
      for (size_t k = 1; k < c.shapes.size(); ++k) {
        if (default_join_in(c.shapes[k], seen)) return true;
        known |= any_dim(vars_.zonk(c.shapes[k]));
      }
      if (!known || !default_join(c)) continue;
      solver_.parked_[i].done = c.done;
      vars_.changed = true;
      solver_.settle();
      return true;
    }
  return false;
}

bool Defaults::default_join_longer_than(const Shape& shape, size_t axes) {
  solver_.settle();
  std::set<size_t> measured, tried;
  return axes_at_least(shape, measured) > axes && default_join_in(shape, tried);
}

bool Defaults::default_into(Constraint& c) {
  solver_.active_ = c.context;
  auto v = lone(vars_.zonk(c.shapes[0]));
  if (!v) return false;
  const auto parts = solver_.joined(*v);
  if (!parts.empty()) {
    c.done = true;
    const Shape target = c.shapes[1];
    const WhyId why = c.why;
    for (ShapeVarId p : parts) solver_.park(Constraint::Kind::into, {Shape{var_item(p)}, target}, why);
    return true;
  }
  const auto target = lone(vars_.zonk(c.shapes[1]));
  if (vars_.is_meta(*v) || (local_ && target && vars_.is_meta(*target))) return false;
  c.done = true;
  const std::vector<Shape> stated = solver_.stated_targets(*v);
  if (stated.empty()) {
    solver_.failed(Failure::Kind::rank, c.why);
    return true;
  }
  // Through which of several is a choice: one that ends as the target does.
  const bool axis = last_is_dim(vars_.zonk(c.shapes[1]));
  const auto fits =
      std::find_if(stated.begin(), stated.end(), [&](const Shape& s) { return last_is_dim(s) == axis; });
  solver_.park(Constraint::Kind::into, {fits == stated.end() ? stated.front() : *fits, c.shapes[1]}, c.why);
  return true;
}

/// Drops what the ends of two shapes have in common; that it is equal has been stated.
static void drop_common_ends(Shape& a, Shape& b) {
  const auto common = [](const ShapeItem& x, const ShapeItem& y) {
    return (is_dim(x) && is_dim(y)) || (is_var(x) && is_var(y) && x.var == y.var);
  };
  for (; !a.empty() && !b.empty() && common(a.back(), b.back()); b.pop_back()) a.pop_back();
  for (; !a.empty() && !b.empty() && common(a.front(), b.front()); b.erase(b.begin())) a.erase(a.begin());
}

/// [k, ..a] = [..s, n], where nothing says how many axes there are: k is none of those that n names, and so
/// ..s is [k, ..m] and ..a is [..m, n]. That leaves out that there are too few axes for both.
bool Defaults::default_words(Constraint& c) {
  Shape left = vars_.zonk(c.shapes[0]), right = vars_.zonk(c.shapes[1]);
  drop_common_ends(left, right);
  if (left.empty() || right.empty()) return false;
  if (is_var(left.front())) std::swap(left, right);
  const auto sizes_and = [&](const Shape& s, const ShapeItem& variable) {
    return is_var(variable) && vars_.is_meta(variable.var) &&
           static_cast<size_t>(std::count_if(s.begin(), s.end(), is_dim)) + 1 == s.size();
  };
  if (!sizes_and(left, left.back()) || !sizes_and(right, right.front())) return false;
  const ShapeVarId a = left.back().var, s = right.front().var;
  if (a == s) return false;
  solver_.active_ = c.context;
  c.done = true;
  const ShapeItem middle = var_item(vars_.shape(vars_.types.shape_vars[s].name));
  left.back() = middle;
  right.front() = middle;
  if (solver_.bind(s, left, c.why) != Solver::Step::failed) solver_.bind(a, right, c.why);
  return true;
}

/// After a failure what is open may be so because of it: then nothing is guessed.
bool Defaults::default_open_words(size_t since) {
  if (!solver_.reported_.empty()) return false;
  for (size_t i = 0; i < solver_.parked_.size(); ++i) {
    Constraint c = solver_.parked_[i];
    if (c.done || c.serial <= since || c.kind != Constraint::Kind::equal_shapes || !default_words(c))
      continue;
    solver_.parked_[i].done = true;
    solver_.settle();
    return true;
  }
  return false;
}

bool Defaults::default_joins(size_t since) {
  solver_.settle();
  while (solver_.merge_circles() || solver_.merge_equal_joins()) solver_.settle();
  for (size_t i = 0; i < solver_.parked_.size(); ++i) {
    if (solver_.parked_[i].done || solver_.parked_[i].serial <= since) continue;
    Constraint c = solver_.parked_[i];
    bool acted = false;
    if (c.kind == Constraint::Kind::join) {
      auto variable = lone(vars_.zonk(c.shapes[0]));
      const bool defines = variable && !pinned(*variable, i);
      if (defines && std::none_of(c.shapes.begin() + 1, c.shapes.end(),
                                  [&](const Shape& s) { return any_dim(vars_.zonk(s)); }))
        continue;  // stays a join of the type
      acted = default_join(c);
    } else if (c.kind == Constraint::Kind::into) {
      acted = default_into(c);
    }
    if (!acted) continue;
    solver_.parked_[i].done = c.done;
    vars_.changed = true;
    solver_.settle();
    return true;
  }
  return default_open_words(since);
}

/// What is left may still determine a size: an equation that was stated as a fact, or one that is linear in
/// its one unknown, which then is the quotient, and must be exact.
bool Defaults::default_equations() {
  for (size_t i = 0; i < solver_.parked_.size(); ++i) {
    Constraint c = solver_.parked_[i];
    if (c.done || c.kind != Constraint::Kind::holds || c.fact.relation != shape::Relation::eq) continue;
    const Dim d = vars_.zonk(c.fact.lhs) - vars_.zonk(c.fact.rhs);
    if (!vars_.has_meta(d) || never_zero(d)) continue;
    solver_.active_ = c.context;
    if (solver_.solve_dims(c.fact.lhs, c.fact.rhs, c.why) == Solver::Step::wait) continue;
    solver_.settle();
    return true;
  }
  for (size_t i = 0; i < solver_.parked_.size(); ++i) {
    Constraint c = solver_.parked_[i];
    const bool equation = c.kind == Constraint::Kind::equal_dims ||
                          (c.kind == Constraint::Kind::holds && c.fact.relation == shape::Relation::eq);
    if (c.done || !equation) continue;
    const Dim d = c.kind == Constraint::Kind::equal_dims ? vars_.zonk(c.dims[0]) - vars_.zonk(c.dims[1])
                                                         : vars_.zonk(c.fact.lhs) - vars_.zonk(c.fact.rhs);
    std::vector<Var> open = d.vars();
    std::erase_if(open, [&](Var v) { return !vars_.is_meta(v); });
    if (open.size() != 1) continue;
    const auto linear = d.linear_in(open[0]);
    if (!linear || linear->first.is(0)) continue;
    const bool negative = linear->first.terms()[0].coefficient < 0;
    const Dim divisor = negative ? -linear->first : linear->first;
    const Dim rest = negative ? linear->second : -linear->second;
    solver_.active_ = c.context;
    solver_.parked_.erase(solver_.parked_.begin() + static_cast<long>(i));
    if (!divisor.constant()) solver_.require(shape::at_least(divisor, 1), c.why);
    solver_.require(shape::equal(shape::mod(rest, divisor), Dim(0)), c.why);
    solver_.bind(open[0], shape::floor_div(rest, divisor), c.why);
    solver_.settle();
    return true;
  }
  return false;
}

}  // namespace axon::core
