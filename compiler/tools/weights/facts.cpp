// See facts.h.
#include "tools/weights/facts.h"

#include <bit>

namespace axon::tools {

namespace {

using host::Dim;
using KnownSizes = std::vector<std::optional<int64_t>>;

/// The dimension, with this value for each open size.
std::optional<int64_t> value_with(const Dim& dim, const KnownSizes& sizes, int64_t open) {
  std::vector<int64_t> values;
  for (const auto& size : sizes) values.push_back(size.value_or(open));
  int64_t out = 0;
  if (!dim.evaluate(values.data(), out)) return std::nullopt;
  return out;
}

/// The sizes in a dimension that are open, as bits.
uint64_t open_sizes(const Dim& dim, const KnownSizes& sizes) {
  uint64_t open = 0;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (dim.reads(i) && !sizes[i]) open |= uint64_t{1} << i;
  return open;
}

/// The factor of the product of all open sizes that the dimension is; 0 where it is anything else.
int64_t factor_of_product(const Dim& dim, const KnownSizes& sizes, uint64_t open) {
  const auto at_one = value_with(dim, sizes, 1);
  if (!at_one || *at_one <= 0 || value_with(dim, sizes, 0) != 0) return 0;
  for (; open != 0; open &= open - 1) {
    KnownSizes doubled = sizes;
    doubled[static_cast<size_t>(std::countr_zero(open))] = 2;
    if (value_with(dim, doubled, 1) != 2 * *at_one) return 0;
  }
  return *at_one;
}

/// Makes the only open size known by an extent, in which it is linear. False where it cannot be a size.
bool solve_size(const Dim& dim, int64_t extent, size_t size, KnownSizes& sizes) {
  const auto at_zero = value_with(dim, sizes, 0), at_one = value_with(dim, sizes, 1),
             at_two = value_with(dim, sizes, 2);
  if (!at_zero || !at_one || !at_two) return true;
  const int64_t factor = *at_one - *at_zero, rest = extent - *at_zero;
  if (*at_two - *at_one != factor || factor == 0) return true;  // of another form: it stays open
  if (rest % factor != 0 || rest / factor < 0) return false;
  sizes[size] = rest / factor;
  return true;
}

}  // namespace

Facts::Facts(const host::Manifest& manifest, const std::map<std::string, int64_t>& metadata)
    : uses_(manifest.weights.size()) {
  for (size_t e = 0; e < manifest.entries.size(); ++e) {
    const host::Entry& entry = manifest.entries[e];
    Values& values = values_.emplace_back();
    values.sizes.resize(entry.sizes.size());
    for (size_t i = 0; i < entry.sizes.size(); ++i)
      if (const auto found = metadata.find(entry.sizes[i].name);
          found != metadata.end() && entry.sizes[i].from == AXON_FROM_PARAMETER)
        values.sizes[i] = found->second;
    for (const host::Port& port : entry.inputs)
      if (port.kind == AXON_WEIGHT) uses_[port.weight].push_back({e, &port});
  }
}

bool Facts::apply(const Dim& dim, int64_t extent, Values& values, bool& changed) {
  const uint64_t open = open_sizes(dim, values.sizes);
  if (open == 0) return value_with(dim, values.sizes, 0) == extent;
  if ((open & (open - 1)) == 0) {
    const auto size = static_cast<size_t>(std::countr_zero(open));
    if (!solve_size(dim, extent, size, values.sizes)) return false;
    changed = changed || values.sizes[size];
    return true;
  }
  const int64_t factor = factor_of_product(dim, values.sizes, open);
  if (factor == 0) return true;
  if (extent % factor != 0) return false;
  const auto [known, is_new] = values.products.emplace(open, extent / factor);
  changed = changed || is_new;
  return known->second == extent / factor;
}

bool Facts::apply(const host::Port& port, const std::vector<uint64_t>& shape, Values& values) {
  if (port.shape.size() != shape.size()) return false;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (!apply(port.shape[axis], static_cast<int64_t>(shape[axis]), values, changed)) return false;
  }
  return true;
}

bool Facts::fits(size_t weight, const std::vector<uint64_t>& shape) const {
  for (const Use& use : uses_[weight]) {
    Values values = values_[use.entry];
    if (!apply(*use.port, shape, values)) return false;
  }
  return true;
}

void Facts::take(size_t weight, const std::vector<uint64_t>& shape) {
  for (const Use& use : uses_[weight]) {
    Values values = values_[use.entry];
    if (!apply(*use.port, shape, values) || values == values_[use.entry]) continue;
    values_[use.entry] = std::move(values);
    ++version_;
  }
}

std::optional<uint64_t> Facts::extent(size_t weight, size_t axis) const {
  for (const Use& use : uses_[weight]) {
    const Values& values = values_[use.entry];
    const Dim& dim = use.port->shape[axis];
    const uint64_t open = open_sizes(dim, values.sizes);
    const auto product = values.products.find(open);
    const auto value = open == 0 ? value_with(dim, values.sizes, 0)
                       : product == values.products.end()
                           ? std::nullopt
                           : std::optional(factor_of_product(dim, values.sizes, open) * product->second);
    if (value && *value > 0) return static_cast<uint64_t>(*value);
  }
  return std::nullopt;
}

std::string Facts::text(size_t weight, size_t axis) const {
  return uses_[weight].empty() ? "" : uses_[weight][0].port->shape[axis].str();
}

}  // namespace axon::tools
