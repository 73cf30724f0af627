// Indexing: points, slices and gathers, what they select and what must hold for them; updates.
//
// A binder alone in an axis ties its range to the axis. Any other index is an obligation to be inside, proved
// where its value is known: sizes, binders, vectors of sizes, positions such as iota gives. The positions of
// a gather that only the data decides are checked when the program runs. What may be outside, because of an
// `else`, are the indices that are no such binders; if there are none, all of them.
#include <fmt/format.h>

#include <algorithm>

#include "core/check_expr.h"
#include "core/defaults.h"
#include "core/negative_literal.h"

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Var;
using source::Code;
using source::error;
using source::Span;

// ---- Selecting ----

void IndexChecker::note_use(const Dim& index, const Dim& axis, bool otherwise, Span at) {
  for (LocalId l : open_binders_)
    if (index.contains(index_binders_[l].var))
      index_binders_[l].uses.push_back({index, axis, otherwise ? Use::Kind::guarded : Use::Kind::point, at});
}

/// A slice of one size for all indices, x[i : i + k], is inside where the end that moves outwards is.
void IndexChecker::note_window(const Dim& start, const Dim& stop, const Dim& axis, Span at) {
  for (LocalId l : open_binders_) {
    IndexBinder& b = index_binders_[l];
    const auto linear = stop.linear_in(b.var);
    const auto factor = linear ? linear->first.constant() : std::nullopt;
    if (!factor || *factor == 0 || (stop - start).contains(b.var)) continue;
    b.uses.push_back(*factor > 0 ? Use{stop, axis + 1, Use::Kind::slice, at}
                                 : Use{start, axis, Use::Kind::slice, at});
  }
}

void IndexChecker::in_range(const Dim& index, const Dim& axis, bool end_allowed, WhyId w) {
  if (!vars_.plainly_nonnegative(index)) solver_.require(shape::at_least(index, 0), w);
  const Dim left = end_allowed ? axis - index : axis - index - 1;
  if (!vars_.plainly_nonnegative(vars_.zonk(left)))
    solver_.require(end_allowed ? shape::at_most(index, axis) : shape::less(index, axis), w);
}

/// The binder that a position consists of, when no range is given for it.
IndexChecker::IndexBinder* IndexChecker::lone_binder(const IndexItem& item) {
  if (item.kind != IndexItem::Kind::point || p_.exprs[item.point].kind != Expr::Kind::local) return nullptr;
  const auto binder = index_binders_.find(p_.exprs[item.point].local);
  return binder == index_binders_.end() || binder->second.given ? nullptr : &binder->second;
}

void IndexChecker::select_point(const IndexItem& item, const Dim& axis, bool has_otherwise, Shape& result,
                                WhyId w) {
  const Expr point = p_.exprs[item.point];
  TypeId t = unifier_.shape_view(exprs_.infer(item.point));
  if (IndexBinder* binder = lone_binder(item); binder && !has_otherwise) {
    binder->bare = true;
    solver_.equal(binder->range, axis, w);
    return;
  }
  const Type type = vars_[vars_.head(t)];
  if (type.kind == Type::Kind::error) {  // of how many axes, nobody knows
    result.push_back(var_item(vars_.shape("i")));
    return;
  }
  if (type.kind == Type::Kind::var || type.kind == Type::Kind::stack) {  // the axes are open
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
  if (auto value = value_of(t); value && !opened_.reads_data(*value)) {
    if (!vars_.zonk(ids.elem).elem && vars_.is_meta(vars_.zonk(ids.elem).var))
      unifier_.unify(ids.elem, {base::Elem::i64, {}}, w);
    const bool from_end = is_negative_literal(p_, item.point) && !has_otherwise;
    const Dim index = from_end ? axis + *value : *value;
    note_use(index, axis, has_otherwise, point.span);
    if (!has_otherwise) in_range(index, axis, false, w);
    return;
  }
  if (ids.range && !has_otherwise) {
    const Dim low = vars_.zonk(ids.range->low), high = vars_.zonk(ids.range->high);
    in_range(low, high, true, w);
    if (high != axis) solver_.require(shape::at_most(high, axis), w);
  }
  const Shape ids_shape = vars_.zonk(ids.shape);
  result.insert(result.end(), ids_shape.begin(), ids_shape.end());
}

/// What a forward slice needs: 0 <= start <= stop <= axis. What of that is about integers of the data the
/// program checks once (slice_by_data), and then it is known.
void IndexChecker::ends_in_range(const IndexItem& item, const Dim& start, const Dim& stop, const Dim& axis,
                                 ExprId id) {
  if (!item.start.valid() && !item.stop.valid()) return;  // the whole axis, of whatever size
  const auto needs = [&](const Fact& fact, ExprId end) {
    const auto of_data = [&](const Dim& d) { return opened_.depends_on_integer(d, true); };
    if (vars_.plainly_nonnegative(vars_.zonk(fact.rhs - fact.lhs))) return;
    if (!of_data(fact.lhs) && !of_data(fact.rhs)) return solver_.require(fact, why_end(end, id));
    const Fact fails = shape::less(fact.rhs, fact.lhs);
    const std::vector<Fact> facts = solver_.facts_for(fact, {});
    const bool never = shape::prove(facts, fails).verdict == shape::Verdict::proved;
    if (never && shape::prove_empty(solver_.context()).verdict != shape::Verdict::proved)
      return reporter_.report_fact(fact, facts, why_end(end, id), Holds::never);
    solver_.learn(fact);
  };
  const bool ends_later = opened_.depends_on_integer(stop, true);
  const auto in_order = [&] {
    needs(shape::at_most(start, stop), item.start.valid() ? item.start : item.stop);
  };
  if (item.start.valid()) needs(shape::at_least(start, 0), item.start);
  if (item.start.valid() && ends_later) needs(shape::at_most(start, axis), item.start);
  if (!ends_later) in_order();
  if (item.stop.valid()) needs(shape::at_most(stop, axis), item.stop);
  if (ends_later) in_order();
  if (item.stop.valid() && opened_.is_checked_integer(stop))
    opened_.note_check(*stop.as_var(), item.stop, axis);
}

/// Why a position in the index expression `id` is inside.
WhyId IndexChecker::why_inside(Span at, const char* what, ExprId id) {
  const WhyId inside = why(at, what, {}, {}, id);
  whys_[inside].left_to_run = LeftToRun::by_index;
  return inside;
}

/// Why an end of a slice in the index expression `id` is in range.
WhyId IndexChecker::why_end(ExprId end, ExprId id) {
  return why_inside(p_.exprs[end].span, "this slice", id);
}

void IndexChecker::select_slice(const IndexItem& item, const Dim& axis, Shape& result, ExprId id) {
  int64_t step = 1;
  if (item.step.valid()) {
    const auto written = sizes_.size_of(item.step).constant();
    if (!written || *written == 0)
      reporter_.report(error(Code::E0308, p_.exprs[item.step].span,
                             "the step of a slice is a number, known here and not 0"));
    step = written && *written != 0 ? *written : 1;
  }
  auto end = [&](ExprId e, const Dim& otherwise) {
    if (!e.valid()) return otherwise;
    const Dim value = sizes_.size_of(e);
    return is_negative_literal(p_, e) ? axis + value : value;
  };
  Dim size;
  if (step > 0) {
    const Dim start = end(item.start, Dim(0)), stop = end(item.stop, axis);
    ends_in_range(item, start, stop, axis, id);
    note_window(vars_.zonk(start), vars_.zonk(stop), axis,
                p_.exprs[item.start.valid() ? item.start : id].span);
    size = shape::cdiv(opened_.without_opened(stop - start), Dim(step));
  } else {  // from `start` down to `stop`, which is not part of it; left out: to position 0
    const Dim start = end(item.start, axis - 1), stop = end(item.stop, Dim(-1));
    if (item.start.valid()) in_range(start, axis, false, why_end(item.start, id));
    if (item.stop.valid()) in_range(stop, start, true, why_end(item.stop, id));
    size = shape::cdiv(opened_.without_opened(start - stop), Dim(-step));
  }
  result.push_back(dim_item(size));
}

/// A base that has more axes than an index names, whatever it is: joins take their default now, and what else
/// is open is no axes.
void IndexChecker::settle_axes(TypeId base, size_t named, WhyId w) {
  for (;;) {
    const Type t = vars_[vars_.zonk(unifier_.shape_view(base))];
    const auto known = static_cast<size_t>(std::count_if(t.shape.begin(), t.shape.end(), is_dim));
    if (t.kind != Type::Kind::tensor || t.shape.size() != known + 1) return;
    const ShapeItem open = *std::find_if(t.shape.begin(), t.shape.end(), [](auto& i) { return !is_dim(i); });
    if (!is_var(open) || !vars_.is_meta(open.var)) return;
    if (Defaults(vars_, solver_).default_join_longer_than(t.shape, named)) continue;
    if (known <= named) return;
    Shape axes;
    for (size_t i = 0; i < known; ++i) axes.push_back(dim_item(Dim(vars_.dim("n", VarKind::meta, true))));
    unifier_.unify(vars_.tensor({std::nullopt, vars_.type("t")}, axes), base, w);
    return;
  }
}

/// The axes that the parameters of a function of this program name: two for `transpose`.
std::vector<size_t> IndexChecker::axes_of_parameters(ExprId callee) const {
  const Expr& e = p_.exprs[callee];
  if (e.kind != Expr::Kind::global || !p_.globals[e.global].scheme.type.valid()) return {};
  const Type fn = p_.types.types[p_.globals[e.global].scheme.type];
  std::vector<size_t> named;
  for (size_t i = 0; fn.kind == Type::Kind::function && i + 1 < fn.items.size(); ++i) {
    const Type& t = p_.types.types[fn.items[i]];
    const bool tensor = t.kind == Type::Kind::tensor;
    named.push_back(tensor ? static_cast<size_t>(std::count_if(t.shape.begin(), t.shape.end(), is_dim)) : 0);
  }
  return named;
}

/// Whether the expression is one integer whatever the types are: made of indices of `for`s and numbers.
static bool is_position(const Program& p, ExprId id) {
  const Expr& e = p.exprs[id];
  if (e.kind == Expr::Kind::number) return true;
  if (e.kind == Expr::Kind::local) return p.locals[e.local].kind == Local::Kind::index;
  return e.kind == Expr::Kind::apply && p.exprs[e.args[0]].kind == Expr::Kind::global &&
         p.globals[p.exprs[e.args[0]].global].kind == Global::Kind::prim &&
         std::all_of(e.args.begin() + 1, e.args.end(), [&](ExprId a) { return is_position(p, a); });
}

/// Notes that what the expression is has `axes` axes at least: the value of a name, or one that an index
/// takes a part of, x[i], which has an axis more for each position.
void IndexChecker::note_given(ExprId id, size_t axes) {
  const Expr& e = p_.exprs[id];
  if (e.kind == Expr::Kind::index && e.args.size() == 1 && axes > 0) {
    size_t positions = 0, slices = 0;
    for (const IndexItem& item : e.indices) {
      const bool position = item.kind == IndexItem::Kind::point && is_position(p_, item.point);
      if (!position && item.kind != IndexItem::Kind::slice) return;
      ++(position ? positions : slices);
    }
    return note_given(e.args[0], positions + std::max(slices, axes));
  }
  size_t& most = given_axes_[path_of(p_, id)];
  most = std::max(most, axes);
}

/// The most axes that an index of each value names, and that a function names that it is given to: where an
/// index names fewer, the others are kept.
void IndexChecker::find_named_axes() {
  const DeclInfo& info = e_.infos[g_.index];
  for (uint32_t i = info.first_expr; i < info.end_expr; ++i) {
    const Expr& e = p_.exprs[{i}];
    if (e.kind == Expr::Kind::apply) {
      const std::vector<size_t> named = axes_of_parameters(e.args[0]);
      for (size_t a = 0; a < named.size() && a + 1 < e.args.size(); ++a) note_given(e.args[a + 1], named[a]);
    }
    if (e.kind != Expr::Kind::index && e.kind != Expr::Kind::with_index) continue;
    const auto names_one = [](const IndexItem& item) {
      return item.kind == IndexItem::Kind::point || item.kind == IndexItem::Kind::slice;
    };
    const auto named = static_cast<size_t>(std::count_if(e.indices.begin(), e.indices.end(), names_one));
    size_t& most = named_axes_[path_of(p_, e.args[0])];
    most = std::max(most, named);
  }
  named_axes_.erase("");
  given_axes_.erase("");
}

Shape IndexChecker::select(ExprId id, TypeId base, bool has_otherwise) {
  std::vector<IndexItem> items = p_.exprs[id].indices;
  const Span at = p_.exprs[id].span;
  base = unifier_.shape_view(base);
  const char* const use = p_.exprs[id].kind == Expr::Kind::with_index ? "the update at" : "the indexing with";
  const std::string what = fmt::format("{} {} position{}", use, items.size(), items.size() == 1 ? "" : "s");
  const bool open_ended = std::any_of(items.begin(), items.end(), [](const IndexItem& i) {
    return i.kind == IndexItem::Kind::ellipsis || i.kind == IndexItem::Kind::rank;
  });
  if (!open_ended) settle_axes(base, items.size(), why(at, what, base, {}, id));
  const Type known = vars_[vars_.zonk(base)];
  // the remaining axes are kept whole, as far as they are known to be there
  const auto first_open =
      std::find_if(known.shape.begin(), known.shape.end(), [](auto& i) { return !is_dim(i); });
  const auto in_front = static_cast<size_t>(first_open - known.shape.begin());
  const bool rigid =
      first_open != known.shape.end() && is_var(*first_open) && !vars_.is_meta(first_open->var);
  const bool has_more =
      known.kind == Type::Kind::tensor && items.size() <= in_front && (items.size() < in_front || rigid);
  const bool all_open =
      known.kind != Type::Kind::tensor || (in_front == 0 && first_open != known.shape.end());
  const std::string path = path_of(p_, p_.exprs[id].args[0]);
  const auto named = named_axes_.find(path);
  const bool named_elsewhere = named != named_axes_.end() && items.size() < named->second;
  if (!open_ended && (has_more || named_elsewhere)) {
    items.push_back({});
    items.back().kind = IndexItem::Kind::ellipsis;
    p_.exprs[id].indices = items;
  } else if (const auto given = given_axes_.find(path);
             !open_ended && given != given_axes_.end() && all_open && !rigid) {
    for (size_t axis = items.size(); axis < given->second; ++axis) {
      items.push_back({});
      items.back().kind = IndexItem::Kind::slice;
    }
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
  const WhyId w = why(at, what, wanted, base, id);
  unifier_.unify(wanted, base, w);
  const bool guards_others = std::any_of(items.begin(), items.end(), [&](const IndexItem& i) {
    return i.kind == IndexItem::Kind::point && !lone_binder(i);
  });
  Shape result;
  for (size_t i = 0; i < items.size(); ++i) {
    switch (items[i].kind) {
      case IndexItem::Kind::point: {
        const Span span = p_.exprs[items[i].point].span;
        const bool guarded = has_otherwise && !(guards_others && lone_binder(items[i]));
        select_point(items[i], vars_.zonk(axes[i].dim), guarded, result, why_inside(span, "this index", id));
        break;
      }
      case IndexItem::Kind::slice:
        select_slice(items[i], vars_.zonk(axes[i].dim), result, id);
        break;
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

TypeId IndexChecker::infer_index(ExprId id) {
  const Expr e = p_.exprs[id];
  const TypeId base = exprs_.infer(e.args[0]);
  if (vars_[vars_.head(base)].kind == Type::Kind::error) {
    for (const IndexItem& i : e.indices)
      if (i.point.valid()) exprs_.infer(i.point);
    return base;
  }
  return sizes_.same_read(id, selected(id, base));
}

/// An error that was reported: which axes such an index selects is not known.
static bool has_two_ellipses(const Expr& index) {
  return std::count_if(index.indices.begin(), index.indices.end(),
                       [](const IndexItem& i) { return i.kind == IndexItem::Kind::ellipsis; }) > 1;
}

/// Of a tuple or a record, the same part of every tensor in it: one layer of a stack of layers.
TypeId IndexChecker::selected(ExprId id, TypeId base) {
  const Type whole = vars_[vars_.zonk(unifier_.shape_view(base))];
  if ((whole.kind == Type::Kind::tuple || whole.kind == Type::Kind::record) && !whole.row.valid()) {
    Type out = whole;
    out.alias = {};
    for (TypeId& item : out.items) item = selected(id, item);
    return vars_.add(std::move(out));
  }
  const Expr e = p_.exprs[id];
  if (has_two_ellipses(e)) return vars_.error();
  const Shape result = select(id, base, e.args.size() > 1);
  const Type t = vars_[vars_.zonk(unifier_.shape_view(base))];
  if (t.kind != Type::Kind::tensor) return vars_.error();
  if (e.args.size() > 1) {
    const TypeId scalar = vars_.tensor(t.elem, {});
    const TypeId otherwise = exprs_.infer(e.args[1], scalar);
    unifier_.unify(scalar, otherwise,
                   why(p_.exprs[e.args[1]].span, "the value after `else`", scalar, otherwise, e.args[1]));
  }
  if (auto element = element_of(id, t)) return vars_.tensor(t.elem, {}, element);
  return vars_.tensor(t.elem, result);
}

/// s[1] of a vector of sizes whose elements are known.
std::optional<Dim> IndexChecker::element_of(ExprId id, const Type& vector) const {
  const Expr& e = p_.exprs[id];
  if (vector.elements.empty() || e.indices.size() != 1 || e.indices[0].kind != IndexItem::Kind::point)
    return std::nullopt;
  auto position = value_of(p_.exprs[e.indices[0].point].type);
  if (!position || !position->constant()) return std::nullopt;
  const auto size = static_cast<int64_t>(vector.elements.size());
  const bool from_end = is_negative_literal(p_, e.indices[0].point);
  const int64_t k = *position->constant() + (from_end ? size : 0);
  if (k < 0 || k >= size) return std::nullopt;
  return vars_.zonk(vector.elements[static_cast<size_t>(k)]);
}

TypeId IndexChecker::infer_with_index(ExprId id) {
  const Expr e = p_.exprs[id];
  const TypeId base = exprs_.infer(e.args[0]);
  const TypeId value = exprs_.infer(e.args[1]);
  if (vars_[vars_.head(base)].kind == Type::Kind::error || has_two_ellipses(e)) return base;
  const Shape selected = select(id, base, false);
  const Type t = vars_[vars_.zonk(unifier_.shape_view(base))];
  if (t.kind != Type::Kind::tensor) return vars_.error();
  const TypeId wanted = vars_.tensor(t.elem, selected);
  unifier_.unify(wanted, value, why(p_.exprs[e.args[1]].span, "the new part", wanted, value, e.args[1]));
  return vars_.tensor(t.elem, t.shape);
}

}  // namespace axon::core
