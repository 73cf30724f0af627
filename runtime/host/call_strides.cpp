// Where inputs and results of a call lie: strides that are given, stated, and held against each other.
//
// In: strides of arguments, in elements from the first element on; what the program states of them, over
// sizes. Out: memory that lies as the program states, or the words for why it does not. What has no stated
// layout is row-major. Memory that is written has a place of its own for each element and no negative stride.
#include <algorithm>
#include <cstring>

#include "host/call.h"
#include "host/limits.h"
#include "host/strided.h"

namespace axon::host {
namespace {

uint64_t element_bytes(const Port& port) { return elem_bytes(static_cast<Elem>(port.elem)); }
Failure refused(const char* code, std::string what) { return {AXON_BAD_ARGUMENT, code, std::move(what)}; }

}  // namespace

/// What the next run writes, or gives back for more memory, cannot be borrowed as its input.
Status Call::check_apart(const Port& port, const uint8_t* begin, uint64_t bytes) const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Memory& memory = outputs_[i].memory;
    if (bytes == 0 || begin >= memory.data() + memory.size() || memory.data() >= begin + bytes) continue;
    return refused(code::memory,
                   text("the tensor for ", printable(port.path), " lies in the memory of result ", i,
                        ", which the next run of this call writes: take the result, or set a copy"));
  }
  return std::nullopt;
}

/// Takes the shape and where the elements are from the first one on.
Status Call::lie_at(Input& input, const axon_view& view, const int64_t* strides) {
  const Port& port = *input.port;
  const size_t rank = port.shape.size();
  int64_t dense[AXON_MAX_RANK];
  row_major_strides(view.shape, rank, dense);
  const int64_t* const steps = strides ? strides : dense;
  const auto reach = reach_of(view.shape, steps, rank);
  if (!reach)
    return refused(code::strides, text("the tensor for ", printable(port.path),
                                       " has the impossible strides ", shape_text(steps, rank)));
  if (port.strides.empty() && !same_strides(view.shape, steps, dense, rank))
    return refused(
        code::strides,
        text("the given tensor for ", printable(port.path), " has the strides ", shape_text(steps, rank),
             ", and one without a stated layout is row-major: ", shape_text(dense, rank)));
  const auto element = static_cast<int64_t>(element_bytes(port));
  const int64_t low = reach->low * element;
  const auto bytes = static_cast<uint64_t>((reach->end - reach->low) * element);
  if (auto failure = check_apart(port, static_cast<const uint8_t*>(view.data) + low, bytes)) return failure;
  const uint64_t numbers = rank * sizeof(int64_t);
  const bool alike = input.shaped && (rank == 0 || (std::memcmp(input.shape, view.shape, numbers) == 0 &&
                                                    std::memcmp(input.strides, steps, numbers) == 0));
  if (!alike) {
    if (rank > 0) std::memcpy(input.shape, view.shape, numbers);
    if (rank > 0) std::memcpy(input.strides, steps, numbers);
    input.dirty = dirty_ = true;
  }
  input.set = input.shaped = true;
  input.low = low;
  input.bytes = bytes;
  return std::nullopt;
}

Status Call::set_copy(size_t index, const axon_view& view, const int64_t* strides) {
  if (auto failure = check_view(index, view)) return failure;
  Input& input = inputs_[index];
  const Port& port = *input.port;
  if (port.kind == AXON_SIZE) return set(index, view);
  const size_t rank = port.shape.size();
  int64_t dense[AXON_MAX_RANK];
  row_major_strides(view.shape, rank, dense);
  const int64_t* const from = strides ? strides : dense;
  if (!reach_of(view.shape, from, rank))
    return refused(code::strides, text("the tensor for ", printable(port.path),
                                       " has the impossible strides ", shape_text(from, rank)));
  uint64_t bytes = element_bytes(port);
  for (size_t axis = 0; axis < rank; ++axis) bytes *= static_cast<uint64_t>(view.shape[axis]);
  auto memory = Memory::allocate(std::max<uint64_t>(bytes, 1));
  if (!memory) return system_failure(text("cannot get ", bytes, " bytes for ", printable(port.path)));
  copy_elements(view.shape, rank, element_bytes(port), static_cast<const uint8_t*>(view.data), from,
                memory->data(), dense);
  // Of a size that is one of its strides the memory does not say what it is: it is found anew.
  input.shaped = false;
  int64_t placed[AXON_MAX_RANK];
  std::copy_n(dense, rank, placed);
  const bool stated = !port.strides.empty();
  const axon_view copy{memory->data(), view.elem, view.rank, view.shape};
  if (auto failure = lie_at(input, copy, stated ? placed : nullptr)) return failure;
  input.memory = std::move(*memory);
  input.data = input.memory.data();
  input.copied = true;
  pointers_dirty_ = true;
  return std::nullopt;
}

/// What a size that is a stride is, where the memory does not say it: as little as keeps the axis apart from
/// those whose strides are known by now.
int64_t Call::packed_stride(size_t size) const {
  const Size& rule = entry_->sizes[size];
  const Input& input = inputs_[rule.input];
  const uint64_t later = ~((uint64_t{1} << size) - 1);
  int64_t step = 1;
  for (size_t axis = 0; axis < input.port->strides.size(); ++axis)
    if (axis != rule.axis && !(input.port->strides[axis].mask() & later))
      step *= std::max<int64_t>(input.shape[axis], 1);
  return step;
}

bool Call::strides_of(const Port& port, int64_t* out) const {
  for (size_t axis = 0; axis < port.strides.size(); ++axis)
    if (!port.strides[axis].evaluate(sizes_.values(), out[axis])) return false;
  return true;
}

/// Moves copies to where the sizes of this call say.
Status Call::place_copies() {
  for (Input& input : inputs_) {
    const Port& port = *input.port;
    if (!input.copied || port.strides.empty()) continue;
    const size_t rank = port.shape.size();
    int64_t wanted[AXON_MAX_RANK];
    if (!strides_of(port, wanted)) continue;  // check_strides() says so
    if (same_strides(input.shape, wanted, input.strides, rank)) continue;
    const auto reach = reach_of(input.shape, wanted, rank);
    if (!reach) continue;
    const auto element = static_cast<int64_t>(element_bytes(port));
    const int64_t bytes = (reach->end - reach->low) * element;
    auto memory = Memory::allocate(static_cast<uint64_t>(std::max<int64_t>(bytes, 1)));
    if (!memory) return system_failure(text("cannot get ", bytes, " bytes for ", printable(port.path)));
    ++allocations_;
    uint8_t* const first = memory->data() - reach->low * element;
    copy_elements(input.shape, rank, static_cast<uint64_t>(element), static_cast<const uint8_t*>(input.data),
                  input.strides, first, wanted);
    std::copy_n(wanted, rank, input.strides);
    input.memory = std::move(*memory);
    input.data = first;
    input.low = reach->low * element;
    input.bytes = static_cast<uint64_t>(bytes);
    pointers_dirty_ = true;
  }
  return std::nullopt;
}

Failure Call::misplaced(const Input& input, const int64_t* stated) const {
  const Port& port = *input.port;
  const size_t rank = port.shape.size();
  std::string which;
  for (size_t axis = 0; axis < rank; ++axis)
    if (input.shape[axis] > 1 && input.strides[axis] != stated[axis] && which.empty())
      which = text("the stride of ", axis_text(port, axis), " is ", input.strides[axis], ", but ",
                   sizes_.explain(port.strides[axis]));
  return refused(code::strides,
                 text(which, ": the given tensor has the strides ", shape_text(input.strides, rank),
                      ", and its layout states ", sizes_.shape(port.strides)));
}

Status Call::check_written(const std::string& what, const int64_t* shape, const int64_t* strides,
                           size_t rank) const {
  if (const int axis = negative_axis(shape, strides, rank); axis >= 0)
    return refused(code::strides, text(what, " is written, and the stride ", strides[axis], " of its axis ",
                                       axis, " is negative"));
  if (!is_injective(shape, strides, rank))
    return refused(code::strides, text(what, " is written, and with the strides ", shape_text(strides, rank),
                                       " of the shape ", shape_text(shape, rank),
                                       " not every element has a place of its own"));
  return std::nullopt;
}

Status Call::check_strides() const {
  for (const Input& input : inputs_) {
    const Port& port = *input.port;
    if (port.strides.empty()) continue;
    uint64_t mask = 0;
    for (const Dim& dim : port.strides) mask |= dim.mask();
    if (!input.dirty && !concerns(mask)) continue;
    int64_t stated[AXON_MAX_RANK];
    for (size_t axis = 0; axis < port.strides.size(); ++axis)
      if (!port.strides[axis].evaluate(sizes_.values(), stated[axis]))
        return sizes_.bad_formula(port.strides[axis]);
    const size_t rank = port.shape.size();
    if (!same_strides(input.shape, stated, input.strides, rank)) return misplaced(input, stated);
    if (port.kind == AXON_STATE)
      if (auto failure = check_written(printable(port.path), input.shape, input.strides, rank))
        return failure;
  }
  return std::nullopt;
}

/// `bytes`: of a row-major result before, of this one after.
Status Call::stride_result(size_t index, uint64_t& bytes) {
  const Port& port = entry_->results[index];
  Output& output = outputs_[index];
  const std::string what = port.path.empty() ? "the result" : text("result ", printable(port.path));
  for (size_t axis = 0; axis < port.strides.size(); ++axis)
    if (!port.strides[axis].evaluate(sizes_.values(), output.strides[axis]))
      return sizes_.bad_formula(port.strides[axis]);
  const auto reach = reach_of(output.shape, output.strides, port.shape.size());
  if (!reach) return refused(code::shape, text(what, " would be too large"));
  if (auto failure = check_written(what, output.shape, output.strides, port.shape.size())) return failure;
  bytes = static_cast<uint64_t>(reach->end) * element_bytes(port);
  return std::nullopt;
}

Status Call::result_strides(size_t index, int64_t* out) const {
  axon_view view;
  if (auto failure = result(index, view)) return failure;
  const Port& port = entry_->results[index];
  const size_t rank = port.shape.size();
  if (port.strides.empty()) {
    row_major_strides(view.shape, rank, out);
  } else {
    std::copy_n(outputs_[index].strides, rank, out);
  }
  return std::nullopt;
}

Status Call::copy_result(size_t index, void* out) const {
  axon_view view;
  int64_t strides[AXON_MAX_RANK], dense[AXON_MAX_RANK];
  if (auto failure = result(index, view)) return failure;
  if (auto failure = result_strides(index, strides)) return failure;
  const size_t rank = entry_->results[index].shape.size();
  row_major_strides(view.shape, rank, dense);
  copy_elements(view.shape, rank, elem_bytes(static_cast<Elem>(view.elem)),
                static_cast<const uint8_t*>(view.data), strides, static_cast<uint8_t*>(out), dense);
  return std::nullopt;
}

}  // namespace axon::host
