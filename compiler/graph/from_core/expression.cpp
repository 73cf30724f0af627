// One case per kind of core expression; index notation is in index.cpp, primitives are in prim.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/bug.h"
#include "base/work.h"
#include "core/number.h"
#include "graph/from_core/evaluator.h"

namespace axon::graph {

using core::Expr;
using core::Type;
using Kind = core::Expr::Kind;

Val CoreEvaluator::evaluate(core::ExprId id) {
  constexpr size_t max_depth = 4000;
  if (failed_) return {};
  if (context_.spans.size() > max_depth) return unsupported("the program is nested too deeply");
  base::work(20);
  const Expr& e = p.exprs[id];
  context_.spans.push_back(e.span);
  Val v = expression(e);
  const bool dependent =  // the sizes of its result are not known to the function that is called
      e.kind == Kind::apply && !p.types.types[p.exprs[e.args[0]].type].bound.empty();
  const bool opens = !e.opens.empty();
  opened_ |= opens;  // it may be a number, or a size of the call, and no size of the data here
  const bool data = dependent || !sizes_.data_dependent_sizes().empty() || !data_sizes(g).empty();
  if (!failed_ && env_ && (data || opened_))
    sizes_.learn_opened_sizes(e.type, v, [&](Var size) { return data || !is_read_from_data(size); });
  if (!failed_ && env_ && opens) note_integers(e.opens, e.type, v, source_text(e.span), *env_);
  if (!failed_ && !(sizes_.data_dependent_sizes().empty() && active_.empty())) sizes_.refuse_unbounded(v);
  context_.spans.pop_back();
  return v;
}

Val CoreEvaluator::expression(const Expr& e) {
  switch (e.kind) {
    case Kind::local: {
      if (const auto typed = evaluated_for(e)) return *typed;
      const Val* v = find(e.local);
      if (!v) base::bug("from_core", "`" + p.locals[e.local].name + "` has no value");
      return instance(*v, e);
    }
    case Kind::global:
      return global(e);
    case Kind::number:
      return number(e);
    case Kind::boolean:
      return builder_.scalar(constant_int(g, Elem::boolean, e.flag));
    case Kind::string: {
      Val v;
      v.kind = Val::Kind::string;
      v.text = e.text;
      return v;
    }
    case Kind::size:
      return builder_.scalar(index_of(g, sizes_.resolve(e.dim)));
    case Kind::lambda: {
      Val v;
      v.kind = Val::Kind::closure;
      v.closure = std::make_shared<Closure>();
      v.closure->lambda = core::ExprId{static_cast<uint32_t>(&e - &*p.exprs.begin())};
      v.closure->env = env_;
      return v;
    }
    case Kind::apply: {
      std::vector<Val> args;  // before the function: its instance may mention sizes that they decide
      for (size_t i = 1; i < e.args.size(); ++i) args.push_back(evaluate(e.args[i]));
      return call(evaluate(e.args[0]), std::move(args));
    }
    case Kind::let: {
      Val value = evaluate(e.args[0]);
      if (failed_) return {};
      if (value.kind == Val::Kind::array && e.params[0].kind == core::Pattern::Kind::name)
        if (name_here("").empty()) value.array->name = p.locals[e.params[0].local].name;
      builder_.force_all(value);
      auto env = std::make_shared<Environment>();
      env->parent = env_;
      bind(e.params[0], value, *env);
      // A partial application holds values, which may have another element type at each use.
      if (value.kind == Val::Kind::closure && !value.closure->args.empty() &&
          e.params[0].kind == core::Pattern::Kind::name)
        env->partial.emplace(e.params[0].local, std::pair(e.args[0], env_));
      EnvironmentPtr outer = std::exchange(env_, env);
      place_names(e.params[0]);
      Val result = evaluate(e.args[1]);
      env_ = outer;
      return result;
    }
    case Kind::conditional:
      return conditional(e);
    case Kind::tuple:
    case Kind::record: {
      Val v;
      v.kind = e.kind == Kind::tuple ? Val::Kind::tuple : Val::Kind::record;
      v.fields = e.fields;
      for (core::ExprId a : e.args) v.items.push_back(evaluate(a));
      return v;
    }
    case Kind::field:
      return field(evaluate(e.args[0]), e.text);
    case Kind::with_field: {
      Val v = evaluate(e.args[0]);
      Val now = evaluate(e.args[1]);
      for (size_t i = 0; i < v.fields.size(); ++i)
        if (v.fields[i] == e.text) v.items[i] = now;
      return v;
    }
    case Kind::with_index: {
      Val of = evaluate(e.args[0]);
      Val value = evaluate(e.args[1]);
      return indices_.update(e, of, value);
    }
    case Kind::index:
      return indices_.index(e);
    case Kind::for_:
      return for_expr(e);
    case Kind::rearrange:
      return rearrange(e);
    case Kind::list:
      return list(e);
    case Kind::check_as:
      return check_as(e);
    case Kind::error:  // in a function that was reported: the entry that calls it has no graph
      if (!context_.diagnostics.has_errors()) break;
      failed_ = true;
      return {};
  }
  base::bug("from_core", "an expression with an error reached the graph");
}

/// A named value at one use of the name: a function there has its own sizes and element types.
Val CoreEvaluator::instance(const Val& named, const Expr& use) const {
  if (named.kind != Val::Kind::closure || (use.instantiation.empty() && use.elems.empty())) return named;
  Val own = named;
  own.closure = std::make_shared<Closure>(*named.closure);
  instantiate(use, *own.closure);
  return own;
}

/// The element types that a use of a polymorphic name has decided.
std::map<core::TypeVarId, Elem> CoreEvaluator::elems_of(const Expr& use) const {
  std::map<core::TypeVarId, Elem> elems;
  for (const auto& [var, term] : use.elems) elems.emplace(var, elem_of(term));
  return elems;
}

/// The value of a local partial application for the element types of this use; nullopt for other names, and
/// where the use decides none.
std::optional<Val> CoreEvaluator::evaluated_for(const Expr& use) {
  if (use.elems.empty()) return std::nullopt;
  for (const Environment* f = env_.get(); f; f = f->parent.get()) {
    if (f->locals.count(use.local) == 0) continue;
    const auto partial = f->partial.find(use.local);
    if (partial == f->partial.end()) return std::nullopt;
    auto env = std::make_shared<Environment>();
    env->parent = partial->second.second;
    env->elems = elems_of(use);
    const EnvironmentPtr here = std::exchange(env_, env);
    const Val v = evaluate(partial->second.first);
    env_ = here;
    return failed_ ? Val{} : instance(v, use);
  }
  return std::nullopt;
}

Val CoreEvaluator::global(const Expr& e) {
  const core::Global& of = p.globals[e.global];
  if (of.kind == core::Global::Kind::value) {
    auto elems = elems_of(e);
    const auto key = std::pair(e.global, elems);
    if (auto it = constants_.find(key); it != constants_.end()) return instance(it->second, e);
    const Place here = context_.leave_for_root();
    env_->elems = std::move(elems);
    Val v = evaluate(of.body);
    context_.return_to(here);
    return instance(constants_[key] = v, e);
  }
  Val v;
  v.kind = Val::Kind::closure;
  v.closure = std::make_shared<Closure>();
  v.closure->global = e.global;
  instantiate(e, *v.closure);
  if (of.kind == core::Global::Kind::function && of.params.empty()) return call(v, {});
  return v;
}

Val CoreEvaluator::number(const Expr& e) {
  const Type* type = e.type.valid() ? &p.types.types[e.type] : nullptr;
  bool tensor = type && type->kind == Type::Kind::tensor;
  Elem elem = tensor ? elem_of(type->elem) : e.flag ? Elem::f32 : Elem::i64;
  const double value = std::strtod(e.text.c_str(), nullptr);
  if (const auto range = core::range_of(elem); !range.holds(value))  // only this use has the type
    return fail(source::Code::E0320, fmt::format("`{}` does not fit into {}, which holds {}", e.text,
                                                 base::elem_name(elem), range.text));
  if (base::is_float(elem)) return builder_.scalar(constant_float(g, elem, value));
  return builder_.scalar(constant_int(g, elem, std::strtoll(e.text.c_str(), nullptr, 10)));
}

Val CoreEvaluator::field(const Val& of, const std::string& name) {
  if (failed_) return {};
  for (size_t i = 0; i < of.fields.size(); ++i)
    if (of.fields[i] == name) return of.items[i];
  base::bug("from_core", "a record has no field `" + name + "`");
}

/// What it would hold is said by its type alone.
Val CoreEvaluator::empty_list(const Expr& e) {
  const Type& type = p.types.types[e.type];
  const auto shape = axes_of(type.shape, {});
  if (!shape) base::bug("from_core", "an empty list without a shape");
  const Elem elem = elem_of(type.elem);
  const ScalarId nothing = unit_of(g, Monoid::sum, elem);
  return Val::of(builder_.fresh_array(elem, *shape, [&](const std::vector<Var>&) { return nothing; }));
}

/// Elements of one shape, stacked along a new first axis. Each of them is code, and what is made of that
/// takes time in the square of its length.
Val CoreEvaluator::list(const Expr& e) {
  constexpr size_t most_items = 1'024;
  if (e.args.size() > most_items)
    return fail(source::Code::E0592,
                fmt::format("a list of {} elements is too long to compile; it may have {}", e.args.size(),
                            most_items));
  if (e.args.empty()) return empty_list(e);
  std::vector<std::shared_ptr<Array>> items;
  for (core::ExprId a : e.args) items.push_back(builder_.leaf_ptr(evaluate(a)));
  if (failed_) return {};
  std::vector<Dim> shape{Dim(static_cast<int64_t>(items.size()))};
  for (const auto& item : items) builder_.force(*item);
  shape.insert(shape.end(), items[0]->shape.begin(), items[0]->shape.end());
  for (auto& item : items) item = merger_.fitted(item, shape);
  return Val::of(builder_.fresh_array(items[0]->elem, shape, [&](const std::vector<Var>& vars) {
    const std::vector<Dim> at(vars.begin() + 1, vars.end());
    // A tree of choices: one of many items is found in few steps.
    const std::function<ScalarId(size_t, size_t)> one_of = [&](size_t begin, size_t end) {
      if (end - begin == 1) return builder_.element_at(*items[begin], at);
      const size_t middle = begin + (end - begin) / 2;
      const ScalarId before = apply(
          g, Op::lt, {index_of(g, Dim(vars[0])), constant_int(g, Elem::i64, static_cast<int64_t>(middle))});
      return apply(g, Op::select, {before, one_of(begin, middle), one_of(middle, end)});
    };
    return one_of(0, items.size());
  }));
}

// ---- if ----

/// What a condition over sizes and index variables says, for the proofs in its branches.
std::vector<Fact> CoreEvaluator::facts_of(ScalarId condition, bool holds) const {
  const Scalar& s = g.scalars[condition];
  if (s.op == Op::not_) return facts_of(s.args[0], !holds);
  if (s.op == (holds ? Op::and_ : Op::or_)) {
    std::vector<Fact> facts = facts_of(s.args[0], holds), more = facts_of(s.args[1], holds);
    facts.insert(facts.end(), more.begin(), more.end());
    return facts;
  }
  if (s.args.size() != 2) return {};
  auto a = affine_index(g, s.args[0]), b = affine_index(g, s.args[1]);
  if (!a || !b) return {};
  switch (s.op) {
    case Op::lt:
      return {holds ? shape::less(*a, *b) : shape::at_most(*b, *a)};
    case Op::le:
      return {holds ? shape::at_most(*a, *b) : shape::less(*b, *a)};
    case Op::eq:
      return {{*a, holds ? shape::Relation::eq : shape::Relation::ne, *b}};
    case Op::ne:
      return {{*a, holds ? shape::Relation::ne : shape::Relation::eq, *b}};
    default:
      return {};
  }
}

/// What is computed where a condition holds, or does not.
Val CoreEvaluator::in_branch(ScalarId condition, bool holds, const std::function<Val()>& branch) {
  if (failed_) return {};
  const size_t mark = guards_.size();
  for (Fact& f : facts_of(condition, holds)) guards_.push_back(f);
  conditions_.push_back(holds ? condition : apply(g, Op::not_, {condition}));
  auto env = std::make_shared<Environment>();  // what is said of a size holds in the branch only
  env->parent = env_;
  bound_integers(mark, *env);
  const EnvironmentPtr outer = std::exchange(env_, env);
  Val v = branch();
  builder_.force_all(v);  // what is computed for the branch alone need not be defined where it is not taken
  conditions_.pop_back();
  guards_.resize(mark);
  env_ = outer;
  return v;
}

/// Gives the integers of the call in a branch the bounds that its condition shows, the guards from `mark` on:
/// where it is taken they are what they were, and elsewhere nothing is as large as an integer can be.
void CoreEvaluator::bound_integers(size_t mark, Environment& env) {
  const auto is_size = [&](Var v) {
    return std::any_of(g.sizes.begin(), g.sizes.end(), [&](const Size& s) {
      return s.var == v && s.from != Size::From::data && !s.is_integer();
    });
  };
  for (const Size& s : g.sizes) {
    if (!s.is_integer()) continue;
    const bool concerns =
        std::any_of(guards_.begin() + static_cast<long>(mark), guards_.end(),
                    [&](const Fact& f) { return f.lhs.contains(s.var) || f.rhs.contains(s.var); });
    if (!concerns) continue;
    const Dim before = sizes_.known_dim(s.var).value_or(Dim(s.var));  // of a branch around
    std::vector<Fact> facts = sizes_.known_facts();
    facts.insert(facts.end(), guards_.begin(), guards_.end());
    const shape::Bounds found = shape::bounds_of(before, facts, is_size);
    // A bound with a negative constant would have the normal form add that to the integer, which may wrap.
    Dim bounded = before;
    if (found.high)
      bounded = min(bounded, *found.high - Dim(std::min<int64_t>(shape::constant_part(*found.high), 0)));
    if (found.low && shape::constant_part(*found.low) >= 0) bounded = max(bounded, *found.low);
    if (bounded == before) continue;
    env.dims.insert_or_assign(s.var, bounded);
    for (const Environment* f = env_.get(); f; f = f->parent.get())
      for (const auto& [local, value] : f->locals)
        if (value.kind == Val::Kind::array && value.array->shape.empty() && find(local) == &value &&
            affine_index(g, value.array->body) == before)
          env.locals.insert_or_assign(local, builder_.scalar(index_of(g, bounded)));
  }
}

Val CoreEvaluator::conditional(const Expr& e) {
  Val tested = evaluate(e.args[0]);
  if (failed_) return {};
  ScalarId condition = builder_.leaf(tested).body;
  if (g.scalars[condition].op == Op::constant) return evaluate(e.args[g.scalars[condition].integer ? 1 : 2]);
  const Val then_value = in_branch(condition, true, [&] { return evaluate(e.args[1]); });
  const Val else_value = in_branch(condition, false, [&] { return evaluate(e.args[2]); });
  return choose(condition, then_value, else_value, !e.opens.empty());
}

/// `differ`: the branches may have different sizes, and the result that of the one taken.
Val CoreEvaluator::choose(ScalarId condition, const Val& a, const Val& b, bool differ) {
  if (failed_) return {};
  if (a.kind == Val::Kind::array) {
    if (auto changed = indices_.chosen_update(condition, *a.array, *b.array))
      return Val::of(std::move(*changed));
    const ScalarId otherwise = apply(g, Op::not_, {condition});
    if (auto changed = indices_.chosen_update(otherwise, *b.array, *a.array))
      return Val::of(std::move(*changed));
  }
  if (a.kind == Val::Kind::array) {
    Array yes = *a.array, no = builder_.leaf(b);
    merger_.merge(condition, yes, no, differ);
    return primitives_.pointwise(
        Op::select, {builder_.scalar(condition), Val::of(std::move(yes)), Val::of(std::move(no))}, "select");
  }
  if (a.kind == Val::Kind::string) return unsupported("an `if` that chooses between texts by data");
  if (a.kind == Val::Kind::closure) {
    Val v = a;
    v.closure = std::make_shared<Closure>();
    v.closure->choices = {a, b};
    v.closure->condition = condition;
    return v;
  }
  Val v = a;
  const Val other = in_order_of(a, b);
  for (size_t i = 0; i < v.items.size(); ++i)
    v.items[i] = choose(condition, a.items[i], other.items[i], differ);
  return v;
}

// ---- e :> t ----

namespace {

/// How many axes both shapes name at their ends, one by one: those are compared. What is left between is the
/// same shape in both, or inference would have refused the expression.
struct NamedAxes {
  size_t front = 0, back = 0;
};
NamedAxes named_axes(const core::Shape& a, const core::Shape& b) {
  const auto is_dim = [](const core::ShapeItem& i) { return i.kind == core::ShapeItem::Kind::dim; };
  const size_t n = std::min(a.size(), b.size());
  NamedAxes named;
  while (named.back < n && is_dim(a[a.size() - 1 - named.back]) && is_dim(b[b.size() - 1 - named.back]))
    ++named.back;
  while (named.front + named.back < n && is_dim(a[named.front]) && is_dim(b[named.front])) ++named.front;
  return named;
}

}  // namespace

Val CoreEvaluator::check_as(const Expr& e) {
  Val v = evaluate(e.args[0]);
  if (failed_ || v.kind != Val::Kind::array) return v;  // what is no tensor has the type that is written
  const Type &wanted = p.types.types[e.type], &value = p.types.types[p.exprs[e.args[0]].type];
  if (wanted.kind != Type::Kind::tensor || value.kind != Type::Kind::tensor)
    base::bug("from_core", "a tensor is checked as what is none");
  const NamedAxes named = named_axes(wanted.shape, value.shape);
  Array a = *v.array;
  const auto compare = [&](size_t axis, const core::ShapeItem& to, const core::ShapeItem& from) {
    if (to.dim == from.dim) return true;
    const std::string what = fmt::format("{} on axis {}", quoted(e.span), axis);
    const auto name = to.dim.as_var();
    const bool is_new = name && !sizes_.is_known_here(sizes_.resolve(to.dim));  // a call may rename it
    if (const OpenedInteger* integer = is_new ? find_integer(*name) : nullptr) {
      checks_.require_equal(sizes_.value_of(a.shape[axis]), cast(g, Elem::i64, integer->value), what);
      env_->dims[*name] = a.shape[axis];  // the two are one number from here on
      return true;
    }
    learn_integers(to.dim);
    return !failed_ && checks_.require_size(a, axis, sizes_.resolve(to.dim), what);
  };
  bool possible = named.front + named.back <= a.shape.size();
  for (size_t i = 0; possible && i < named.front; ++i) possible = compare(i, wanted.shape[i], value.shape[i]);
  for (size_t i = 1; possible && i <= named.back; ++i)
    possible = compare(a.shape.size() - i, wanted.shape[wanted.shape.size() - i],
                       value.shape[value.shape.size() - i]);
  if (!possible && !failed_) return fail(source::Code::E0602, "the shape can never be the one after `:>`");
  return placed(Val::of(std::move(a)), e.type);
}

}  // namespace axon::graph
