// Sizes and word equations of solver.h.
#include "core/solver.h"

#include <fmt/format.h>

#include <algorithm>

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Term;
using shape::Var;

std::string print_dim(const Dim& d) { return d.str(); }

std::string print_shape(const Shape& s, const Vars& vars) {
  std::string out = "[";
  for (size_t i = 0; i < s.size(); ++i) {
    if (i) out += ", ";
    if (is_dim(s[i])) out += print_dim(s[i].dim);
    if (is_var(s[i])) out += ".." + vars.types.shape_vars[s[i].var].name;
    if (s[i].kind == ShapeItem::Kind::join) {
      out += "..(";
      for (size_t j = 0; j < s[i].join.size(); ++j)
        out += (j ? "|" : "") + vars.types.shape_vars[s[i].join[j]].name;
      out += ")";
    }
  }
  return out + "]";
}

std::string print(const Constraint& c, const Vars& vars) {
  auto shape = [&](size_t i) { return print_shape(vars.zonk(c.shapes[i]), vars); };
  switch (c.kind) {
    case Constraint::Kind::equal_dims:
      return fmt::format("{} = {}", print_dim(vars.zonk(c.dims[0])), print_dim(vars.zonk(c.dims[1])));
    case Constraint::Kind::equal_shapes:
      return fmt::format("{} = {}", shape(0), shape(1));
    case Constraint::Kind::into:
      return fmt::format("{} into {}", shape(0), shape(1));
    case Constraint::Kind::holds:
      return c.fact.str();
    case Constraint::Kind::join: {
      std::string out = shape(0) + " = ";
      for (size_t i = 1; i < c.shapes.size(); ++i) out += (i > 1 ? " | " : "") + shape(i);
      return out;
    }
  }
  return "?";
}

namespace {

/// b / a when every step is exact: a is one term whose factors and coefficient divide each term of b.
std::optional<Dim> exact_quotient(const Dim& b, const Dim& a) {
  if (a.terms().size() != 1) return std::nullopt;
  const Term& divisor = a.terms()[0];
  Dim out;
  for (const Term& t : b.terms()) {
    if (t.coefficient % divisor.coefficient != 0) return std::nullopt;
    std::vector<shape::Atom> left = t.factors;
    for (const shape::Atom& f : divisor.factors) {
      auto it = std::find(left.begin(), left.end(), f);
      if (it == left.end()) return std::nullopt;
      left.erase(it);
    }
    Dim term(t.coefficient / divisor.coefficient);
    for (const shape::Atom& f : left) term = term * atom_dim(f);
    out = out + term;
  }
  return out;
}

}  // namespace

bool never_zero(const Dim& d) {
  int64_t constant = 0, divisor = 0;
  for (const Term& t : d.terms()) {
    if (t.factors.empty()) {
      constant = t.coefficient;
    } else {
      int64_t a = divisor < 0 ? -divisor : divisor, b = t.coefficient < 0 ? -t.coefficient : t.coefficient;
      while (b) std::swap(a %= b, b);
      divisor = a;
    }
  }
  if (divisor == 0) return constant != 0;
  return constant % divisor != 0;
}

// ---- Stating constraints ----

void Solver::submit(Constraint c) {
  if (skips(c.why)) return;
  c.context = context();
  c.in_branch = in_branch();
  c.serial = ++serial_;
  stating_ = c.why;
  switch (attempt(c)) {
    case Step::wait:
      parked_.push_back(std::move(c));
      break;
    case Step::done:
    case Step::failed:
      break;
  }
  settle();
  stating_ = {};
}

void Solver::equal(const Dim& a, const Dim& b, WhyId why) {
  submit({Constraint::Kind::equal_dims, {a, b}, {}, {}, {}, why, false, 0});
}
void Solver::equal(const Shape& a, const Shape& b, WhyId why) {
  submit({Constraint::Kind::equal_shapes, {}, {a, b}, {}, {}, why, false, 0});
}
void Solver::join(Shape result, std::vector<Shape> operands, WhyId why) {
  operands.insert(operands.begin(), std::move(result));
  submit({Constraint::Kind::join, {}, std::move(operands), {}, {}, why, false, 0});
}
void Solver::into(Shape operand, Shape target, WhyId why) {
  submit({Constraint::Kind::into, {}, {std::move(operand), std::move(target)}, {}, {}, why, false, 0});
}
void Solver::require(Fact fact, WhyId why) {
  if (skips(why)) return;
  parked_.push_back(
      {Constraint::Kind::holds, {}, {}, std::move(fact), context(), why, false, ++serial_, in_branch()});
}

/// Two sizes of one statement that clash are one failure, whatever the statement woke: it is reported at the
/// statement itself. Elsewhere two sizes that are no constants clash wherever they meet, and k*g = k*h fails
/// because g = h does.
bool Solver::told(const Failure& failure) {
  const Dim difference = failure.lhs - failure.rhs;
  for (Failure& f : failures_) {
    const bool same_sizes =
        (f.lhs == failure.lhs && f.rhs == failure.rhs) || (f.lhs == failure.rhs && f.rhs == failure.lhs);
    if (!same_sizes || !failure.stating.valid() || f.stating != failure.stating) continue;
    if (failure.why == failure.stating) f = failure;
    return true;
  }
  for (const Dim& earlier : differing_)
    for (Var v : earlier.vars()) {
      auto linear = earlier.linear_in(v);
      auto factor = linear ? linear->first.constant() : std::nullopt;
      if (!factor || (*factor != 1 && *factor != -1)) continue;
      const Dim instead = *factor == 1 ? -linear->second : linear->second;
      if (difference.substitute({{v, instead}}).is(0)) return true;
    }
  if (!difference.constant()) differing_.push_back(difference);
  return false;
}

void Solver::fail(Failure failure) {
  failure.stating = stating_;
  if (failure.why.valid()) {
    if (std::find(reported_.begin(), reported_.end(), failure.why) != reported_.end()) return;
    reported_.push_back(failure.why);
  }
  const bool sizes = failure.kind == Failure::Kind::size || failure.kind == Failure::Kind::broadcast;
  if (sizes && told(failure)) return;
  failures_.push_back(std::move(failure));
}
Solver::Step Solver::failed(Failure::Kind kind, WhyId why, Dim lhs, Dim rhs) {
  fail({kind, why, vars_.zonk(lhs), vars_.zonk(rhs), {}});
  return Step::failed;
}
std::vector<Failure> Solver::take_failures() {
  std::vector<Failure> out;
  out.swap(failures_);
  return out;
}

void Solver::settle() {
  if (settling_) return;
  settling_ = true;
  while (vars_.changed) {
    vars_.changed = false;
    for (size_t i = 0; i < parked_.size(); ++i) {
      Constraint c = parked_[i];  // a copy: attempts may park more
      if (c.done || c.kind == Constraint::Kind::holds) continue;
      if (attempt(c) != Step::wait) c.done = true;
      parked_[i] = std::move(c);
    }
    std::erase_if(parked_, [](const Constraint& c) { return c.done; });
  }
  settling_ = false;
}

Solver::Step Solver::attempt(Constraint& c) {
  if (++steps_ > most_steps_ || serial_ > most_constraints) throw TooComplex();
  active_ = c.context;
  switch (c.kind) {
    case Constraint::Kind::equal_dims:
      return solve_dims(c.dims[0], c.dims[1], c.why);
    case Constraint::Kind::equal_shapes:
      return solve_shapes(c.shapes[0], c.shapes[1], c.why);
    case Constraint::Kind::join:
      return solve_join(c);
    case Constraint::Kind::into:
      return solve_into(c);
    case Constraint::Kind::holds:
      return Step::wait;
  }
  return Step::wait;
}

// ---- Sizes ----

void Solver::bind(Var v, const Dim& d, WhyId why) {
  const Fact is_size = shape::at_least(d, 0);
  const auto proved = [&](const std::vector<Fact>& context) {
    return shape::prove(facts_for(is_size, context), is_size).verdict == shape::Verdict::proved;
  };
  if (vars_.is_size(v) && !vars_.plainly_nonnegative(d)) {
    // a size exists outside of any `for`, unless an index is in it: that one is in its range must not be used
    std::vector<Fact> context = active_;
    if (!vars_.mentions_index(d))
      std::erase_if(
          context, [&](const Fact& f) { return vars_.mentions_index(f.lhs) || vars_.mentions_index(f.rhs); });
    // an integer that a condition shows to be none below 0 is a size under it, and any number elsewhere
    if (const auto other = d.as_var(); other && (!proved(context) || proved({}))) vars_.make_size(*other);
    parked_.push_back(
        {Constraint::Kind::holds, {}, {}, is_size, context, why, false, ++serial_, false, true});
  }
  vars_.solve(v, d);
}

Solver::Step Solver::require_equal(const Dim& a, const Dim& b, WhyId why, Failure::Kind kind) {
  Step step = solve_dims(a, b, why, kind);
  if (step == Step::wait)
    parked_.push_back({Constraint::Kind::equal_dims, {a, b}, {}, {}, active_, why, false, ++serial_});
  return step == Step::failed ? step : Step::done;
}

Solver::Step Solver::solve_dims(const Dim& a0, const Dim& b0, WhyId why, Failure::Kind kind) {
  const Dim a = vars_.zonk(a0), b = vars_.zonk(b0);
  if (a == b) return Step::done;
  const Dim d = a - b;
  if (d.is(0)) return Step::done;
  if (shape::too_complex(a) || shape::too_complex(b) || shape::too_complex(d)) throw TooComplex();
  auto va = a.as_var(), vb = b.as_var();
  const bool meta_a = va && vars_.is_meta(*va), meta_b = vb && vars_.is_meta(*vb);
  if (meta_a && meta_b) {  // the older name survives
    if (*va < *vb) std::swap(va, vb);
    bind(*va, Dim(*vb), why);
    return Step::done;
  }
  if (meta_a && !b.contains(*va)) return bind(*va, b, why), Step::done;
  if (meta_b && !a.contains(*vb)) return bind(*vb, a, why), Step::done;

  if (vars_.mentions_failed(d)) return Step::done;

  std::optional<std::pair<Var, Dim>> solution;
  bool open = false;
  for (Var v : d.vars()) {
    if (!vars_.is_meta(v)) continue;
    open = true;
    auto linear = d.linear_in(v);
    if (!linear) continue;
    auto quotient = exact_quotient(-linear->second, linear->first);
    if (!quotient || (quotient->is(0) && !linear->first.constant())) continue;  // a*b = 0 leaves a open
    if (!solution || (vars_.plainly_nonnegative(*quotient) && !vars_.plainly_nonnegative(solution->second)))
      solution = {v, *quotient};
  }
  // m = m + k, where neither side is a number: empty axes alone would have the size, which nobody means.
  if (solution && solution->second.is(0) && !a.constant() && !b.constant()) return failed(kind, why, a, b);
  if (solution) return bind(solution->first, solution->second, why), Step::done;
  if (never_zero(d)) return failed(kind, why, a, b);
  if (open) return Step::wait;

  // Between names that stand for any size, a polynomial equation either is an identity or follows from what
  // is given; one about quotients may hold for the sizes that occur, and becomes part of the type or a check.
  const Fact goal = shape::equal(a, b);
  const std::vector<Fact> facts = facts_for(goal, active_);
  const bool only_signs = std::all_of(facts.begin(), facts.end(), [](const Fact& f) {
    return f.relation == shape::Relation::le && f.lhs.is(0);
  });
  const bool polynomial = std::all_of(d.terms().begin(), d.terms().end(), [](const Term& t) {
    return std::all_of(t.factors.begin(), t.factors.end(),
                       [](const shape::Atom& f) { return f.kind() == shape::AtomKind::var; });
  });
  if (only_signs && polynomial) return failed(kind, why, a, b);
  if (shape::prove(facts, goal).verdict == shape::Verdict::proved) return Step::done;
  return polynomial ? failed(kind, why, a, b) : Step::wait;
}

// ---- Word equations ----

Solver::Step Solver::bind(ShapeVarId v, const Shape& s, WhyId why) {
  if (auto other = lone(s); other && *other == v) return Step::done;
  for (const ShapeItem& i : s) {
    if (!is_var(i) || i.var != v) continue;
    // v = ... v ...: only when everything else is empty
    Step step = Step::done;
    bool past = false;
    for (const ShapeItem& j : s) {
      if (!past && is_var(j) && j.var == v) {
        past = true;
      } else if (is_dim(j) || !vars_.is_meta(j.var)) {
        return failed(Failure::Kind::rank, why);
      } else {
        vars_.solve(j.var, {});
      }
    }
    return step;
  }
  if (auto other = lone(s); other && vars_.is_meta(*other) && v.index < other->index) {
    vars_.solve(*other, {var_item(v)});  // the older name survives
    return Step::done;
  }
  if (!s.empty() && lone(s) == std::nullopt && occurs_in_join(v, s)) return failed(Failure::Kind::rank, why);
  vars_.solve(v, s);
  return Step::done;
}

bool Solver::occurs_in_join(ShapeVarId v, const Shape& s) const {
  // v = [..r, n] where r joins v: v would be longer than itself
  if (std::none_of(s.begin(), s.end(), is_dim)) return false;
  for (const ShapeItem& i : s) {
    if (!is_var(i)) continue;
    const auto operands = joined(i.var);
    if (std::find(operands.begin(), operands.end(), v) != operands.end()) return true;
  }
  return false;
}

bool Solver::rank_equation(const Shape& unknown, size_t rank, WhyId why, Step& step) {
  std::optional<ShapeVarId> only;
  size_t dims = 0, times = 0;
  for (const ShapeItem& i : unknown) {
    if (is_dim(i)) {
      ++dims;
    } else {
      if (only && *only != i.var) return false;
      only = i.var;
      ++times;
    }
  }
  if (!only || !vars_.is_meta(*only)) return false;
  if (rank < dims || (rank - dims) % times != 0) {
    step = failed(Failure::Kind::rank, why);
    return true;
  }
  Shape fresh;
  for (size_t i = 0; i < (rank - dims) / times; ++i) fresh.push_back(dim_item(Dim(vars_.dim("n"))));
  vars_.solve(*only, fresh);
  step = Step::wait;  // to be attempted again with the axes in place
  return true;
}

/// Whether the axes that are known of `longer` are more than `other` has.
static bool has_too_many_axes(const Shape& longer, const Shape& other) {
  return known_rank(other) && std::count_if(longer.begin(), longer.end(), is_dim) > std::ssize(other);
}

Solver::Step Solver::solve_shapes(Shape a, Shape b, WhyId why) {
  for (;;) {
    a = vars_.zonk(a);
    b = vars_.zonk(b);
    if (has_too_many_axes(a, b) || has_too_many_axes(b, a)) return failed(Failure::Kind::rank, why);
    auto cancel = [&](auto end_of, auto drop) -> std::optional<Step> {
      while (!a.empty() && !b.empty()) {
        const ShapeItem x = end_of(a), y = end_of(b);
        if (is_dim(x) && is_dim(y)) {
          if (require_equal(x.dim, y.dim, why, Failure::Kind::size) == Step::failed) return Step::failed;
        } else if (!(is_var(x) && is_var(y) && x.var == y.var)) {
          break;
        }
        drop(a);
        drop(b);
      }
      return std::nullopt;
    };
    auto first = [](const Shape& s) { return s.front(); };
    auto last = [](const Shape& s) { return s.back(); };
    auto drop_first = [](Shape& s) { s.erase(s.begin()); };
    auto drop_last = [](Shape& s) { s.pop_back(); };
    if (auto step = cancel(last, drop_last)) return *step;
    if (auto step = cancel(first, drop_first)) return *step;
    if (a.empty() && b.empty()) return Step::done;
    if (a.empty()) std::swap(a, b);
    if (b.empty()) {  // every variable of a is empty
      for (const ShapeItem& i : a)
        if (is_dim(i) || !vars_.is_meta(i.var)) return failed(Failure::Kind::rank, why);
      for (const ShapeItem& i : a) vars_.solve(i.var, {});
      return Step::done;
    }
    auto flexible = [&](const Shape& s) {
      auto v = lone(s);
      return v && vars_.is_meta(*v);
    };
    if (flexible(a)) return bind(*lone(a), b, why);
    if (flexible(b)) return bind(*lone(b), a, why);
    const bool open =
        std::any_of(a.begin(), a.end(), [&](auto& i) { return is_var(i) && vars_.is_meta(i.var); }) ||
        std::any_of(b.begin(), b.end(), [&](auto& i) { return is_var(i) && vars_.is_meta(i.var); });
    if (!open) return failed(Failure::Kind::rank, why);
    // a name that stands for any axes has no first or last axis, and is no other such name
    auto never = [&](const ShapeItem& x, const ShapeItem& y) {
      auto rigid = [&](const ShapeItem& i) { return is_var(i) && !vars_.is_meta(i.var); };
      return (rigid(x) && (is_dim(y) || rigid(y))) || (rigid(y) && is_dim(x));
    };
    if (never(a.back(), b.back()) || never(a.front(), b.front())) return failed(Failure::Kind::rank, why);
    Step step = Step::done;
    if ((known_rank(a) && rank_equation(b, a.size(), why, step)) ||
        (known_rank(b) && rank_equation(a, b.size(), why, step))) {
      if (step == Step::failed) return step;
      continue;
    }
    return Step::wait;
  }
}

}  // namespace axon::core
