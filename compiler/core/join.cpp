// Broadcasting: joins of shapes, and one shape stretching into another.
//
// Aligned from the right. Only an axis that is the literal 1 stretches; two other sizes become equal.
// Operands of unknown rank wait until their rank is known; at generalisation default_joins() applies the
// documented defaults:
//   - an operand of unknown rank that meets known axes broadcasts into them (`..c into [...]`);
//   - where the result is fixed from outside, the first operand has its shape and the others broadcast into
//   it.
// What then remains joins variables only, and becomes `..(a|b)` in the type.
#include <algorithm>
#include <map>

#include "core/solver.h"

namespace axon::core {

using shape::Dim;

namespace {

bool last_is_dim(const Shape& s) { return !s.empty() && is_dim(s.back()); }
constexpr size_t most_joins = 100;  ///< that one index looks through

bool any_dim(const Shape& s) { return std::any_of(s.begin(), s.end(), is_dim); }

/// Operands that say nothing are dropped: scalars, and repetitions.
void drop_idle(std::vector<Shape>& operands) {
  std::vector<Shape> kept;
  for (Shape& s : operands) {
    if (s.empty()) continue;
    if (std::any_of(kept.begin(), kept.end(), [&](const Shape& k) { return same(k, s); })) continue;
    kept.push_back(std::move(s));
  }
  operands = std::move(kept);
}

/// How many sizes stand beside a variable in the result of a join, which has no other variable.
std::optional<size_t> sizes_beside(const Shape& result, ShapeVarId variable) {
  const auto sizes = static_cast<size_t>(std::count_if(result.begin(), result.end(), is_dim));
  const bool has = std::any_of(result.begin(), result.end(),
                               [&](const ShapeItem& i) { return is_var(i) && i.var == variable; });
  return has && result.size() == sizes + 1 ? std::optional(sizes) : std::nullopt;
}

}  // namespace

void Solver::park(Constraint::Kind kind, std::vector<Shape> shapes, WhyId why) {
  parked_.push_back({kind, {}, std::move(shapes), {}, active_, why, false, ++serial_});
  vars_.changed = true;
}

Solver::Step Solver::stretch(const std::vector<Dim>& sizes, Dim& out, WhyId why) {
  out = Dim(1);
  for (const Dim& s : sizes) {
    if (s.is(1)) continue;
    if (out.is(1)) {
      out = s;
    } else if (require_equal(out, s, why, Failure::Kind::broadcast) == Step::failed) {
      return Step::failed;
    }
    out = vars_.zonk(out);
  }
  return Step::done;
}

Solver::Step Solver::solve_join(Constraint& c) {
  Shape suffix;
  std::vector<Shape> operands;
  for (size_t i = 1; i < c.shapes.size(); ++i) operands.push_back(vars_.zonk(c.shapes[i]));
  for (;;) {
    for (Shape& s : operands) s = vars_.zonk(s);
    drop_idle(operands);
    if (operands.size() <= 1) break;
    if (!std::all_of(operands.begin(), operands.end(), last_is_dim)) break;
    std::vector<Dim> sizes;
    for (Shape& s : operands) {
      sizes.push_back(s.back().dim);
      s.pop_back();
    }
    Dim size;
    if (stretch(sizes, size, c.why) == Step::failed) return Step::failed;
    suffix.insert(suffix.begin(), dim_item(size));
  }
  if (operands.size() <= 1) {
    Shape whole = operands.empty() ? Shape{} : operands[0];
    whole.insert(whole.end(), suffix.begin(), suffix.end());
    Step step = solve_shapes(c.shapes[0], whole, c.why);
    if (step == Step::wait) {
      c.kind = Constraint::Kind::equal_shapes;
      c.shapes = {c.shapes[0], whole};
    }
    return step;
  }
  Shape result = vars_.zonk(c.shapes[0]);
  if (!suffix.empty()) {
    auto name = lone(result);
    Shape rest{var_item(vars_.shape(name ? vars_.types.shape_vars[*name].name : "a"))};
    Shape whole = rest;
    whole.insert(whole.end(), suffix.begin(), suffix.end());
    Step step = solve_shapes(result, whole, c.why);
    if (step == Step::failed) return step;
    if (step == Step::wait) park(Constraint::Kind::equal_shapes, {result, whole}, c.why);
    result = vars_.zonk(rest);
  }
  c.shapes.assign(1, result);
  c.shapes.insert(c.shapes.end(), operands.begin(), operands.end());

  if (result.empty()) {  // then every operand is
    for (const Shape& s : operands)
      if (solve_shapes(s, {}, c.why) == Step::failed) return Step::failed;
    return Step::done;
  }
  auto self = std::find_if(operands.begin(), operands.end(), [&](const Shape& s) { return same(s, result); });
  if (self != operands.end()) {
    for (const Shape& s : operands)
      if (!same(s, result)) park(Constraint::Kind::into, {s, result}, c.why);
    return Step::done;
  }
  if (last_is_dim(result) && !result.back().dim.is(1))
    for (const Shape& s : operands)
      if (last_is_dim(s) && !s.back().dim.is(1) &&
          require_equal(result.back().dim, s.back().dim, c.why, Failure::Kind::broadcast) == Step::failed)
        return Step::failed;
  return Step::wait;
}

Solver::Step Solver::solve_into(Constraint& c) {
  for (;;) {
    Shape operand = vars_.zonk(c.shapes[0]), target = vars_.zonk(c.shapes[1]);
    if (operand.empty() || same(operand, target)) return Step::done;
    if (last_is_dim(operand) && last_is_dim(target)) {
      const Dim mine = operand.back().dim, theirs = target.back().dim;
      if (!mine.is(1) && require_equal(mine, theirs, c.why, Failure::Kind::broadcast) == Step::failed)
        return Step::failed;
      operand.pop_back();
      target.pop_back();
      c.shapes = {operand, target};
      continue;
    }
    c.shapes = {operand, target};
    if (target.empty()) return solve_shapes(operand, {}, c.why);
    const auto axes = static_cast<size_t>(std::count_if(operand.begin(), operand.end(), is_dim));
    if (known_rank(target) && axes >= target.size() && axes < operand.size()) {  // no room for more axes
      for (const ShapeItem& i : operand) {
        if (is_dim(i)) continue;
        if (!is_var(i) || !vars_.is_meta(i.var)) return failed(Failure::Kind::rank, c.why);
        vars_.solve(i.var, {});
      }
      continue;
    }
    if (known_rank(target) && axes > target.size()) return failed(Failure::Kind::rank, c.why);
    auto variable = lone(target);
    if (last_is_dim(operand) && variable) {
      if (!vars_.is_meta(*variable)) return failed(Failure::Kind::rank, c.why);
      const Dim mine = operand.back().dim;
      Shape longer{var_item(vars_.shape(vars_.types.shape_vars[*variable].name)),
                   dim_item(mine.is(1) ? Dim(vars_.dim("n")) : mine)};
      Step step = bind(*variable, longer, c.why);
      if (step == Step::failed) return step;
      continue;
    }
    if (auto v = lone(operand); v && variable) {
      const auto parts = joined(*variable);
      if (std::find(parts.begin(), parts.end(), *v) != parts.end()) return Step::done;
    }
    return Step::wait;
  }
}

std::vector<ShapeVarId> Solver::joined(ShapeVarId result) const {
  std::set<ShapeVarId> seen;
  std::vector<ShapeVarId> out;
  if (!collect_joined(result, seen, out)) return {};
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// Appends the operands of the join that yields `result`, each join taken apart once; false when there is
/// none, or when it has an operand that is no lone variable.
bool Solver::collect_joined(ShapeVarId result, std::set<ShapeVarId>& seen,
                            std::vector<ShapeVarId>& out) const {
  for (const Constraint& c : parked_) {
    if (c.done || c.kind != Constraint::Kind::join) continue;
    auto r = lone(vars_.zonk(c.shapes[0]));
    if (!r || *r != result) continue;
    std::vector<ShapeVarId> operands;
    for (size_t i = 1; i < c.shapes.size(); ++i) {
      auto v = lone(vars_.zonk(c.shapes[i]));
      if (!v) return false;
      operands.push_back(*v);
    }
    seen.insert(result);
    for (ShapeVarId v : operands)
      if (!seen.count(v) && !collect_joined(v, seen, out)) out.push_back(v);
    return true;
  }
  return false;
}

/// What broadcasts into itself through others is equal to all of them: of y = a|r and r = y|b, y is r, and a
/// and b broadcast into it. True if there was such a circle.
bool Solver::merge_circles() {
  std::map<ShapeVarId, std::vector<std::pair<ShapeVarId, WhyId>>> below;  // what broadcasts into it
  for (const Constraint& c : parked_) {
    if (c.done || (c.kind != Constraint::Kind::join && c.kind != Constraint::Kind::into)) continue;
    const size_t target = c.kind == Constraint::Kind::join ? 0 : 1;
    const auto whole = lone(vars_.zonk(c.shapes[target]));
    for (size_t i = 0; i < c.shapes.size() && whole; ++i)
      if (const auto part = lone(vars_.zonk(c.shapes[i])); i != target && part && *part != *whole)
        below[*whole].emplace_back(*part, c.why);
  }
  // Depth first: what is found again while it is open is in a circle with what is above it.
  enum class State : uint8_t { open, done };
  std::map<ShapeVarId, State> states;
  struct Visit {
    ShapeVarId shape;
    size_t next = 0;
  };
  for (const auto& [root, parts] : below) {
    std::vector<Visit> path;
    const auto enter = [&](ShapeVarId v) {
      states[v] = State::open;
      path.push_back({v});
    };
    if (!states.count(root)) enter(root);
    while (!path.empty()) {
      const ShapeVarId here = path.back().shape;
      const auto mine = below.find(here);
      if (mine == below.end() || path.back().next == mine->second.size()) {
        states[here] = State::done;
        path.pop_back();
        continue;
      }
      const auto [part, why] = mine->second[path.back().next++];
      const auto known = states.find(part);
      if (known == states.end()) {
        enter(part);
      } else if (known->second == State::open) {
        const Shape a{var_item(part)}, b{var_item(here)};
        equal(a, b, why);
        if (same(vars_.zonk(a), vars_.zonk(b))) return true;
      }
    }
  }
  return false;
}

bool Solver::is_into_one_of(ShapeVarId v, const std::vector<ShapeVarId>& others) const {
  return std::any_of(parked_.begin(), parked_.end(), [&](const Constraint& c) {
    if (c.done || c.kind != Constraint::Kind::into) return false;
    auto operand = lone(vars_.zonk(c.shapes[0])), target = lone(vars_.zonk(c.shapes[1]));
    return operand && target && *operand == v && *target != v &&
           std::find(others.begin(), others.end(), *target) != others.end();
  });
}

bool Solver::share_target(const std::vector<ShapeVarId>& parts) const {
  auto goes_into = [&](ShapeVarId v, const Shape& target) {
    return std::any_of(parked_.begin(), parked_.end(), [&](const Constraint& c) {
      if (c.kind != Constraint::Kind::into) return false;
      auto operand = lone(vars_.zonk(c.shapes[0]));
      return operand && *operand == v && same(vars_.zonk(c.shapes[1]), target);
    });
  };
  return std::any_of(parked_.begin(), parked_.end(), [&](const Constraint& c) {
    if (c.kind != Constraint::Kind::into) return false;
    const Shape target = vars_.zonk(c.shapes[1]);
    return std::all_of(parts.begin(), parts.end(), [&](ShapeVarId v) { return goes_into(v, target); });
  });
}

bool Solver::pinned(ShapeVarId result, size_t by) const {
  if (!vars_.is_meta(result)) return true;
  for (size_t i = 0; i < by; ++i) {  // the first join that yields it defines it
    const Constraint& c = parked_[i];
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

bool Solver::default_join(Constraint& c) {
  active_ = c.context;
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
    for (const Shape& s : open) park(Constraint::Kind::into, {s, result}, why);
    known.insert(known.begin(), result);
    park(Constraint::Kind::join, known, why);
    return true;
  }
  auto variable = lone(result);
  if (variable) {  // the same join twice?
    std::vector<ShapeVarId> mine;
    for (const Shape& s : open) {
      if (!lone(s)) return false;
      const auto inner = joined(*lone(s));
      if (inner.empty()) mine.push_back(*lone(s));
      mine.insert(mine.end(), inner.begin(), inner.end());
    }
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    if (mine == joined(*variable)) {
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
        if (!same(other, s)) park(Constraint::Kind::into, {other, result}, why);
    bind(*v, result, why);
    return true;
  }
  c.done = true;
  failed(Failure::Kind::rank, why);
  return true;
}

/// How many axes a shape has for certain: joins have those of their operands. Each join is seen once.
size_t Solver::axes_at_least(const Shape& shape, std::set<size_t>& seen) const {
  size_t axes = 0;
  for (const ShapeItem& item : vars_.zonk(shape)) {
    if (is_dim(item)) ++axes;
    size_t most = 0;
    for (size_t i = 0; i < parked_.size() && is_var(item); ++i) {
      const Constraint& c = parked_[i];
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
bool Solver::default_join_in(const Shape& shape, std::set<size_t>& seen) {
  for (const ShapeItem& item : vars_.zonk(shape))
    for (size_t i = 0; i < parked_.size() && is_var(item); ++i) {
      Constraint c = parked_[i];
      if (c.done || c.kind != Constraint::Kind::join || !sizes_beside(vars_.zonk(c.shapes[0]), item.var))
        continue;
      if (seen.size() > most_joins || !seen.insert(i).second) continue;
      bool known = false;
      for (size_t k = 1; k < c.shapes.size(); ++k) {
        if (default_join_in(c.shapes[k], seen)) return true;
        known |= any_dim(vars_.zonk(c.shapes[k]));
      }
      if (!known || !default_join(c)) continue;
      parked_[i].done = c.done;
      vars_.changed = true;
      settle();
      return true;
    }
  return false;
}

bool Solver::default_join_longer_than(const Shape& shape, size_t axes) {
  settle();
  std::set<size_t> measured, tried;
  return axes_at_least(shape, measured) > axes && default_join_in(shape, tried);
}

bool Solver::default_into(Constraint& c) {
  active_ = c.context;
  auto v = lone(vars_.zonk(c.shapes[0]));
  if (!v) return false;
  const auto parts = joined(*v);
  if (!parts.empty()) {
    c.done = true;
    const Shape target = c.shapes[1];
    const WhyId why = c.why;
    for (ShapeVarId p : parts) park(Constraint::Kind::into, {Shape{var_item(p)}, target}, why);
    return true;
  }
  if (vars_.is_meta(*v)) return false;
  c.done = true;
  failed(Failure::Kind::rank, c.why);
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
bool Solver::default_words(Constraint& c) {
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
  active_ = c.context;
  c.done = true;
  const ShapeItem middle = var_item(vars_.shape(vars_.types.shape_vars[s].name));
  left.back() = middle;
  right.front() = middle;
  if (bind(s, left, c.why) != Step::failed) bind(a, right, c.why);
  return true;
}

/// After a failure what is open may be so because of it: then nothing is guessed.
bool Solver::default_open_words(size_t since) {
  if (!reported_.empty()) return false;
  for (size_t i = 0; i < parked_.size(); ++i) {
    Constraint c = parked_[i];
    if (c.done || c.serial <= since || c.kind != Constraint::Kind::equal_shapes || !default_words(c))
      continue;
    parked_[i].done = true;
    settle();
    return true;
  }
  return false;
}

bool Solver::default_joins(size_t since) {
  settle();
  while (merge_circles()) settle();
  for (size_t i = 0; i < parked_.size(); ++i) {
    if (parked_[i].done || parked_[i].serial <= since) continue;
    Constraint c = parked_[i];
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
    parked_[i].done = c.done;
    vars_.changed = true;
    settle();
    return true;
  }
  return default_open_words(since);
}

}  // namespace axon::core
