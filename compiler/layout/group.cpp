// See group.h.
#include "layout/group.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bug.h"
#include "base/contains.h"
#include "base/work.h"
#include "layout/divide.h"

namespace axon::layout {
namespace {

std::string text(const Shape& shape) {
  std::string out;
  for (const Dim& extent : shape) out += (out.empty() ? "" : ", ") + extent.str();
  return "[" + out + "]";
}

/// Takes pieces from the inner ends of two shapes.
class Refinement {
 public:
  Refinement(const Shape& first, const Shape& second) : first_(parts(first)), second_(parts(second)) {}

  /// False where the inner ends divide in neither direction, or the sizes differ.
  bool run() {
    while (!first_.empty() && !second_.empty())
      if (!take()) return false;
    for (const auto* rest : {&first_, &second_})
      for (const Part& part : *rest) {
        if (part.rest.constant()) return false;
        needs_.push_back(shape::equal(part.rest, 1));
      }
    std::reverse(pieces_.begin(), pieces_.end());
    return true;
  }
  Outcome<std::vector<Piece>> result() && { return {std::move(pieces_), std::move(needs_)}; }

 private:
  struct Part {
    Dim rest;
    size_t index;
  };
  static std::vector<Part> parts(const Shape& shape) {
    std::vector<Part> out;
    for (size_t i = 0; i < shape.size(); ++i)
      if (!shape[i].is(1)) out.push_back({shape[i], i});
    return out;
  }

  bool take() {
    const Dim a = first_.back().rest, b = second_.back().rest;
    const bool symbolic = !a.constant() || !b.constant();
    if (a == b) return take_both(a);
    if (symbolic && first_.size() == 1 && second_.size() == 1) {
      needs_.push_back(shape::equal(a, b));
      return take_both(b);
    }
    const auto of_a = exact_quotient(a, b), of_b = exact_quotient(b, a);
    for (const bool needing : {false, true}) {
      // What no size is known to divide is cut by numbers only: which of two sizes divides the other is open.
      if (of_a && of_a->need.has_value() == needing && (!needing || b.constant()))
        return take_inner(first_, *of_a, second_);
      if (of_b && of_b->need.has_value() == needing && (!needing || a.constant()))
        return take_inner(second_, *of_b, first_);
    }
    return false;
  }
  bool take_both(const Dim& extent) {
    pieces_.push_back({extent, first_.back().index, second_.back().index});
    first_.pop_back();
    second_.pop_back();
    return true;
  }
  /// All of what is left of `small`'s end, and the quotient stays of that of `large`.
  bool take_inner(std::vector<Part>& large, const Quotient& quotient, std::vector<Part>& small) {
    if (quotient.need) needs_.push_back(*quotient.need);
    pieces_.push_back({small.back().rest, first_.back().index, second_.back().index});
    small.pop_back();
    large.back().rest = quotient.value;
    return true;
  }

  std::vector<Part> first_, second_;
  std::vector<Piece> pieces_;
  Needs needs_;
};

}  // namespace

Outcome<std::vector<Piece>> refine(const Shape& first, const Shape& second) {
  Refinement refinement(first, second);
  if (refinement.run()) return std::move(refinement).result();
  const auto a = product(first).constant(), b = product(second).constant();
  if (a && b && *a != *b)
    return Refusal{fmt::format("the sizes of {} and {} differ", text(first), text(second))};
  return Refusal{fmt::format("{} and {} have no common refinement: not all extents divide each other",
                             text(first), text(second))};
}

Outcome<Shape> common_refinement(const std::vector<Shape>& shapes) {
  Shape out = shapes.at(0);
  Needs needs;
  for (const Shape& shape : shapes) {
    const Outcome<std::vector<Piece>> pieces = refine(out, shape);
    if (!pieces) return pieces.refusal();
    out.clear();
    for (const Piece& piece : *pieces) out.push_back(piece.extent);
    append(needs, pieces.needs());
  }
  return {std::move(out), std::move(needs)};
}

// ---- Groups ----

std::vector<Iter> Grouped::of(size_t axis) const {
  const auto first = layout.shards.begin();
  return {first + static_cast<std::ptrdiff_t>(begin(axis)), first + static_cast<std::ptrdiff_t>(ends[axis])};
}

Outcome<Grouped> group(const Layout& layout, const Shape& shape) {
  const Outcome<std::vector<Piece>> pieces = refine(extents(layout.shards), shape);
  if (!pieces) return pieces.refusal();
  Grouped out{layout, std::vector<size_t>(shape.size(), 0)};
  out.layout.shards.clear();
  std::vector<Dim> strides;  // of the pieces: inner ones of the same iter lie within a stride
  for (size_t i = pieces->size(); i-- > 0;) {
    const Piece& piece = (*pieces)[i];
    const bool inner_most = i + 1 == pieces->size() || (*pieces)[i + 1].of_first != piece.of_first;
    strides.push_back(inner_most ? layout.shards[piece.of_first].stride
                                 : strides.back() * (*pieces)[i + 1].extent);
  }
  for (size_t i = 0; i < pieces->size(); ++i) {
    const Piece& piece = (*pieces)[i];
    out.layout.shards.push_back(
        {piece.extent, strides[strides.size() - 1 - i], layout.shards[piece.of_first].axis});
    out.ends[piece.of_second] = i + 1;
  }
  for (size_t axis = 1; axis < shape.size(); ++axis)
    out.ends[axis] = std::max(out.ends[axis], out.begin(axis));
  return {std::move(out), pieces.needs()};
}

Outcome<Layout> permute(const Layout& layout, const Shape& shape, const std::vector<size_t>& order) {
  if (order.size() != shape.size()) base::bug("layout", "an axis for each axis");
  const Outcome<Grouped> grouped = group(layout, shape);
  if (!grouped) return grouped.refusal();
  Layout out = layout;
  out.shards.clear();
  for (const size_t axis : order) {
    const std::vector<Iter> iters = grouped->of(axis);
    out.shards.insert(out.shards.end(), iters.begin(), iters.end());
  }
  return {std::move(out), grouped.needs()};
}

// ---- Fit ----

namespace {

using Place = std::vector<int64_t>;

Place minus(Place a, const Place& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

/// The axis on which the step counts, and by how much; nullopt where it counts on several.
std::optional<Iter> one_axis(const Place& step, const std::vector<Axis>& axes) {
  Iter out{1, 0, {}};
  for (size_t i = 0; i < step.size(); ++i) {
    if (step[i] == 0) continue;
    if (!out.stride.is(0)) return std::nullopt;
    out.stride = step[i];
    out.axis = axes[i];
  }
  return out;
}

Place times(Place step, int64_t count) {
  for (int64_t& coordinate : step) coordinate *= count;
  return step;
}

}  // namespace

std::optional<std::vector<Iter>> fit(int64_t size, const std::vector<Axis>& axes,
                                     const std::function<Place(int64_t)>& at) {
  std::vector<Iter> out;  // the innermost first
  const Place origin = at(0);
  for (int64_t below = 1; below < size;) {
    // The innermost iter left goes as far as its steps are alike, and each of its runs repeats that.
    const int64_t left = size / below;
    const auto place = [&](int64_t x) { return minus(at(below * x), origin); };
    const Place step = place(1);
    auto iter = one_axis(step, axes);
    if (!iter) return std::nullopt;
    int64_t extent = 2;
    while (extent < left && place(extent) == times(step, extent)) ++extent;
    if (left % extent != 0) return std::nullopt;
    base::work(static_cast<uint64_t>(left));
    for (int64_t x = extent; x < left; ++x)
      if (x % extent != 0 && minus(place(x), place(x - x % extent)) != times(step, x % extent))
        return std::nullopt;
    iter->extent = extent;
    out.push_back(*iter);
    below *= extent;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace axon::layout
