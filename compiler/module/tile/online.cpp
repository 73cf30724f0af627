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
    const Axis blocks{shape::fresh_var("block"), shape::cdiv(plan.key.extent, Dim(plan.block))};
    f_.loop(blocks, f_.i64(0), f_.emit(blocks.extent), LoopKind::plain, [&] {
      s_.enter();
      const auto* number = f_.find(blocks.var);
      f_.bind(plan.block_start, f_.b.CreateNSWMul(number->value, f_.i64(plan.block)), number->depth,
              plan.key.extent);
      const Dim start(plan.block_start);
      const Span keys{start, shape::min(start + Dim(plan.block), plan.key.extent), Dim(plan.block)};
      emit_online_block(plan, {{plan.key.var, keys}});
      s_.leave();
    });
  });
  finish_online(plan);
}

void TaskEmitter::emit_online_block(const OnlinePlan& plan, const Overrides& overrides) {
  for (const Stage& stage : plan.before) emit_stage(stage, overrides);
  emit_points(plan.scores, true);
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
