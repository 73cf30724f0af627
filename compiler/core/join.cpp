// Broadcasting: joins of shapes, and one shape stretching into another.
//
// Aligned from the right. Only an axis that is the literal 1 stretches; two other sizes become equal.
// Operands of unknown rank wait until their rank is known, or until a default is taken (defaults.h).
#include <algorithm>
#include <map>

#include "core/solver.h"

namespace axon::core {

using shape::Dim;

namespace {

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
    std::erase_if(operands, [&, all = operands](const Shape& s) {
      return std::any_of(all.begin(), all.end(),
                         [&](const Shape& other) { return !same(s, other) && is_stated_into(s, other); });
    });
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
    if (operand.empty() || same(operand, target) || is_stated_into(operand, target)) return Step::done;
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

/// Joins of the same shapes are one shape. True if there were two.
bool Solver::merge_equal_joins() {
  std::map<std::vector<ShapeVarId>, ShapeVarId> results;
  for (const Constraint& c : parked_) {
    if (c.done || c.kind != Constraint::Kind::join) continue;
    const auto result = lone(vars_.zonk(c.shapes[0]));
    const auto parts = result ? joined(*result) : std::vector<ShapeVarId>{};
    if (parts.empty()) continue;
    const auto [known, is_new] = results.emplace(parts, *result);
    if (is_new || known->second == *result) continue;
    const Shape a{var_item(known->second)}, b{var_item(*result)};
    equal(a, b, c.why);
    if (same(vars_.zonk(a), vars_.zonk(b))) return true;
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
    return is_stated_into({var_item(v)}, target) ||
           std::any_of(parked_.begin(), parked_.end(), [&](const Constraint& c) {
             if (c.kind != Constraint::Kind::into) return false;
             auto operand = lone(vars_.zonk(c.shapes[0]));
             return operand && *operand == v && same(vars_.zonk(c.shapes[1]), target);
           });
  };
  const auto is_target = [&](const Shape& target) {
    return std::all_of(parts.begin(), parts.end(), [&](ShapeVarId v) { return goes_into(v, target); });
  };
  const auto stated = parts.empty() ? std::vector<Shape>() : stated_targets(parts[0]);
  return std::any_of(stated.begin(), stated.end(), is_target) ||
         std::any_of(parked_.begin(), parked_.end(), [&](const Constraint& c) {
           return c.kind == Constraint::Kind::into && is_target(vars_.zonk(c.shapes[1]));
         });
}

}  // namespace axon::core
