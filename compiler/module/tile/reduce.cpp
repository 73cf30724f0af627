// Reductions as plain loops. By rows: the binders run inside, with the result in a register. By columns:
// where elements lie next to each other along an axis of the result, that axis runs innermost and results
// accumulate in scratch memory.
#include <algorithm>

#include "module/task_emitter.h"

namespace axon::module {

using graph::Monoid;
using llvm::Value;

namespace {

/// Of a column that lies far apart in memory, as many elements are added at once as there are rows here:
/// their streams fill the cache side by side, and a result is loaded and stored once for all of them.
constexpr int64_t rows_at_once = 8;

/// Is the code of a body worth repeating for each of these rows?
bool is_short(const Graph& g, ScalarId body) {
  constexpr size_t most_parts = 8;
  const auto parts = graph::scalars_in(g, body);
  return parts.size() <= most_parts && std::none_of(parts.begin(), parts.end(), [&](ScalarId part) {
           return g.scalars[part].op == graph::Op::select;
         });
}

}  // namespace

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
  const Nest columns{{l.domain[column]}, {body_.scratch[local].box[column]}, {}, true, true, {}};
  const auto combined = [&](Value* so_far) {
    return s_.combine(reduce.monoid, elem, so_far, s_.emit_as(reduce.args[0], elem, true));
  };
  const auto accumulate_rows = [&](const Nest& rows) {
    Nest all = rows;
    all.axes.push_back(columns.axes[0]);
    all.spans.push_back(columns.spans[0]);
    all.parallel = true;
    emit_nest(all, [&] {
      const auto at = local_element(local);
      s_.store_to(at, combined(s_.load_from(at)));
    });
  };
  if (!is_short(g_, reduce.args[0])) return accumulate_rows(nest);
  Nest rows{{nest.axes.back()}, {nest.spans.back()}, binders.bodies, true, false, {}};
  nest.axes.pop_back();
  nest.spans.pop_back();
  nest.bodies.clear();  // they also read what the loops inside go over
  emit_nest(nest, [&] {
    const Span& span = rows.spans[0];
    const Dim at_once(rows_at_once), count = shape::max(Dim(0), span.end - span.low);
    const Axis block{shape::fresh_var("rows"), shape::cdiv(rows.axes[0].extent, at_once)};
    const Dim blocks = shape::floor_div(count, at_once), first = span.low + Dim(block.var) * at_once;
    f_.loop(block, f_.i64(0), f_.emit(blocks), LoopKind::plain, [&] {
      s_.enter();
      emit_nest(columns, [&] {
        const auto at = local_element(local);
        Value* total = s_.load_from(at);
        for (int64_t row = 0; row < rows_at_once; ++row)
          f_.with(rows.axes[0], f_.emit(first + Dim(row)), [&] {
            s_.enter();
            total = combined(total);
            s_.leave();
          });
        s_.store_to(at, total);
      });
      s_.leave();
    });
    rows.spans[0].low = span.low + blocks * at_once;
    accumulate_rows(rows);
  });
}

/// Keeps the first of the largest; the first NaN is larger than any number. In blocks: where a block's
/// largest beats what there was, its place is looked for, among values that are kept since computing them
/// again might round otherwise. Loops that carried value and place together would not be vectors.
void TaskEmitter::emit_argmax(uint32_t local) {
  constexpr int64_t block = 512;
  const auto& l = body_.locals[local];
  const auto& reduce = g_.scalars[l.body];
  auto& b = f_.b;
  const Elem elem = computed_as(base::accumulator(g_.scalars[reduce.args[0]].elem));
  llvm::Type *const type = s_.type_of(elem), *const word = b.getInt64Ty();
  const auto bytes = static_cast<uint64_t>(block * base::elem_bytes(elem));
  Argmax state{elem, f_.variable(llvm::ArrayType::get(b.getInt8Ty(), bytes), "values"),
               f_.variable(type, "best"), f_.variable(word, "where")};
  state.values->setAlignment(llvm::Align(64));
  const Axis& binder = reduce.binders[0];
  const Nest whole{{binder}, {{Dim(0), binder.extent, binder.extent}}, {reduce.args[0]}, true, false, {}};
  emit_nest({l.domain, body_.scratch[local].box, {}, false, false, {}}, [&] {
    b.CreateStore(s_.monoid_unit(Monoid::argmax, elem, elem), state.best);
    b.CreateStore(f_.i64(-1), state.where);
    with_narrowed(reduce, whole, [&](const Nest& counting, ScalarId folded) {
      const Axis blocks{shape::fresh_var("block"), shape::cdiv(binder.extent, Dim(block))};
      const Dim first = Dim(blocks.var) * Dim(block), end = counting.spans[0].end;
      const Span span{first, shape::min(first + Dim(block), end), Dim(block)};
      f_.loop(blocks, f_.i64(0), f_.emit(shape::cdiv(end, Dim(block))), LoopKind::plain, [&] {
        s_.enter();
        argmax_of_block(state, binder, span, folded);
        s_.leave();
      });
    });
    Value* const where = b.CreateLoad(word, state.where);
    s_.store_to(local_element(local), b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, where, f_.i64(0)));
  });
}

void TaskEmitter::argmax_of_block(const Argmax& state, const Axis& binder, const Span& span, ScalarId body) {
  auto& b = f_.b;
  llvm::Type *const type = s_.type_of(state.elem), *const word = b.getInt64Ty(), *const half = b.getInt32Ty();
  Value* const low = f_.emit(span.low);
  const auto value_at = [&](Value* number) {
    const auto bytes = static_cast<uint64_t>(base::elem_bytes(state.elem));
    Value* const offset = b.CreateNSWMul(number, b.getInt64(bytes));
    return ScalarEmitter::Address{b.CreateGEP(b.getInt8Ty(), state.values, offset), state.elem, UINT32_MAX};
  };
  const auto number = [&] { return b.CreateNSWSub(f_.find(binder.var)->value, low); };
  auto* const largest = f_.variable(type, "largest");
  b.CreateStore(s_.monoid_unit(Monoid::argmax, state.elem, state.elem), largest);
  emit_nest({{binder}, {span}, {body}, true, true, {}}, [&] {
    Value* const next = s_.emit_as(body, state.elem, true);
    s_.store_to(value_at(number()), next);
    b.CreateStore(s_.combine(Monoid::max, state.elem, b.CreateLoad(type, largest), next), largest);
  });
  Value* const found = b.CreateLoad(type, largest);
  Value* const so_far = b.CreateLoad(type, state.best);
  const bool is_float = base::is_float(state.elem);
  Value* const larger =
      is_float ? b.CreateAnd(b.CreateFCmpORD(so_far, so_far), b.CreateFCmpUGT(found, so_far))
               : b.CreateICmp(base::is_signed(state.elem) ? llvm::CmpInst::ICMP_SGT : llvm::CmpInst::ICMP_UGT,
                              found, so_far);
  Value* const none = b.CreateICmpSLT(b.CreateLoad(word, state.where), f_.i64(0));
  f_.when(b.CreateOr(none, larger), [&] {
    auto* const place = f_.variable(half, "place");
    b.CreateStore(b.getInt32(INT32_MAX), place);
    Value* const is_nan = is_float ? b.CreateFCmpUNO(found, found) : nullptr;
    emit_nest({{binder}, {span}, {}, false, true, {}}, [&] {
      Value* const at = number();
      Value* const value = s_.load_from(value_at(at));
      Value* const hit =
          is_float ? b.CreateSelect(is_nan, b.CreateFCmpUNO(value, value), b.CreateFCmpOEQ(value, found))
                   : b.CreateICmpEQ(value, found);
      Value* const candidate = b.CreateSelect(hit, b.CreateTrunc(at, half), b.getInt32(INT32_MAX));
      b.CreateStore(b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateLoad(half, place), candidate),
                    place);
    });
    b.CreateStore(found, state.best);
    b.CreateStore(b.CreateNSWAdd(low, b.CreateSExt(b.CreateLoad(half, place), word)), state.where);
  });
}

}  // namespace axon::module
