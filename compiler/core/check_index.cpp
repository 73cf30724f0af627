// Index notation: `for`, indexing, slices, gathers, updates and rearrange.
//
// A binder that stands alone in an axis has that axis's size as its range, so all axes it indexes are equal.
// Any other use is an obligation 0 <= index < axis, stated with the ranges of the binders around it as
// context. A binder without such a use takes its range from its only other use, when that determines it. The
// range of `..p` is the join of the axes it indexes.
#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"

namespace axon::core {

using shape::Dim;
using shape::Var;
using source::Code;
using source::error;
using source::Span;

namespace {
bool mentions_index(const Vars& vars, const Dim& d) {
  const auto all = d.vars();
  return std::any_of(all.begin(), all.end(), [&](Var v) { return vars.kind(v) == VarKind::index; });
}
}  // namespace

TypeId Checker::infer_for(ExprId id) {
  const Expr e = p_.exprs[id];
  const size_t context = solver_.context_size();
  for (const Binder& b : e.binders) {
    const Local local = p_.locals[b.local];
    if (local.kind == Local::Kind::rank) {
      rank_binders_[b.local] = {vars_.shape(local.name), {}};
      continue;
    }
    IndexBinder binder;
    binder.var = vars_.dim(local.name, VarKind::index, false, local.span);
    if (b.bound.valid()) {
      binder.given = true;
      binder.range = as_size(b.bound, infer(b.bound));
      if (mentions_index(vars_, binder.range))
        report(error(Code::E0306, p_.exprs[b.bound].span,
                     fmt::format("the range of `{}` depends on an index, so the result would be irregular",
                                 local.name)));
      if (auto v = binder.range.as_var()) {
        vars_.make_size(*v);
      } else if (!vars_.plainly_nonnegative(binder.range)) {
        solver_.require(shape::at_least(binder.range, 0),
                        why(p_.exprs[b.bound].span, fmt::format("the range of `{}`", local.name)));
      }
    } else {
      binder.range = Dim(vars_.dim(local.name, VarKind::meta, true, local.span));
    }
    p_.locals[b.local].type = vars_.scalar(base::Elem::i64, Dim(binder.var));
    solver_.push(shape::at_least(Dim(binder.var), 0));
    solver_.push(shape::less(Dim(binder.var), binder.range));
    index_binders_[b.local] = std::move(binder);
    open_binders_.push_back(b.local);
  }
  TypeId body = infer(e.args[0]);
  if (vars_[vars_.head(body)].kind == Type::Kind::error) {
    solver_.pop_to(context);
    return body;
  }
  const Shape body_shape = e.flag ? Shape{} : Shape{var_item(vars_.shape("s"))};
  const ElemTerm elem{std::nullopt, vars_.type("t")};
  const TypeId wanted = vars_.tensor(elem, body_shape);
  unifier_.unify(
      wanted, body,
      why(p_.exprs[e.args[0]].span,
          e.flag ? "what is folded, one number for each index" : "the body of `for`", wanted, body, id));
  solver_.pop_to(context);
  Shape result;
  for (size_t i = 0; i < e.binders.size(); ++i) {
    const LocalId local = e.binders[i].local;
    if (p_.locals[local].kind == Local::Kind::rank) {
      RankBinder& r = rank_binders_[local];
      const WhyId w =
          why(p_.locals[local].span, fmt::format("the axes that `..{}` indexes", p_.locals[local].name));
      if (r.indexed.empty()) {
        report(
            error(Code::E0307, p_.locals[local].span,
                  fmt::format("`..{}` indexes nothing, so its axes are not known", p_.locals[local].name)));
      } else if (r.indexed.size() == 1) {
        solver_.equal(Shape{var_item(r.var)}, r.indexed[0], w);
      } else {
        solver_.join({var_item(r.var)}, r.indexed, w);
      }
      result.push_back(var_item(r.var));
    } else {
      find_range(local);
      result.push_back(dim_item(index_binders_[local].range));
      p_.exprs[id].binders[i].range = index_binders_[local].range;
      std::erase(open_binders_, local);
    }
  }
  result.insert(result.end(), body_shape.begin(), body_shape.end());
  return vars_.tensor(elem, result);
}

void Checker::find_range(LocalId local) {
  IndexBinder& b = index_binders_[local];
  const std::string& name = p_.locals[local].name;
  if (b.given || b.bare) return;
  std::vector<Use> uses;
  for (Use u : b.uses) {
    u.index = vars_.zonk(u.index);
    u.axis = vars_.zonk(u.axis);
    if (std::none_of(uses.begin(), uses.end(),
                     [&](const Use& o) { return o.index == u.index && o.axis == u.axis; }))
      uses.push_back(u);
  }
  auto unknown = [&](const std::string& reason) {
    auto d = error(Code::E0307, p_.locals[local].span, fmt::format("the range of `{}` is not known", name));
    d.text(reason).help(fmt::format("give it a range: `({} < n)`", name));
    for (const Use& u : uses) d.also(u.span, "used here");
    report(std::move(d));
  };
  if (uses.empty()) return unknown(fmt::format("`{}` indexes nothing.", name));
  if (uses.size() > 1)
    return unknown(fmt::format("`{}` never stands alone in an index, and its uses differ.", name));
  const Use& u = uses[0];
  auto linear = u.index.linear_in(b.var);
  auto step = linear ? linear->first.constant() : std::nullopt;
  bool other = !linear;
  if (linear)
    for (Var v : linear->second.vars()) other |= vars_.kind(v) == VarKind::index;
  if (!step || *step <= 0 || other)
    return unknown(
        fmt::format("`{}` never stands alone in an index, and its use does not determine it.", name));
  const WhyId w = why(u.span, fmt::format("the range of `{}`", name));
  if (u.otherwise) {
    if (*step != 1) return unknown(fmt::format("`{}` never stands alone in an index.", name));
    solver_.equal(b.range, u.axis, w);
  } else {
    solver_.equal(b.range, shape::cdiv(u.axis - linear->second, Dim(*step)), w);
  }
}

// ---- Selecting
// --------------------------------------------------------------------------------------------------

void Checker::note_use(const Dim& index, const Dim& axis, bool otherwise, Span at) {
  for (LocalId l : open_binders_)
    if (index.contains(index_binders_[l].var)) index_binders_[l].uses.push_back({index, axis, otherwise, at});
}

void Checker::in_range(const Dim& index, const Dim& axis, bool end_allowed, WhyId w) {
  if (!vars_.plainly_nonnegative(index)) solver_.require(shape::at_least(index, 0), w);
  const Dim left = end_allowed ? axis - index : axis - index - 1;
  if (!vars_.plainly_nonnegative(vars_.zonk(left)))
    solver_.require(end_allowed ? shape::at_most(index, axis) : shape::less(index, axis), w);
}

void Checker::select_point(const IndexItem& item, const Dim& axis, bool has_otherwise, Shape& result,
                           WhyId w) {
  const Expr point = p_.exprs[item.point];
  TypeId t = infer(item.point);
  if (point.kind == Expr::Kind::local && !has_otherwise) {
    auto binder = index_binders_.find(point.local);
    if (binder != index_binders_.end() && !binder->second.given) {
      binder->second.bare = true;
      solver_.equal(binder->second.range, axis, w);
      return;
    }
  }
  const Type type = vars_[vars_.head(t)];
  if (type.kind == Type::Kind::error) return;
  if (type.kind == Type::Kind::var) {
    const TypeId ids =
        vars_.tensor({std::nullopt, vars_.type("i", ElemClass::int_)}, {var_item(vars_.shape("i"))});
    unifier_.unify(ids, t, why(point.span, "an index", ids, t, item.point));
    t = ids;
  } else if (type.kind != Type::Kind::tensor) {
    const TypeId ids = vars_.tensor({base::Elem::i64, {}}, {});
    unifier_.unify(ids, t, why(point.span, "an index", ids, t, item.point));
    return;
  }
  const Type ids = vars_[vars_.head(t)];
  unifier_.restrict(ids.elem, ElemClass::int_,
                    why(point.span, "an index", vars_.scalar(base::Elem::i64), t, item.point));
  if (auto value = value_of(t)) {
    if (!vars_.zonk(ids.elem).elem && vars_.is_meta(vars_.zonk(ids.elem).var))
      unifier_.unify(ids.elem, {base::Elem::i64, {}}, w);
    const bool from_end = value->constant() && *value->constant() < 0;
    const Dim index = from_end ? axis + *value : *value;
    note_use(index, axis, has_otherwise, point.span);
    if (!has_otherwise) in_range(index, axis, false, w);
    return;
  }
  const Shape ids_shape = vars_.zonk(ids.shape);
  result.insert(result.end(), ids_shape.begin(), ids_shape.end());
}

void Checker::select_slice(const IndexItem& item, const Dim& axis, Shape& result, WhyId w) {
  auto end = [&](ExprId e, const Dim& otherwise) {
    if (!e.valid()) return otherwise;
    const Dim value = as_size(e, infer(e));
    return value.constant() && *value.constant() < 0 ? axis + value : value;
  };
  const Dim start = end(item.start, Dim(0)), stop = end(item.stop, axis);
  if (item.start.valid()) in_range(start, stop, true, w);
  if (item.stop.valid()) in_range(stop, axis, true, w);
  Dim size = stop - start;
  if (item.step.valid()) {
    const Dim step = as_size(item.step, infer(item.step));
    if (!step.constant() || *step.constant() < 1) {
      report(error(Code::E0308, p_.exprs[item.step].span,
                   "the step of a slice is a number that is known here, >= 1"));
    } else {
      size = shape::cdiv(size, step);
    }
  }
  if (mentions_index(vars_, vars_.zonk(size)))
    report(error(Code::E0306, p_.exprs[item.stop.valid() ? item.stop : item.start].span,
                 "the size of the slice depends on an index, so the result would be irregular"));
  result.push_back(dim_item(size));
}

Shape Checker::select(ExprId id, TypeId base, bool has_otherwise) {
  std::vector<IndexItem> items = p_.exprs[id].indices;
  const Span at = p_.exprs[id].span;
  base = unifier_.shape_view(base);
  const Type known = vars_[vars_.zonk(base)];
  const bool open_ended = std::any_of(items.begin(), items.end(), [](const IndexItem& i) {
    return i.kind == IndexItem::Kind::ellipsis || i.kind == IndexItem::Kind::rank;
  });
  if (known.kind == Type::Kind::tensor && known_rank(known.shape) && !open_ended &&
      items.size() < known.shape.size()) {  // the remaining axes are kept whole
    items.push_back({});
    items.back().kind = IndexItem::Kind::ellipsis;
    p_.exprs[id].indices = items;
  }
  std::vector<ShapeItem> axes;
  Shape pattern;
  for (const IndexItem& i : items) {
    const bool many = i.kind == IndexItem::Kind::ellipsis || i.kind == IndexItem::Kind::rank;
    axes.push_back(many ? var_item(vars_.shape("a"))
                        : dim_item(Dim(vars_.dim("n", VarKind::meta, true, at))));
    pattern.push_back(axes.back());
  }
  const TypeId wanted = vars_.tensor({std::nullopt, vars_.type("t")}, pattern);
  const WhyId w =
      why(at, fmt::format("the indexing with {} position{}", items.size(), items.size() == 1 ? "" : "s"),
          wanted, base, id);
  unifier_.unify(wanted, base, w);
  Shape result;
  for (size_t i = 0; i < items.size(); ++i) {
    switch (items[i].kind) {
      case IndexItem::Kind::point: {
        const Span span = p_.exprs[items[i].point].span;
        select_point(items[i], vars_.zonk(axes[i].dim), has_otherwise, result,
                     why(span, "this index", {}, {}, id));
        break;
      }
      case IndexItem::Kind::slice: {
        const ExprId place = items[i].start.valid() ? items[i].start : items[i].stop;
        const Span span = place.valid() ? p_.exprs[place].span : at;
        select_slice(items[i], vars_.zonk(axes[i].dim), result, why(span, "this slice", {}, {}, id));
        break;
      }
      case IndexItem::Kind::ellipsis:
        result.push_back(axes[i]);
        break;
      case IndexItem::Kind::rank:
        rank_binders_[items[i].rank].indexed.push_back({axes[i]});
        break;
    }
  }
  return result;
}

TypeId Checker::infer_index(ExprId id) {
  const Expr e = p_.exprs[id];
  const TypeId base = infer(e.args[0]);
  if (vars_[vars_.head(base)].kind == Type::Kind::error) {
    for (const IndexItem& i : e.indices)
      if (i.point.valid()) infer(i.point);
    return base;
  }
  const Shape result = select(id, base, e.args.size() > 1);
  const Type t = vars_[vars_.zonk(unifier_.shape_view(base))];
  if (t.kind != Type::Kind::tensor) return vars_.error();
  if (e.args.size() > 1) {
    const TypeId scalar = vars_.tensor(t.elem, {});
    const TypeId otherwise = infer(e.args[1], scalar);
    unifier_.unify(scalar, otherwise,
                   why(p_.exprs[e.args[1]].span, "the value after `else`", scalar, otherwise, e.args[1]));
  }
  return vars_.tensor(t.elem, result);
}

TypeId Checker::infer_with_index(ExprId id) {
  const Expr e = p_.exprs[id];
  const TypeId base = infer(e.args[0]);
  const TypeId value = infer(e.args[1]);
  if (vars_[vars_.head(base)].kind == Type::Kind::error) return base;
  const Shape selected = select(id, base, false);
  const Type t = vars_[vars_.zonk(unifier_.shape_view(base))];
  if (t.kind != Type::Kind::tensor) return vars_.error();
  const TypeId wanted = vars_.tensor(t.elem, selected);
  unifier_.unify(wanted, value, why(p_.exprs[e.args[1]].span, "the new part", wanted, value, e.args[1]));
  return vars_.tensor(t.elem, t.shape);
}

TypeId Checker::infer_rearrange(ExprId id) {
  const Expr e = p_.exprs[id];
  const TypeId base = unifier_.shape_view(infer(e.args[0]));
  std::map<std::string, ShapeItem> axes;
  for (const auto& [var, d] : e.instantiation) axes[shape::var_name(var)] = dim_item(d);
  auto shape_of = [&](const std::vector<AxisGroup>& groups) {
    Shape out;
    for (const AxisGroup& group : groups) {
      if (group.size() == 1 && group[0].starts_with("..")) {
        auto [it, added] = axes.try_emplace(group[0]);
        if (added) it->second = var_item(vars_.shape(group[0].substr(2)));
        out.push_back(it->second);
        continue;
      }
      Dim size(1);
      for (const std::string& name : group)
        if (name != "1") size = size * axes[name].dim;
      out.push_back(dim_item(size));
    }
    return out;
  };
  const ElemTerm elem{std::nullopt, vars_.type("t")};
  const TypeId wanted = vars_.tensor(elem, shape_of(e.from));
  unifier_.unify(wanted, base, why(e.span, "the axes that `rearrange` names", wanted, base, id));
  return vars_.tensor(elem, shape_of(e.to));
}

}  // namespace axon::core
