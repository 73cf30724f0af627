// x[...] as a view.
//
// An index becomes one scalar per axis of the operand over the variables of the result; whether it is in
// range is the business of bounds.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "base/bug.h"
#include "core/negative_literal.h"
#include "graph/from_core/evaluator.h"

namespace axon::graph {

using core::Expr;
using core::IndexItem;
using Item = core::IndexItem::Kind;

// ---- x[...] ----

/// How a message names `part` of expression `e`, an index or an end of a slice: `role` says which.
std::string IndexEvaluator::words(const Expr& e, const std::string& role, core::ExprId part) const {
  const std::string whole = quoted(e.span);
  if (whole.empty()) return "an " + role;
  if (e.span.file != context_.file || !part.valid()) return fmt::format("an {} in {}", role, whole);
  return fmt::format("{} `{}` in {}", role, source_text(p.exprs[part].span), whole);
}

IndexEvaluator::SliceWords IndexEvaluator::words(const Expr& e, const IndexItem& slice) const {
  const std::string whole = quoted(e.span);
  SliceWords said{words(e, "index", slice.start), words(e, "end", slice.stop), "", ""};
  said.order = said.whole = whole.empty() ? "a slice" : "the slice " + whole;
  if (!slice.start.valid()) said.order = said.stop;  // 0 <= stop
  if (!slice.stop.valid()) said.order = said.start;  // start <= extent
  return said;
}

Val IndexEvaluator::index(const Expr& e) {
  Val of = evaluator_.evaluate(e.args[0]);
  std::optional<Val> otherwise;
  if (e.args.size() > 1) otherwise = evaluator_.evaluate(e.args[1]);
  if (failed_) return {};
  return index_leaf(e, of, otherwise);
}

/// A stack of structures is indexed leaf by leaf.
Val IndexEvaluator::index_leaf(const Expr& e, const Val& of, const std::optional<Val>& otherwise) {
  if (failed_) return {};
  if (of.kind != Val::Kind::array) {
    Val v = of;
    const auto other = otherwise ? std::optional(in_order_of(of, *otherwise)) : std::nullopt;
    for (size_t i = 0; i < v.items.size(); ++i)
      v.items[i] = index_leaf(e, of.items[i], other ? std::optional(other->items.at(i)) : std::nullopt);
    return v;
  }
  builder_.force(*of.array);
  Selection s = select(e, *of.array, otherwise ? Use::read_or_else : Use::read);
  if (failed_) return {};
  Array result;
  result.elem = of.array->elem;
  result.shape = s.shape;
  result.vars = s.vars;
  result.body = builder_.element(*of.array, s.indices);
  for (const Dim& extent : s.need_elements) result.body = checks_.zero_if_empty(result.body, extent);
  if (otherwise) {
    ScalarId other = builder_.stretched(builder_.leaf(*otherwise), s.shape, s.vars);
    result.body = apply(g, Op::select, {s.inside, result.body, other});
  }
  return Val::of(std::move(result));
}

IndexEvaluator::Selection IndexEvaluator::select(const Expr& e, const Array& of, Use use) {
  Selection s;
  s.inside = constant_int(g, Elem::boolean, 1);
  size_t single = 0, ranks = 0;
  bool ellipsis = false;
  for (const IndexItem& item : e.indices) {
    single += item.kind == Item::point || item.kind == Item::slice;
    ranks += item.kind == Item::rank;
    ellipsis |= item.kind == Item::ellipsis;
  }
  size_t rest = of.shape.size() - std::min(of.shape.size(), single);  // axes for `..` and rank binders
  size_t axis = 0;
  auto take = [&](size_t count) {
    std::vector<Dim> axes;
    for (size_t i = 0; i < count && axis < of.shape.size(); ++i) axes.push_back(of.shape[axis++]);
    return axes;
  };
  auto pass = [&](const std::vector<Dim>& axes) {
    for (const Dim& d : axes) {
      s.shape.push_back(d);
      s.vars.push_back(shape::fresh_var("a"));
      s.indices.push_back(index_of(g, Dim(s.vars.back())));
      s.runs.push_back(Selection::Run{constant_int(g, Elem::i64, 0), s.vars.back(), d});
    }
  };
  for (const IndexItem& item : e.indices) {
    switch (item.kind) {
      case Item::point: {
        auto extent = take(1);
        if (extent.empty()) base::bug("from_core", "an index has more positions than axes");
        select_point(item.point, extent[0], use == Use::read_or_else, words(e, "index", item.point), s);
        break;
      }
      case Item::slice: {
        auto extent = take(1);
        if (extent.empty()) base::bug("from_core", "an index has more positions than axes");
        select_slice(item, extent[0], words(e, item), use, s);
        break;
      }
      case Item::rank: {
        const std::vector<Axis>* known = evaluator_.find_rank(item.rank);
        size_t count = ranks == 1 && !ellipsis ? rest : known ? known->size() : 0;
        select_rank(item.rank, take(count), s);
        rest -= std::min(rest, count);
        break;
      }
      case Item::ellipsis: {
        size_t after = 0;
        for (size_t k = static_cast<size_t>(&item - e.indices.data()) + 1; k < e.indices.size(); ++k)
          after += e.indices[k].kind != Item::rank           ? 1
                   : evaluator_.find_rank(e.indices[k].rank) ? evaluator_.find_rank(e.indices[k].rank)->size()
                                                             : 0;
        pass(take(of.shape.size() - axis - std::min(after, of.shape.size() - axis)));
        break;
      }
    }
    if (failed_) return s;
  }
  pass(take(of.shape.size() - axis));
  return s;
}

/// A position that a negative number counts from the end of the axis.
ScalarId IndexEvaluator::from_end(ScalarId number, const Dim& extent) {
  const auto known = affine_index(g, number);
  return known ? index_of(g, extent + *known) : apply(g, Op::add, {sizes_.value_of(extent), number});
}

void IndexEvaluator::select_point(core::ExprId point, const Dim& extent, bool has_else,
                                  const std::string& what, Selection& out) {
  Val v = evaluator_.evaluate(point);
  if (failed_) return;
  std::shared_ptr<Array> at = builder_.leaf_ptr(v);
  builder_.force(*at);
  std::vector<Dim> place;
  for (const Dim& d : at->shape) {  // a tensor of indices puts its axes here
    out.shape.push_back(d);
    out.vars.push_back(shape::fresh_var("a"));
    place.emplace_back(out.vars.back());
  }
  // While the variables of this position range over its axes, the proofs know their ranges.
  size_t mark = active_.size();
  for (size_t i = 0; i < place.size(); ++i) active_.push_back({*place[i].as_var(), at->shape[i]});
  ScalarId index = cast(g, Elem::i64, builder_.element_at(*at, place));
  if (!has_else && core::is_negative_literal(p, point)) index = from_end(index, extent);
  if (has_else) {
    auto [safe, inside] = checked_.guarded_index(index, extent);
    out.inside = apply(g, Op::and_, {out.inside, inside});
    index = safe;
  } else {
    index = checked_.safe_index(index, extent, what);
  }
  active_.resize(mark);
  out.indices.push_back(index);
  out.runs.push_back(place.empty() ? std::optional(Selection::Run{index, std::nullopt, Dim(1)})
                                   : std::nullopt);
}

/// Checks that a slice begins inside of the axis, or at its end.
void IndexEvaluator::require_start(ScalarId start, const Dim& extent, const std::string& what) {
  const ScalarId zero = constant_int(g, Elem::i64, 0), end = sizes_.value_of(extent);
  checks_.require(apply(g, Op::and_, {apply(g, Op::le, {zero, start}), apply(g, Op::le, {start, end})}),
                  start, end, what + ": {lhs} is not in 0 .. {rhs}");
}

/// Checks that a slice between two integers of the data lies inside of the axis.
void IndexEvaluator::require_inside(ScalarId start, ScalarId stop, const Dim& extent,
                                    const SliceWords& said) {
  const std::string leaves = said.whole + " leaves the axis";
  require_start(start, extent, leaves);
  const ScalarId end = sizes_.value_of(extent);
  checks_.require(apply(g, Op::le, {stop, end}), stop, end, leaves + ": {lhs} is not in 0 .. {rhs}");
}

/// The end of a slice is checked where it is reached, but for what is known of it.
void IndexEvaluator::require_end(ScalarId stop, const Dim& extent, const SliceWords& said) {
  const auto most = checked_.upper_bound(stop);
  if (most && bounds_.proof(shape::at_most(*most, extent)) != Proof::unknown) return;
  const ScalarId size = sizes_.value_of(extent);
  checks_.require(apply(g, Op::le, {stop, size}), stop, size, said.stop + ": {lhs} is not in 0 .. {rhs}");
}

/// A slice of a known length that is longer than its axis is refused by the call, before there is room for
/// it: where every `for` and loop around has an element, it is reached.
void IndexEvaluator::require_room(const Dim& length, const Dim& extent, const SliceWords& said) {
  if (!conditions_.empty()) return;
  Dim reached(1);
  for (const std::vector<Axis>* around : {&active_, &loops_})
    for (const Axis& a : *around) reached = reached * min(a.extent, Dim(1));
  const Fact fits = shape::at_most(reached * length, extent);
  if (!sizes_.over_sizes(fits.lhs) || !sizes_.over_sizes(extent) || reads_data(g, fits.lhs) ||
      reads_data(g, extent))
    return;
  if (bounds_.proof(fits) != Proof::unknown) return;
  g.checks.push_back({fits, {}, {}, said.whole + ": the slice has {lhs} elements, and the axis {rhs}"});
}

/// Makes `fact` about a slice hold: by proof, or by a check that blames `what`.
bool IndexEvaluator::holds(const Fact& fact, const std::string& what) {
  return bounds_.proof(fact) == Proof::guarded || bounds_.require(fact, what);
}

/// The start of a slice as a size. In a branch, and where it or the axis depends on data, it is one only
/// where it is known to lie inside: what has to be checked is checked there, not at the call.
std::optional<Dim> IndexEvaluator::start_as_size(ScalarId start, const Dim& extent) const {
  const auto first = affine_index(g, start);
  const bool later = first && (checked_.depends_on_data(*first) || checked_.depends_on_data(extent));
  if (!first || (conditions_.empty() && !later)) return first;
  const bool inside = bounds_.proof(shape::at_least(*first, Dim(0))) != Proof::unknown &&
                      bounds_.proof(shape::at_most(*first, extent)) != Proof::unknown;
  return inside ? first : std::nullopt;
}

/// Checks the start of a slice between two integers of the data. Returns what an element outside of the axis
/// is blamed on; nothing after an error, which is reported.
std::optional<std::string> IndexEvaluator::check_data_start(ScalarId start, bool may_be_empty,
                                                            const Dim& extent, const SliceWords& said) {
  const std::string leaves = said.whole + " leaves the axis";
  if (!active_.empty() || !loops_.empty()) {
    if (may_be_empty) require_start(start, extent, leaves);  // no element looks at the start
    return leaves;
  }
  const auto begin = checked_.data_size(start, said.start, extent);
  if (!begin) return std::nullopt;
  // A size of the launch is known before anything is read; another may be found wrong after that.
  return reads_data(g, *begin) ? said.stop + " is past the axis" : leaves;
}

/// x[a:b:stride] with a bound that the data decides: one element for each `stride` that b - a has begun.
void IndexEvaluator::slice_by_data(ScalarId start, ScalarId stop, int64_t stride, const Dim& extent,
                                   const SliceWords& said, Use use, Selection& out) {
  auto first = start_as_size(start, extent);
  if (first && (!holds(shape::at_most(Dim(0), *first), said.start) ||
                !holds(shape::at_most(*first, extent), said.start))) {
    fail(source::Code::E0601, fmt::format("{}: nothing shows that the slice begins between 0 and {}",
                                          said.start, sizes_.shown(extent)));
    return;
  }
  const ScalarId between = checked_.difference(stop, start);
  const auto known = [&](const Dim& low, const Dim& high) {
    return bounds_.proof(shape::at_most(low, high)) != Proof::unknown;
  };
  auto length = affine_index(g, between);
  const bool later = length && (!conditions_.empty() || checked_.depends_on_data(*length));
  if (later && !known(Dim(0), *length)) length = std::nullopt;
  auto end = affine_index(g, stop);
  if (!end && first && length) end = *first + *length;  // where the sum might have wrapped
  const bool ends_inside = end && known(*end, extent);
  if (length && end && !ends_inside) first = std::nullopt;  // each element is checked
  const bool may_be_empty = !length || !known(Dim(1), *length);
  // In a `for` or a loop both ends are checked once for a slice, and none of its elements.
  const bool as_whole =
      !first && !ends_inside && !affine_index(g, start) && (!active_.empty() || !loops_.empty());
  std::optional<std::string> blamed = said.start;
  if (as_whole) {
    if (use != Use::update) require_inside(start, stop, extent, said);
  } else if (!first && !ends_inside) {
    blamed = check_data_start(start, may_be_empty, extent, said);
  }
  if (!blamed) return;
  // The last element of several steps may lie inside where the end does not.
  if (stride != 1 && !ends_inside && !as_whole) require_end(stop, extent, said);
  if (length && !ends_inside) require_room(*length, extent, said);
  if (length && !holds(shape::at_least(*length, Dim(0)), said.order)) {
    fail(source::Code::E0601,
         fmt::format("{}: nothing shows that the slice does not end before it begins", said.order));
    return;
  }
  if (!length)
    length = checked_.data_size(between, first && first->is(0) ? said.stop : said.whole + ": the length",
                                first ? extent - *first : extent);
  if (!length) return;
  const Axis axis{shape::fresh_var("a"), cdiv(*length, Dim(stride))};
  const Dim along = Dim(stride) * Dim(axis.var);
  active_.push_back(axis);
  ScalarId at = first ? index_of(g, *first + along) : apply(g, Op::add, {start, index_of(g, along)});
  if (as_whole) {
    at = checked_.guarded_index(at, extent).first;
    if (bounds_.proof(shape::at_most(axis.extent, extent)) == Proof::unknown)
      out.need_elements.push_back(extent);
  } else if (!first) {
    at = checked_.safe_index(at, extent, *blamed);
  }
  active_.pop_back();
  out.shape.push_back(axis.extent);
  out.vars.push_back(axis.var);
  out.indices.push_back(at);
  out.runs.push_back(stride == 1 ? std::optional(Selection::Run{start, axis.var, axis.extent})
                                 : std::nullopt);
}

/// Is 0 <= from <= to <= extent, as far as it depends on data, or in a branch? The call cannot
/// check that.
bool IndexEvaluator::is_proved(ScalarId from, ScalarId to, const Dim& extent) const {
  const auto start = affine_index(g, from), stop = affine_index(g, to);
  const auto holds = [&](const std::optional<Dim>& low, const std::optional<Dim>& high) {
    const bool concerned =
        low && high &&
        (!conditions_.empty() || checked_.depends_on_data(*low) || checked_.depends_on_data(*high));
    return !concerned || bounds_.proof(shape::at_most(*low, *high)) != Proof::unknown;
  };
  return holds(Dim(0), start) && holds(start, stop) && holds(stop, extent);
}

/// The index as a value of the data, if it depends on data.
ScalarId IndexEvaluator::as_data(ScalarId index) {
  const auto dim = affine_index(g, index);
  if (!dim || !checked_.depends_on_data(*dim)) return index;
  const std::vector<Axis> domain = builder_.free_axes(index);
  Array whole;
  whole.elem = Elem::i64;
  whole.body = index;
  whole.name = "index";
  std::vector<ScalarId> at;
  for (const Axis& a : domain) at.push_back(index_of(g, Dim(a.var)));
  return load(g, builder_.store(whole, domain), at, Elem::i64);
}

void IndexEvaluator::select_slice(const IndexItem& item, const Dim& extent, const SliceWords& said, Use use,
                                  Selection& out) {
  auto part = [&](core::ExprId id, const Dim& otherwise, bool counts) {
    if (!id.valid()) return index_of(g, otherwise);
    const Val v = evaluator_.evaluate(id);
    if (failed_) return ScalarId{};
    const ScalarId value = cast(g, Elem::i64, builder_.leaf(v).body);
    return counts && core::is_negative_literal(p, id) ? from_end(value, extent) : value;
  };
  const ScalarId by = part(item.step, Dim(1), false);
  if (failed_) return;
  const int64_t stride = g.scalars[by].op == Op::constant ? g.scalars[by].integer : 0;
  const bool backwards = stride < 0;
  ScalarId from = part(item.start, backwards ? extent - Dim(1) : Dim(0), true);
  ScalarId to = part(item.stop, backwards ? Dim(-1) : extent, true);
  if (failed_) return;
  const bool later = stride > 0 && !is_proved(from, to, extent);
  if (later) {
    const auto length = affine_index(g, checked_.difference(to, from));
    const ScalarId first = as_data(from);
    to = length && first != from ? apply(g, Op::add, {first, index_of(g, *length)}) : as_data(to);
    from = first;
  }
  const auto start = affine_index(g, from), stop = affine_index(g, to);
  if (later || (stride > 0 && (!start || !stop)))
    return slice_by_data(from, to, stride, extent, said, use, out);
  if (!start || !stop || stride == 0) {
    unsupported("a slice whose step is not a constant, or that goes backwards between what the data decides");
    return;
  }
  // Forwards 0 <= start <= stop <= extent; backwards the same seen from the other end.
  const Dim &low = backwards ? *stop : *start, &high = backwards ? *start : *stop;
  const Dim below(backwards ? -1 : 0), above = backwards ? extent - Dim(1) : extent;
  if (!holds(shape::at_most(below, low), backwards ? said.stop : said.start) ||
      !holds(shape::at_most(low, high), said.order) ||
      !holds(shape::at_most(high, above), backwards ? said.start : said.stop)) {
    fail(source::Code::E0601, fmt::format("{}: nothing shows that the slice lies between 0 and {}",
                                          said.order, sizes_.shown(extent)));
    return;
  }
  Var v = shape::fresh_var("a");
  const Dim count = cdiv(high - low, Dim(backwards ? -stride : stride));
  out.shape.push_back(sizes_.rewritten(shape::simplify(count, g.facts)));
  out.vars.push_back(v);
  out.indices.push_back(index_of(g, *start + Dim(stride) * Dim(v)));
  out.runs.push_back(stride == 1 ? std::optional(Selection::Run{from, v, out.shape.back()}) : std::nullopt);
}

/// The axes of a rank binder: aligned from the right with the operand's, whose literal-1 axes stretch.
void IndexEvaluator::select_rank(core::LocalId rank, const std::vector<Dim>& axes, Selection& out) {
  const std::vector<Axis>* known = evaluator_.find_rank(rank);
  if (!known) base::bug("from_core", "a rank binder has no axes");
  if (axes.size() > known->size()) base::bug("from_core", "an operand has more axes than its rank binder");
  size_t skip = known->size() - axes.size();
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axis& a = (*known)[skip + i];
    out.indices.push_back(index_of(g, axes[i].is(1) && !a.extent.is(1) ? Dim(0) : Dim(a.var)));
  }
  out.runs.resize(out.indices.size());
}

}  // namespace axon::graph
