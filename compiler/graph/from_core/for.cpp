// `for` as a tabulated template, the shapes of rank binders, rearrange.
//
// A rank binder `..p` ranges over the broadcast shape of everything that it indexes; its type says of what.
#include <fmt/format.h>

#include <algorithm>

#include "base/bug.h"
#include "graph/clamp.h"
#include "graph/from_core/evaluator.h"

namespace axon::graph {

using core::Expr;

// ---- for ----

Val GraphBuilder::tabulate(const std::vector<Axis>& axes, const Val& body) {
  if (body.kind != Val::Kind::array) {
    if (body.kind == Val::Kind::closure) return unsupported("a `for` over functions");
    Val v = body;
    for (Val& item : v.items) item = tabulate(axes, item);
    return v;
  }
  Array a = *body.array;
  std::vector<Dim> shape;
  std::vector<Var> vars;
  for (const Axis& axis : axes) {
    shape.push_back(axis.extent);
    vars.push_back(axis.var);
  }
  // The element's own placeholders may be shared with other arrays that the same body mentions: rename them.
  shape::Substitution renamed;
  for (Var& v : a.vars) {
    Var own = shape::fresh_var(shape::var_name(v));
    renamed[v] = Dim(own);
    v = own;
  }
  a.body = substitute(g, a.body, renamed);
  // A size that the element decides is its value from here on: the axes may get other variables.
  std::map<Var, ScalarId> sizes;
  for (const DynamicSize& d : sizes_.data_dependent_sizes()) {
    const std::vector<Var> free = free_vars(g, d.value);
    if (std::any_of(vars.begin(), vars.end(),
                    [&](Var v) { return std::find(free.begin(), free.end(), v) != free.end(); }))
      sizes.emplace(d.size, d.value);
  }
  if (!sizes.empty()) a.body = substitute(g, a.body, sizes);
  a.shape.insert(a.shape.begin(), shape.begin(), shape.end());
  a.vars.insert(a.vars.begin(), vars.begin(), vars.end());
  a.name = name_here("");
  return Val::of(std::move(a));
}

/// The range of `(i < bound)`, and what the type checker calls it.
std::optional<Dim> CoreEvaluator::range_of(const core::Binder& binder, ScalarId bound) {
  const auto size = binder.range ? binder.range->as_var() : std::nullopt;
  const auto named = size ? sizes_.known_dim(*size) : std::nullopt;
  const bool is_named = named && sizes_.is_known_here(*named);
  std::optional<Dim> extent = affine_index(g, bound);
  if (!extent && is_named) return named;  // as `:>` has said
  if (!extent || bounds_.proof(shape::at_least(*extent, Dim(0))) == Proof::unknown) {
    const std::string words = quoted(p.exprs[binder.bound].span);
    const ScalarId zero = constant_int(g, Elem::i64, 0);
    if (const auto known = checked_.size_of_call(bound, words))
      extent = known;
    else if (!extent)
      extent = checked_.data_size(bound, words);
    else
      checks_.require(apply(g, Op::le, {zero, bound}), bound, zero, words + " is {lhs}, which is no size");
  }
  if (size && extent && !is_named && !sizes_.is_known_here(*size)) env_->dims[*size] = *extent;
  return extent;
}

/// The range that the type checker has found. Of one that the call does not decide, the launch checks that it
/// is a size.
Dim CoreEvaluator::found_range(const core::Binder& binder, const Expr& e) {
  learn_integers(*binder.range);
  const Dim extent = sizes_.resolve(*binder.range);
  if (failed_ || !checked_.depends_on_data(extent)) return extent;
  if (bounds_.proof(shape::at_least(extent, Dim(0))) != Proof::unknown) return extent;
  const ScalarId found = sizes_.value_of(extent), zero = constant_int(g, Elem::i64, 0);
  checks_.require(apply(g, Op::le, {zero, found}), found, zero,
                  fmt::format("the range of `{}` in {} is {{lhs}}, which is no size",
                              p.locals[binder.local].name, quoted(e.span)));
  return extent;
}

Val CoreEvaluator::for_expr(const Expr& e) {
  std::vector<Axis> axes;
  auto env = std::make_shared<Environment>();
  env->parent = env_;
  for (const core::Binder& b : e.binders) {
    const core::Local& local = p.locals[b.local];
    if (local.kind == core::Local::Kind::rank) {
      std::vector<Axis> of_rank;
      for (const Dim& d : rank_shape(b)) of_rank.push_back({shape::fresh_var(local.name), d});
      if (failed_) return {};
      axes.insert(axes.end(), of_rank.begin(), of_rank.end());
      env->ranks[b.local] = std::move(of_rank);
      continue;
    }
    std::optional<Dim> extent;
    if (b.bound.valid()) {
      Val bound = evaluate(b.bound);
      if (failed_) return {};
      extent = range_of(b, builder_.leaf(bound).body);
      if (!extent) return {};
    } else if (b.range) {
      extent = found_range(b, e);
      if (failed_) return {};
    }
    if (!extent) base::bug("from_core", "an index binder has no range");
    Var v = shape::fresh_var(local.name);
    extent = sizes_.rewritten(*extent);
    axes.push_back({v, *extent});
    env->locals[b.local] = builder_.scalar(index_of(g, Dim(v)));
    const core::Type* type = local.type.valid() ? &p.types.types[local.type] : nullptr;
    if (type && type->value)
      if (auto known = type->value->as_var()) env->dims[*known] = Dim(v);
  }
  EnvironmentPtr outer = std::exchange(env_, env);
  size_t mark = active_.size();
  active_.insert(active_.end(), axes.begin(), axes.end());
  Val body = evaluate(e.args[0]);
  active_.resize(mark);
  env_ = outer;
  if (failed_) return {};
  return builder_.tabulate(axes, body);
}

/// The axes that a rank binder stands for: those that it indexes, broadcast.
std::vector<Dim> CoreEvaluator::rank_shape(const core::Binder& binder) {
  std::vector<std::vector<Dim>> shapes;
  for (const core::Shape& indexed : binder.joined) {
    auto axes = axes_of(indexed, {});
    if (!axes)
      base::bug("from_core", "`.." + p.locals[binder.local].name + "` indexes axes that are not known");
    for (Dim& d : *axes) d = sizes_.rewritten(d);
    shapes.push_back(std::move(*axes));
  }
  return builder_.join(shapes);
}

// ---- rearrange ----

namespace {

bool is_spread(const core::AxisGroup& group) { return group.size() == 1 && group[0].starts_with(".."); }

}  // namespace

/// Merged axes by division: element p of an axis of m * n elements is the one at p / n, p % n.
Val CoreEvaluator::merged_view(const Array& of, const std::vector<Dim>& shape,
                               const std::vector<Axis>& domain, const std::vector<Dim>& target,
                               ScalarId body) {
  std::map<Var, ScalarId> places;
  Array view = builder_.fresh_array(of.elem, shape, [&](const std::vector<Var>& vars) {
    for (size_t axis = 0; axis < target.size(); ++axis) {
      ScalarId rest = index_of(g, Dim(vars[axis]));
      std::vector<Axis> parts;
      std::copy_if(domain.begin(), domain.end(), std::back_inserter(parts),
                   [&](const Axis& a) { return target[axis].contains(a.var); });
      for (size_t i = parts.size(); i-- > 1;) {
        const ScalarId extent =
            apply(g, Op::max, {sizes_.value_of(parts[i].extent), constant_int(g, Elem::i64, 1)});
        places.emplace(parts[i].var, apply(g, Op::mod, {rest, extent}));
        rest = apply(g, Op::div, {rest, extent});
      }
      if (!parts.empty()) places.emplace(parts[0].var, rest);
    }
    return substitute(g, body, places);
  });
  const std::vector<Fact> facts = sizes_.known_facts();
  view.body = rewrite_loads(g, view.body, [&](ScalarId id) { return clamped_load(g, id, facts); });
  view.name = name_here("rearrange");
  return Val::of(std::move(view));
}

Val CoreEvaluator::rearrange(const Expr& e) {
  Val v = evaluate(e.args[0]);
  if (failed_) return {};
  std::shared_ptr<Array> of = builder_.leaf_ptr(v);
  builder_.force(*of);
  size_t spread = of->shape.size() - std::min(of->shape.size(), e.from.size() - 1);  // axes of `..b`
  std::map<std::string, Dim> sizes;
  std::vector<core::AxisGroup> from, to;  // with `..b` as names of its own
  auto opened = [&](const std::vector<core::AxisGroup>& groups) {
    std::vector<core::AxisGroup> all;
    for (const core::AxisGroup& group : groups) {
      if (!is_spread(group)) {
        all.push_back(group);
        continue;
      }
      for (size_t i = 0; i < spread; ++i) all.push_back({group[0] + std::to_string(i)});
    }
    return all;
  };
  from = opened(e.from);
  to = opened(e.to);
  for (size_t a = 0; a < from.size() && a < of->shape.size(); ++a)
    if (from[a].size() == 1) sizes[from[a][0]] = of->shape[a];
  for (const auto& [var, dim] : e.instantiation) sizes.emplace(shape::var_name(var), sizes_.resolve(dim));
  sizes["1"] = Dim(1);

  bool merges =
      std::any_of(to.begin(), to.end(), [](const core::AxisGroup& group) { return group.size() > 1; });
  std::map<std::string, Dim> at;  // where each name stands, over the variables of the result (or of the node)
  std::vector<Axis> domain;
  std::vector<Dim> shape, target;
  at["1"] = Dim(0);
  for (const core::AxisGroup& group : to) {
    Dim whole(1), position(0);
    for (const std::string& name : group) {
      whole = whole * sizes.at(name);
      if (name == "1") {
        if (group.size() == 1) domain.push_back({shape::fresh_var("u"), Dim(1)});
        position = group.size() == 1 ? Dim(domain.back().var) : position;
        continue;
      }
      std::string hint = name.starts_with("..") ? name.substr(2) : name;
      domain.push_back({shape::fresh_var(hint), sizes.at(name)});
      at[name] = Dim(domain.back().var);
      position = position * sizes.at(name) + at[name];
    }
    shape.push_back(whole);
    target.push_back(position);
  }
  std::vector<Dim> source;
  for (const core::AxisGroup& group : from) {
    Dim position(0);
    for (const std::string& name : group) position = position * sizes.at(name) + at.at(name);
    source.push_back(position);
  }
  if (!merges) {  // a view: only indices change
    Array view;
    view.elem = of->elem;
    view.shape = shape;
    for (const Axis& a : domain) view.vars.push_back(a.var);
    view.body = builder_.element_at(*of, source);
    view.name = name_here("rearrange");
    return Val::of(std::move(view));
  }
  // Merged axes: a node over the separate axes that stores at the merged position, so that its producer can
  // be fused.
  ScalarId body = builder_.element_at(*of, source);
  if (std::any_of(target.begin(), target.end(), [&](const Dim& d) { return sizes_.varies(d); }))
    return merged_view(*of, shape, domain, target, body);
  std::vector<Axis> whole = builder_.free_axes(body, shape);
  std::vector<Dim> fixed;
  TensorType type{of->elem, {}};
  for (const Axis& a : whole) {
    fixed.emplace_back(a.var);
    type.shape.push_back(a.extent);
  }
  std::vector<Dim> place = fixed;
  whole.insert(whole.end(), domain.begin(), domain.end());
  place.insert(place.end(), target.begin(), target.end());
  type.shape.insert(type.shape.end(), shape.begin(), shape.end());
  Value stored = builder_.emit(whole, body, type, name_here("rearrange"), std::nullopt, place);
  return Val::of(builder_.array_of(type, stored, fixed));
}

}  // namespace axon::graph
