// Reductions whose masks bound their binders (graph/binder_range.h): loops over the points that count,
// without the mask, and without clamps where the loop's ends show that they change nothing.
#include "graph/binder_range.h"
#include "module/task_emitter.h"

namespace axon::module {

using graph::Op;
using graph::Scalar;
using llvm::Value;

namespace {

Dim larger(const Dim& a, const Dim& b) { return shape::max(a, b); }
Dim smaller(const Dim& a, const Dim& b) { return shape::min(a, b); }

/// max(min(position, last), 0), where the position is x + d: x does not depend on the axis, and d, an index,
/// moves along with it by a constant, so small that no axis in memory is long enough for it to leave 64 bits.
/// Then the position lies between those at the two ends of a loop.
struct Clamp {
  ScalarId clamped, position, last;
};

std::optional<Clamp> clamp_along(const Graph& g, ScalarId id, Var axis) {
  const Scalar& high = g.scalars[id];
  if (high.op != Op::max || high.elem != Elem::i64) return std::nullopt;
  const Scalar& zero = g.scalars[high.args[1]];
  const Scalar& low = g.scalars[high.args[0]];
  if (zero.op != Op::constant || zero.integer != 0 || low.op != Op::min) return std::nullopt;
  constexpr int64_t longest_step = int64_t{1} << 15;
  const ScalarId position = low.args[0], last = low.args[1];
  const Scalar& sum = g.scalars[position];
  if (sum.op != Op::add || depends_on(g, last, axis)) return std::nullopt;
  for (size_t side : {0, 1}) {
    const auto moving = affine_index(g, sum.args[side]);
    const auto parts = moving ? moving->linear_in(axis) : std::nullopt;
    const int64_t step = parts ? parts->first.constant().value_or(INT64_MAX) : INT64_MAX;
    if (step >= -longest_step && step <= longest_step && !depends_on(g, sum.args[1 - side], axis))
      return Clamp{id, position, last};
  }
  return std::nullopt;
}

}  // namespace

/// Does the data decide, for each point of an axis anew, which points of a binder count? Then few may, and
/// the binders are looped over for one point of the axis at a time.
bool TaskEmitter::data_bounds_depend_on(Var axis, const Scalar& reduce) const {
  for (size_t b = 0; b < reduce.binders.size(); ++b) {
    const graph::BinderRange range = graph::binder_range(g_, reduce, b);
    for (const auto* bounds : {&range.low_by_data, &range.end_by_data})
      for (const auto& data : *bounds)
        if (depends_on(g_, data.value, axis) || data.plus.contains(axis)) return true;
  }
  return false;
}

/// Is every variable bound here, or one of the binders around number `binder` of the nest?
bool TaskEmitter::is_known(const std::vector<Var>& vars, const Nest& nest, size_t binder) const {
  return std::all_of(vars.begin(), vars.end(), [&](Var v) {
    for (size_t a = 0; a < nest.axes.size(); ++a)
      if (nest.axes[a].var == v) return a < binder;
    return f_.find(v) != nullptr;
  });
}

/// The bound, or the nearest integer that an i64 holds: past either end of every axis.
Value* TaskEmitter::bound_of(const graph::BinderRange::Data& data) {
  Value* const value = s_.emit_as(data.value, Elem::i64, false);
  return f_.b.CreateBinaryIntrinsic(data.subtracted ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::sadd_sat,
                                    f_.emit(data.plus), value);
}

/// The bound that the data decides, inside of 0 .. extent: `combine` of the values. They are read only where
/// the axis has a point.
Value* TaskEmitter::data_bound(const std::vector<graph::BinderRange::Data>& bounds, const Dim& extent,
                               llvm::Intrinsic::ID combine) {
  auto& b = f_.b;
  Value* const size = f_.emit(extent);
  auto* const variable = f_.variable(b.getInt64Ty(), "bound");
  b.CreateStore(f_.i64(0), variable);
  f_.when(b.CreateICmpSGT(size, f_.i64(0)), [&] {
    s_.enter();
    Value* bound = nullptr;
    for (const auto& data : bounds) {
      Value* const value = bound_of(data);
      bound = bound ? b.CreateBinaryIntrinsic(combine, bound, value) : value;
    }
    bound = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, bound, f_.i64(0));
    b.CreateStore(b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, bound, size), variable);
    s_.leave();
  });
  return b.CreateLoad(b.getInt64Ty(), variable);
}

/// Narrows the span of one binder of the nest, then calls `then` with whether all bounds could be used.
void TaskEmitter::with_narrowed(Nest& nest, size_t binder, const graph::BinderRange& range,
                                const std::function<void(bool complete)>& then) {
  Span& span = nest.spans[binder];
  bool complete = true;
  const auto narrow = [&](Dim& end_of_span, const Dim& bound, const auto& combine) {
    if (is_known(bound.vars(), nest, binder))
      end_of_span = combine(end_of_span, bound);
    else
      complete = false;
  };
  for (const Dim& bound : range.low) narrow(span.low, bound, larger);
  for (const Dim& bound : range.end) narrow(span.end, bound, smaller);
  const auto with_data = [&](const std::vector<graph::BinderRange::Data>& bounds, bool is_low,
                             const std::function<void()>& inside) {
    // Read before the nest: nothing in them may be a binder of it.
    const bool readable = std::all_of(bounds.begin(), bounds.end(), [&](const auto& data) {
      return is_known(graph::free_vars(g_, data.value), nest, 0) && is_known(data.plus.vars(), nest, 0);
    });
    complete &= readable;
    if (bounds.empty() || !readable) return inside();
    const Dim extent = nest.axes[binder].extent;
    if (!is_known(extent.vars(), nest, 0)) {
      complete = false;
      return inside();
    }
    Value* const value = data_bound(bounds, extent, is_low ? llvm::Intrinsic::smax : llvm::Intrinsic::smin);
    const Axis bound{shape::fresh_var(is_low ? "low" : "end"), extent + Dim(1)};
    f_.with(bound, value, [&] {
      if (is_low)
        span.low = larger(span.low, Dim(bound.var));
      else
        span.end = smaller(span.end, Dim(bound.var));
      inside();
    });
  };
  with_data(range.low_by_data, true, [&] { with_data(range.end_by_data, false, [&] { then(complete); }); });
}

/// Calls `emit` with the nest of a reduction's binders, narrowed to the points that count, and with what is
/// folded at those. What it emits in the nest may rely on the bounds.
void TaskEmitter::with_narrowed(const Scalar& reduce, Nest nest,
                                const std::function<void(const Nest&, ScalarId folded)>& emit) {
  ScalarId folded = reduce.args[0];
  nest.facts.resize(nest.axes.size());
  const std::function<void(size_t)> from = [&](size_t a) {
    if (a == nest.axes.size()) {
      nest.bodies = {folded};
      return emit(nest, folded);
    }
    const auto number = [&] {
      size_t b = 0;
      while (reduce.binders[b].var != nest.axes[a].var) ++b;
      return b;
    }();
    const graph::BinderRange range = graph::binder_range(g_, reduce, number);
    const Dim at(nest.axes[a].var);
    std::vector<Fact>& facts = nest.facts[a];
    for (const Dim& bound : range.low)
      if (is_known(bound.vars(), nest, a)) facts.push_back(shape::at_least(at, bound));
    for (const Dim& bound : range.end)
      if (is_known(bound.vars(), nest, a)) facts.push_back(shape::less(at, bound));
    with_narrowed(nest, a, range, [&](bool complete) {
      if (a + 1 == nest.axes.size() && !range.empty() && complete && range.unmasked.valid())
        folded = range.unmasked;
      from(a + 1);
    });
  };
  from(0);
}

/// The loop over one axis, twice where positions are clamped: for when both ends show that no clamp changes
/// anything, and for else.
void TaskEmitter::emit_without_clamps(const Nest& nest, const std::function<void()>& body) {
  std::vector<Clamp> clamps;
  const Axis axis = nest.axes[0];
  for (ScalarId folded : nest.bodies)
    for (ScalarId part : graph::scalars_in(g_, folded))
      if (const auto clamp = clamp_along(g_, part, axis.var); clamp && nest.axes.size() == 1)
        clamps.push_back(*clamp);
  if (clamps.empty()) return emit_nest(nest, body);
  auto& b = f_.b;
  Value *const low = f_.emit(nest.spans[0].low), *const end = f_.emit(nest.spans[0].end);
  Value* inside = b.CreateICmpSLT(low, end);
  for (Value* at : {low, b.CreateSub(end, f_.i64(1))})
    f_.with(axis, at, [&] {
      s_.enter();
      for (const Clamp& clamp : clamps) {
        Value* const position = s_.emit_as(clamp.position, Elem::i64, true);
        Value* const last = s_.emit_as(clamp.last, Elem::i64, true);
        inside = b.CreateAnd(inside, b.CreateICmpSGE(position, f_.i64(0)));
        inside = b.CreateAnd(inside, b.CreateICmpSLE(position, last));
      }
      s_.leave();
    });
  f_.when(inside, [&] {
    for (const Clamp& clamp : clamps) s_.assume_equal(clamp.clamped, clamp.position);
    emit_nest(nest, body);
    s_.assume_nothing();
  });
  f_.when(b.CreateNot(inside), [&] { emit_nest(nest, body); });
}

}  // namespace axon::module
