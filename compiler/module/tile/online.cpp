// Online reductions, in blocks of keys (flash attention): scores of a block, their maximum, weights, and the
// weighted sums, everything so far rescaled when the maximum grows.
//
// While every score of a row is -infinity its weights are 0 and nothing accumulates: what `or_zero` asks for.
// Without it they are e^(-inf + inf), not a number, by the definition in graph.h: finish_online() puts that
// right, once.
#include "module/task_emitter.h"

namespace axon::module {

using graph::Op;
using llvm::Value;

void TaskEmitter::emit_online(const OnlinePlan& plan) {
  const Elem elem = body_.scratch[plan.scores].elem;
  fill(plan.maximum, [&] { return s_.monoid_unit(graph::Monoid::max, elem, elem); });
  fill(plan.sum, [&] { return s_.monoid_unit(graph::Monoid::sum, elem, elem); });
  for (uint32_t value : plan.values)
    fill(value, [&] { return s_.monoid_unit(graph::Monoid::sum, elem, elem); });
  Nest outer{plan.outer, {}, {}, false, false, {}};
  for (const Axis& a : plan.outer) outer.spans.push_back({Dim(0), a.extent, a.extent});
  emit_nest(outer, [&] {
    const auto [low, end] = emit_key_range(plan);
    f_.with({plan.key_end, plan.key.extent + Dim(1)}, end, [&, low = low, end = end] {
      const Axis blocks{shape::fresh_var("block"), shape::cdiv(plan.key.extent, Dim(plan.block))};
      auto* const count = f_.b.CreateSDiv(
          f_.b.CreateNSWAdd(f_.b.CreateNSWSub(end, low), f_.i64(plan.block - 1)), f_.i64(plan.block));
      f_.loop(blocks, f_.i64(0), count, LoopKind::plain, [&] {
        s_.enter();
        const auto* number = f_.find(blocks.var);
        auto* const start = f_.b.CreateNSWAdd(low, f_.b.CreateNSWMul(number->value, f_.i64(plan.block)));
        f_.with({plan.block_start, plan.key.extent}, start, [&] {
          const Dim first(plan.block_start);
          const Span keys{first, shape::min(first + Dim(plan.block), Dim(plan.key_end)), Dim(plan.block)};
          emit_online_block(plan, {{plan.key.var, keys}});
        });
        s_.leave();
      });
    });
  });
  finish_online(plan);
}

/// The keys that can count for the row at hand: [low, end), of which low is not negative.
std::pair<Value*, Value*> TaskEmitter::row_range(const graph::BinderRange& range, Value* low, Value* end) {
  auto& b = f_.b;
  const auto raise = [&](Value* to) { low = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, low, to); };
  const auto lower = [&](Value* to) { end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, to); };
  for (const Dim& bound : range.low) raise(f_.emit(bound));
  for (const auto& bound : range.low_by_data) raise(bound_of(bound));
  for (const Dim& bound : range.end) lower(f_.emit(bound));
  for (const auto& bound : range.end_by_data) lower(bound_of(bound));
  return {low, end};
}

/// The keys that can count for any of the task's rows: [low, end), inside of the axis. Blocks begin at a
/// multiple of `key_alignment`, as panels and vectors do.
std::pair<Value*, Value*> TaskEmitter::emit_key_range(const OnlinePlan& plan) {
  constexpr int64_t key_alignment = 32;
  auto& b = f_.b;
  Value* const extent = f_.emit(plan.key.extent);
  if (plan.range.empty()) return {f_.i64(0), extent};
  auto* const low = f_.variable(b.getInt64Ty(), "low_key");
  auto* const end = f_.variable(b.getInt64Ty(), "end_key");
  b.CreateStore(extent, low);
  b.CreateStore(f_.i64(0), end);
  const auto update = [&](llvm::AllocaInst* variable, llvm::Intrinsic::ID by, Value* with) {
    b.CreateStore(b.CreateBinaryIntrinsic(by, b.CreateLoad(b.getInt64Ty(), variable), with), variable);
  };
  f_.when(b.CreateICmpSGT(extent, f_.i64(0)), [&] {
    s_.enter();
    emit_nest({plan.rows, body_.scratch[plan.maximum].box, {}, false, false, {}}, [&] {
      const auto [first, last] = row_range(plan.range, f_.i64(0), extent);
      update(low, llvm::Intrinsic::smin, first);
      update(end, llvm::Intrinsic::smax, last);
    });
    s_.leave();
  });
  Value* const first = b.CreateAnd(b.CreateLoad(b.getInt64Ty(), low), f_.i64(-key_alignment));
  Value* const last = b.CreateLoad(b.getInt64Ty(), end);
  return {first, b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, last)};
}

/// Scores of a block. Where a mask only bounds the keys of a row, the loop over them has its bounds instead
/// of a condition.
void TaskEmitter::emit_scores(const OnlinePlan& plan, const Span& keys) {
  if (plan.range.empty() || !plan.range.unmasked.valid()) return emit_points(plan.scores, true);
  auto& b = f_.b;
  const Elem elem = body_.scratch[plan.scores].elem;
  const auto& box = body_.scratch[plan.scores].box;
  const auto along = [&](const Dim& low, const Dim& end, const std::vector<ScalarId>& bodies,
                         const std::function<Value*()>& value) {
    const Nest nest{{plan.key}, {{low, end, keys.bound}}, bodies, true, true, {local_offset(plan.scores)}};
    emit_nest(nest, [&] { s_.store_to(local_element(plan.scores), value()); });
  };
  const auto masked = [&] { return s_.monoid_unit(graph::Monoid::max, elem, elem); };
  std::vector<Fact> bounds;
  for (const Dim& low : plan.range.low) bounds.push_back(shape::at_least(Dim(plan.key.var), low));
  for (const Dim& end : plan.range.end) bounds.push_back(shape::less(Dim(plan.key.var), end));
  emit_nest({plan.rows, {box.begin(), box.end() - 1}, {}, false, false, {}}, [&] {
    Value *const start = f_.emit(keys.low), *const stop = f_.emit(keys.end);
    const auto [first, last] = row_range(plan.range, start, stop);
    Value* const low = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, first, stop);
    Value* const end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, last, low);
    const Dim past = plan.key.extent + Dim(1);
    f_.with({plan.row_low, past}, low, [&] {
      f_.with({plan.row_end, past}, end, [&] {
        along(keys.low, Dim(plan.row_low), {}, masked);
        f_.supposing(bounds, [&] {
          along(Dim(plan.row_low), Dim(plan.row_end), {plan.range.unmasked},
                [&] { return s_.emit_as(plan.range.unmasked, elem, true); });
        });
        along(Dim(plan.row_end), keys.end, {}, masked);
      });
    });
  });
}

void TaskEmitter::emit_online_block(const OnlinePlan& plan, const Overrides& overrides) {
  for (const Stage& stage : plan.before) emit_stage(stage, overrides);
  emit_scores(plan, overrides.front().second);
  normalise_rows(plan, overrides.front().second);
  const auto rescale_at = [&] {
    std::vector<Dim> index;
    for (const Axis& row : plan.rows) index.push_back(Dim(row.var));
    return s_.load_from(s_.scratch_address(plan.rescale, index));
  };
  for (uint32_t value : plan.values)
    fill(value, [&] {
      Value* factor = rescale_at();
      return f_.b.CreateFMul(s_.load_from(local_element(value)), factor);
    });
  for (const Stage& stage : plan.after) {
    s_.enter();
    if (stage.contract)
      emit_contract(stage.local, *stage.contract, overrides);
    else
      emit_reduction(stage.local, overrides, true);
    s_.leave();
  }
}

/// Turns the block's scores into weights and updates maximum and sum; leaves the factor for older sums in
/// `rescale`.
void TaskEmitter::normalise_rows(const OnlinePlan& plan, const Span& keys) {
  auto& b = f_.b;
  const auto& online = g_.scalars[plan.online];
  const Elem elem = body_.scratch[plan.scores].elem;
  llvm::Type* type = s_.type_of(elem);
  Value* lowest = llvm::ConstantFP::getInfinity(type, true);
  auto* running = f_.variable(type, "running");
  const auto weight = [&](Value* difference) {
    if (online.scale != 1) difference = b.CreateFMul(difference, llvm::ConstantFP::get(type, online.scale));
    return s_.call(online.base2 ? Op::exp2 : Op::exp, elem, {difference}).value;
  };
  const Nest rows{
      plan.rows, {body_.scratch[plan.scores].box.begin(), body_.scratch[plan.scores].box.end() - 1},
      {},        false,
      false,     {}};
  const Nest along{{plan.key}, {keys}, {}, false, false, {}};
  Nest storing = along;
  storing.parallel = true;
  emit_nest(rows, [&] {
    const auto maximum_at = local_element(plan.maximum), sum_at = local_element(plan.sum);
    Value* old_maximum = s_.load_from(maximum_at);
    b.CreateStore(old_maximum, running);
    emit_nest(along, [&] {
      Value* score = s_.load_from(local_element(plan.scores));
      b.CreateStore(s_.combine(graph::Monoid::max, elem, b.CreateLoad(type, running), score), running);
    });
    Value* maximum = b.CreateLoad(type, running);
    s_.store_to(maximum_at, maximum);
    Value* shift =
        b.CreateSelect(b.CreateFCmpOEQ(maximum, lowest), llvm::ConstantFP::get(type, 0.0), maximum);
    Value* factor = weight(b.CreateFSub(old_maximum, shift));
    s_.store_to(local_element(plan.rescale), factor);
    b.CreateStore(llvm::ConstantFP::get(type, 0.0), running);
    emit_nest(storing, [&] {
      const auto at = local_element(plan.scores);
      Value* w = weight(b.CreateFSub(s_.load_from(at), shift));
      s_.store_to(at, w);
      b.CreateStore(s_.combine(graph::Monoid::sum, elem, b.CreateLoad(type, running), w), running);
    });
    Value* sum = b.CreateFMul(s_.load_from(sum_at), factor);
    s_.store_to(sum_at, b.CreateFAdd(sum, b.CreateLoad(type, running)));
  });
}

void TaskEmitter::finish_online(const OnlinePlan& plan) {
  if (g_.scalars[plan.online].or_zero) return;
  auto& b = f_.b;
  const Elem elem = body_.scratch[plan.scores].elem;
  llvm::Type* type = s_.type_of(elem);
  Dim keys = plan.key.extent;
  for (const Axis& a : plan.outer) keys = keys * a.extent;
  std::vector<Dim> row;
  for (const Axis& a : plan.rows) row.push_back(Dim(a.var));
  std::vector<uint32_t> sums = plan.values;
  sums.push_back(plan.sum);
  f_.when(b.CreateICmpSGT(f_.emit(keys), f_.i64(0)), [&] {
    for (uint32_t local : sums)
      fill(local, [&] {
        Value* maximum = s_.load_from(s_.scratch_address(plan.maximum, row));
        Value* nothing = b.CreateFCmpOEQ(maximum, llvm::ConstantFP::getInfinity(type, true));
        return b.CreateSelect(nothing, llvm::ConstantFP::getNaN(type), s_.load_from(local_element(local)));
      });
  });
}

}  // namespace axon::module
