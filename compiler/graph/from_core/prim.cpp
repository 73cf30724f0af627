// The primitives: pointwise operators with broadcasting, conversions, reductions; loops are in loop.cpp.
//
// Broadcasting is decided by types: an axis stretches when its size is the literal 1, never by a run-time
// value.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/bug.h"
#include "graph/from_core/evaluator.h"

namespace axon::graph {

using core::Prim;

namespace {

/// The scalar meaning of a pointwise primitive.
struct Meaning {
  Op op;
  bool swapped = false;  ///< of its operands, exchanged
};
std::optional<Meaning> meaning_of(Prim prim) {
  switch (prim) {
#define POINTWISE(name, word, arity) \
  case Prim::name:                   \
    return Meaning{Op::name};
#define SWAPPED(name, of) \
  case Prim::name:        \
    return Meaning{Op::of, true};
#define PRIM(name, word, arity) case Prim::name:
#include "core/prims.def"
    break;
  }
  return std::nullopt;
}

/// What combines two values in a reduction; argmax has no such operator.
constexpr std::pair<Monoid, Op> combining[] = {{Monoid::sum, Op::add},  {Monoid::prod, Op::mul},
                                               {Monoid::max, Op::max},  {Monoid::min, Op::min},
                                               {Monoid::all, Op::and_}, {Monoid::any, Op::or_}};

}  // namespace

Val PrimitiveEvaluator::prim(Prim which, const Closure& closure, std::vector<Val> args) {
  if (failed_) return {};
  if (const auto meaning = meaning_of(which)) {
    if (meaning->swapped) std::swap(args[0], args[1]);
    return pointwise(meaning->op, args, core::prim_name(which));
  }
  switch (which) {
    case Prim::cast:
    case Prim::real:
      return convert(args[0], closure.result_elem.value_or(Elem::f32));
    case Prim::dim: {
      const Array a = builder_.leaf(args[0]);
      auto axis = affine_index(g, builder_.leaf(args[1]).body);
      auto number = axis ? axis->constant() : std::nullopt;
      int64_t rank = static_cast<int64_t>(a.shape.size());
      if (!number || *number < -rank || *number >= rank)
        return fail(source::Code::E0602, "`dim` takes the number of an axis that there is");
      return builder_.scalar(
          index_of(g, a.shape[static_cast<size_t>(*number < 0 ? *number + rank : *number)]));
    }
    case Prim::reduce:
      return reduce_with(args);
    case Prim::argmax:
      return reduction(Monoid::argmax, builder_.leaf_ptr(args[0]), std::nullopt);
    case Prim::argsmallest:
    case Prim::arglargest:
      return order(which == Prim::arglargest, builder_.leaf(args[0]), builder_.leaf_ptr(args[1]));
    case Prim::fold:
    case Prim::scan:
    case Prim::iterate:
      return loop(which, args);
    case Prim::while_:
      return while_condition_holds(args);
    case Prim::debug: {
      if (args[1].kind == Val::Kind::array) loop_.show(args[0].text, *args[1].array);
      return args[1];
    }
#define PRIM(name, word, arity)
#define POINTWISE(name, word, arity) case Prim::name:
#define SWAPPED(name, of) case Prim::name:
#include "core/prims.def"
    break;
  }
  base::bug("from_core", std::string("no meaning for primitive `") + core::prim_name(which) + "`");
}

/// Inside of an index the whole tensor over it is shown; inside of a loop, all iterations together
/// (loop.cpp).
void LoopBuilder::show(const std::string& name, Array array) {
  const Value v = builder_.store(array, builder_.free_axes(array.body, array.shape));
  const std::optional<Value> condition = taken();
  size_t depth = builder_.depth_of(g.nodes[v.node].region);
  if (condition) depth = std::max(depth, builder_.depth_of(g.nodes[condition->node].region));
  Shown& shown = depth == 0 ? g.debugs : shown_[depth - 1];
  if (condition) shown.push_back({"", *condition, true});
  shown.push_back({name, v});
}

/// What holds at some elements of a `for` only does not count: all of them are shown.
std::optional<Value> LoopBuilder::taken() {
  ScalarId all;
  for (ScalarId condition : conditions_)
    if (builder_.free_axes(condition).empty())
      all = all.valid() ? apply(g, Op::and_, {all, condition}) : condition;
  if (!all.valid() || (g.scalars[all].op == Op::constant && g.scalars[all].integer)) return std::nullopt;
  Array holds = builder_.leaf(builder_.scalar(all));
  return builder_.store(holds, {});
}

// ---- pointwise ----

std::vector<Dim> GraphBuilder::join(const std::vector<std::vector<Dim>>& shapes) {
  std::vector<Dim> result;
  for (const auto& shape : shapes) {
    if (shape.size() > result.size()) result.insert(result.begin(), shape.size() - result.size(), Dim(1));
    for (size_t i = 0; i < shape.size(); ++i) {
      Dim& axis = result[result.size() - shape.size() + i];
      if (axis.is(1)) axis = shape[i];
    }
  }
  return result;
}

ScalarId GraphBuilder::stretched(const Array& a, const std::vector<Dim>& shape,
                                 const std::vector<Var>& vars) {
  std::vector<Dim> at;
  size_t skip = shape.size() - a.shape.size();
  for (size_t i = 0; i < a.shape.size(); ++i)
    at.push_back(a.shape[i].is(1) && !shape[skip + i].is(1) ? Dim(0) : Dim(vars[skip + i]));
  return element_at(a, at);
}

Val PrimitiveEvaluator::pointwise(Op op, const std::vector<Val>& args, const std::string& name) {
  if (failed_) return {};
  std::vector<std::vector<Dim>> shapes;
  std::vector<std::shared_ptr<Array>> arrays;
  for (const Val& v : args) {
    arrays.push_back(builder_.leaf_ptr(v));
    builder_.force(*arrays.back());
    shapes.push_back(arrays.back()->shape);
  }
  std::vector<Dim> shape = builder_.join(shapes);
  if (shape.empty() &&
      (op == Op::div || op == Op::mod)) {  // a quotient of sizes is a size when it is one for certain
    auto lhs = affine_index(g, arrays[0]->body), rhs = affine_index(g, arrays[1]->body);
    if (lhs && rhs && bounds_.proof(shape::at_least(*rhs, Dim(1))) == Proof::always)
      return builder_.scalar(index_of(g, op == Op::div ? floor_div(*lhs, *rhs) : mod(*lhs, *rhs)));
  }
  for (auto& a : arrays) a = merger_.fitted(a, shape);
  if (op == Op::div || op == Op::mod) require_divisor(*arrays[1], shape);
  std::vector<Elem> elems;
  for (const auto& a : arrays) elems.push_back(a->elem);
  Array result = builder_.fresh_array(result_elem(op, elems), shape, [&](const std::vector<Var>& vars) {
    std::vector<ScalarId> operands;
    for (const auto& a : arrays) operands.push_back(builder_.stretched(*a, shape, vars));
    return apply(g, op, operands);
  });
  result.name = name_here(name);
  return Val::of(std::move(result));
}

/// An integer divided by zero is an error where evaluation reaches the division, whether or not its result is
/// read. `shape`: that of the result.
void PrimitiveEvaluator::require_divisor(const Array& divisor, const std::vector<Dim>& shape) {
  if (!base::is_integer(divisor.elem)) return;
  const size_t mark = active_.size();
  std::vector<Var> at;
  for (const Dim& extent : shape) {
    at.push_back(shape::fresh_var("a"));
    active_.push_back({at.back(), extent});
  }
  const ScalarId by = builder_.stretched(divisor, shape, at), zero = constant_int(g, Elem::i64, 0);
  const auto size = affine_index(g, by);
  if (!size || bounds_.proof({*size, shape::Relation::ne, Dim(0)}) == Proof::unknown) {
    const std::string text = quoted(span_here());
    checks_.require(apply(g, Op::ne, {by, constant_int(g, divisor.elem, 0)}), zero, zero,
                    text.empty() ? "an integer is divided by {lhs}"
                                 : fmt::format("{}: an integer is divided by {{lhs}}", text));
  }
  active_.resize(mark);
}

Val PrimitiveEvaluator::convert(const Val& value, Elem to) {
  const std::shared_ptr<Array> from = builder_.leaf_ptr(value);
  if (from->elem == to) return value;
  builder_.force(*from);
  Array result = builder_.fresh_array(to, from->shape, [&](const std::vector<Var>& vars) {
    return cast(g, to, builder_.stretched(*from, from->shape, vars));
  });
  result.name = name_here("cast");
  return Val::of(std::move(result));
}

// ---- reductions ----

Val PrimitiveEvaluator::reduce_with(const std::vector<Val>& args) {
  const Val& f = args[0];
  std::optional<Monoid> monoid;
  if (f.kind == Val::Kind::closure && f.closure->global.valid() && f.closure->args.empty()) {
    const core::Global& of = p.globals[f.closure->global];
    const auto meaning = of.kind == core::Global::Kind::prim ? meaning_of(of.prim) : std::nullopt;
    for (const auto& [of_monoid, op] : combining)
      if (meaning && meaning->op == op) monoid = of_monoid;
  }
  if (!monoid) return reduce_in_order(f, args[1], builder_.leaf_ptr(args[2]));
  return reduction(*monoid, builder_.leaf_ptr(args[2]), builder_.leaf(args[1]).body);
}

/// Any other function: a loop along the last axis, at every point of the others.
Val PrimitiveEvaluator::reduce_in_order(const Val& f, const Val& unit, const std::shared_ptr<Array>& of) {
  if (failed_) return {};
  if (of->shape.empty()) return fail(source::Code::E0602, "a reduction needs an axis to fold");
  builder_.force(*of);
  std::vector<Axis> points;
  std::vector<Dim> at;
  for (size_t i = 0; i + 1 < of->shape.size(); ++i) {
    points.push_back({shape::fresh_var(shape::var_name(of->vars[i])), of->shape[i]});
    at.emplace_back(points.back().var);
  }
  const Array line = builder_.fresh_array(of->elem, {of->shape.back()}, [&](const std::vector<Var>& vars) {
    std::vector<Dim> whole = at;
    whole.emplace_back(vars[0]);
    return builder_.element_at(*of, whole);
  });
  const size_t mark = active_.size();
  active_.insert(active_.end(), points.begin(), points.end());
  Val result = loop(Prim::fold, {f, unit, Val::of(line)});
  active_.resize(mark);
  return failed_ ? Val{} : builder_.tabulate(points, result);
}

namespace {

bool is_idempotent(Monoid monoid) {
  return monoid == Monoid::max || monoid == Monoid::min || monoid == Monoid::all || monoid == Monoid::any;
}

/// The result is combined with `start` once more, so a choice of `start` may as well be one of the unit.
/// `done`: what choices have become.
ScalarId without_start(Graph& g, ScalarId body, Monoid monoid, ScalarId start,
                       std::map<ScalarId, ScalarId>& done) {
  if (body == start) return unit_of(g, monoid, g.scalars[body].elem);
  if (g.scalars[body].op != Op::select) return body;
  if (const auto known = done.find(body); known != done.end()) return known->second;
  const std::vector<ScalarId> args = g.scalars[body].args;
  const ScalarId yes = without_start(g, args[1], monoid, start, done);
  const ScalarId no = without_start(g, args[2], monoid, start, done);
  return done[body] = apply(g, Op::select, {args[0], yes, no});
}

}  // namespace

/// Makes an axis have an element, by proof or by a check: of what the data decides, where evaluation stands.
/// False: it never has.
bool PrimitiveEvaluator::has_element(const Dim& extent) {
  const Fact some = shape::at_least(extent, Dim(1));
  if (bounds_.proof(some) != Proof::unknown) return true;
  const bool is_late = reads_data(g, extent) || sizes_.varies(extent) || !conditions_.empty();
  if (!is_late) return bounds_.require(some, "the axis of `argmax`");
  const ScalarId one = constant_int(g, Elem::i64, 1), found = sizes_.value_of(extent);
  checks_.require(apply(g, Op::le, {one, found}), one, found, "`argmax` of an axis that has no elements");
  return true;
}

/// Folds the last axis into a node of its own, over the free index variables and the other axes.
Val PrimitiveEvaluator::reduction(Monoid monoid, const std::shared_ptr<Array>& of,
                                  const std::optional<ScalarId>& start) {
  if (failed_) return {};
  if (of->shape.empty()) return fail(source::Code::E0602, "a reduction needs an axis to fold");
  const Dim extent = of->shape.back();
  if (monoid == Monoid::argmax && !has_element(extent))
    return fail(source::Code::E0602, "`argmax` of an axis that has no elements");
  std::vector<Axis> domain = builder_.free_axes(of->body, of->shape);
  std::vector<Dim> here;
  for (const Axis& a : domain) here.emplace_back(a.var);
  for (size_t i = 0; i + 1 < of->shape.size(); ++i) domain.push_back({of->vars[i], of->shape[i]});
  TensorType type{monoid == Monoid::argmax ? Elem::i64 : of->elem, {}};
  for (const Axis& a : domain) type.shape.push_back(a.extent);
  const Var binder = shape::fresh_var(shape::var_name(of->vars.back()));
  ScalarId term = of->body;
  std::map<ScalarId, ScalarId> done;
  if (start && is_idempotent(monoid)) term = without_start(g, term, monoid, *start, done);
  ScalarId body =
      reduce(g, monoid, {{binder, extent}}, substitute(g, term, {{of->vars.back(), Dim(binder)}}));
  Value v = builder_.emit(domain, body, type, name_here(monoid_name(monoid)));
  Array result = builder_.array_of(type, v, here, of->vars);
  bool plain = !start || monoid == Monoid::argmax || *start == unit_of(g, monoid, of->elem);
  if (plain) return Val::of(std::move(result));
  for (const auto& [m, op] : combining)
    if (m == monoid)
      return pointwise(op, {builder_.scalar(*start), Val::of(std::move(result))}, monoid_name(monoid));
  return {};
}

}  // namespace axon::graph
