// fold, scan and iterate become loop nodes whose region is the step, evaluated once on the carried
// parameters.
//
// The elements of a stack are views of its leaves at the loop index: nothing is copied. A leaf of a scanned
// stack that derives from a state of the entry is carried whole, so that an update of its slice is an update
// of the state in place; everything else that a scan emits is written, slice by slice, into storage that
// starts empty. Inside of a `for`, the index variables around become leading axes of what is carried.
#include <algorithm>
#include <utility>

#include "base/bug.h"
#include "graph/from_core/evaluator.h"
#include "graph/from_core/loop_positions.h"

namespace axon::graph {

using core::Prim;

void each_leaf(const Val& v, const std::function<void(const std::shared_ptr<Array>&)>& f) {
  if (v.kind == Val::Kind::array) f(v.array);
  for (const Val& item : v.items) each_leaf(item, f);
}

Val map_leaves(const Val& like, const std::function<Val(uint32_t, const Array&)>& f) {
  uint32_t number = 0;
  std::function<Val(const Val&)> walk = [&](const Val& v) {
    if (v.kind == Val::Kind::array) return f(number++, *v.array);
    Val now = v;
    for (Val& item : now.items) item = walk(item);
    return now;
  };
  return walk(like);
}

bool derives_from_state(const Graph& g, Value v) {
  for (;;) {
    const Node& n = g.nodes[v.node];
    switch (n.op) {
      case NodeOp::input:
        return g.inputs[n.input].kind == InputKind::state;
      case NodeOp::empty:
        return false;
      case NodeOp::compute:
        if (!n.outputs[v.output].base) return false;
        v = *n.outputs[v.output].base;
        break;
      case NodeOp::loop:
        v = n.carried[v.output].init;
        break;
      case NodeOp::param:
        v = g.nodes[g.regions[n.region].loop].carried[v.output].init;
        break;
    }
  }
}

bool derives_from_param(const Graph& g, Value v) {
  for (;;) {
    const Node& n = g.nodes[v.node];
    if (n.op == NodeOp::param) return true;
    if (n.op != NodeOp::compute || !n.outputs[v.output].base) return false;
    v = *n.outputs[v.output].base;
  }
}

uint32_t LoopBuilder::carry(OpenLoop& build, Value init, TensorType type) {
  type = sizes_.bound_of(type);
  // What does not depend on a loop around stands before it, where that has no index: its memory has the
  // bound.
  if (g.type(init).shape.size() == type.shape.size()) type.shape = g.type(init).shape;
  Node& param = g.nodes[build.param];
  Node& node = g.nodes[build.node];
  uint32_t number = static_cast<uint32_t>(node.carried.size());
  node.carried.push_back({init, {build.param, number}, {build.param, number}});
  node.types.push_back(type);
  param.types.push_back(type);
  return number;
}

Val LoopBuilder::carried_tree(const Val& init, OpenLoop& build) {
  if (init.kind != Val::Kind::array) {
    if (init.kind == Val::Kind::closure) return unsupported("a loop that carries a function");
    Val v = init;
    for (Val& item : v.items) item = carried_tree(item, build);
    return v;
  }
  Value start = builder_.store(*init.array, build.lead);
  TensorType type{init.array->elem, {}};
  for (const Axis& a : build.lead) type.shape.push_back(a.extent);
  type.shape.insert(type.shape.end(), init.array->shape.begin(), init.array->shape.end());
  uint32_t number = carry(build, start, type);
  return Val::of(builder_.array_of(type, {build.param, number}, build.lead_at));
}

Val LoopBuilder::slices(const Val& stack, const Dim& at, OpenLoop& build, bool scanning) {
  if (stack.kind != Val::Kind::array) {
    Val v = stack;
    for (Val& item : v.items) item = slices(item, at, build, scanning);
    return v;
  }
  Array& whole = *stack.array;
  builder_.force(whole);
  auto place = builder_.place_of(whole);
  if (scanning && build.lead.empty() && place && place->second.empty() &&
      derives_from_state(g, place->first)) {
    TensorType type = g.type(place->first);
    uint32_t number = carry(build, place->first, type);
    build.stacks.push_back({number, false});
    return Val::of(builder_.array_of(type, {build.param, number}, {at}));
  }
  Array slice = whole;
  slice.shape.erase(slice.shape.begin());
  slice.vars.erase(slice.vars.begin());
  slice.body = substitute(g, whole.body, {{whole.vars[0], at}});
  return Val::of(std::move(slice));
}

/// A carried tensor that starts without contents.
uint32_t LoopBuilder::carry_storage(OpenLoop& build, const TensorType& type) {
  Node empty;
  empty.op = NodeOp::empty;
  empty.region = build.outside;
  empty.types = {sizes_.bound_of(type)};
  NodeId storage = g.nodes.add(std::move(empty));
  g.regions[build.outside].nodes.push_back(storage);
  return carry(build, {storage, 0}, type);
}

/// What `debug` shows in the loop: each value is kept for all iterations, along a new first axis.
LoopBuilder::Shown LoopBuilder::traces(OpenLoop& build) {
  Shown kept;
  for (const auto& [name, value, is_condition] : shown_.back()) {
    TensorType type = g.type(value);
    const Array a = builder_.array_of(type, value);
    std::vector<Axis> domain;
    std::vector<Dim> where{Dim(build.index.var)};
    for (size_t i = 0; i < a.vars.size(); ++i) {
      domain.push_back({a.vars[i], a.shape[i]});
      where.emplace_back(a.vars[i]);
    }
    type.shape.insert(type.shape.begin(), build.index.extent);
    const uint32_t number = carry_storage(build, type);
    g.nodes[build.node].carried[number].result =
        builder_.emit(domain, a.body, type, "debug", Value{build.param, number}, where);
    kept.push_back({name, Value{build.node, number}, is_condition});
  }
  return kept;
}

Val LoopBuilder::emitted_tree(const Val& value, OpenLoop& build, std::vector<std::function<void()>>& after) {
  if (value.kind != Val::Kind::array) {
    Val v = value;
    for (Val& item : v.items) item = emitted_tree(item, build, after);
    return v;
  }
  Array& a = *value.array;
  uint32_t number = 0;
  bool found = false;
  Dim at(build.index.var);
  TensorType type{a.elem, {}};
  for (const Axis& axis : build.lead) type.shape.push_back(axis.extent);
  type.shape.push_back(build.index.extent);
  type.shape.insert(type.shape.end(), a.shape.begin(), a.shape.end());
  if (auto place = builder_.place_of(a); place && place->second == std::vector<Dim>{at}) {
    Value root = place->first;
    while (g.nodes[root.node].op == NodeOp::compute && g.nodes[root.node].outputs[root.output].base)
      root = *g.nodes[root.node].outputs[root.output].base;
    for (OpenLoop::Slot& slot : build.stacks) {
      if (slot.emitted || root != Value{build.param, slot.carried}) continue;
      slot.emitted = found = true;
      number = slot.carried;
      g.nodes[build.node].carried[number].result = place->first;
      type = g.type(place->first);
      break;
    }
  }
  if (!found) {
    number = carry_storage(build, type);
    std::vector<Axis> domain = build.lead;
    std::vector<Dim> where = build.lead_at;
    where.push_back(at);
    for (size_t i = 0; i < a.vars.size(); ++i) {
      domain.push_back({a.vars[i], a.shape[i]});
      where.emplace_back(a.vars[i]);
    }
    Value stored = builder_.emit(domain, a.body, type, "emit", Value{build.param, number}, where);
    g.nodes[build.node].carried[number].result = stored;
  }
  auto result = std::make_shared<Array>();
  after.push_back([this, result, number, type, &build] {
    *result = builder_.array_of(type, {build.node, number}, build.lead_at);
  });
  Val v;
  v.kind = Val::Kind::array;
  v.array = result;
  return v;
}

OpenLoop LoopBuilder::begin_loop(const std::string& name, const Dim& extent) {
  OpenLoop build;
  build.lead = active_;
  for (const Axis& a : active_) build.lead_at.emplace_back(a.var);
  build.index = {shape::fresh_var("l"), extent};
  build.outside = regions_.back();
  Node node, param;
  node.op = NodeOp::loop;
  node.name = name;
  node.source_begin = span_here().begin;
  node.source_end = span_here().end;
  node.region = build.outside;
  node.index = {build.index.var, sizes_.bound_of(extent)};
  build.node = g.nodes.add(std::move(node));
  build.inside = g.regions.add({{}, build.node});
  g.nodes[build.node].body = build.inside;
  param.op = NodeOp::param;
  param.region = build.inside;
  build.param = g.nodes.add(std::move(param));
  g.regions[build.inside].nodes.push_back(build.param);
  return build;
}

void LoopBuilder::enter_loop(const OpenLoop& build) {
  regions_.push_back(build.inside);
  loops_.push_back(build.index);
  shown_.emplace_back();
}

void LoopBuilder::leave_loop(OpenLoop& build) {
  const Shown shown = traces(build);
  regions_.pop_back();
  loops_.pop_back();
  shown_.pop_back();
  auto& outer = shown_.empty() ? g.debugs : shown_.back();
  outer.insert(outer.end(), shown.begin(), shown.end());
  g.regions[build.outside].nodes.push_back(build.node);
}

Array LoopBuilder::where_it_goes_on(ScalarId here, const Array& next, const OpenLoop& build, uint32_t c) {
  Array now = next;
  builder_.force(now);
  const Array before = carried_like(next, {build.param, c}, build);
  return builder_.fresh_array(next.elem, next.shape, [&](const std::vector<Var>& vars) {
    const std::vector<Dim> at(vars.begin(), vars.end());
    return apply(g, Op::select, {here, builder_.element_at(now, at), builder_.element_at(before, at)});
  });
}

Array LoopBuilder::carried_like(const Array& like, Value v, const OpenLoop& build) {
  TensorType type{like.elem, {}};
  for (const Axis& a : build.lead) type.shape.push_back(a.extent);
  type.shape.insert(type.shape.end(), like.shape.begin(), like.shape.end());
  return builder_.array_of(type, v, build.lead_at);
}

Val LoopBuilder::at_positions(const Val& state, const OpenLoop& build, const Dim& at) {
  return map_leaves(state, [&](uint32_t c, const Array& a) {
    const auto position = build.positions.find(c);
    if (position == build.positions.end()) return Val::of(a);
    return builder_.scalar(index_of(g, position->second.substitute({{build.index.var, at}})));
  });
}

Val LoopBuilder::loop_results(const Val& like, const OpenLoop& build) {
  return map_leaves(like, [&](uint32_t c, const Array& a) {
    return Val::of(carried_like(a, {build.node, c}, build));
  });
}

/// The state at the end of a step, leaf by leaf; where `here` is given, of the points that go on. False after
/// an error.
bool PrimitiveEvaluator::end_step(const Val& state, const Val& next, ScalarId here, OpenLoop& build) {
  std::vector<std::vector<Dim>> shapes;
  each_leaf(state, [&](const std::shared_ptr<Array>& a) { shapes.push_back(a->shape); });
  uint32_t number = 0;
  each_leaf(in_order_of(state, next), [&](const std::shared_ptr<Array>& a) {
    const uint32_t c = number++;
    if (c >= shapes.size()) return;
    Array now = *merger_.fitted(a, shapes[c]);
    if (here.valid()) now = loop_.where_it_goes_on(here, now, build, c);
    g.nodes[build.node].carried[c].result = builder_.store(now, build.lead);
  });
  if (number != shapes.size()) base::bug("from_core", "a step changes the structure of its state");
  return !failed_;
}

/// Whether the sizes that an expression mentions are known here.
bool PrimitiveEvaluator::knows_sizes(core::ExprId id) const {
  const core::Expr& e = p.exprs[id];
  bool known = sizes_.is_known_here(sizes_.resolve(e.dim));
  for (const auto& [var, dim] : e.instantiation) known = known && sizes_.is_known_here(sizes_.resolve(dim));
  core::each_part(e, [&](core::ExprId part) { known = known && knows_sizes(part); });
  return known;
}

/// The amount by which a step moves a position, as a dim of what is known before the loop; nullopt where it
/// is none. It is checked as in the first step: where there is one.
std::optional<Dim> PrimitiveEvaluator::amount_of(const Closure& step, const OpenLoop& build,
                                                 core::ExprId id) {
  auto env = std::make_shared<Environment>();
  env->parent = step.env;
  env->dims = step.dims;
  env->elems = step.elems;
  const EnvironmentPtr outer = std::exchange(env_, env);
  const Fact is_one = shape::at_least(build.index.extent, Dim(1));
  const bool sure = bounds_.proof(is_one) == Proof::always;
  if (!sure) {
    conditions_.push_back(
        apply(g, Op::le, {constant_int(g, Elem::i64, 1), sizes_.value_of(build.index.extent)}));
    guards_.push_back(is_one);
  }
  const Val value = knows_sizes(id) ? evaluator_.evaluate(id) : Val{};
  if (!sure) {
    conditions_.pop_back();
    guards_.pop_back();
  }
  env_ = outer;
  if (failed_ || value.kind != Val::Kind::array) return std::nullopt;
  return affine_index(g, builder_.leaf(value).body);
}

/// Finds the integers of the state that are known in every iteration from its index.
void PrimitiveEvaluator::find_positions(const Val& step, const Val& init, bool scanning, OpenLoop& build) {
  if (sizes_.varies(build.index.extent)) return;
  std::vector<std::shared_ptr<Array>> leaves;
  each_leaf(init, [&](const std::shared_ptr<Array>& a) { leaves.push_back(a); });
  for (const auto& [leaf, moves] : LoopPositions(p, step, init, scanning).find()) {
    const auto first = affine_index(g, leaves[leaf]->body);
    const auto by = moves.by.valid() ? amount_of(*step.closure, build, moves.by) : std::optional(Dim(0));
    if (failed_) return;
    if (!first || !by || sizes_.is_data_dependent(*first) || sizes_.is_data_dependent(*by)) continue;
    const Dim along = *by * Dim(build.index.var);
    const Dim position = moves.backwards ? *first - along : *first + along;
    if (is_exact(g, position)) build.positions.emplace(leaf, position);  // what may wrap is no position
  }
}

Val PrimitiveEvaluator::loop(Prim prim, const std::vector<Val>& args) {
  if (failed_) return {};
  const bool iterate = prim == Prim::iterate, scanning = prim == Prim::scan;
  const Val& step = args[iterate ? 1 : 0];
  const Val& init = args[iterate ? 2 : 1];
  std::optional<Dim> extent;
  if (iterate) {
    extent = affine_index(g, builder_.leaf(args[0]).body);
    // A number of steps that depends on the index of a `for` or a loop around differs, as one from data does.
    const auto decides = [&](const Axis& a) { return extent->contains(a.var); };
    const bool each_its_own = extent && (std::any_of(active_.begin(), active_.end(), decides) ||
                                         std::any_of(loops_.begin(), loops_.end(), decides));
    if (!extent || each_its_own) return iterate_by_data(args);
    // A negative number is no step at all.
    if (bounds_.proof(shape::at_least(*extent, Dim(0))) != Proof::always) extent = max(*extent, Dim(0));
  } else {
    each_leaf(args[2], [&](const std::shared_ptr<Array>& a) {
      if (!extent && !a->shape.empty()) extent = a->shape[0];
    });
  }
  if (!extent) return unsupported("a loop over a stack without leaves");
  const Dim stated = *extent;
  extent = sizes_.data_dependent_in_loops(stated);

  OpenLoop build = loop_.begin_loop(core::prim_name(prim), *extent);
  Val state = loop_.carried_tree(init, build);
  Val element = iterate ? Val{} : loop_.slices(args[2], Dim(build.index.var), build, scanning);
  if (failed_) return {};
  find_positions(step, init, scanning, build);
  if (failed_) return {};
  state = loop_.at_positions(state, build, Dim(build.index.var));
  const size_t positions = context_.positions.size();
  if (!build.positions.empty()) context_.positions.push_back(build.index.var);
  loop_.enter_loop(build);
  ScalarId here;  // does the element exist? The loop runs for the bound of the extent
  if (sizes_.varies(*extent)) conditions_.push_back(here = sizes_.is_inside(build.index));
  Val result = evaluator_.call(step, iterate ? std::vector<Val>{state} : std::vector<Val>{state, element});
  context_.positions.resize(positions);
  if (failed_) return {};

  if (!end_step(state, scanning ? result.items.at(0) : result, here, build)) return {};
  if (scanning)
    each_leaf(result.items.at(1),
              [&](const std::shared_ptr<Array>& a) { merger_.fit_outside(*a, build.outside); });
  if (failed_) return {};
  std::vector<std::function<void()>> after;
  Val emitted = scanning ? loop_.emitted_tree(result.items.at(1), build, after) : Val{};
  if (here.valid()) conditions_.pop_back();
  loop_.leave_loop(build);
  for (const auto& build_result : after) build_result();
  if (stated != *extent)  // the type checker knows the size by what it is
    each_leaf(emitted, [&](const std::shared_ptr<Array>& a) {
      for (Dim& size : a->shape) size = size.substitute({{*extent->as_var(), stated}});
    });
  const Val last =
      loop_.at_positions(loop_.loop_results(state, build), build, iterate ? max(*extent, Dim(0)) : *extent);
  return scanning ? Val::tuple({last, emitted}) : last;
}

}  // namespace axon::graph
