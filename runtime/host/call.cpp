// A call's way from shapes to a plan: sizes, axes, facts, guards, result shapes.
#include "host/call.h"

#include <algorithm>
#include <bit>

#include "host/limits.h"
#include "host/weights/elements.h"

namespace axon::host {

Result<std::unique_ptr<Call>> Call::create(std::shared_ptr<const Bundle> bundle, const std::string& name,
                                           std::shared_ptr<const Parameters> parameters,
                                           std::shared_ptr<Runtime> runtime) {
  const Entry* const entry = bundle->find(name);
  if (!entry)
    return misuse(text("the bundle has no entry ", printable(name), "; it has ", bundle->entry_list()));
  if (entry->has_weights && !parameters)
    return misuse(text(printable(name), " has weights, and none are bound"));
  if (parameters && parameters->bundle->manifest_hash != bundle->manifest_hash)
    return misuse("the weights were bound to another bundle");
  if (parameters)
    if (auto failure = check_complete(*parameters, *entry)) return std::move(*failure);
  std::unique_ptr<Call> call(new Call(*entry));
  call->given_sizes_.resize(entry->sizes.size());
  call->launch_sizes_.resize(entry->sizes.size());
  for (const Size& size : entry->sizes) call->data_sizes_ += size.from == AXON_FROM_DATA;
  call->room_.resize(entry->sizes.size());
  call->needed_.resize(entry->sizes.size());
  call->guess_room();
  for (const Port& port : entry->inputs) {
    Input& input = call->inputs_.emplace_back();
    input.port = &port;
    call->has_states_ |= port.kind == AXON_STATE;
    if (port.kind != AXON_WEIGHT) continue;
    const Parameters::Prepared& weight = parameters->weights[port.weight];
    std::copy(weight.shape.begin(), weight.shape.end(), input.shape);
    input.data = const_cast<void*>(weight.data);  // kernels only read weights
    input.set = input.shaped = input.dirty = true;
  }
  call->outputs_.resize(entry->results.size());
  call->bounds_.resize(entry->checks.size());
  for (const Check& check : entry->checks) call->has_ranges_ |= !check.fact;
  call->plans_.resize(entry->variants.size());
  const size_t entry_index = static_cast<size_t>(entry - bundle->manifest.entries.data());
  for (size_t i = 0; i < call->plans_.size(); ++i) {
    Plan& plan = call->plans_[i];
    plan.variant = &entry->variants[i];
    plan.kernel = bundle->kernels[entry_index][i];
    plan.slot_offset.resize(plan.variant->slots.size());
    plan.slot_end.resize(plan.variant->slots.size());
    plan.event_offset.resize(plan.variant->event_offset.size());
    plan.buffers.resize(plan.variant->buffers.size());
    for (const Slot& slot : plan.variant->slots) plan.slot_mask |= slot.bytes.mask();
    for (const Dim& offset : plan.variant->event_offset) plan.event_mask |= offset.mask();
    plan.event_mask |= plan.variant->event_words.mask();
  }
  call->scratch_of_.resize(runtime->pool->workers());
  call->bundle_ = std::move(bundle);
  call->parameters_ = std::move(parameters);
  call->runtime_ = std::move(runtime);
  return call;
}

void Call::preset_epoch(uint32_t epoch) {
  for (Plan& plan : plans_) plan.epoch = plan.refreshed = epoch;
}

Failure Call::undetermined(const std::string& size) const {
  const std::string problem =
      text("size ", printable(size), " of ", printable(entry_->name), " is not determined: ");
  if (parameters_)
    if (const auto stated = parameters_->metadata.find(size); stated != parameters_->metadata.end())
      return {AXON_BAD_ARGUMENT, code::missing,
              text(problem, "the metadata of the weights states ", printable(stated->second),
                   ", which is no size")};
  return {AXON_BAD_ARGUMENT, code::missing,
          text(problem, "set it, or state it in the metadata of the weights")};
}

Status Call::solve_sizes() {
  for (size_t i = 0; i < entry_->sizes.size(); ++i) {
    const Size& size = entry_->sizes[i];
    const uint64_t bit = uint64_t{1} << i;
    bool changed = false;
    if (size.from == AXON_FROM_AXIS) {
      const Input& input = inputs_[size.input];
      if (!input.dirty && !concerns(size.equation.mask() & ~bit)) continue;
      if (auto failure = sizes_.solve(i, input.shape[size.axis], changed)) return failure;
    } else if (size.from == AXON_FROM_STRIDE) {
      const Input& input = inputs_[size.input];
      if (!input.dirty && !concerns(size.equation.mask() & ~bit)) continue;
      if (input.copied || input.shape[size.axis] <= 1)
        changed = sizes_.set(i, packed_stride(i));
      else if (auto failure = sizes_.solve(i, input.strides[size.axis], changed))
        return failure;
    } else if (size.from == AXON_FROM_SCALAR) {
      changed = sizes_.set(i, std::bit_cast<int64_t>(inputs_[size.input].scalar));
    } else if (size.from == AXON_FROM_DATA &&
               size.unbounded) {  // as much room as there was, or more was asked for
      changed = sizes_.set(i, room_[i]);
    } else if (size.from == AXON_FROM_DATA) {  // room for the most that there can be
      if (!concerns(size.equation.mask())) continue;
      int64_t most = 0;
      if (!size.equation.evaluate(sizes_.values(), most)) return sizes_.bad_formula(size.equation);
      changed = sizes_.set(i, std::max<int64_t>(most, 0));
    } else if (given_ & bit) {
      changed = sizes_.set(i, given_sizes_[i]);
    } else {
      const bool bound = parameters_ && parameters_->sizes.contains(size.name);
      const int64_t value = bound ? parameters_->sizes.at(size.name) : -1;
      if (value < 0) return undetermined(size.name);
      changed = sizes_.set(i, value, /*from_metadata=*/true);
    }
    if (changed) changed_ |= bit;
    if (concerns(bit) && !size.integer && sizes_[i] > static_cast<int64_t>(limits::extent))
      return Failure{AXON_BAD_ARGUMENT, code::requirement,
                     text("`", size.name, "` is ", sizes_[i], " (", sizes_.origin(i),
                          "), and a size is at most ", limits::extent)};
  }
  return std::nullopt;
}

Status Call::check_axes() const {
  std::string problems;
  for (const Input& input : inputs_) {
    for (size_t axis = 0; axis < input.port->shape.size(); ++axis) {
      const Dim& dim = input.port->shape[axis];
      if (!input.dirty && !concerns(dim.mask())) continue;
      int64_t expected = 0;
      if (dim.evaluate(sizes_.values(), expected) && expected == input.shape[axis]) continue;
      problems += text(problems.empty() ? "" : "\n", axis_text(*input.port, axis), " is ", input.shape[axis],
                       ", but ", sizes_.explain(dim));
    }
  }
  if (problems.empty()) return std::nullopt;
  return Failure{AXON_BAD_ARGUMENT, code::shape, problems};
}

Status Call::check_facts() const {
  for (const Check& check : entry_->checks) {
    if (!check.fact || !concerns(check.fact->mask())) continue;
    const Fact& fact = *check.fact;
    Wide lhs = 0, rhs = 0;
    if (!fact.lhs.evaluate_wide(sizes_.values(), lhs)) return sizes_.bad_formula(fact.lhs);
    if (!fact.rhs.evaluate_wide(sizes_.values(), rhs)) return sizes_.bad_formula(fact.rhs);
    if (holds(lhs, fact.relation, rhs)) continue;
    return Failure{AXON_BAD_ARGUMENT, code::requirement, sizes_.check_text(check, lhs, rhs)};
  }
  return std::nullopt;
}

Status Call::choose_plan() {
  for (Plan& plan : plans_) {
    bool fits = true;
    for (const Fact& fact : plan.variant->guard) {
      Wide lhs = 0, rhs = 0;
      if (!fact.lhs.evaluate_wide(sizes_.values(), lhs)) return sizes_.bad_formula(fact.lhs);
      if (!fact.rhs.evaluate_wide(sizes_.values(), rhs)) return sizes_.bad_formula(fact.rhs);
      fits = fits && holds(lhs, fact.relation, rhs);
    }
    if (!fits) continue;
    pointers_dirty_ |= plan_ != &plan;
    plan_ = &plan;
    return std::nullopt;
  }
  return std::nullopt;  // not reached: the last variant has no guard
}

Status Call::shape_results() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Port& port = entry_->results[i];
    Output& output = outputs_[i];
    uint64_t mask = 0;
    for (const auto* dims : {&port.room, &port.strides})
      for (const Dim& dim : *dims) mask |= dim.mask();
    if (!concerns(mask)) continue;
    uint64_t bytes = elem_bytes(static_cast<Elem>(port.elem));
    bool empty = false;
    for (size_t axis = 0; axis < port.shape.size(); ++axis) {
      int64_t& extent = output.shape[axis];
      if (!port.room[axis].evaluate(sizes_.values(), extent) || extent < 0)
        return sizes_.bad_formula(port.room[axis]);
      empty |= extent == 0;
      if (extent > 0 && (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes) ||
                         bytes > limits::tensor_bytes))
        return Failure{AXON_BAD_ARGUMENT, code::shape,
                       text(port.path.empty() ? "the result" : text("result ", printable(port.path)),
                            " would be too large")};
    }
    if (port.state >= 0) continue;
    if (!port.strides.empty())
      if (auto failure = stride_result(i, bytes)) return failure;
    output.bytes = empty ? 1 : bytes;
    if (auto failure = reserve(output.memory, output.bytes, "a result", Memory::allocate_result))
      return failure;
  }
  return std::nullopt;
}

/// Sizes, and all that has to hold of them and of the arguments.
Status Call::resolve_arguments() {
  if (auto failure = solve_sizes()) return failure;
  if (auto failure = check_axes()) return failure;
  if (auto failure = check_facts()) return failure;
  if (auto failure = place_copies()) return failure;
  if (auto failure = check_strides()) return failure;
  for (size_t i = 0; i < entry_->checks.size(); ++i) {
    const Check& check = entry_->checks[i];
    if (!check.fact && concerns(check.bound.mask()) && !check.bound.evaluate(sizes_.values(), bounds_[i]))
      return sizes_.bad_formula(check.bound);
  }
  return std::nullopt;
}

Status Call::resolve() {
  if (auto failure = resolve_arguments()) return failure;
  if (plans_.empty()) return misuse("the bundle has no code: it can only be asked what its entries take");
  if (auto failure = choose_plan()) return failure;
  if (auto failure = shape_results()) return failure;
  for (Plan& plan : plans_) plan.stale |= changed_;
  if (auto failure = prepare(*plan_)) return failure;
  for (Input& input : inputs_) input.dirty = false;
  changed_ = 0;
  resolved_ = true;
  dirty_ = false;
  return std::nullopt;
}

Status Call::check() {
  if (auto failure = check_missing()) return failure;
  std::ranges::fill(needed_, limits::least_room);
  Status failure;
  do failure = resolve_arguments();
  while (failure && gives_room_back());
  guess_room();
  if (failure) return failure;
  if (auto wrong = check_ranges()) return wrong;
  return check_overlaps();
}

Status Call::run() {
  allocations_ = 0;
  ran_ = false;
  if (incomplete_)
    if (auto failure = check_missing()) return failure;
  incomplete_ = false;
  std::ranges::fill(needed_, limits::least_room);
  for (;;) {
    Status failure = run_once();
    if (!failure) return failure;
    if (wants_room() || gives_room_back()) continue;
    guess_room();  // what this run has asked for is no business of the next
    return failure;
  }
}

void Call::guess_room() {
  for (size_t i = 0; i < room_.size(); ++i) {
    room_[i] = entry_->sizes[i].unbounded ? limits::first_room : limits::least_room;
    dirty_ |= entry_->sizes[i].unbounded;
  }
}

/// The launch failed because a size that nothing bounds needs more room: it gets as much, and there is
/// another launch. Nothing was updated in place, so the first has left no trace. Another size that has filled
/// its room may need any more of it, or none: a launch that only shows how much is to have little to do.
bool Call::wants_room() {
  if (!failed_) return false;
  const size_t number = failed_ - 1;
  size_t check = entry_->device_checks.size() - data_sizes_;  // their checks are the last ones
  for (size_t i = 0; i < entry_->sizes.size(); ++i) {
    if (entry_->sizes[i].from != AXON_FROM_DATA || check++ != number) continue;
    if (!entry_->sizes[i].unbounded || failed_value_[0] <= sizes_[i]) return false;
    needed_[i] = failed_value_[0];
    for (size_t other = 0; other < room_.size(); ++other)
      if (launch_sizes_[other] >= room_[other]) room_[other] = needed_[other];
    room_[i] = std::max(needed_[i], limits::first_room);
    return dirty_ = true;
  }
  return false;
}

/// The sizes could not be resolved with the room that there is, of which some is a guess or was for another
/// run: no size keeps more than this run is known to need.
bool Call::gives_room_back() {
  if (!dirty_ || room_ == needed_) return false;
  room_ = needed_;
  return true;
}

Status Call::replace_taken() {
  for (Output& output : outputs_)
    if (output.bytes > 0)
      if (auto failure = reserve(output.memory, output.bytes, "a result", Memory::allocate_result))
        return failure;
  taken_ = false;
  return std::nullopt;
}

Status Call::run_once() {
  failed_ = 0;
  if (dirty_)
    if (auto failure = resolve()) return failure;
  if (taken_)
    if (auto failure = replace_taken()) return failure;
  if (has_ranges_)
    if (auto failure = check_ranges()) return failure;
  if (pointers_dirty_) {
    if (has_states_)
      if (auto failure = check_overlaps()) return failure;
    fill_buffers(*plan_);
    pointers_dirty_ = false;
  }
  if (has_states_) note_states();
  return launch(*plan_);
}

/// Where the results are that lie in states: the input may be set anew while they are read.
void Call::note_states() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Port& port = entry_->results[i];
    if (port.state < 0) continue;
    const Input& input = inputs_[static_cast<size_t>(port.state)];
    outputs_[i].state = input.data;
    if (!port.strides.empty()) std::copy_n(input.strides, port.shape.size(), outputs_[i].strides);
  }
}

Status Call::result(size_t index, axon_view& out) const {
  if (index >= outputs_.size()) return misuse(text(printable(entry_->name), " has no result number ", index));
  if (!ran_) return misuse("there is no result: the last run failed, or there was none");
  const Port& port = entry_->results[index];
  const bool is_taken = port.state < 0 && !outputs_[index].memory.data();
  if (is_taken) return misuse(text("result number ", index, " was taken"));
  void* const data = port.state >= 0 ? outputs_[index].state : outputs_[index].memory.data();
  out = {data, port.elem, static_cast<int32_t>(port.shape.size()), outputs_[index].shape};
  return std::nullopt;
}

Status Call::take_result(size_t index, Memory& out) {
  axon_view ignored;
  if (auto failure = result(index, ignored)) return failure;
  if (entry_->results[index].state >= 0)
    return misuse(text("result number ", index, " is a state, which stays where it was set"));
  if (!entry_->results[index].strides.empty())
    return misuse(text("result number ", index, " lies as the program states: it can only be copied"));
  out = std::exchange(outputs_[index].memory, Memory());
  taken_ = true;
  return std::nullopt;
}

Status Call::size(std::string_view name, int64_t& out) const {
  for (size_t i = 0; i < entry_->sizes.size(); ++i) {
    if (entry_->sizes[i].name != name) continue;
    if (!ran_)
      return misuse(text("size ", printable(name), " is not known: the last run failed, or there was none"));
    out = entry_->sizes[i].from == AXON_FROM_DATA ? launch_sizes_[i] : sizes_[i];
    return std::nullopt;
  }
  return misuse(text(printable(entry_->name), " has no size ", printable(name)));
}

Status Call::trace(size_t runs) {
  if (!entry_->traced)
    return misuse(text(printable(entry_->name), " notes no tasks: the bundle was not built with tracing"));
  if (runs > limits::traced_runs)
    return misuse(text("of each worker at most ", limits::traced_runs, " runs can be noted"));
  trace_ = runs == 0 ? nullptr : std::make_unique<Trace>(runtime_->pool->workers(), runs);
  return std::nullopt;
}

axon_call_statistics Call::statistics() const {
  return {plan_ ? plan_->variant->symbol.c_str() : "", launch_.context.workers, allocations_};
}

}  // namespace axon::host
