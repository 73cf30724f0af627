// Where arithmetic on i64, which wraps, is arithmetic on integers without bounds, which the proofs read.
//
// In: a graph with its sizes, facts and checks. Out: the ranges of integers that are no sizes; and checks,
// made once per call in 128 bits, under which no dimension of the graph leaves i64, nor an operand in one.
// Invariant: what is folded into a Dim is exact for the ranges that its integers have (build.cpp); what is
// made of sizes alone is exact because of these checks.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/graph.h"
#include "shape/floor.h"

namespace axon::graph {

using shape::Wide;
using shape::WideRange;

WideRange range_of(const Graph& g, Var v) {
  const auto size = std::find_if(g.sizes.begin(), g.sizes.end(), [&](const Size& s) { return s.var == v; });
  return size == g.sizes.end() ? shape::size_range() : size->range;
}

bool reads_integer(const Graph& g, const Dim& d) {
  return std::any_of(g.sizes.begin(), g.sizes.end(),
                     [&](const Size& s) { return s.is_integer() && d.contains(s.var); });
}

bool is_exact(const Graph& g, const Dim& d) {
  if (!reads_integer(g, d)) return !shape::overflowed(d);  // sizes: limit_integers()
  return shape::exact_range(d, [&](Var v) { return range_of(g, v); }).has_value();
}

std::optional<ScalarId> exact_index(Graph& g, const Dim& d) {
  return is_exact(g, d) ? std::optional(index_of(g, d)) : std::nullopt;
}

namespace {

template <class Predicate>
bool all_operands(const Fact& f, const Predicate& holds) {
  for (const Dim* side : {&f.lhs, &f.rhs})
    for (const shape::Term& t : side->terms())
      for (const shape::Atom& a : t.factors)
        if (a.kind() != shape::AtomKind::var && !(holds(a.lhs()) && holds(a.rhs()))) return false;
  return true;
}

}  // namespace

bool nests_no_integer(const Graph& g, const Fact& f) {
  return all_operands(f, [&](const Dim& d) { return !reads_integer(g, d); });
}

bool has_exact_operands(const Graph& g, const Fact& f) {
  const auto range = [&](Var v) { return range_of(g, v); };
  return all_operands(f, [&](const Dim& d) { return shape::exact_range(d, range).has_value(); });
}

bool never_holds(const Graph& g, const Fact& f) {
  const auto over = shape::exact_range(f.rhs - f.lhs, [&](Var v) { return range_of(g, v); });
  if (!over || f.relation == shape::Relation::ne) return false;
  return over->high < (f.relation == shape::Relation::lt ? 1 : 0) ||
         (f.relation == shape::Relation::eq && over->low > 0);
}

namespace {

/// Narrows the range of `v` by c*v + rest <= 0.
bool narrow(const Graph& g, Size& v, const Dim& at_most_zero) {
  const auto linear = at_most_zero.linear_in(v.var);
  const auto coefficient = linear ? linear->first.constant() : std::nullopt;
  if (!coefficient || *coefficient == 0) return false;
  const auto rest = shape::exact_range(linear->second, [&](Var other) { return range_of(g, other); });
  if (!rest) return false;
  const WideRange before = v.range;
  if (*coefficient > 0) {
    v.range.high = std::min(v.range.high, shape::floor_quotient(-rest->low, Wide{*coefficient}));
  } else {
    v.range.low = std::max(v.range.low, -shape::floor_quotient(-rest->low, -Wide{*coefficient}));
  }
  v.range.high = std::max(v.range.high, v.range.low);  // facts that contradict each other: nothing runs
  return v.range.low != before.low || v.range.high != before.high;
}

}  // namespace

void check_at_call(Graph& g, const Fact& fact, std::string message) {
  g.facts.push_back(fact);
  g.checks.push_back({fact, {}, {}, std::move(message)});
}

std::vector<Dim> inexact_operands(const Graph& g, const Dim& d) {
  std::vector<Dim> found;
  for (const shape::Term& t : d.terms())
    for (const shape::Atom& a : t.factors) {
      if (a.kind() == shape::AtomKind::var) continue;
      for (const Dim& operand : {a.lhs(), a.rhs()}) {
        const std::vector<Dim> inner = inexact_operands(g, operand);
        found.insert(found.end(), inner.begin(), inner.end());
        if (!shape::exact_range(operand, [&](Var v) { return range_of(g, v); })) found.push_back(operand);
      }
    }
  return found;
}

void narrow_integers(Graph& g) {
  constexpr int rounds = 4;  // a range may follow from the range of another integer
  bool changed = true;
  for (int round = 0; round < rounds && changed; ++round) {
    changed = false;
    for (Size& s : g.sizes) {
      if (!s.is_integer()) continue;
      for (const Fact& f : g.facts) {
        if (f.relation == shape::Relation::ne) continue;
        const Dim less = f.lhs - f.rhs;
        changed |= narrow(g, s, f.relation == shape::Relation::lt ? less + Dim(1) : less);
        if (f.relation == shape::Relation::eq) changed |= narrow(g, s, -less);
      }
    }
  }
}

namespace {

/// Adds the checks of limit_integers() to a graph.
class IntegerLimits {
 public:
  explicit IntegerLimits(Graph& g) : g_(g) {}

  std::string run() {
    narrow_integers(g_);
    find_extents();
    for (uint32_t n = 0; n < g_.nodes.size() && problem_.empty(); ++n) node(g_.nodes[NodeId{n}]);
    std::unordered_set<uint32_t> indices;  // of loads: their proofs say where they lie
    for (uint32_t s = 0; s < g_.scalars.size(); ++s)
      if (const Scalar& load = g_.scalars[ScalarId{s}]; load.op == Op::load)
        for (ScalarId a : load.args) indices.insert(a.index);
    for (uint32_t s = 0; s < g_.scalars.size() && problem_.empty(); ++s)
      scalar(g_.scalars[ScalarId{s}], indices.count(s) > 0);
    narrow_integers(g_);
    return problem_;
  }

 private:
  void find_extents() {
    const auto learn = [&](const std::vector<Axis>& axes) {
      for (const Axis& a : axes) extents_.emplace(a.var.id, a.extent);
    };
    for (uint32_t n = 0; n < g_.nodes.size(); ++n) {
      const Node& node = g_.nodes[NodeId{n}];
      learn(node.domain);
      for (const DynamicSize& s : node.dynamic_sizes) {
        extents_.emplace(s.size.id, s.bound);
        dynamic_.insert(s.size.id);
      }
      if (node.op == NodeOp::loop) learn({node.index});
      if (node.condition) extents_.emplace(steps_var(node).id, Dim(step_limit));
      for (const Local& l : node.locals) learn(l.domain);
    }
    for (uint32_t s = 0; s < g_.scalars.size(); ++s) learn(g_.scalars[ScalarId{s}].binders);
  }

  void node(const Node& n) {
    for (const TensorType& t : n.types)
      for (const Dim& d : t.shape) extent(d);
    for (const Axis& a : n.domain) extent(a.extent);
    for (const DynamicSize& s : n.dynamic_sizes) extent(s.bound);
    if (n.op == NodeOp::loop) value(n.index.extent);
    for (const Output& o : n.outputs)
      for (const Dim& d : o.at) value(d);
  }

  void scalar(const Scalar& s, bool is_index_of_load) {
    for (const Axis& a : s.binders) extent(a.extent);
    if (s.op == Op::bounded || (s.op == Op::index && is_index_of_load)) return value(s.dim);
    if (s.op == Op::index && !is_data(s.dim)) limit(s.dim);
  }

  /// Does it mention a dynamic size? In expressions its value stands for that, and data wraps.
  bool is_data(const Dim& d) const {
    const std::vector<Var> vars = d.vars();
    return std::any_of(vars.begin(), vars.end(), [&](Var v) { return dynamic_.count(v.id) > 0; });
  }

  /// The host computes extents of sizes in 128 bits, and the elements of a tensor limit its indices: what
  /// remains are the operands of quotients, remainders, minima and maxima, and integers.
  void value(const Dim& d) {
    if (reads_integer(g_, d)) return limit(d);
    operands(d);
  }

  /// Of the extent of an axis, later stages take the negative too, and add to what is in it.
  void extent(const Dim& d) {
    for (Var v : d.vars()) stay_small(v);
    value(d);
  }

  void stay_small(Var v) {
    const WideRange range = range_of(g_, v);
    if (range.low >= -Wide{largest_integer} && range.high <= Wide{largest_integer}) return;
    if (!stated_.insert(Dim(v)).second) return;
    const auto state = [&](const Fact& fact, const char* found) {
      check_at_call(g_, fact,
                    fmt::format("`{}` is {}: the integers of a program's sizes end at 2^62",
                                shape::var_name(v), found));
    };
    state(shape::at_most(Dim(v), Dim(largest_integer)), "{lhs}");
    state(shape::at_least(Dim(v), Dim(-largest_integer)), "{rhs}");
    narrow_integers(g_);
  }

  void operands(const Dim& d) {
    for (const shape::Term& t : d.terms())
      for (const shape::Atom& a : t.factors)
        if (a.kind() != shape::AtomKind::var) {
          limit(a.lhs());
          limit(a.rhs());
        }
  }

  void limit(const Dim& d) {
    if (!problem_.empty() || !seen_.insert(d).second) return;
    constexpr Wide any_product = Wide{1} << 100;
    if (shape::exact_range(
            d, [&](Var v) { return range_of(g_, v); }, any_product))
      return;
    operands(d);
    const auto most = at_most_before_data(g_, magnitude(d));
    if (!most || !over_sizes(*most) || reads_data(g_, *most)) {
      problem_ = fmt::format("`{}` may leave the integers of 64 bits", d.str());
      return;
    }
    const Fact fact = shape::at_most(*most, Dim(largest_integer));
    if (!stated_.insert(*most).second) return;
    check_at_call(
        g_, fact,
        fmt::format(
            "`{}` is too large: the integers of a program's sizes end at 2^62, and this is up to {{lhs}}",
            d.str()));
  }

  bool over_sizes(const Dim& d) const {
    const std::vector<Var> vars = d.vars();
    return std::all_of(vars.begin(), vars.end(), [&](Var v) {
      return std::any_of(g_.sizes.begin(), g_.sizes.end(), [&](const Size& s) { return s.var == v; });
    });
  }

  /// Over sizes: at least the absolute value of the dimension, and of each sum of some of its terms.
  Dim magnitude(const Dim& d) {
    Dim sum;
    for (const shape::Term& t : d.terms()) {
      Dim product = t.coefficient < 0 ? -Dim(t.coefficient) : Dim(t.coefficient);
      for (const shape::Atom& a : t.factors) product = product * magnitude(a);
      sum = sum + product;
    }
    return sum;
  }
  Dim magnitude(const shape::Atom& a) {
    switch (a.kind()) {
      case shape::AtomKind::var: {
        if (const auto of = extents_.find(a.var().id); of != extents_.end()) return magnitude(of->second);
        const bool may_be_negative = range_of(g_, a.var()).low < 0;
        return may_be_negative ? max(Dim(a.var()), -Dim(a.var())) : Dim(a.var());
      }
      case shape::AtomKind::floor_div:
        return magnitude(a.lhs());
      case shape::AtomKind::mod:
        return magnitude(a.rhs());
      case shape::AtomKind::min:
      case shape::AtomKind::max:
        break;
    }
    return max(magnitude(a.lhs()), magnitude(a.rhs()));
  }

  struct HashDim {
    size_t operator()(const Dim& d) const { return shape::hash(d); }
  };

  Graph& g_;
  std::unordered_map<uint32_t, Dim> extents_;  // of index variables; bounds of dynamic sizes
  std::unordered_set<uint32_t> dynamic_;
  std::unordered_set<Dim, HashDim> seen_, stated_;
  std::string problem_;
};

}  // namespace

std::string limit_integers(Graph& g) { return IntegerLimits(g).run(); }

}  // namespace axon::graph
