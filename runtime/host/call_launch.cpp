// A call's way from a plan to results: memory, pointers, epochs, the launch, and what can go wrong in it.
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "host/call.h"
#include "host/clock.h"
#include "host/debug_print.h"
#include "host/limits.h"
#include "host/strided.h"

namespace axon::host {
namespace {

constexpr uint64_t arena_alignment = 64;
/// Nanoseconds with one worker: what takes no longer does not wait for others while another launch has them.
constexpr double alone_at_most = 200'000;
/// An untouched event word is at most this far behind, plus one launch: well within the 2^31 of a signed
/// comparison.
constexpr uint32_t refresh_after = 1u << 30;

/// The failure of a check that a task has made. `values`: what failed, and what it was held against.
Failure check_failure(const Entry& entry, uint32_t number, const int64_t (&values)[2]) {
  const auto& messages = entry.device_checks;
  std::string words = number < messages.size() ? messages[number] : text("check ", number, " failed");
  if (!fill_sides(words, values[0], values[1])) words += text(": the value is ", values[0]);
  return {AXON_CHECK_FAILED, code::program, std::move(words)};
}

}  // namespace

Status Call::reserve(Memory& memory, uint64_t bytes, const char* what,
                     std::optional<Memory> (*allocate)(uint64_t)) {
  if (memory.data() && memory.size() >= bytes) return std::nullopt;
  auto more = allocate(bytes + bytes / 4);
  if (!more) return system_failure(text("cannot get ", bytes, " bytes for ", what));
  ++allocations_;
  memory = std::move(*more);
  pointers_dirty_ = true;
  return std::nullopt;
}

Status Call::Plan::evaluate(const SizeTable& sizes, const Dim& dim, int64_t& out) const {
  if (prepared && !(dim.mask() & stale)) return std::nullopt;
  if (!dim.evaluate(sizes.values(), out) || out < 0) return sizes.bad_formula(dim);
  return std::nullopt;
}

Status Call::prepare_slots(Plan& plan) {
  if (!plan.prepared || (plan.slot_mask & plan.stale)) {
    uint64_t total = 0;
    for (size_t i = 0; i < plan.slot_offset.size(); ++i) {
      int64_t bytes = 0;
      const Slot& slot = plan.variant->slots[i];
      if (!slot.bytes.evaluate(sizes_.values(), bytes) || bytes < 0) return sizes_.bad_formula(slot.bytes);
      uint64_t begin = 0;
      for (const uint32_t below : slot.above) begin = std::max(begin, plan.slot_end[below]);
      const uint64_t end = begin + round_up(static_cast<uint64_t>(bytes), arena_alignment);
      if (end > limits::tensor_bytes) return sizes_.bad_formula(slot.bytes);
      plan.slot_offset[i] = begin;
      plan.slot_end[i] = end;
      total = std::max(total, end);
    }
    pointers_dirty_ = true;
    plan.arena_bytes = total;
  }
  return reserve(arena_, plan.arena_bytes + arena_alignment, "temporaries");
}

Status Call::prepare_events(Plan& plan) {
  if (plan.prepared && !(plan.event_mask & plan.stale)) return std::nullopt;
  for (size_t i = 0; i < plan.event_offset.size(); ++i)
    if (auto failure = plan.evaluate(sizes_, plan.variant->event_offset[i], plan.event_offset[i]))
      return failure;
  if (auto failure = plan.evaluate(sizes_, plan.variant->event_words, plan.event_words)) return failure;
  const auto words = static_cast<uint64_t>(plan.event_words);
  if (words > limits::extent) return sizes_.bad_formula(plan.variant->event_words);
  if (words <= plan.event_capacity) return std::nullopt;
  if (auto failure = reserve(plan.events, words * sizeof(uint32_t), "events")) return failure;
  plan.event_capacity = plan.events.size() / sizeof(uint32_t);
  plan.refresh_events();
  return std::nullopt;
}

void Call::Plan::estimate(const SizeTable& sizes, const Dim& dim, int64_t& out) const {
  constexpr int64_t most = int64_t{1} << 62;
  if (evaluate(sizes, dim, out)) out = most;
}

void Call::Plan::refresh_events() {
  auto* const words = reinterpret_cast<uint32_t*>(events.data());
  for (uint64_t i = 0; i < event_capacity; ++i) words[i] = epoch;
  refreshed = epoch;
}

Status Call::prepare_scratch(const Plan& plan) {
  const uint64_t each = round_up(static_cast<uint64_t>(plan.scratch_bytes), 128);
  if (each > limits::tensor_bytes) return sizes_.bad_formula(plan.variant->scratch);
  if (each <= scratch_stride_) return std::nullopt;
  if (auto failure = reserve(scratch_, each * scratch_of_.size(), "scratch memory")) return failure;
  scratch_stride_ = each;
  for (size_t i = 0; i < scratch_of_.size(); ++i) scratch_of_[i] = scratch_.data() + i * each;
  return std::nullopt;
}

Status Call::prepare(Plan& plan) {
  const Variant& variant = *plan.variant;
  if (auto failure = plan.evaluate(sizes_, variant.iterations, plan.iterations)) return failure;
  if (plan.iterations > limits::iterations)
    return Failure{AXON_BAD_ARGUMENT, code::requirement,
                   text("the loops of ", printable(entry_->name), " would have ", plan.iterations,
                        " iterations, and one call has at most ", limits::iterations,
                        sizes_.origins_in_brackets(variant.iterations.mask()))};
  if (auto failure = prepare_slots(plan)) return failure;
  if (auto failure = prepare_events(plan)) return failure;
  if (auto failure = plan.evaluate(sizes_, variant.scratch, plan.scratch_bytes)) return failure;
  plan.estimate(sizes_, variant.work, plan.work);
  plan.estimate(sizes_, variant.handoffs, plan.handoffs);
  if (auto failure = prepare_scratch(plan)) return failure;
  plan.prepared = true;
  plan.stale = 0;
  return std::nullopt;
}

void Call::fill_buffers(Plan& plan) {
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.variant->buffers[i];
    switch (buffer.kind) {
      case Buffer::Kind::input:
        plan.buffers[i] = inputs_[buffer.index].data;
        break;
      case Buffer::Kind::result:
        plan.buffers[i] = outputs_[buffer.index].memory.data();
        break;
      case Buffer::Kind::slot:
        plan.buffers[i] = arena_.data() + plan.slot_offset[buffer.index];
        break;
    }
  }
  launch_.context.sizes = launch_sizes_.data();
  launch_.context.buffers = plan.buffers.data();
  launch_.context.events = reinterpret_cast<uint32_t*>(plan.events.data());
  launch_.context.event_offset = plan.event_offset.data();
  launch_.context.scratch = scratch_of_.data();
  launch_.context.failed = &failed_;
  launch_.context.failed_value = failed_value_;
  launch_.context.cancel = &cancel_;
  launch_.debug = [](void* call, uint32_t number) { static_cast<Call*>(call)->debug(number); };
  launch_.debug_user = this;
}

Status Call::launch(Plan& plan) {
  if (plan.epoch - plan.refreshed > refresh_after) plan.refresh_events();
  Pool& pool = *runtime_->pool;
  launch_.context.epoch = plan.epoch;
  launch_.context.scratch_bytes = static_cast<uint64_t>(plan.scratch_bytes);
  launch_.event_words = static_cast<uint64_t>(plan.event_words);
  failed_ = cancel_ = 0;
  debug_values_.begin(entry_->debugs);
  std::copy_n(sizes_.values(), launch_sizes_.size(), launch_sizes_.begin());
  // Values to print must not be overwritten by another worker meanwhile.
  launch_.context.workers = !entry_->debugs.empty() ? 1
                            : runtime_->fixed       ? pool.workers()
                                                    : choose_workers(plan);
  const uint32_t workers = launch_.context.workers;
  launch_.may_run_alone = !runtime_->fixed && runtime_->model.predict(plan.work, 0, 1) <= alone_at_most;
  if (trace_) trace_->begin(*plan.variant);
  launch_.trace = trace_.get();
  if (!runtime_->fixed && plan.choice.wants_time()) {
    const Clock::time_point begin = Clock::now();
    if (auto failure = pool.run(plan.kernel, launch_)) return failure;
    if (launch_.context.workers == workers) plan.choice.report(nanoseconds_since(begin));
  } else if (auto failure = pool.run(plan.kernel, launch_)) {
    return failure;
  }
  plan.epoch += static_cast<uint32_t>(plan.iterations) + 1;
  if (cancel_) return hang_failure(plan);
  if (failed_) return check_failure(*entry_, failed_ - 1, failed_value_);
  if (data_sizes_)
    if (auto failure = take_data_sizes()) return failure;
  ran_ = true;
  return std::nullopt;
}

/// The launch has written them into its table: what the results' shapes are.
Status Call::take_data_sizes() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Port& port = entry_->results[i];
    for (size_t axis = 0; axis < port.shape.size(); ++axis) {
      int64_t& extent = outputs_[i].shape[axis];
      if (!port.shape[axis].evaluate(launch_sizes_.data(), extent) || extent < 0)
        return sizes_.bad_formula(port.shape[axis]);
    }
  }
  return std::nullopt;
}

/// Which word the watchdog saw somebody wait for.
Status Call::hang_failure(const Plan& plan) const {
  const uint32_t* const word = launch_.stuck.load();
  const int64_t position = word - launch_.context.events;
  std::string what = "an unknown event";
  if (position >= 0 && position < plan.event_words) {
    size_t event = 0;
    while (event + 1 < plan.event_offset.size() && plan.event_offset[event + 1] <= position) ++event;
    const auto& names = plan.variant->event_names;
    what = text("element ", position - plan.event_offset[event], " of event ",
                names.empty() ? std::to_string(event) : printable(names[event]));
  }
  const double seconds = runtime_->pool->services().limit();
  char time[32];
  std::snprintf(time, sizeof time, "%g", seconds);
  return Failure{
      AXON_HANG, code::hang,
      text(printable(entry_->name), " made no progress for ", time, " s: ", launch_.context.workers,
           launch_.context.workers == 1 ? " worker waits" : " workers wait", ", one of them for ", what,
           " (plan ", plan.variant->symbol, ")")};
}

void Call::debug(uint32_t number) {
  if (!plan_ || number >= entry_->debugs.size() || plan_->variant->debug_buffers[number] < 0) return;
  const Debug& debug = entry_->debugs[number];
  int64_t shape[AXON_MAX_RANK];
  for (size_t axis = 0; axis < debug.shape.size(); ++axis)
    if (!debug.shape[axis].evaluate(launch_sizes_.data(), shape[axis]) || shape[axis] < 0) return;
  const auto index = static_cast<size_t>(plan_->variant->debug_buffers[number]);
  axon_view view{plan_->buffers[index], debug.elem, static_cast<int32_t>(debug.shape.size()), shape};
  // What is shown is row-major, also where the value lies in memory of the caller that is not.
  std::vector<uint8_t> dense;
  const Buffer& buffer = plan_->variant->buffers[index];
  const bool of_input = buffer.kind == Buffer::Kind::input, of_result = buffer.kind == Buffer::Kind::result;
  const auto& stated = of_input    ? entry_->inputs[buffer.index].strides
                       : of_result ? entry_->results[buffer.index].strides
                                   : std::vector<Dim>();
  if (!stated.empty() && stated.size() == debug.shape.size()) {
    const int64_t* const strides = of_input ? inputs_[buffer.index].strides : outputs_[buffer.index].strides;
    int64_t steps[AXON_MAX_RANK];
    row_major_strides(shape, stated.size(), steps);
    uint64_t bytes = elem_bytes(static_cast<Elem>(debug.elem));
    const uint64_t element = bytes;
    for (size_t axis = 0; axis < stated.size(); ++axis) bytes *= static_cast<uint64_t>(shape[axis]);
    dense.resize(bytes);
    copy_elements(shape, stated.size(), element, static_cast<const uint8_t*>(view.data), strides,
                  dense.data(), steps);
    view.data = dense.data();
  }
  debug_values_.complete(number, view, [&](const std::string& name, const axon_view& shown) {
    if (debug_function_)
      debug_function_(debug_user_, name.c_str(), &shown);
    else
      debug_print(name, shown);
  });
}

}  // namespace axon::host
