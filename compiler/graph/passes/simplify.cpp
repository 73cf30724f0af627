// simplify: exact algebra on scalars and indices, carried values that never change, then sharing, hoisting,
// sweeping.
//
// In: any well-formed graph. Out: an equal one where equal expressions have equal ids as far as the facts
// show. Only identities that hold bit for bit are used (build.cpp folds those that need no facts): signed
// zeros, NaN and infinities keep their meaning.
#include <algorithm>

#include "graph/passes/cleanup.h"
#include "graph/passes/edit.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace edit {

namespace {

/// Whether `to` holds every value of the float type `from`, without rounding.
bool widens(Elem from, Elem to) {
  if (from == to || !base::is_float(from) || !base::is_float(to)) return from == to;
  const base::FloatFormat narrow = base::float_format(from), wide = base::float_format(to);
  const bool infinity = wide.has_infinity || !narrow.has_infinity;
  // The least numbers of both are multiples of a unit.
  return infinity && narrow.fraction_bits <= wide.fraction_bits && narrow.largest <= wide.largest &&
         narrow.least_exponent - narrow.fraction_bits >= wide.least_exponent - wide.fraction_bits;
}

/// Comparisons of index expressions that the facts decide; division whose divisor they show to be positive.
std::optional<ScalarId> decide(Graph& g, const Scalar& s, const Scope& scope) {
  auto lhs = affine_index(g, s.args[0]), rhs = affine_index(g, s.args[1]);
  if (!lhs || !rhs) return std::nullopt;
  auto truth = [&](bool value) { return constant_int(g, Elem::boolean, value); };
  switch (s.op) {
    case Op::lt:
      if (scope.proves(shape::less(*lhs, *rhs))) return truth(true);
      if (scope.proves(shape::at_most(*rhs, *lhs))) return truth(false);
      break;
    case Op::le:
      if (scope.proves(shape::at_most(*lhs, *rhs))) return truth(true);
      if (scope.proves(shape::less(*rhs, *lhs))) return truth(false);
      break;
    case Op::eq:
    case Op::ne:
      if (scope.proves(shape::equal(*lhs, *rhs))) return truth(s.op == Op::eq);
      if (scope.proves({*lhs, shape::Relation::ne, *rhs})) return truth(s.op == Op::ne);
      break;
    case Op::div:
    case Op::mod:
      if (!scope.proves(shape::less(Dim(0), *rhs))) break;
      return index_of(g, s.op == Op::div ? scope.simplify(shape::floor_div(*lhs, *rhs))
                                         : scope.simplify(shape::mod(*lhs, *rhs)));
    default:
      break;
  }
  return std::nullopt;
}

bool is_minus_zero(const Scalar& s) {
  return s.op == Op::constant && base::is_float(s.elem) && s.number == 0 && 1 / s.number < 0;
}

/// Identities beyond those that construction folds.
std::optional<ScalarId> identity(Graph& g, const Scalar& s) {
  auto arg = [&](size_t i) -> const Scalar& { return g.scalars[s.args[i]]; };
  switch (s.op) {
    case Op::add:
      if (is_minus_zero(arg(1))) return s.args[0];
      if (is_minus_zero(arg(0))) return s.args[1];
      break;
    case Op::mul:
      if (base::is_float(s.elem)) break;
      for (size_t i : {0, 1})
        if (arg(i).op == Op::constant && arg(i).integer == 0) return s.args[i];
      break;
    case Op::cast:
      // Through a wider type and back; the outer cast of two that only widen.
      if (arg(0).op == Op::cast && base::is_float(s.elem)) {
        ScalarId inner = arg(0).args[0];
        Elem from = g.scalars[inner].elem;
        bool is_exact = from == s.elem || widens(arg(0).elem, s.elem);
        if (is_exact && widens(from, arg(0).elem)) return cast(g, s.elem, inner);
      }
      break;
    case Op::select:
      if (arg(0).op == Op::not_) return apply(g, Op::select, {arg(0).args[0], s.args[2], s.args[1]});
      break;
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace

ScalarId simplify_body(Graph& g, ScalarId root, Scope& scope) {
  for (ScalarId id : binders_in(g, root)) scope.add_binders(g.scalars[id].binders);
  return rebuild(g, root, [&](Scalar s) {
    if (s.op == Op::index || s.op == Op::bounded) s.dim = scope.simplify(s.dim);
    for (Axis& b : s.binders) b.extent = scope.simplify(b.extent);
    ScalarId folded = fold(g, std::move(s));
    const Scalar now = g.scalars[folded];
    if (now.args.size() == 2)
      if (auto decided = decide(g, now, scope)) return *decided;
    if (auto same = identity(g, now)) return *same;
    return folded;
  });
}

namespace {

/// What an update reads of its base along an axis of one element it reads where it stores: at one position.
ScalarId at_unit_axes(Graph& g, const Node& node, const Output& output) {
  std::vector<std::optional<ScalarId>> unit;
  for (const Dim& at : output.at) {
    const auto axis = std::find_if(node.domain.begin(), node.domain.end(),
                                   [&](const Axis& a) { return a.extent.is(1) && at == Dim(a.var); });
    unit.push_back(axis == node.domain.end() ? std::nullopt : std::optional(index_of(g, at)));
  }
  return rewrite_loads(g, output.body, [&](ScalarId id) {
    Scalar load = g.scalars[id];
    if (load.target != *output.base) return id;
    for (size_t a = 0; a < unit.size(); ++a)
      if (const auto index = affine_index(g, load.args[a]); unit[a] && index && index->is(0))
        load.args[a] = *unit[a];
    return make_scalar(g, std::move(load));
  });
}

}  // namespace

void simplify_node(Graph& g, NodeId id) {
  Node& node = g.nodes[id];
  Scope region(g, node.region);
  for (Local& local : node.locals) {
    for (Axis& a : local.domain) a.extent = region.simplify(a.extent);
    Scope scope(g, node.region);
    scope.add(local.domain);
    local.body = simplify_body(g, local.body, scope);
  }
  for (Axis& a : node.domain) a.extent = region.simplify(a.extent);
  Scope scope(g, node);
  for (Output& output : node.outputs) {
    for (Dim& d : output.at) d = scope.simplify(d);
    if (is_plain(node, output)) output.at = identity_map(node.domain);  // names its axes of extent 1 too
    output.body = simplify_body(g, output.body, scope);
    if (output.base) output.body = at_unit_axes(g, node, output);
  }
}

/// Not if the same tensor also starts a carried value that changes: it could no longer change in place if the
/// region read it.
void forward_unchanged(Graph& g) {
  std::map<Value, Value> same;
  const std::set<NodeId> with_effects = loops_with_effects(g);
  for (NodeId id : all_nodes(g)) {
    const Node& node = g.nodes[id];
    for (uint32_t c = with_effects.count(id) ? 1 : 0; c < node.carried.size(); ++c) {  // 0 keeps the loop
      if (node.carried[c].result != node.carried[c].param || node.condition == c) continue;
      bool changes = std::any_of(node.carried.begin(), node.carried.end(), [&](const Carried& other) {
        return other.init == node.carried[c].init && other.result != other.param;
      });
      if (changes) continue;
      same[node.carried[c].param] = node.carried[c].init;
      same[{id, c}] = node.carried[c].init;
    }
  }
  replace_values(g, same);
}

}  // namespace edit

void simplify(Graph& g) {
  for (NodeId id : all_nodes(g))
    if (g.nodes[id].op == NodeOp::compute) edit::simplify_node(g, id);
  edit::forward_unchanged(g);
  edit::share_common(g);
  edit::hoist_invariants(g);
  edit::share_common(g);
  edit::sweep(g);
}

}  // namespace axon::graph
