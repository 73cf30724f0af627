// Reductions as plain loops. By rows: the binders run inside, with the result in a register. By columns:
// where elements lie next to each other along an axis of the result, that axis runs innermost and results
// accumulate in scratch memory.
#include <algorithm>

#include "module/task_emitter.h"

namespace axon::module {

using graph::Monoid;
using llvm::Value;

Span TaskEmitter::span_of(const Axis& axis, uint32_t local, const Overrides& overrides) const {
  for (const auto& [var, span] : overrides)
    if (var == axis.var) return span;
  const auto& domain = body_.locals[local].domain;
  for (size_t a = 0; a < domain.size(); ++a)
    if (domain[a].var == axis.var) return body_.scratch[local].box[a];
  return {Dim(0), axis.extent, axis.extent};
}

void TaskEmitter::emit_reduction(uint32_t local, const Overrides& overrides, bool accumulate) {
  const auto& l = body_.locals[local];
  const auto& reduce = g_.scalars[l.body];
  if (reduce.monoid == Monoid::argmax) return emit_argmax(local);
  Nest binders{reduce.binders, {}, {reduce.args[0]}, true, false, {}};
  for (const Axis& b : reduce.binders) binders.spans.push_back(span_of(b, local, overrides));
  order_by_distance(binders);
  order_axes(binders);
  const int along_binder = stride_score(binders.axes.back().var, binders.bodies, {});
  std::optional<size_t> column;
  int best = along_binder;
  const bool same_type = computed_as(base::accumulator(reduce.elem)) == body_.scratch[local].elem;
  for (size_t a = l.domain.size(); same_type && a-- > 0;) {
    if (body_.scratch[local].box[a].bound.is(1)) continue;
    const int score = stride_score(l.domain[a].var, binders.bodies, {});
    if (score > best && score >= 4 && !data_bounds_depend_on(l.domain[a].var, reduce))
      best = score, column = a;
  }
  if (column)
    reduce_by_columns(local, binders, *column, accumulate);
  else
    reduce_by_rows(local, binders, accumulate);
}

void TaskEmitter::reduce_by_rows(uint32_t local, const Nest& binders, bool accumulate) {
  const auto& l = body_.locals[local];
  const auto& reduce = g_.scalars[l.body];
  const Elem elem = computed_as(base::accumulator(reduce.elem));
  const Elem kept = body_.scratch[local].elem;
  auto* total = f_.variable(s_.type_of(elem), "total");
  const Nest rows{l.domain, body_.scratch[local].box, {}, false, false, {}};
  emit_nest(rows, [&] {
    Value* start = accumulate ? s_.converted({s_.load_from(local_element(local)), kept}, elem)
                              : s_.monoid_unit(reduce.monoid, reduce.elem, elem);
    f_.b.CreateStore(start, total);
    with_narrowed(reduce, binders, [&](const Nest& counting, ScalarId folded) {
      emit_without_clamps(counting, [&] {
        Value* so_far = f_.b.CreateLoad(s_.type_of(elem), total);
        f_.b.CreateStore(s_.combine(reduce.monoid, elem, so_far, s_.emit_as(folded, elem, true)), total);
      });
    });
    Value* result = f_.b.CreateLoad(s_.type_of(elem), total);
    s_.store_to(local_element(local), s_.converted({result, elem}, kept));
  });
}

void TaskEmitter::reduce_by_columns(uint32_t local, const Nest& binders, size_t column, bool accumulate) {
  const auto& l = body_.locals[local];
  const auto& reduce = g_.scalars[l.body];
  const Elem elem = body_.scratch[local].elem;
  if (!accumulate) fill(local, [&] { return s_.monoid_unit(reduce.monoid, reduce.elem, elem); });
  Nest nest{{}, {}, binders.bodies, true, true, {}};
  for (size_t a = 0; a < l.domain.size(); ++a) {
    if (a == column) continue;
    nest.axes.push_back(l.domain[a]);
    nest.spans.push_back(body_.scratch[local].box[a]);
  }
  nest.axes.insert(nest.axes.end(), binders.axes.begin(), binders.axes.end());
  nest.spans.insert(nest.spans.end(), binders.spans.begin(), binders.spans.end());
  nest.axes.push_back(l.domain[column]);
  nest.spans.push_back(body_.scratch[local].box[column]);
  emit_nest(nest, [&] {
    Value* next = s_.emit_as(reduce.args[0], elem, true);
    const auto at = local_element(local);
    s_.store_to(at, s_.combine(reduce.monoid, elem, s_.load_from(at), next));
  });
}

/// Keeps the first of the largest; the first NaN is larger than any number.
void TaskEmitter::emit_argmax(uint32_t local) {
  const auto& l = body_.locals[local];
  const auto& reduce = g_.scalars[l.body];
  const Elem elem = computed_as(base::accumulator(g_.scalars[reduce.args[0]].elem));
  auto* best = f_.variable(s_.type_of(elem), "best");
  auto* where = f_.variable(f_.b.getInt64Ty(), "where");
  const Nest rows{l.domain, body_.scratch[local].box, {}, false, false, {}};
  const Nest binder{{reduce.binders[0]},
                    {{Dim(0), reduce.binders[0].extent, reduce.binders[0].extent}},
                    {reduce.args[0]},
                    true,
                    false,
                    {}};
  emit_nest(rows, [&] {
    auto& b = f_.b;
    b.CreateStore(s_.monoid_unit(Monoid::argmax, elem, elem), best);
    b.CreateStore(f_.i64(-1), where);
    emit_nest(binder, [&] {
      Value* next = s_.emit_as(reduce.args[0], elem, true);
      Value* so_far = b.CreateLoad(s_.type_of(elem), best);
      Value* at = b.CreateLoad(b.getInt64Ty(), where);
      Value* larger = nullptr;
      if (base::is_float(elem))
        larger = b.CreateAnd(b.CreateFCmpORD(so_far, so_far), b.CreateFCmpUGT(next, so_far));
      else
        larger = base::is_signed(elem) ? b.CreateICmpSGT(next, so_far) : b.CreateICmpUGT(next, so_far);
      Value* better = b.CreateOr(b.CreateICmpSLT(at, f_.i64(0)), larger);
      b.CreateStore(b.CreateSelect(better, next, so_far), best);
      b.CreateStore(b.CreateSelect(better, f_.find(reduce.binders[0].var)->value, at), where);
    });
    s_.store_to(local_element(local), b.CreateLoad(b.getInt64Ty(), where));
  });
}

}  // namespace axon::module
