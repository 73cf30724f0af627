// Indices are in range: proved, or guarded by a condition, or checked once at run time, or an error.
//
// A fact over sizes that is not proved becomes a check of the entry. An index that comes from data goes
// through `bounded`, with a check of every element of the tensor that it comes from. An index that is in
// range only under the condition of an `if` or `else` is clamped as well, because generated code evaluates
// both sides.
#include <fmt/format.h>

#include <algorithm>

#include "graph/from_core/evaluator.h"

namespace axon::graph {

using shape::Verdict;

std::vector<Fact> SizeEnvironment::known_facts() const {
  std::vector<Fact> facts = g.facts;
  auto range = [&](const Axis& a) {
    facts.push_back(shape::at_most(Dim(0), Dim(a.var)));
    facts.push_back(shape::less(Dim(a.var), a.extent));
  };
  for (const DynamicSize& d : data_dependent_) {
    facts.push_back(shape::at_least(Dim(d.size), Dim(0)));
    facts.push_back(shape::at_most(Dim(d.size), d.bound));
  }
  for (const auto& [size, dim] : equals_) facts.push_back(shape::equal(Dim(size), dim));
  for (const Axis& a : loops_) range(a);
  for (const Axis& a : active_) range(a);
  return facts;
}

Proof BoundsChecker::proof(const Fact& fact) const {
  if (fact.relation == shape::Relation::lt) {  // the usual case: an index variable under its own extent
    if (auto v = fact.lhs.as_var())
      for (const Axis& a : active_)
        if (a.var == *v && a.extent == fact.rhs) return Proof::always;
  }
  if (fact.relation == shape::Relation::le && fact.lhs.is(0)) {
    if (auto v = fact.rhs.as_var())
      for (const Axis& a : active_)
        if (a.var == *v) return Proof::always;
  }
  std::vector<Fact> facts = sizes_.known_facts();
  if (shape::prove(facts, fact).verdict == Verdict::proved) return Proof::always;
  if (guards_.empty()) return Proof::unknown;
  facts.insert(facts.end(), guards_.begin(), guards_.end());
  return shape::prove(facts, fact).verdict == Verdict::proved ? Proof::guarded : Proof::unknown;
}

bool BoundsChecker::require(const Fact& fact, const std::string& what) {
  if (proof(fact) == Proof::always) return true;
  auto size_var = [&](Var v) { return sizes_.is_size(v); };
  Fact check = fact;
  std::vector<Fact> facts = sizes_.known_facts();
  if (!sizes_.over_sizes(fact.lhs) || !sizes_.over_sizes(fact.rhs)) {
    if (fact.relation != shape::Relation::le && fact.relation != shape::Relation::lt) return false;
    // The worst case over the index variables is a fact over sizes.
    auto low = shape::bounds_of(fact.rhs, facts, size_var).low;
    auto high = shape::bounds_of(fact.lhs, facts, size_var).high;
    if (!low || !high) return false;
    check.lhs = shape::simplify(*high, g.facts);
    check.rhs = shape::simplify(*low, g.facts);
    if (shape::prove(g.facts, check).verdict == Verdict::proved) return true;
  }
  if (reads_data(g, check.lhs) || reads_data(g, check.rhs))
    return false;  // known only after the checks of the entry
  Fact negated = check.relation == shape::Relation::lt   ? shape::at_most(check.rhs, check.lhs)
                 : check.relation == shape::Relation::le ? shape::less(check.rhs, check.lhs)
                                                         : Fact{check.lhs, shape::Relation::ne, check.rhs};
  if (check.relation != shape::Relation::ne && shape::prove(g.facts, negated).verdict == Verdict::proved)
    return false;
  check_at_call(
      g, check,
      fmt::format("{}: {} needs to hold, and the two sides are {{lhs}} and {{rhs}}", what, check.str()));
  return true;
}

bool CheckedIntegers::depends_on_data(const Dim& d) const {
  const auto is_position = [&](Var v) {
    return std::find(context_.positions.begin(), context_.positions.end(), v) != context_.positions.end();
  };
  std::vector<Var> reached = d.vars();
  for (size_t i = 0; i < reached.size(); ++i) {
    const Var v = reached[i];
    if (is_position(v) || sizes_.data_dependent(v) || reads_data(g, Dim(v))) return true;
    for (const std::vector<Axis>* axes : {&active_, &loops_})
      for (const Axis& a : *axes)
        if (a.var == v) a.extent.collect_vars(reached);
  }
  return false;
}

/// The least or the most that the index is at some point of the `for`s and loops around, over sizes; nullopt
/// where that is not known, or only a bound of it.
std::optional<Dim> CheckedIntegers::reached_end(Dim index, bool most) const {
  for (const std::vector<Axis>* around : {&active_, &loops_})
    for (auto a = around->rbegin(); a != around->rend(); ++a) {
      if (!index.contains(a->var)) continue;
      const auto linear = index.linear_in(a->var);
      const auto slope = linear ? linear->first.constant() : std::nullopt;
      if (!slope) return std::nullopt;
      index = index.substitute({{a->var, (*slope > 0) == most ? a->extent - Dim(1) : Dim(0)}});
    }
  return sizes_.over_sizes(index) ? std::optional(index) : std::nullopt;
}

/// Reports an index that cannot be checked as the error of the user.
ScalarId CheckedIntegers::safe_index(ScalarId index, const Dim& extent, const std::string& what) {
  auto dim = affine_index(g, index);
  if (!dim) return data_index(index, extent, what);
  Fact low = shape::at_most(Dim(0), *dim), high = shape::less(*dim, extent);
  Proof at_low = bounds_.proof(low), at_high = bounds_.proof(high);
  // In a branch the index is checked where the branch is taken, not at the call; so is what is not known
  // there.
  const bool unproved = at_low == Proof::unknown || at_high == Proof::unknown;
  // The call does not know the extent, or would have to ask for more than the indices need.
  const bool past_call = reads_data(g, extent) || sizes_.varies(extent) ||
                         (at_low == Proof::unknown && !reached_end(*dim, false)) ||
                         (at_high == Proof::unknown && !reached_end(*dim, true));
  if (unproved && (!conditions_.empty() || depends_on_data(*dim) || past_call))
    return data_index(index, extent, what);
  if ((at_low == Proof::unknown && !bounds_.require(low, what)) ||
      (at_high == Proof::unknown && !bounds_.require(high, what))) {
    const auto value = dim->constant(), count = extent.constant();
    fail(source::Code::E0601,
         value && count
             ? fmt::format("{}: {} is not in 0 .. {}", what, *value, *count - 1)
             : fmt::format("{} may be out of range: nothing shows that it is {}", what,
                           at_low == Proof::unknown ? "at least 0" : "less than " + sizes_.shown(extent)));
    return index;
  }
  ScalarId safe = index_of(g, *dim);
  if (at_high == Proof::guarded) safe = apply(g, Op::min, {safe, index_of(g, extent - 1)});
  if (at_low == Proof::guarded || at_high == Proof::guarded)
    safe = apply(g, Op::max, {safe, constant_int(g, Elem::i64, 0)});
  return safe;
}

std::pair<ScalarId, ScalarId> CheckedIntegers::guarded_index(ScalarId index, const Dim& extent) {
  ScalarId inside = constant_int(g, Elem::boolean, 1), zero = constant_int(g, Elem::i64, 0);
  auto dim = affine_index(g, index);
  Proof low = dim ? bounds_.proof(shape::at_most(Dim(0), *dim)) : Proof::unknown;
  Proof high = dim ? bounds_.proof(shape::less(*dim, extent)) : Proof::unknown;
  ScalarId safe = index;
  if (low == Proof::unknown) inside = apply(g, Op::and_, {inside, apply(g, Op::le, {zero, index})});
  if (high == Proof::unknown)
    inside = apply(g, Op::and_, {inside, apply(g, Op::lt, {index, index_of(g, extent)})});
  // The upper clamp leaves -1 when the axis is empty, so the lower one goes with it.
  if (high != Proof::always) {
    safe = apply(g, Op::min, {safe, index_of(g, extent - 1)});
    // Where the extent is of one element, its bound shows that the index lies inside of what is read.
    if (sizes_.varies(extent)) safe = apply(g, Op::min, {safe, index_of(g, sizes_.bound_of(extent) - 1)});
  }
  if (high != Proof::always || low != Proof::always) safe = apply(g, Op::max, {safe, zero});
  return {safe, inside};
}

bool SizeEnvironment::over_sizes(const Dim& d) const {
  const std::vector<Var> vars = d.vars();
  return std::all_of(vars.begin(), vars.end(), [&](Var v) { return is_size(v); });
}

std::string SizeEnvironment::shown(const Dim& extent) const {
  return over_sizes(extent) && !reads_data(g, extent) ? extent.str() : "the size of its axis";
}

/// The integer, or 0 where a condition does not hold: there it need not be in range.
ScalarId CheckedIntegers::where_all(const std::vector<ScalarId>& conditions, ScalarId integer) {
  for (ScalarId condition : conditions)
    integer = apply(g, Op::select, {condition, integer, constant_int(g, Elem::i64, 0)});
  return integer;
}

/// Does the load read the whole tensor as the index variables in scope range over their axes? Then every
/// element of the tensor is an index.
bool CheckedIntegers::reads_every_element(const Scalar& load) const {
  const std::vector<Dim>& shape = g.type(load.target).shape;
  std::set<Var> seen;
  for (size_t a = 0; a < load.args.size(); ++a) {
    const auto at = affine_index(g, load.args[a]);
    const auto v = at ? at->as_var() : std::nullopt;
    const bool whole =
        v && seen.insert(*v).second && std::any_of(active_.begin(), active_.end(), [&](const Axis& axis) {
          return axis.var == *v && axis.extent == shape[a];
        });
    if (!whole && !(at && shape[a].is(1))) return false;
  }
  return true;
}

/// Does the host check the integers of the tensor before anything runs?
bool CheckedIntegers::is_checked_by_host(Value value, const Dim& bound) const {
  Check check;
  check.value = value;
  check.bound = bound;
  return input_checked_by_host(g, check).has_value();
}

/// The index as a tensor of its own, held against `bound`: of what is not evaluated, 0; `no_element` for
/// what lies between the extent and the bound. A load of it.
ScalarId CheckedIntegers::stored_index(ScalarId index, const Dim& extent, Dim& bound) {
  const std::vector<Axis> around = builder_.free_axes(index, {extent});
  const GraphBuilder::Ranges ranges = builder_.ranges_around(index);
  const bool varies = sizes_.varies(extent);
  std::vector<ScalarId> reached = ranges.not_empty;
  for (const Axis& a : around)
    if (sizes_.varies(a.extent)) reached.push_back(sizes_.is_inside(a));
  if (varies || bound != extent || !reached.empty() || !conditions_.empty()) {
    // Where nothing is read the index is 0, so the bound is at least 1: also where no range around has an
    // element, of which nothing is known then.
    if (shape::prove(g.facts, shape::at_least(bound, Dim(1))).verdict != shape::Verdict::proved)
      bound = max(bound, Dim(1));
    if (varies || bound != extent) {
      const ScalarId size = sizes_.value_of(extent);
      const ScalarId shown =
          apply(g, Op::or_, {apply(g, Op::lt, {index, size}), apply(g, Op::le, {index_of(g, bound), size})});
      index = apply(g, Op::select, {shown, index, constant_int(g, Elem::i64, no_element)});
    }
    const Projection::Needed needed =
        Projection(context_, sizes_, builder_).run(where_all(reached, index), ranges.may_leave_loops);
    index = where_all(needed.conditions, needed.integer);
  }
  const std::vector<Axis> domain = builder_.free_axes(index);
  Array whole;
  whole.elem = Elem::i64;
  whole.body = index;
  whole.name = "index";
  const Value stored = builder_.store(whole, domain, ranges.may_leave_loops);
  std::vector<ScalarId> at;
  for (const Axis& a : domain) at.push_back(index_of(g, Dim(a.var)));
  return load(g, stored, at, Elem::i64);
}

void CheckedIntegers::withdraw(ScalarId index, uint32_t since) {
  const Scalar& s = g.scalars[index];
  if (s.op == Op::bounded && s.check >= since) context_.unneeded_checks.insert(s.check);
}

/// Is it read from an order of as many elements as the axis has? In a branch that is not taken, and past
/// sizes that differ between elements, there may be fewer.
bool CheckedIntegers::is_position(const Scalar& index, const Dim& extent) const {
  if (index.op != Op::load || !conditions_.empty() || sizes_.varies(extent)) return false;
  const Scalar* const order = computed_order(g, g.nodes[index.target.node]);
  return order && order->binders[0].extent == extent;
}

/// An index that the data decides: `bounded`, and a check of every element of the tensor that it is loaded
/// from.
ScalarId CheckedIntegers::data_index(ScalarId index, const Dim& extent, const std::string& what) {
  ScalarId loaded = index;
  while (g.scalars[loaded].op == Op::cast) loaded = g.scalars[loaded].args[0];
  const Scalar& read = g.scalars[loaded];
  if (is_position(read, extent)) return index;
  const std::vector<Axis> around = builder_.free_axes(index, {extent});
  const std::optional<Dim> most = sizes_.most_in_loops(extent);
  Dim bound = most ? *most : sizes_.bound_of(extent);
  const bool all =
      read.op == Op::load && base::is_integer(read.elem) && reads_every_element(read) &&
      conditions_.empty() && !most && !sizes_.varies(extent) &&
      std::none_of(around.begin(), around.end(), [&](const Axis& a) { return sizes_.varies(a.extent); });
  if (!all || (!is_checked_by_host(read.target, bound) && !builder_.ranges_around(index).always()))
    loaded = index = stored_index(index, extent, bound);
  Check c;
  c.value = g.scalars[loaded].target;
  c.bound = bound;
  c.message = what;
  uint32_t number = 0;
  while (number < g.checks.size() &&
         !(!g.checks[number].fact && g.checks[number].value == c.value && g.checks[number].bound == c.bound))
    ++number;
  if (number == g.checks.size()) g.checks.push_back(c);
  context_.unneeded_checks.erase(number);
  Scalar s;
  s.op = Op::bounded;
  s.elem = Elem::i64;
  s.args = {index};
  s.dim = bound;
  s.check = number;
  return make_scalar(g, std::move(s));
}

}  // namespace axon::graph
