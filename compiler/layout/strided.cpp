// See strided.h.
#include "layout/strided.h"

#include <fmt/format.h>

#include "layout/canonical.h"
#include "layout/group.h"

namespace axon::layout {

Outcome<std::vector<Dim>> strides_of(const Layout& layout, const Shape& shape) {
  for (const Axis& axis : axes_of(layout))
    if (axis != Axis())
      return Refusal{fmt::format("it places elements on the axis `{}`, and this memory is that of one device",
                                 axis.name)};
  if (!layout.replicas.empty()) return Refusal{"each element has several places"};
  Layout shards{layout.shards, {}, {}};
  Outcome<Grouped> grouped = group(shards, shape);
  if (!grouped || !grouped.needs().empty()) grouped = group(canonical(shards), shape);
  if (!grouped || !grouped.needs().empty())
    return Refusal{"what it counts together is no axis of the tensor"};
  std::vector<Dim> out;
  for (size_t a = 0; a < shape.size(); ++a) {
    const Layout axis = canonical({grouped->of(a), {}, {}});
    if (axis.shards.size() > 1) return Refusal{fmt::format("axis {} has no one stride", a)};
    out.push_back(axis.shards.empty() ? Dim(0) : axis.shards.front().stride);
  }
  return out;
}

Layout strided(const Shape& shape, const std::vector<Dim>& strides) {
  Layout out;
  for (size_t a = 0; a < shape.size(); ++a) out.shards.push_back({shape[a], strides[a], {}});
  return out;
}

bool is_row_major(const Layout& place, const Shape& shape) {
  Dim below(1);
  for (size_t a = shape.size(); a-- > 0; below = below * shape[a])
    if (!shape[a].is(1) && place.shards[a].stride != below) return false;
  return true;
}

}  // namespace axon::layout
