// Calls: closures collect arguments until they have all, then their body is evaluated in a fresh environment.
//
// The environment knows the sizes and element types that the occurrence was instantiated with; what is still
// open is read off the arguments by matching them with the types of the parameters.
#include <fmt/format.h>

#include <algorithm>

#include "base/bug.h"
#include "graph/from_core/evaluator.h"

namespace axon::graph {

using core::Expr;
using core::Pattern;
using core::Type;

// ---- environments ----

const Val* CoreEvaluator::find(core::LocalId local) const {
  for (const Environment* f = env_.get(); f; f = f->parent.get())
    if (auto it = f->locals.find(local); it != f->locals.end()) return &it->second;
  return nullptr;
}

const std::vector<Axis>* CoreEvaluator::find_rank(core::LocalId local) const {
  for (const Environment* f = env_.get(); f; f = f->parent.get())
    if (auto it = f->ranks.find(local); it != f->ranks.end()) return &it->second;
  return nullptr;
}

std::optional<Dim> SizeEnvironment::known_dim(Var v) const {
  for (const Environment* f = env_.get(); f; f = f->parent.get())
    if (auto it = f->dims.find(v); it != f->dims.end()) return it->second;
  return std::nullopt;
}

Dim SizeEnvironment::resolve(const Dim& dim) const {
  shape::Substitution s;
  bool unknown = false;
  for (Var v : dim.vars()) {
    const auto known = known_dim(v);
    if (known) s[v] = *known;
    unknown |= !known && !is_known_here(v);
  }
  const Dim here = s.empty() ? dim : dim.substitute(s);
  if (unknown)
    for (const Environment* f = env_.get(); f; f = f->parent.get())
      for (const auto& [stated, found] : f->opened) {
        const Dim rest = here - stated;
        const std::vector<Var> left = rest.vars();
        if (std::all_of(left.begin(), left.end(), [&](Var v) { return is_known_here(v); }))
          return rewritten(found + rest);
      }
  return rewritten(here);
}

std::optional<Elem> CoreEvaluator::known_elem(core::TypeVarId v) const {
  for (const Environment* f = env_.get(); f; f = f->parent.get())
    if (auto it = f->elems.find(v); it != f->elems.end()) return it->second;
  return std::nullopt;
}

/// Element types that nothing determines are f32, or i64 for integers: the defaults of literals.
Elem CoreEvaluator::elem_of(const core::ElemTerm& term) const {
  if (term.elem) return *term.elem;
  if (!term.var.valid()) return Elem::f32;
  if (auto known = known_elem(term.var)) return *known;
  core::ElemClass cls = p.types.vars[term.var].cls;
  return cls == core::ElemClass::int_ ? Elem::i64 : cls == core::ElemClass::bool_ ? Elem::boolean : Elem::f32;
}

/// The axes that a shape of the core has here; `own`: what shape variables are before the names in scope are
/// asked. Nothing where one of its variables is not known.
std::optional<std::vector<Dim>> CoreEvaluator::axes_of(
    const core::Shape& shape, const std::map<core::ShapeVarId, std::vector<Dim>>& own) const {
  const auto known = [&](core::ShapeVarId v) -> const std::vector<Dim>* {
    if (const auto at = own.find(v); at != own.end()) return &at->second;
    for (const Environment* f = env_.get(); f; f = f->parent.get())
      if (const auto at = f->shapes.find(v); at != f->shapes.end()) return &at->second;
    return nullptr;
  };
  std::vector<Dim> axes;
  for (const core::ShapeItem& item : shape) {
    std::vector<std::vector<Dim>> joined;
    if (item.kind == core::ShapeItem::Kind::dim) joined.push_back({sizes_.resolve(item.dim)});
    std::vector<core::ShapeVarId> vars = item.join;
    if (item.kind == core::ShapeItem::Kind::var) vars = {item.var};
    for (core::ShapeVarId v : vars) {
      const std::vector<Dim>* part = known(v);
      if (!part) return std::nullopt;
      joined.push_back(*part);
    }
    const std::vector<Dim> all = GraphBuilder::join(joined);
    axes.insert(axes.end(), all.begin(), all.end());
  }
  return axes;
}

void CoreEvaluator::instantiate_shapes(const Expr& occurrence, const shape::Substitution& named,
                                       Closure& closure) const {
  for (auto& [var, axes] : closure.shapes)
    for (Dim& d : axes) d = d.substitute(named);
  for (const auto& [var, shape] : occurrence.shapes) {
    if (const auto axes = axes_of(shape, {}))
      closure.shapes[var] = *axes;
    else
      closure.open_shapes[var] = shape;
  }
  for (auto open = closure.open_shapes.begin(); open != closure.open_shapes.end();) {
    const auto axes = axes_of(open->second, closure.shapes);
    if (axes) closure.shapes[open->first] = *axes;
    open = axes ? closure.open_shapes.erase(open) : std::next(open);
  }
}

void CoreEvaluator::instantiate(const Expr& occurrence, Closure& closure) const {
  shape::Substitution named;
  for (const auto& [var, dim] : occurrence.instantiation) {
    Dim resolved = sizes_.resolve(dim);
    if (resolved != Dim(var)) named[var] = resolved;
  }
  // What the function of this name was instantiated with may mention variables of the name's own scheme.
  for (auto& [var, dim] : closure.dims) dim = dim.substitute(named);
  for (const auto& [var, dim] : named) closure.dims[var] = dim;
  instantiate_shapes(occurrence, named, closure);
  for (const auto& [var, term] : occurrence.elems) {
    if (term.elem || (term.var.valid() && known_elem(term.var))) {
      closure.elems[var] = elem_of(term);
    } else if (term.var.valid()) {
      closure.open_elems[var] = term.var;
    }
  }
  for (const auto& [var, outer] : closure.open_elems)
    if (const auto known = closure.elems.find(outer); known != closure.elems.end())
      closure.elems.emplace(var, known->second);
  const Type* fn = occurrence.type.valid() ? &p.types.types[occurrence.type] : nullptr;
  if (!fn || fn->kind != Type::Kind::function || closure.lambda.valid()) return;
  const Type& result = p.types.types[fn->items.back()];
  if (result.kind == Type::Kind::tensor) closure.result_elem = elem_of(result.elem);
}

// ---- calls ----

Val CoreEvaluator::call(const Val& fn, std::vector<Val> args) {
  if (failed_ || fn.kind != Val::Kind::closure) return {};
  if (!fn.closure->choices.empty()) {
    const Closure chosen = *fn.closure;
    const auto called = [&](size_t which) {
      return [&, which] { return call(chosen.choices[which], args); };
    };
    const Val yes = in_branch(chosen.condition, true, called(0));
    return choose(chosen.condition, yes, in_branch(chosen.condition, false, called(1)), false);
  }
  Closure closure = *fn.closure;
  closure.args.insert(closure.args.end(), args.begin(), args.end());
  size_t wanted = 0;
  const std::vector<Pattern>* params = nullptr;
  core::ExprId body;
  bool is_prim = closure.global.valid() && p.globals[closure.global].kind == core::Global::Kind::prim;
  if (is_prim) {
    wanted = static_cast<size_t>(core::prim_arity(p.globals[closure.global].prim));
  } else if (closure.global.valid()) {
    params = &p.globals[closure.global].params;
    body = p.globals[closure.global].body;
  } else {
    params = &p.exprs[closure.lambda].params;
    body = p.exprs[closure.lambda].args[0];
  }
  if (params) wanted = params->size();
  if (closure.args.size() < wanted) {
    Val partial = fn;
    partial.closure = std::make_shared<Closure>(std::move(closure));
    return partial;
  }
  std::vector<Val> rest(closure.args.begin() + static_cast<ptrdiff_t>(wanted), closure.args.end());
  closure.args.resize(wanted);
  Val result;
  if (is_prim) {
    core::Prim which = p.globals[closure.global].prim;
    result = primitives_.prim(which, closure, closure.args);
  } else {
    result = enter(closure, *params, body);
  }
  return rest.empty() ? result : call(result, std::move(rest));
}

Val CoreEvaluator::enter(const Closure& closure, const std::vector<Pattern>& params, core::ExprId body) {
  constexpr size_t max_calls = 2000;
  if (context_.calls.size() > max_calls) return unsupported("functions call each other too deeply");
  auto env = std::make_shared<Environment>();
  env->parent = closure.env;
  env->dims = closure.dims;
  env->elems = closure.elems;
  env->shapes = closure.shapes;
  for (size_t i = 0; i < params.size(); ++i) {
    // An argument that the function reads more than once is stored.
    if (params[i].kind == Pattern::Kind::name && uses_of(params[i].local, body) > 1)
      builder_.force_all(closure.args[i]);
    bind(params[i], closure.args[i], *env);
  }
  EnvironmentPtr caller = std::exchange(env_, env);
  for (const Pattern& param : params) place_names(param);
  if (closure.global.valid()) check_stated(p.globals[closure.global]);
  if (closure.global.valid()) context_.calls.push_back(closure.global);
  Val result = evaluate(body);
  if (closure.global.valid()) context_.calls.pop_back();
  env_ = caller;
  return result;
}

/// Checks what the function that was entered states of integers, unless it is proved for those that are given
/// here: a caller may leave that to evaluation. What it states of sizes alone the checker has proved.
void CoreEvaluator::check_stated(const core::Global& callee) {
  for (const core::Requirement& stated : callee.scheme.where) {
    if (stated.left_to_run != core::LeftToRun::by_call) continue;
    std::vector<Var> vars = stated.lhs.vars();
    stated.rhs.collect_vars(vars);
    std::map<Var, ScalarId> integers;
    shape::Substitution sizes;
    for (Var v : vars) {
      const auto found = env_->integers.find(v);
      if (found != env_->integers.end())
        integers.emplace(v, cast(g, Elem::i64, found->second.value));
      else
        sizes.emplace(v, sizes_.resolve(Dim(v)));
    }
    const Fact here{stated.lhs.substitute(sizes), stated.relation, stated.rhs.substitute(sizes)};
    if (integers.empty() && bounds_.proof(here) != Proof::unknown) continue;
    if (!std::all_of(sizes.begin(), sizes.end(),
                     [&](const auto& known) { return sizes_.is_known_here(known.second); })) {
      unsupported(fmt::format("what `{}` states: {}", callee.name, stated.str()));
      return;
    }
    checks_.require(
        here, [&](const Dim& side) { return substitute(g, index_of(g, side), integers); },
        fmt::format("`{}` needs {}; the sides are {{lhs}} and {{rhs}}", callee.name, stated.str()));
  }
}

int CoreEvaluator::uses_of(core::LocalId local, core::ExprId body) {
  if (counted_.insert(body).second) count_uses(body);
  auto it = uses_.find(local);
  return it == uses_.end() ? 0 : it->second;
}

void CoreEvaluator::count_uses(core::ExprId id) {
  if (!id.valid()) return;
  const Expr& e = p.exprs[id];
  if (e.kind == Expr::Kind::local) ++uses_[e.local];
  for (core::ExprId a : e.args) count_uses(a);
  for (const core::Binder& b : e.binders) count_uses(b.bound);
  for (const core::IndexItem& item : e.indices)
    for (core::ExprId part : {item.point, item.start, item.stop, item.step}) count_uses(part);
}

void CoreEvaluator::bind(const Pattern& pattern, const Val& value, Environment& env) {
  if (pattern.annotation) match(*pattern.annotation, value, env);
  switch (pattern.kind) {
    case Pattern::Kind::name:
      env.locals[pattern.local] = value;
      if (p.locals[pattern.local].type.valid()) match(p.locals[pattern.local].type, value, env);
      note_integers(p.locals[pattern.local].opens, p.locals[pattern.local].type, value,
                    p.locals[pattern.local].name, env);
      break;
    case Pattern::Kind::tuple:
      for (size_t i = 0; i < pattern.items.size() && i < value.items.size(); ++i)
        bind(pattern.items[i], value.items[i], env);
      break;
    case Pattern::Kind::wildcard:
    case Pattern::Kind::unit:
      break;
  }
}

// ---- what the arguments say about sizes and element types ----

namespace {

/// An argument says what a size is, unless the occurrence of the function said so, in sizes that were known
/// there.
void learn_size(const SizeEnvironment& sizes, Var v, const Dim& found, Environment& env) {
  const auto [at, is_new] = env.dims.emplace(v, found);
  if (!is_new && !sizes.is_known_here(at->second)) at->second = found;
}

}  // namespace

void CoreEvaluator::match_shape(const core::Shape& shape, const Array& array, Environment& env, size_t lead) {
  auto learn = [&](const core::ShapeItem& item, size_t axis) {
    if (axis >= array.shape.size()) return;
    if (auto v = item.dim.as_var(); v && array.shape[axis] != item.dim)
      learn_size(sizes_, *v, array.shape[axis], env);
  };
  size_t front = 0, back = shape.size();
  while (front < shape.size() && shape[front].kind == core::ShapeItem::Kind::dim) ++front;
  while (back > front && shape[back - 1].kind == core::ShapeItem::Kind::dim) --back;
  for (size_t i = 0; i < front; ++i) learn(shape[i], lead + i);
  size_t tail = shape.size() - back;
  if (array.shape.size() < lead + front + tail) return;
  for (size_t i = 0; i < tail; ++i) learn(shape[back + i], array.shape.size() - tail + i);
  if (back == front + 1 && shape[front].kind == core::ShapeItem::Kind::var)
    env.shapes.emplace(shape[front].var,
                       std::vector<Dim>(array.shape.begin() + static_cast<ptrdiff_t>(lead + front),
                                        array.shape.end() - static_cast<ptrdiff_t>(tail)));
}

/// An integer of an argument is a size that is known here. Where the checker did not know which, and opened a
/// variable for it, that variable stands for it in the caller and in the sizes of this call.
void CoreEvaluator::learn_value(Var v, const Dim& known, Environment& env) {
  const auto [at, is_new] = env.dims.emplace(v, known);
  const auto open = is_new ? std::nullopt : at->second.as_var();
  if (!open || sizes_.is_known_here(*open) || sizes_.known_dim(*open)) return;
  for (auto& [own, size] : env.dims) size = size.substitute({{*open, known}});
  if (env_) env_->dims.emplace(*open, known);
}

/// `lead`: how many first axes of every leaf belong to the stacks around.
void CoreEvaluator::match(core::TypeId id, const Val& value, Environment& env, size_t lead) {
  if (!id.valid()) return;
  const Type& t = p.types.types[id];
  switch (t.kind) {
    case Type::Kind::tensor: {
      if (value.kind != Val::Kind::array) return;
      const Array& a = *value.array;
      if (t.elem.var.valid() && !t.elem.elem) env.elems.emplace(t.elem.var, a.elem);
      if (t.value && a.shape.empty()) {
        auto v = t.value->as_var();
        auto known = affine_index(g, a.body);
        if (v && known && *known != Dim(*v)) learn_value(*v, *known, env);
        if (v && !known) env.integers.insert_or_assign(*v, OpenedInteger{a.body, {}, shape::var_name(*v)});
      }
      match_shape(t.shape, a, env, lead);
      return;
    }
    case Type::Kind::tuple:
      for (size_t i = 0; i < t.items.size() && i < value.items.size(); ++i)
        match(t.items[i], value.items[i], env, lead);
      return;
    case Type::Kind::record:
      for (size_t i = 0; i < t.items.size(); ++i)
        for (size_t f = 0; f < value.fields.size(); ++f)
          if (value.fields[f] == t.fields[i]) match(t.items[i], value.items[f], env, lead);
      return;
    case Type::Kind::stack: {
      const Val* first = &value;
      while (first->kind != Val::Kind::array && !first->items.empty()) first = &first->items[0];
      auto v = t.count.as_var();
      if (v && first->kind == Val::Kind::array && first->array->shape.size() > lead &&
          first->array->shape[lead] != t.count)
        learn_size(sizes_, *v, first->array->shape[lead], env);
      match(t.items[0], value, env, lead + 1);
      return;
    }
    case Type::Kind::var:
      if (value.kind == Val::Kind::array && value.array->shape.size() == lead)
        env.elems.emplace(t.var, value.array->elem);
      return;
    default:
      return;
  }
}

}  // namespace axon::graph
