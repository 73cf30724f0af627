// Construction of scalar expressions.
//
// Scalars are hash-consed per graph: equal operator, type, payload and arguments give the same id, so
// equality of expressions is equality of ids and an argument's id is always smaller than its user's. Folding
// is exact only: integer and boolean constants, index arithmetic that stays in i64 (which becomes a Dim), and
// float identities that hold bit for bit.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/bug.h"
#include "base/work.h"
#include "graph/graph.h"
#include "graph/round.h"
#include "shape/floor.h"

namespace axon::graph {

std::optional<base::Pointwise> operator_of(Monoid monoid) {
  switch (monoid) {
    case Monoid::sum:
      return base::Pointwise::add;
    case Monoid::prod:
      return base::Pointwise::mul;
    case Monoid::max:
      return base::Pointwise::max;
    case Monoid::min:
      return base::Pointwise::min;
    case Monoid::all:
      return base::Pointwise::and_;
    case Monoid::any:
      return base::Pointwise::or_;
    case Monoid::argmax:
      break;
  }
  return std::nullopt;
}

const char* monoid_name(Monoid monoid) {
  switch (monoid) {
    case Monoid::sum:
      return "sum";
    case Monoid::prod:
      return "prod";
    case Monoid::max:
      return "max";
    case Monoid::min:
      return "min";
    case Monoid::all:
      return "all";
    case Monoid::any:
      return "any";
    case Monoid::argmax:
      return "argmax";
  }
  return "?";
}

const char* order_name(bool descending) { return descending ? "arglargest" : "argsmallest"; }

// ---- hash-consing ----

namespace {

size_t mix(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2));
}

size_t hash_of(const Scalar& s) {
  size_t h = mix(static_cast<size_t>(s.op), static_cast<size_t>(s.elem));
  for (ScalarId a : s.args) h = mix(h, a.index);
  h = mix(h, std::bit_cast<uint64_t>(s.number));
  h = mix(h, static_cast<size_t>(s.integer));
  h = mix(h, hash(s.dim));
  h = mix(mix(h, s.target.node.index), s.target.output);
  for (const Axis& b : s.binders) h = mix(mix(h, b.var.id), hash(b.extent));
  return mix(mix(h, static_cast<size_t>(s.monoid)), s.component * 31 + s.check * 2 + (s.descending ? 1 : 0));
}

bool same(const Scalar& a, const Scalar& b) {
  auto same_axes = [](const std::vector<Axis>& x, const std::vector<Axis>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const Axis& p, const Axis& q) { return p.var == q.var && p.extent == q.extent; });
  };
  return a.op == b.op && a.elem == b.elem && a.args == b.args &&
         std::bit_cast<uint64_t>(a.number) == std::bit_cast<uint64_t>(b.number) && a.integer == b.integer &&
         a.dim == b.dim && a.target == b.target && a.monoid == b.monoid && same_axes(a.binders, b.binders) &&
         a.base2 == b.base2 && a.scale == b.scale && a.or_zero == b.or_zero && a.component == b.component &&
         a.check == b.check && a.descending == b.descending;
}

}  // namespace

ScalarId make_scalar(Graph& g, Scalar s) {
  base::work();
  size_t h = hash_of(s);
  auto [first, last] = g.scalar_index.equal_range(h);
  for (auto it = first; it != last; ++it)
    if (same(g.scalars[it->second], s)) return it->second;
  base::work(4);  // it stays
  ScalarId id = g.scalars.add(std::move(s));
  g.scalar_index.emplace(h, id);
  return id;
}

ScalarId constant_float(Graph& g, Elem elem, double value) {
  Scalar s;
  s.op = Op::constant;
  s.elem = elem;
  s.number = value;
  return make_scalar(g, std::move(s));
}

ScalarId constant_int(Graph& g, Elem elem, int64_t value) {
  Scalar s;
  s.op = Op::constant;
  s.elem = elem;
  s.integer = wrap_to(elem, value);
  return make_scalar(g, std::move(s));
}

ScalarId index_of(Graph& g, const Dim& dim) {
  if (auto c = dim.constant()) return constant_int(g, Elem::i64, *c);
  Scalar s;
  s.op = Op::index;
  s.elem = Elem::i64;
  s.dim = dim;
  return make_scalar(g, std::move(s));
}

ScalarId load(Graph& g, Value target, std::vector<ScalarId> indices, Elem elem) {
  Scalar s;
  s.op = Op::load;
  s.elem = elem;
  s.args = std::move(indices);
  s.target = target;
  return make_scalar(g, std::move(s));
}

ScalarId reduce(Graph& g, Monoid monoid, std::vector<Axis> binders, ScalarId body) {
  Scalar s;
  s.op = Op::reduce;
  s.elem = monoid == Monoid::argmax ? Elem::i64 : g.scalars[body].elem;
  s.args = {body};
  s.monoid = monoid;
  s.binders = std::move(binders);
  return make_scalar(g, std::move(s));
}

ScalarId position_in_order(Graph& g, bool descending, const Axis& binder, ScalarId key, ScalarId number) {
  Scalar s;
  s.op = Op::order;
  s.elem = Elem::i64;
  s.args = {key, number};
  s.descending = descending;
  s.binders = {binder};
  return make_scalar(g, std::move(s));
}

const Scalar* computed_order(const Graph& g, const Node& node) {
  if (node.op != NodeOp::compute || node.outputs.empty()) return nullptr;
  const Scalar& body = g.scalars[node.outputs[0].body];
  return body.op == Op::order ? &body : nullptr;
}

std::vector<uint32_t> data_sizes(const Graph& g) {
  std::vector<uint32_t> found;
  for (uint32_t s = 0; s < g.sizes.size(); ++s)
    if (g.sizes[s].from == Size::From::data) found.push_back(s);
  return found;
}

std::vector<NodeId> conditional_loops(const Graph& g) {
  std::vector<NodeId> loops;
  for (uint32_t n = 0; n < g.nodes.size(); ++n)
    if (g.nodes[NodeId{n}].condition) loops.push_back(NodeId{n});
  return loops;
}

std::optional<Dim> affine_index(const Graph& g, ScalarId index) {
  const Scalar& s = g.scalars[index];
  if (s.op == Op::index) return s.dim;
  const bool constant = s.op == Op::constant && s.elem == Elem::i64;
  const bool fits = -largest_integer <= s.integer && s.integer <= largest_integer;
  return constant && fits ? std::optional(Dim(s.integer)) : std::nullopt;
}

std::vector<Dim> identity_map(const std::vector<Axis>& domain) {
  std::vector<Dim> at;
  for (const Axis& a : domain) at.emplace_back(a.var);
  return at;
}

namespace {

/// The unit as a number: `real` of floats, `whole` of everything else.
struct Unit {
  double real;
  int64_t whole;
};

Unit unit_number(Monoid monoid, Elem elem) {
  const double inf = std::numeric_limits<double>::infinity();
  switch (monoid) {
    case Monoid::sum:
      return {0, 0};
    case Monoid::prod:
      return {1, 1};
    case Monoid::max:
      return {-inf, base::range_of_integers(elem).least};
    case Monoid::min:
      return {inf, base::range_of_integers(elem).greatest};
    case Monoid::all:
      return {1, 1};
    case Monoid::any:
      return {0, 0};
    case Monoid::argmax:
      break;
  }
  base::bug("unit_of", "argmax has no unit");
}

}  // namespace

ScalarId unit_of(Graph& g, Monoid monoid, Elem elem) {
  const Unit unit = unit_number(monoid, elem);
  return base::is_float(elem) ? constant_float(g, elem, unit.real) : constant_int(g, elem, unit.whole);
}

ScalarId last_in_order(Graph& g, bool descending, Elem elem) {
  const bool ends_with_nan = !descending && base::is_float(elem);
  if (ends_with_nan) return constant_float(g, elem, std::numeric_limits<double>::quiet_NaN());
  return unit_of(g, descending ? Monoid::max : Monoid::min, elem);
}

bool is_unit(const Graph& g, ScalarId id, Monoid monoid) {
  const Scalar& s = g.scalars[id];
  if (s.op != Op::constant) return false;
  const Unit unit = unit_number(monoid, s.elem);
  return base::is_float(s.elem) ? s.number == unit.real : s.integer == unit.whole;
}

// ---- pointwise application with exact folding ----

namespace {

/// Integer operators on constants, in wrapping arithmetic; nullopt: not folded (division by zero, other
/// operators).
std::optional<int64_t> fold_integers(Op op, const std::vector<int64_t>& v) {
  auto u = [&](size_t i) { return static_cast<uint64_t>(v[i]); };
  switch (op) {
    case Op::add:
      return static_cast<int64_t>(u(0) + u(1));
    case Op::sub:
      return static_cast<int64_t>(u(0) - u(1));
    case Op::mul:
      return static_cast<int64_t>(u(0) * u(1));
    case Op::neg:
      return static_cast<int64_t>(0 - u(0));
    case Op::abs:
      return v[0] < 0 ? static_cast<int64_t>(0 - u(0)) : v[0];
    case Op::div:
      return v[1] == 0 ? std::nullopt : std::optional(shape::floor_quotient(v[0], v[1]));
    case Op::mod:
      return v[1] == 0 ? std::nullopt : std::optional(shape::floor_remainder(v[0], v[1]));
    case Op::min:
      return std::min(v[0], v[1]);
    case Op::max:
      return std::max(v[0], v[1]);
    case Op::eq:
      return v[0] == v[1];
    case Op::ne:
      return v[0] != v[1];
    case Op::lt:
      return v[0] < v[1];
    case Op::le:
      return v[0] <= v[1];
    case Op::and_:
      return v[0] && v[1];
    case Op::or_:
      return v[0] || v[1];
    case Op::not_:
      return !v[0];
#define ARITHMETIC(name, arity)
#define COMPARISON(name)
#define LOGIC(name, word, arity)
#define OP(name, word, arity) case Op::name:
#include "graph/ops.def"
      break;
  }
  return std::nullopt;
}

/// i64 arithmetic on index expressions is Dim arithmetic.
std::optional<ScalarId> fold_dims(Graph& g, Op op, const std::vector<ScalarId>& args) {
  std::vector<Dim> d;
  for (ScalarId a : args) {
    auto dim = affine_index(g, a);
    if (!dim) return std::nullopt;
    d.push_back(*dim);
  }
  switch (op) {
    case Op::add:
      return exact_index(g, d[0] + d[1]);
    case Op::sub:
      return exact_index(g, d[0] - d[1]);
    case Op::mul:
      return exact_index(g, d[0] * d[1]);
    case Op::neg:
      return exact_index(g, -d[0]);
    case Op::min:
      return exact_index(g, min(d[0], d[1]));
    case Op::max:
      return exact_index(g, max(d[0], d[1]));
    case Op::div:
    case Op::mod: {
      auto divisor = d[1].constant();
      if (!divisor || *divisor <= 0)
        return std::nullopt;  // a symbolic divisor may be zero: the check stays visible
      return exact_index(g, op == Op::div ? floor_div(d[0], d[1]) : mod(d[0], d[1]));
    }
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le: {
      auto difference = (d[0] - d[1]).constant();
      if (!difference) return std::nullopt;
      bool truth = op == Op::eq   ? *difference == 0
                   : op == Op::ne ? *difference != 0
                   : op == Op::lt ? *difference < 0
                                  : *difference <= 0;
      return constant_int(g, Elem::boolean, truth);
    }
    case Op::abs:
#define ARITHMETIC(name, arity)
#define COMPARISON(name)
#define OP(name, word, arity) case Op::name:
#include "graph/ops.def"
      break;
  }
  return std::nullopt;
}

bool is_number(const Scalar& s, double value) {
  if (s.op != Op::constant) return false;
  if (!base::is_float(s.elem)) return static_cast<double>(s.integer) == value;
  return s.number == value && !(value == 0 && std::signbit(s.number));
}

/// Identities that hold for every value, NaN and signed zeros included.
std::optional<ScalarId> fold_identities(Graph& g, Op op, const std::vector<ScalarId>& args) {
  auto s = [&](size_t i) -> const Scalar& { return g.scalars[args[i]]; };
  bool integer = !base::is_float(s(0).elem);
  auto truth = [&](bool value) { return constant_int(g, Elem::boolean, value); };
  switch (op) {
    case Op::add:
      if (integer && is_number(s(1), 0)) return args[0];
      if (integer && is_number(s(0), 0)) return args[1];
      break;
    case Op::sub:
      if (is_number(s(1), 0)) return args[0];
      break;
    case Op::mul:
      if (is_number(s(1), 1)) return args[0];
      if (is_number(s(0), 1)) return args[1];
      break;
    case Op::div:
      if (is_number(s(1), 1)) return args[0];
      break;
    case Op::neg:
    case Op::not_:
      if (s(0).op == op) return s(0).args[0];
      break;
    case Op::abs:
      if (base::is_integer(s(0).elem) && !base::is_signed(s(0).elem)) return args[0];
      if (s(0).op == Op::neg) return apply(g, Op::abs, s(0).args);
      break;
    case Op::min:
    case Op::max:
      if (args[0] == args[1]) return args[0];
      break;
    case Op::eq:
    case Op::le:
      if (integer && args[0] == args[1]) return truth(true);
      break;
    case Op::ne:
    case Op::lt:
      if (integer && args[0] == args[1]) return truth(false);
      break;
    case Op::and_:
      if (args[0] == args[1] || is_number(s(1), 1)) return args[0];
      if (is_number(s(0), 1)) return args[1];
      if (is_number(s(0), 0) || is_number(s(1), 0)) return truth(false);
      break;
    case Op::or_:
      if (args[0] == args[1] || is_number(s(1), 0)) return args[0];
      if (is_number(s(0), 0)) return args[1];
      if (is_number(s(0), 1) || is_number(s(1), 1)) return truth(true);
      break;
    case Op::select:
      if (s(0).op == Op::constant) return s(0).integer ? args[1] : args[2];
      if (args[1] == args[2]) return args[1];
      break;
    case Op::mod:
#define ARITHMETIC(name, arity)
#define COMPARISON(name)
#define LOGIC(name, word, arity)
#define CHOICE(name)
#define OP(name, word, arity) case Op::name:
#include "graph/ops.def"
      break;
  }
  return std::nullopt;
}

std::optional<ScalarId> fold_constants(Graph& g, Op op, const std::vector<ScalarId>& args) {
  std::vector<int64_t> integers;
  std::vector<double> numbers;
  for (ScalarId a : args) {
    const Scalar& s = g.scalars[a];
    if (s.op != Op::constant) return std::nullopt;
    (base::is_float(s.elem) ? numbers.push_back(s.number) : integers.push_back(s.integer));
  }
  Elem elem = g.scalars[args[0]].elem;
  if (integers.size() == args.size()) {
    auto value = fold_integers(op, integers);
    if (!value) return std::nullopt;
    return constant_int(g, result_elem(op, std::vector<Elem>(args.size(), elem)), *value);
  }
  if (numbers.size() != args.size()) return std::nullopt;
  if (op == Op::neg) return constant_float(g, elem, -numbers[0]);
  // A constant is rounded to its type where it is evaluated: what is decided here is decided of rounded ones.
  for (double& number : numbers) number = round_to(elem, number);
  switch (op) {
    case Op::div:  // exact in every type: an infinity or NaN
      if (numbers[1] != 0) return std::nullopt;
      return constant_float(g, elem, numbers[0] / numbers[1]);
    case Op::eq:
      return constant_int(g, Elem::boolean, numbers[0] == numbers[1]);
    case Op::ne:
      return constant_int(g, Elem::boolean, numbers[0] != numbers[1]);
    case Op::lt:
      return constant_int(g, Elem::boolean, numbers[0] < numbers[1]);
    case Op::le:
      return constant_int(g, Elem::boolean, numbers[0] <= numbers[1]);
    default:
      return std::nullopt;
  }
}

}  // namespace

ScalarId apply(Graph& g, Op op, std::vector<ScalarId> args) {
  if (op == Op::cast) base::bug("graph::apply", "cast needs its target type: use cast()");
  if (op != Op::select)
    if (auto folded = fold_constants(g, op, args)) return *folded;
  if (g.scalars[args[0]].elem == Elem::i64)
    if (auto folded = fold_dims(g, op, args)) return *folded;
  if (auto folded = fold_identities(g, op, args)) return *folded;
  std::vector<Elem> elems;
  for (ScalarId a : args) elems.push_back(g.scalars[a].elem);
  Scalar s;
  s.op = op;
  s.elem = result_elem(op, elems);
  s.args = std::move(args);
  return make_scalar(g, std::move(s));
}

ScalarId cast(Graph& g, Elem elem, ScalarId arg) {
  const Scalar& s = g.scalars[arg];
  if (s.elem == elem) return arg;
  if (s.op == Op::constant && !base::is_float(s.elem)) {
    if (!base::is_float(elem))
      return constant_int(g, elem, elem == Elem::boolean ? s.integer != 0 : s.integer);
    // Exact when a double holds the integer; rounding to the type happens where constants are evaluated.
    if (s.integer >= -(1ll << 53) && s.integer <= (1ll << 53))
      return constant_float(g, elem, static_cast<double>(s.integer));
  }
  Scalar c;
  c.op = Op::cast;
  c.elem = elem;
  c.args = {arg};
  return make_scalar(g, std::move(c));
}

}  // namespace axon::graph
