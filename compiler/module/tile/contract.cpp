// Contractions by the device's kernels (runtime/device/contract.h): stage the left operand when it is not a
// plain matrix, then one call per combination of the outer axes, and per run of rows for which the data says
// the same of the right operand. Results go to scratch memory; stages after
// this one read them there.
#include "base/bug.h"
#include "module/contract_plan.h"
#include "module/task_emitter.h"

namespace axon::module {

using llvm::Value;

namespace {
constexpr int inside = Frame::of_kernel;
}  // namespace

void TaskEmitter::emit_contract(uint32_t local, const ContractPlan& plan, const Overrides& overrides) {
  const size_t domain_axes = body_.locals[local].domain.size();
  const size_t placed =
      plan.outer_left.size() + plan.outer_right.size() + 1 + (plan.row ? 1 : 0) + (plan.group ? 1 : 0);
  const bool several_depths = placed > domain_axes;  // outer binders: their terms add up
  const bool accumulate = plan.accumulate || several_depths;
  if (several_depths && !plan.accumulate)
    fill(local, [&] { return llvm::ConstantFP::get(s_.type_of(plan.accumulator), 0.0); });
  const auto nest_over = [&](const std::vector<Axis>& axes) {
    Nest nest{axes, {}, {}, false, false, {}};
    for (const Axis& a : axes) nest.spans.push_back(span_of(a, local, overrides));
    return nest;
  };
  const auto range_of = [&](const Axis& axis) {
    const Span span = span_of(axis, local, overrides);
    return Range{axis, f_.emit(span.low), f_.emit(span.end)};
  };
  emit_nest(nest_over(plan.outer_left), [&] {
    kernel_ranges_.clear();
    kernel_ranges_[plan.column.var] = range_of(plan.column);
    for (const Axis& depth : plan.depths) kernel_ranges_[depth.var] = range_of(depth);
    if (plan.row) kernel_ranges_[plan.row->var] = range_of(*plan.row);
    if (plan.group) kernel_ranges_[plan.group->var] = range_of(*plan.group);
    if (!plan.direct_left)
      stage_left(plan, s_.scratch_region(local) + static_cast<uint32_t>(body_.locals.size()));
    emit_nest(nest_over(plan.outer_right), [&] { call_kernels(local, plan, accumulate); });
  });
}

/// The axes of the kernel on the left, in loops that end with the one along which elements are stored.
void TaskEmitter::stage_left(const ContractPlan& plan, uint32_t region) {
  std::vector<Axis> axes = plan.depths;
  if (plan.row) axes.insert(plan.turned ? axes.end() : axes.begin(), *plan.row);
  if (plan.group) axes.insert(axes.begin(), *plan.group);
  stage_along(plan, axes, 0, region);
}

void TaskEmitter::stage_along(const ContractPlan& plan, const std::vector<Axis>& axes, size_t next,
                              uint32_t region) {
  const Axis& axis = axes[next];
  const Range& range = kernel_ranges_[axis.var];
  s_.enter();
  if (next + 1 < axes.size()) {
    f_.loop(axis, range.low, range.end, LoopKind::plain, [&] {
      s_.enter();
      stage_along(plan, axes, next + 1, region);
      s_.leave();
    });
  } else {
    std::vector<Frame::Division> divisions;
    s_.collect_divisions(plan.left, divisions);
    emit_innermost({axis, LoopKind::parallel, {plan.left}, true, divisions}, range.low, range.end, [&] {
      s_.enter();
      Value* value = s_.emit_as(plan.left, plan.accumulator, true);
      s_.store_to({staged_element(plan), plan.accumulator, region}, value);
      s_.leave();
    });
  }
  s_.leave();
}

/// Of the left operand, where its axes stand now. What changes least is added first.
Value* TaskEmitter::staged_element(const ContractPlan& plan) {
  auto& b = f_.b;
  const auto number = [&](const Axis& axis) {
    return b.CreateNSWSub(f_.find(axis.var)->value, kernel_ranges_[axis.var].low);
  };
  Value* depth = nullptr;
  for (const Axis& axis : plan.depths) {
    if (depth) depth = b.CreateNSWMul(depth, f_.emit(axis.extent));
    depth = depth ? b.CreateNSWAdd(depth, number(axis)) : number(axis);
  }
  depth = b.CreateNSWMul(depth, f_.emit(plan.left_depth_stride));
  Value* row = plan.row ? b.CreateNSWMul(number(*plan.row), f_.emit(plan.left_row_stride)) : f_.i64(0);
  Value* at = plan.turned ? depth : row;
  if (plan.group)
    at = b.CreateNSWAdd(b.CreateNSWMul(number(*plan.group), f_.emit(plan.left_group_stride)), at);
  at = b.CreateNSWAdd(at, plan.turned ? row : depth);
  return b.CreateGEP(s_.type_of(plan.accumulator), left_pointer(plan), at);
}

Value* TaskEmitter::left_pointer(const ContractPlan& plan) {
  if (!plan.direct_left)
    return f_.b.CreateGEP(f_.b.getInt8Ty(), f_.function->getArg(1), f_.emit(plan.left_offset));
  const auto& load = g_.scalars[plan.left];
  std::vector<Dim> index;
  for (ScalarId arg : load.args) index.push_back(*graph::affine_index(g_, arg));
  return (load.target.is_local() ? s_.scratch_address(load.target.output, index)
                                 : s_.buffer_address(load.target, index))
      .pointer;
}

/// Weights are there before anything runs, so a worker that has to wait may ask for the first of them. Only
/// the first contraction's: what follows it comes after work of its own.
void TaskEmitter::run_ahead() {
  for (const Stage& stage : body_.stages) {
    if (stage.kind != Stage::Kind::contract || !stage.contract->panel) continue;
    if (!affine_offset(body_, stage.contract->right)) break;  // what the data decides may not be there yet
    auto& b = f_.b;
    const ContractPlan& plan = *stage.contract;
    s_.enter();
    std::vector<Axis> axes = plan.outer_left;
    axes.insert(axes.end(), plan.outer_right.begin(), plan.outer_right.end());
    axes.insert(axes.end(), {plan.column, plan.depths.back()});
    for (const Axis& axis : axes)
      f_.bind(axis.var, f_.emit(span_of(axis, stage.local, {}).low), inside, axis.extent);
    const auto right = s_.buffer_address(g_.scalars[plan.right].target, right_index(plan));
    auto* prefetch = f_.device("axon_prefetch", b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty()});
    const int64_t row_bytes = panel_width * static_cast<int64_t>(base::elem_bytes(right.storage));
    b.CreateCall(prefetch, {right.pointer, f_.emit(plan.depths.back().extent * Dim(row_bytes))});
    s_.leave();
    break;
  }
  f_.b.CreateRetVoid();
}

/// What the data decides is a variable that is bound here.
std::vector<Dim> TaskEmitter::right_index(const ContractPlan& plan) {
  const auto& load = g_.scalars[plan.right];
  std::vector<Dim> index;
  for (size_t a = 0; a < load.args.size(); ++a) {
    const auto affine = graph::affine_index(g_, load.args[a]);
    index.push_back(affine ? *affine : Dim(shape::fresh_var("at")));
    if (affine) continue;
    const Dim extent = load.target.is_local() ? body_.locals[load.target.output].domain[a].extent
                                              : g_.type(load.target).shape[a];
    f_.bind(*index.back().as_var(), s_.emit_as(load.args[a], Elem::i64, false), inside, extent);
  }
  return index;
}

/// One call, or one for each run of rows with the same right operand.
void TaskEmitter::call_kernels(uint32_t local, const ContractPlan& plan, bool accumulate) {
  auto& b = f_.b;
  if (!plan.runs) return call_kernel(local, plan, accumulate, f_.i64(0));
  Range& rows = kernel_ranges_[plan.row->var];
  const Range tile = rows;
  auto* const begin = f_.variable(b.getInt64Ty(), "begin");
  b.CreateStore(tile.low, begin);
  const auto indices_at = [&](Value* row) {
    std::vector<Value*> indices;
    f_.with(tile.axis, row, [&] {
      s_.enter();
      for (ScalarId index : g_.scalars[plan.right].args)
        if (depends_on(g_, index, tile.axis.var)) indices.push_back(s_.emit_as(index, Elem::i64, false));
      s_.leave();
    });
    return indices;
  };
  f_.loop(tile.axis, tile.low, tile.end, LoopKind::plain, [&] {
    Value* const row = f_.find(tile.axis.var)->value;
    Value* const next = b.CreateNSWAdd(row, f_.i64(1));
    Value* const last = b.CreateNSWSub(tile.end, f_.i64(1));
    Value* ends = b.CreateICmpEQ(row, last);
    const auto here = indices_at(row), after = indices_at(b.CreateSelect(ends, last, next));
    for (size_t i = 0; i < here.size(); ++i) ends = b.CreateOr(ends, b.CreateICmpNE(here[i], after[i]));
    f_.when(ends, [&] {
      rows.low = b.CreateLoad(b.getInt64Ty(), begin);
      rows.end = next;
      s_.enter();
      call_kernel(local, plan, accumulate, b.CreateNSWSub(rows.low, tile.low));
      s_.leave();
      b.CreateStore(next, begin);
    });
  });
  rows = tile;
}

/// Every axis of the kernel is bound to its first value, so that addresses are those of the first elements.
void TaskEmitter::call_kernel(uint32_t local, const ContractPlan& plan, bool accumulate, Value* rows_before) {
  auto& b = f_.b;
  for (const auto& [var, range] : kernel_ranges_) f_.bind(var, range.low, inside, range.axis.extent);
  const auto length = [&](const Axis& axis) {
    const Range& range = kernel_ranges_[axis.var];
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateNSWSub(range.end, range.low), f_.i64(0));
  };
  const auto& domain = body_.locals[local].domain;
  const ScratchTensor& result = body_.scratch[local];
  Value* c = local_element(local).pointer;
  Value* left = left_pointer(plan);
  if (!plan.direct_left && plan.row)
    left = b.CreateGEP(s_.type_of(plan.accumulator), left,
                       b.CreateNSWMul(rows_before, f_.emit(plan.left_row_stride)));
  Value* columns = length(plan.column);

  const auto& load = g_.scalars[plan.right];
  const std::vector<Dim> index = right_index(plan);
  Value *b_depth, *b_column, *b_panel = f_.i64(0);
  if (plan.panel) {
    // Start at the panel that holds the first column: what lies before it falls into the margin left of the
    // result.
    Value* skipped = b.CreateAnd(f_.emit(index[plan.panel->column]), f_.i64(panel_width - 1));
    const Range& column = kernel_ranges_[plan.column.var];
    f_.bind(plan.column.var, b.CreateNSWSub(column.low, skipped), inside, plan.column.extent);
    columns = b.CreateNSWAdd(columns, skipped);
    c = b.CreateGEP(s_.type_of(plan.accumulator), c, b.CreateNeg(skipped));
    const auto& buffer = body_.program->buffers[body_.program->place(load.target).buffer];
    b_panel = f_.emit(buffer.shape[plan.panel->depth] * Dim(panel_width));
    b_depth = f_.i64(panel_width);
    b_column = f_.i64(1);
  } else {
    const Dim offset = moving_offset(body_, plan.right);
    b_depth = f_.emit(offset.linear_in(plan.depths.back().var)->first);
    b_column = f_.emit(offset.linear_in(plan.column.var)->first);
  }
  const auto right = load.target.is_local() ? s_.scratch_address(load.target.output, index)
                                            : s_.buffer_address(load.target, index);

  const auto strides = [&](const std::optional<Axis>& axis, const Dim& staged) {
    if (!axis) return std::pair<Value*, Value*>(f_.i64(0), f_.i64(0));
    Dim of_result;
    for (size_t a = 0; a < domain.size(); ++a)
      if (domain[a].var == axis->var) of_result = result.stride[a];
    const Dim of_left =
        plan.direct_left ? affine_offset(body_, plan.left)->linear_in(axis->var)->first : staged;
    return std::pair<Value*, Value*>(f_.emit(of_result), f_.emit(of_left));
  };
  const auto [c_row, a_row] = strides(plan.row, plan.left_row_stride);
  const auto [c_group, a_group] = strides(plan.group, plan.left_group_stride);
  Value* depth = f_.i64(1);
  for (const Axis& axis : plan.depths) depth = b.CreateNSWMul(depth, length(axis));
  // The fields of ContractShape, in order.
  Value* const fields[] = {plan.row ? length(*plan.row) : f_.i64(1),
                           columns,
                           depth,
                           c_row,
                           a_row,
                           plan.direct_left ? f_.i64(1) : f_.emit(plan.left_depth_stride),
                           b_depth,
                           b_column,
                           b_panel,
                           plan.group ? length(*plan.group) : f_.i64(1),
                           c_group,
                           a_group,
                           f_.i64(accumulate ? 1 : 0)};
  auto* shape_type = llvm::ArrayType::get(b.getInt64Ty(), std::size(fields));
  auto* shape = f_.variable(shape_type, "shape");
  for (unsigned i = 0; i < std::size(fields); ++i)
    b.CreateStore(fields[i], b.CreateConstInBoundsGEP2_64(shape_type, shape, 0, i));
  const std::string storage(base::elem_name(right.storage));
  auto* kernel = f_.device("axon_contract_" + storage + "_" + std::string(f_.level.suffix), b.getVoidTy(),
                           std::vector<llvm::Type*>(4, b.getPtrTy()));
  b.CreateCall(kernel, {shape, c, left, right.pointer});
}

}  // namespace axon::module
