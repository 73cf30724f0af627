// The facts of a scheme: what is parked when a declaration has been inferred comes in, what its callers must
// show and what is left to evaluation goes out; what neither can be shown nor be stated is reported.
#include <fmt/format.h>

#include <algorithm>

#include "base/bug.h"
#include "core/generalise.h"

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Relation;
using shape::Var;
using shape::Verdict;
using source::Code;
using source::error;
using CKind = Constraint::Kind;

/// A fact about indices, as one about sizes: it must hold for the least favourable index.
std::optional<Fact> Generaliser::without_indices(const Fact& fact, const std::vector<Fact>& facts) const {
  auto is_index = [&](Var v) { return vars_.kind(v) == VarKind::index; };
  std::vector<Var> all = fact.lhs.vars();
  fact.rhs.collect_vars(all);
  if (std::none_of(all.begin(), all.end(), is_index)) return fact;
  if (fact.relation != Relation::le && fact.relation != Relation::lt) return std::nullopt;
  const auto bounds = shape::bounds_of(fact.rhs - fact.lhs, facts, [&](Var v) { return !is_index(v); });
  if (!bounds.low) return std::nullopt;
  const Dim least = fact.relation == Relation::lt ? *bounds.low - 1 : *bounds.low;
  return shape::at_least(least, 0);
}

/// 0 <= d, written without minus signs: what is subtracted goes to the left, and 0 < n is written 1 <= n.
static Fact balanced(const Fact& fact) {
  if (fact.relation != Relation::le && fact.relation != Relation::lt) return fact;
  Dim least = fact.rhs - fact.lhs - (fact.relation == Relation::lt ? 1 : 0);
  // 0 <= (n - k) / 3 + m is 0 <= n - k + 3*m
  std::optional<shape::Atom> quotient;
  size_t quotients = 0;
  for (const shape::Term& t : least.terms())
    for (const shape::Atom& f : t.factors) {
      if (f.kind() == shape::AtomKind::var) continue;
      ++quotients;
      const bool alone =
          f.kind() == shape::AtomKind::floor_div && t.factors.size() == 1 && t.coefficient == 1;
      if (alone && f.rhs().constant() && *f.rhs().constant() > 0) quotient = f;
    }
  if (quotient && quotients == 1) {
    const Dim rest = least - atom_dim(*quotient);
    least = quotient->lhs() + quotient->rhs() * rest;
  }
  Dim left(0), right(0);
  for (const shape::Term& t : least.terms()) {
    Dim d(t.coefficient < 0 ? -t.coefficient : t.coefficient);
    for (const shape::Atom& f : t.factors) d = d * atom_dim(f);
    Dim& side = t.coefficient < 0 ? left : right;
    side = side + d;
  }
  return shape::at_most(left, right);
}

namespace {

/// Can the fact never hold together with what is known?
bool contradicts(const Fact& fact, std::vector<Fact> known) {
  known.push_back(fact);
  return shape::prove_empty(known).verdict == Verdict::proved;
}

}  // namespace

/// Does the fact mention an integer that is no size? A branch that is taken for none of the values that the
/// fact leaves it is no mistake: the fact then says which values are meant.
bool Generaliser::mentions_integer(const Fact& fact) const {
  std::vector<Var> all = fact.lhs.vars();
  fact.rhs.collect_vars(all);
  return std::any_of(all.begin(), all.end(), [&](Var v) {
    return !vars_.is_size(v) && vars_.kind(v) != VarKind::index && vars_.kind(v) != VarKind::opened;
  });
}

/// A fact that is neither proved nor can stand in the type: not known to hold, or not decided within the
/// limits.
void Generaliser::refuse_fact(const Fact& fact, const std::vector<Fact>& known, WhyId w,
                              const shape::Answer& answer) {
  const bool gave_up =
      answer.verdict == Verdict::unknown &&
      (answer.by.starts_with("z3") || answer.by == "too large" || answer.by == "not decided without z3");
  if (!gave_up) return reporter_.report_fact(fact, known, w, Holds::unknown);
  reporter_.report(
      error(Code::E0591, whys_[w].span,
            fmt::format("it could not be decided whether {} holds", print(fact, reporter_.names())))
          .note(fmt::format("{} needs it", whys_[w].what))
          .help("state it in a `where`, or check it where the value is known: `e :> t`"));
}

/// What the indices of a fact range over: the least favourable one is expressed by that.
Occurrences Generaliser::conditions_of(const Constraint& c) const {
  Occurrences reach, out;
  reach.add(c.fact.lhs);
  reach.add(c.fact.rhs);
  for (bool grew = true; grew;) {
    const size_t before = out.dims.size();
    for (const Fact& f : c.context) {
      Occurrences mine;
      mine.add(vars_.zonk(f.lhs));
      mine.add(vars_.zonk(f.rhs));
      const bool touches = std::any_of(mine.dims.begin(), mine.dims.end(), [&](Var v) {
        return vars_.kind(v) == VarKind::index && reach.has(v);
      });
      if (!touches) continue;
      for (Var v : mine.dims) {
        out.add(Dim(v));
        reach.add(Dim(v));
      }
    }
    grew = out.dims.size() > before;
  }
  return out;
}

/// The variables that the shapes in a type mention, not those that values in it are.
void Generaliser::add_shape_vars(TypeId id, std::vector<Var>& out) const {
  const Type& t = vars_[id];
  for (const ShapeItem& i : t.shape)
    if (is_dim(i)) i.dim.collect_vars(out);
  if (t.kind == Type::Kind::stack) t.count.collect_vars(out);
  for (TypeId item : t.items) add_shape_vars(item, out);
}

/// By what evaluation may find out that it does not hold.
LeftToRun Generaliser::left_to_run(const Constraint& c) const {
  const LeftToRun stated = whys_[c.why].left_to_run;
  return stated == LeftToRun::never && c.of_size ? LeftToRun::by_size : stated;
}

/// Whether evaluation may be left to find out that it does not hold.
bool Generaliser::is_left(const Constraint& c) const {
  const auto is_of_data = [&](bool sizes) {
    return opened_.depends_on_integer(c.fact.lhs, sizes) || opened_.depends_on_integer(c.fact.rhs, sizes) ||
           (c.in_branch && mentions_integer(c.fact));
  };
  const auto has_range_of_data = [&] {
    const std::vector<Var> ranges = conditions_of(c).dims;
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](Var v) { return opened_.depends_on_integer(Dim(v), true); });
  };
  switch (left_to_run(c)) {
    case LeftToRun::never:
      return false;
    case LeftToRun::by_size:
      return opened_.depends_on_integer(c.fact.lhs, true) || opened_.depends_on_integer(c.fact.rhs, true);
    case LeftToRun::by_index:
      return is_of_data(true) || has_range_of_data();
    case LeftToRun::by_call:
      return is_of_data(false);
    case LeftToRun::by_division:
      return true;
  }
  base::bug("core", "a constraint that is neither left to evaluation nor not");
}

/// Takes the facts that belong to the scheme out of what is parked.
std::vector<Constraint> Generaliser::parked_facts(const Mine& mine) {
  std::vector<Constraint> facts;
  for (Constraint& c : solver_.parked()) {
    if (c.kind != CKind::holds && c.kind != CKind::equal_dims) continue;
    Occurrences all;
    if (c.kind == CKind::equal_dims) c.fact = shape::equal(c.dims[0], c.dims[1]);
    c.fact.lhs = vars_.zonk(c.fact.lhs);
    c.fact.rhs = vars_.zonk(c.fact.rhs);
    all.add(c.fact.lhs);
    all.add(c.fact.rhs);
    if (!mine(all) && !mine(conditions_of(c))) continue;
    facts.push_back(c);
    c.done = true;
  }
  std::erase_if(solver_.parked(), [](const Constraint& c) { return c.done; });
  return facts;
}

/// An integer that a shape of the type mentions is a size where it must be at least 0: then that needs no
/// saying.
void Generaliser::make_sizes(TypeId type, const std::vector<Constraint>& facts) {
  std::vector<Var> in_shapes;
  add_shape_vars(vars_.zonk(type), in_shapes);
  for (const Constraint& c : facts)
    if (c.fact.relation == Relation::le)
      if (auto v = (c.fact.rhs - c.fact.lhs).as_var();
          v && vars_.kind(*v) != VarKind::index && vars_.kind(*v) != VarKind::opened &&
          std::find(in_shapes.begin(), in_shapes.end(), *v) != in_shapes.end())
        vars_.make_size(*v);
}

/// What of a constraint the scheme has to state; nothing where it holds, where evaluation is left to find
/// out, and where it is an error, which is reported.
std::optional<Fact> Generaliser::residual_of(const Constraint& c, const Occurrences& in_type, bool top) {
  const auto known = solver_.facts_for(c.fact, c.context);
  if (shape::too_complex(c.fact.lhs) || shape::too_complex(c.fact.rhs)) throw TooComplex{whys_[c.why].span};
  const auto answer = shape::prove(known, c.fact);
  if (answer.verdict == Verdict::proved) return std::nullopt;
  const bool never = contradicts(c.fact, known);
  const auto fails = [&] {
    if (shape::prove_empty(c.context).verdict != Verdict::proved)  // else it is never reached
      reporter_.report_fact(c.fact, known, c.why, never ? Holds::never : Holds::not_always);
    return std::nullopt;
  };
  const auto is_refused = [&] {
    if (!is_left(c)) refuse_fact(c.fact, known, c.why, answer);
    return std::nullopt;
  };
  if (never && (!mentions_integer(c.fact) || contradicts(c.fact, solver_.facts_for(c.fact, {}))))
    return fails();
  const auto residual = without_indices(c.fact, known);
  if (!residual) return is_refused();
  const auto outside = solver_.facts_for(*residual, {});
  if (shape::prove(outside, *residual).verdict == Verdict::proved) return std::nullopt;
  if (contradicts(*residual, outside)) return fails();
  std::vector<Var> all = residual->lhs.vars();
  residual->rhs.collect_vars(all);
  const bool expressible = std::all_of(all.begin(), all.end(), [&](Var v) {
    return vars_.kind(v) == VarKind::rigid || (vars_.kind(v) != VarKind::opened && in_type.has(v));
  });
  const bool states = !is_left(c) || (expressible && left_to_run(c) == LeftToRun::by_division);
  if (!states || (!expressible && top)) return is_refused();
  const bool at_least_0 = residual->relation == Relation::le && residual->lhs.is(0);
  if (at_least_0 && vars_.plainly_nonnegative(residual->rhs)) return std::nullopt;
  return vars_.subtracts_nothing(residual->rhs) && vars_.subtracts_nothing(residual->lhs)
             ? *residual
             : balanced(*residual);
}

void Generaliser::take_facts(Scheme& scheme, const Mine& mine, bool top) {
  const size_t inferred = scheme.where.size();
  const std::vector<Constraint> facts = parked_facts(mine);
  make_sizes(scheme.type, facts);
  Occurrences in_type;
  in_type.add(vars_, vars_.zonk(scheme.type));
  // When one fact of a call's `where`, or one end of an index's range, fails, the others follow from the same
  // mistake.
  std::set<std::pair<ExprId, uint32_t>> refused;  // with where in the expression
  for (const Constraint& c : facts) {
    const Why& w = whys_[c.why];
    const auto mistake = std::pair(w.expr, w.stated.empty() ? w.span.begin : 0);
    if (w.expr.valid() && refused.count(mistake)) continue;
    const size_t before = e_.diagnostics->error_count();
    const auto residual = residual_of(c, in_type, top);
    if (e_.diagnostics->error_count() > before) refused.insert(mistake);
    if (!residual) continue;
    scheme.where.push_back({*residual, left_to_run(c)});
    solver_.assume(*residual);
    const Why& why = whys_[c.why];
    fact_sources_.push_back(
        {*residual, why.span, why.expr.valid() ? p_.exprs[why.expr].span : source::Span{}});
  }
  drop_implied(scheme.where, inferred);
}

/// Whether a size of the fact is divided by another size.
static bool divides_by_size(const Fact& fact) {
  const std::function<bool(const Dim&)> divides = [&](const Dim& d) {
    for (const shape::Term& t : d.terms())
      for (const shape::Atom& a : t.factors) {
        if (a.kind() == shape::AtomKind::var) continue;
        const bool quotient = a.kind() != shape::AtomKind::min && a.kind() != shape::AtomKind::max;
        if ((quotient && !a.rhs().constant()) || divides(a.lhs()) || divides(a.rhs())) return true;
      }
    return false;
  };
  return divides(fact.lhs) || divides(fact.rhs);
}

/// Drops the facts from `first` on that the others imply: 2 <= h beside 2 <= h/2. Each was not known from
/// those before it when it was added, so only what came later can imply it. That a division has a value
/// implies nothing here: it is what `p != 0` is stated for.
void Generaliser::drop_implied(std::vector<Requirement>& where, size_t first) const {
  for (size_t i = where.size(); i-- > first;) {
    if (i + 1 == where.size()) continue;
    std::vector<Fact> others;
    Occurrences sizes;
    for (const FactAt& f : e_.infos[g_.index].where) others.push_back(f.fact);
    for (size_t j = 0; j < where.size(); ++j)
      if (j != i && !divides_by_size(where[j])) others.push_back(where[j]);
    for (const Fact& f : where) {
      sizes.add(f.lhs);
      sizes.add(f.rhs);
    }
    for (Var v : sizes.dims)
      if (vars_.is_size(v)) others.push_back(shape::at_least(Dim(v), 0));
    if (shape::prove(others, where[i]).verdict == Verdict::proved)
      where.erase(where.begin() + static_cast<long>(i));
  }
}

}  // namespace axon::core
