// Index notation: `for`, indexing, slices, gathers, updates and rearrange.
//
// A binder that stands alone in an axis has that axis's size as its range, so all axes it indexes are equal.
// Any other use is an obligation 0 <= index < axis, stated with the ranges of the binders around it as
// context. A binder without such a use takes its range from its only other use, when that determines it. The
// range of `..p` is the join of the axes it indexes.
#include "core/check_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check_expr.h"

namespace axon::core {

using shape::Dim;
using shape::Var;
using source::Code;
using source::error;
using source::Span;

TypeId IndexChecker::infer_for(ExprId id) {
  const Expr e = p_.exprs[id];
  const size_t context = solver_.context_size();
  const size_t around = scopes_.depth();
  const auto enter = [&] {  // the range of the first index is evaluated outside of the loop
    if (scopes_.depth() == around) scopes_.enter(id);
  };
  for (const Binder& b : e.binders) {
    const Local local = p_.locals[b.local];
    if (local.kind == Local::Kind::rank) {
      rank_binders_[b.local] = {vars_.shape(local.name), {}};
      enter();
      continue;
    }
    IndexBinder binder;
    binder.var = vars_.dim(local.name, VarKind::index, false, local.span);
    if (b.bound.valid()) {
      binder.given = true;
      binder.range = sizes_.size_of(b.bound);
      solver_.equal(Dim(vars_.dim(local.name)), binder.range,  // a size
                    why(p_.exprs[b.bound].span, fmt::format("the range of `{}`", local.name)));
    } else {
      binder.range = Dim(vars_.dim(local.name, VarKind::meta, true, local.span));
    }
    enter();
    scopes_.add_index(binder.var, id);
    p_.locals[b.local].type = vars_.scalar(base::Elem::i64, Dim(binder.var));
    solver_.push(shape::at_least(Dim(binder.var), 0));
    solver_.push(shape::less(Dim(binder.var), binder.range));
    index_binders_[b.local] = std::move(binder);
    open_binders_.push_back(b.local);
  }
  TypeId body = exprs_.infer(e.args[0]);
  scopes_.leave_to(around);
  if (vars_[vars_.head(body)].kind == Type::Kind::error) {
    solver_.pop_to(context);
    for (const Binder& b : e.binders)  // what is wrong in the body gives no range to what indexes nothing
      if (p_.locals[b.local].kind == Local::Kind::index && index_binders_[b.local].uses.empty())
        find_range(b.local);
    return body;
  }
  if (e.flag) {  // folded: one number for each index
    const TypeId number = vars_.tensor({std::nullopt, vars_.type("t")}, {});
    unifier_.unify(number, body,
                   why(p_.exprs[e.args[0]].span, "what is folded for each index", number, body, id));
  }
  solver_.pop_to(context);
  Shape result;
  for (size_t i = 0; i < e.binders.size(); ++i) {
    const LocalId local = e.binders[i].local;
    if (p_.locals[local].kind == Local::Kind::rank) {
      RankBinder& r = rank_binders_[local];
      const WhyId w =
          why(p_.locals[local].span, fmt::format("the axes that `..{}` indexes", p_.locals[local].name));
      if (r.indexed.empty()) {
        if (!is_lost(local))
          reporter_.report(
              error(Code::E0307, p_.locals[local].span,
                    fmt::format("`..{}` indexes nothing, so its axes are not known", p_.locals[local].name)));
      } else if (r.indexed.size() == 1) {
        solver_.equal(Shape{var_item(r.var)}, r.indexed[0], w);
      } else {
        solver_.join({var_item(r.var)}, r.indexed, w);
      }
      p_.exprs[id].binders[i].joined = r.indexed;
      result.push_back(var_item(r.var));
    } else {
      find_range(local);
      result.push_back(dim_item(index_binders_[local].range));
      p_.exprs[id].binders[i].range = index_binders_[local].range;
      std::erase(open_binders_, local);
    }
  }
  const WhyId w = why(p_.exprs[e.args[0]].span, "the body of `for`", {}, body, id);
  const TypeId whole = tabulated(result, body, e.flag, w);
  sizes_.require_sizes(whole, e.span);
  return whole;
}

/// The axes in front of every tensor of the body: a `for` of a tuple is a tuple of tensors.
TypeId IndexChecker::tabulated(const Shape& axes, TypeId body, bool number, WhyId w) {
  const Type t = vars_[vars_.zonk(unifier_.shape_view(body))];
  if ((t.kind == Type::Kind::tuple || t.kind == Type::Kind::record) && !t.row.valid()) {
    Type out = t;
    out.alias = {};
    for (TypeId& item : out.items) item = tabulated(axes, item, number, w);
    return vars_.add(std::move(out));
  }
  const Shape inner = number ? Shape{} : Shape{var_item(vars_.shape("s"))};
  const ElemTerm elem{std::nullopt, vars_.type("t")};
  const TypeId wanted = vars_.tensor(elem, inner);
  unifier_.unify(wanted, body, why(whys_[w].span, whys_[w].what, wanted, body, whys_[w].expr));
  Shape shape = axes;
  shape.insert(shape.end(), inner.begin(), inner.end());
  Type out = vars_[vars_.tensor(elem, shape)];
  out.range = tabulated_range(body);
  return vars_.add(std::move(out));
}

/// Of a body that is linear in the indices, the least and the greatest value.
std::optional<ValueRange> IndexChecker::tabulated_range(TypeId body) {
  auto value = value_of(body);
  if (!value || opened_.reads_data(*value)) return vars_[vars_.head(body)].range;
  const auto low = extreme(*value, false), high = extreme(*value, true);
  if (!low || !high) return std::nullopt;
  return ValueRange{*low, *high + 1};
}

/// The greatest or least value of d over the indices in it; nothing when that depends on what is not known
/// here.
std::optional<Dim> IndexChecker::extreme(const Dim& d, bool greatest) {
  Dim out = d;
  for (Var v : d.vars()) {
    if (vars_.kind(v) != VarKind::index) continue;
    auto linear = out.linear_in(v);
    auto factor = linear ? linear->first.constant() : std::nullopt;
    const auto binder = std::find_if(index_binders_.begin(), index_binders_.end(),
                                     [&](const auto& b) { return b.second.var == v; });
    if (!factor || binder == index_binders_.end()) return std::nullopt;
    const IndexBinder& b = binder->second;
    const bool settled =
        b.given || b.bare ||
        std::find(open_binders_.begin(), open_binders_.end(), binder->first) == open_binders_.end();
    if (!settled) return std::nullopt;
    const bool at_end = (*factor > 0) == greatest;
    out = linear->second + (at_end ? (vars_.zonk(b.range) - 1) * Dim(*factor) : Dim(0));
  }
  return out;
}

/// The range that one use allows: the largest for which the index stays inside.
std::optional<Dim> IndexChecker::range_of_use(const IndexBinder& b, const Use& u) {
  auto linear = u.index.linear_in(b.var);
  auto step = linear ? linear->first.constant() : std::nullopt;
  if (!step || *step == 0) return std::nullopt;
  if (u.kind == Use::Kind::guarded)
    return *step == 1 || *step == -1 ? std::optional<Dim>(u.axis) : std::nullopt;
  const auto rest = extreme(linear->second, *step > 0);
  if (!rest) return std::nullopt;
  if (*step > 0) return shape::cdiv(u.axis - *rest, Dim(*step));
  return shape::floor_div(*rest, Dim(-*step)) + 1;
}

/// Whether the binder stands in brackets whose axes are not known because of an error, which is reported.
bool IndexChecker::is_lost(LocalId binder) const {
  if (!failed_ && !solver_.has_failures()) return false;
  const DeclInfo& info = e_.infos[g_.index];
  const auto mentions = [&](ExprId position) {
    for (uint32_t i = info.first_expr; position.valid() && i < info.end_expr; ++i) {
      const Expr& e = p_.exprs[{i}];
      const Span whole = p_.exprs[position].span;
      if (e.kind == Expr::Kind::local && e.local == binder && whole.begin <= e.span.begin &&
          e.span.end <= whole.end)
        return true;
    }
    return false;
  };
  for (uint32_t i = info.first_expr; i < info.end_expr; ++i)
    for (const IndexItem& item : p_.exprs[{i}].indices)
      if (item.rank == binder || mentions(item.point) || mentions(item.start) || mentions(item.stop))
        return true;
  return false;
}

void IndexChecker::find_range(LocalId local) {
  IndexBinder& b = index_binders_[local];
  const std::string& name = p_.locals[local].name;
  if (b.bare && opened_.depends_on_integer(vars_.zonk(b.range), true))  // it is the size of an axis
    solver_.learn(shape::at_least(b.range, 0));
  if (b.given || b.bare) return;
  std::vector<Use> uses;
  Use::Kind kind = Use::Kind::slice;
  for (const Use& u : b.uses) kind = std::min(kind, u.kind);
  const bool guarded = kind == Use::Kind::guarded;
  for (Use u : b.uses) {
    u.index = vars_.zonk(u.index);
    u.axis = vars_.zonk(u.axis);
    if (u.kind == kind) uses.push_back(u);
  }
  auto unknown = [&](const std::string& reason) {
    auto d = error(Code::E0307, p_.locals[local].span, fmt::format("the range of `{}` is not known", name));
    d.text(reason).help(fmt::format("give it a range: `({} < n)`", name));
    for (const Use& u : b.uses) d.also(u.span, "used here");
    reporter_.report(std::move(d));
  };
  if (uses.empty()) return is_lost(local) ? void() : unknown(fmt::format("`{}` indexes nothing.", name));
  std::vector<Dim> allowed;
  const Use* least = nullptr;
  for (const Use& u : uses) {
    auto range = range_of_use(b, u);
    if (!range)
      return unknown(
          fmt::format("`{}` never stands alone in an index, and its use does not determine it.", name));
    allowed.push_back(*range);
  }
  for (size_t i = 0; i < uses.size() && !least; ++i) {
    const bool smallest = std::all_of(allowed.begin(), allowed.end(), [&](const Dim& other) {
      const shape::Fact goal = shape::at_most(allowed[i], other);
      return allowed[i] == other ||
             (!vars_.has_meta(allowed[i] - other) &&
              shape::prove(solver_.facts_for(goal, {}), goal).verdict == shape::Verdict::proved);
    });
    if (smallest && !(guarded && allowed[i] != allowed[0])) least = &uses[i];
  }
  if (!least) return unknown(fmt::format("`{}` never stands alone in an index, and its uses differ.", name));
  solver_.equal(b.range, allowed[static_cast<size_t>(least - uses.data())],
                why(least->span, fmt::format("the range of `{}`", name)));
}

/// reshape [n, -1] x: every axis of x into one, and that into the axes of the target. One -1 stands for the
/// size that is left.
TypeId IndexChecker::infer_reshape(ExprId id) {
  const ExprId flat = p_.exprs[id].args[0], target = p_.exprs[id].args[1];
  const TypeId base = exprs_.infer(p_.exprs[flat].args[0]);
  const TypeId sizes = exprs_.infer(target);
  const Span at = p_.exprs[id].span;
  p_.exprs[flat].type = vars_.error();
  const Type x = vars_[vars_.zonk(unifier_.shape_view(base))], list = vars_[vars_.zonk(sizes)];
  if (x.kind == Type::Kind::error || list.kind == Type::Kind::error) {
    failed_ = true;
    return vars_.error();
  }
  if (x.kind != Type::Kind::tensor || !known_rank(x.shape)) {
    reporter_.report(error(Code::E0314, p_.exprs[p_.exprs[flat].args[0]].span,
                           "the axes of what is reshaped are not known here")
                         .note(fmt::format("it is {}", reporter_.show(base)))
                         .help("annotate a parameter with its axes"));
    return vars_.error();
  }
  const bool empty = p_.exprs[target].kind == Expr::Kind::list && p_.exprs[target].args.empty();
  if (list.elements.empty() && !empty) {
    reporter_.report(error(Code::E0323, p_.exprs[target].span,
                           "the target of `reshape` is a list of sizes that are known here"));
    return vars_.error();
  }
  Dim total(1), others(1);
  for (const ShapeItem& i : x.shape) total = total * i.dim;
  const WhyId w = why(at, "`reshape`", {}, {}, id);
  std::vector<Dim> to = list.elements;
  std::optional<size_t> left;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i].is(-1)) {
      if (left) {
        reporter_.report(
            error(Code::E0313, p_.exprs[target].span, "only one size of the target of `reshape` can be -1"));
        return vars_.error();
      }
      left = i;
      continue;
    }
    if (!vars_.plainly_nonnegative(to[i])) solver_.require(shape::at_least(to[i], 0), w);
    others = others * to[i];
  }
  if (left && total.constant() && others.constant() && *others.constant() != 0 &&
      *total.constant() % *others.constant() != 0) {
    reporter_.report(error(Code::E0313, at,
                           fmt::format("`reshape` of {} elements into groups of {} leaves a remainder",
                                       *total.constant(), *others.constant())));
    return vars_.error();
  }
  if (left) {
    to[*left] = Dim(vars_.dim("n", VarKind::meta, true, at));
    solver_.equal(others * to[*left], total, w);
    to[*left] = vars_.zonk(to[*left]);
  } else if (others != total) {
    solver_.require(shape::equal(total, others), w);
  }
  Shape result;
  for (const Dim& d : to) result.push_back(dim_item(d));
  std::vector<Dim> from;
  for (const ShapeItem& i : x.shape) from.push_back(i.dim);
  auto name_axes = [&](ExprId e, const std::vector<Dim>& axes, bool join) {
    AxisGroup all;
    std::vector<AxisGroup> single;
    Instantiation named;
    for (const Dim& d : axes) {
      all.push_back(fmt::format("a{}", all.size()));
      single.push_back({all.back()});
      named.emplace_back(shape::fresh_var(all.back()), d);
    }
    if (all.empty()) all.push_back("1");
    Expr& step = p_.exprs[e];
    step.instantiation = std::move(named);
    step.from = join ? single : std::vector<AxisGroup>{all};
    step.to = join ? std::vector<AxisGroup>{all} : single;
  };
  name_axes(flat, from, true);
  name_axes(id, to, false);
  p_.exprs[flat].type = vars_.tensor(x.elem, {dim_item(total)});
  p_.exprs[id].args = {flat};
  return vars_.tensor(x.elem, result);
}

TypeId IndexChecker::infer_rearrange(ExprId id) {
  const Expr e = p_.exprs[id];
  if (e.flag && e.args.size() == 2) return infer_reshape(id);
  const TypeId base = unifier_.shape_view(exprs_.infer(e.args[0]));
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
