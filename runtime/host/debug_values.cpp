// See debug_values.h.
#include "host/debug_values.h"

#include <algorithm>

namespace axon::host {
namespace {

uint64_t count_of(const int64_t* shape, size_t rank) {
  uint64_t count = 1;
  for (size_t axis = 0; axis < rank; ++axis) count *= static_cast<uint64_t>(shape[axis]);
  return count;
}

}  // namespace

void DebugValues::begin(const std::vector<Debug>& debugs) {
  debugs_ = &debugs;
  kept_.assign(debugs.size(), {});
}

void DebugValues::complete(uint32_t number, const axon_view& value, const Show& show) {
  const Debug& debug = (*debugs_)[number];
  const bool in_branch = number > 0 && (*debugs_)[number - 1].is_condition;
  if (!debug.is_condition && !in_branch) return show(debug.name, value);
  const auto rank = static_cast<size_t>(value.rank);
  const auto* bytes = static_cast<const uint8_t*>(value.data);
  Kept& kept = kept_[number];
  kept.bytes.assign(bytes, bytes + count_of(value.shape, rank) * axon_elem_bytes(value.elem));
  kept.shape.assign(value.shape, value.shape + rank);
  kept.complete = true;
  const uint32_t of = debug.is_condition ? number + 1 : number;
  if (kept_[of - 1].complete && kept_[of].complete)
    show_taken((*debugs_)[of], kept_[of - 1], kept_[of], show);
}

/// The condition stands for the first axes of the value.
void DebugValues::show_taken(const Debug& debug, const Kept& condition, Kept& value, const Show& show) const {
  const size_t lead = condition.shape.size(), rank = value.shape.size();
  if (!std::equal(condition.shape.begin(), condition.shape.end(), value.shape.begin())) return;
  const uint64_t each = count_of(value.shape.data() + lead, rank - lead) * axon_elem_bytes(debug.elem);
  std::vector<uint8_t> taken;
  int64_t parts = 0;
  for (size_t part = 0; part < condition.bytes.size(); ++part) {
    if (!condition.bytes[part]) continue;
    const uint8_t* const from = value.bytes.data() + part * each;
    taken.insert(taken.end(), from, from + each);
    ++parts;
  }
  if (parts == 0) return;
  std::vector<int64_t> shape(value.shape.begin() + static_cast<ptrdiff_t>(lead), value.shape.end());
  if (lead > 0) shape.insert(shape.begin(), parts);
  show(debug.name, {taken.data(), debug.elem, static_cast<int32_t>(shape.size()), shape.data()});
}

}  // namespace axon::host
