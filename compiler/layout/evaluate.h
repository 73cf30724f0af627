// Where elements are: the points of an index, the ends on each axis, and whether two elements share a place.
//
// In: a well-formed layout, and facts about its sizes where it has any. Out: coordinates, as expressions or
// as numbers. Invariant: the numbers fit into 64 bits, which well-formed layouts ensure.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "layout/layout.h"
#include "shape/prover.h"

namespace axon::layout {

/// The row-major flat index. As many indices as the shape has axes.
Dim flat_index(const Shape&, const std::vector<Dim>& index);

/// D(x) + O: where the element is, and with replicas the one of which all digits are 0. Assumes 0 <= x <
/// size.
std::map<Axis, Dim> apply(const Layout&, const Dim& x);
/// The same of an index into a shape of that size. Where the iters are grouped by the shape without need, no
/// index is flattened and divided again.
std::map<Axis, Dim> apply(const Layout&, const Shape&, const std::vector<Dim>& index);

/// A dimension of a layout of numbers.
int64_t number_in_layout(const Dim&);

using Point = std::map<Axis, int64_t>;
/// L(x) of a layout of numbers, all of its axes in each point.
std::set<Point> points(const Layout&, int64_t x);

/// A layout of numbers made ready for going through its elements. Coordinates are in the order of axes().
class Evaluator {
 public:
  explicit Evaluator(const Layout&);
  const std::vector<Axis>& axes() const { return axes_; }
  int64_t size() const { return size_; }
  /// D(x) + O.
  std::vector<int64_t> base(int64_t x) const;
  /// Every sum of digits of R, in their order; a point twice where replicas overlap.
  std::vector<std::vector<int64_t>> replicas() const;

 private:
  struct Digit {
    int64_t extent, stride;
    size_t axis;
  };
  std::vector<Digit> digits(const std::vector<Iter>&) const;
  std::vector<Axis> axes_;
  std::vector<Digit> shards_, replicas_;
  std::vector<int64_t> offset_;
  int64_t size_ = 1;
};

/// That the extents that are no numbers are >= 1.
std::vector<shape::Fact> positive_extents(const Layout&);

/// Both ends are points.
struct Span {
  Dim low, high;
};
/// The least and the greatest coordinate on each axis of the layout. What the facts decide is decided in
/// them; extents are taken to be >= 1.
std::map<Axis, Span> spans(const Layout&, const std::vector<shape::Fact>& = {});
/// high - low + 1; 1 on an axis that it does not use.
Dim span_on(const Layout&, const Axis&, const std::vector<shape::Fact>& = {});

/// Have any two indices no point in common? (Copies of one may coincide.) nullopt where that is not decided:
/// sizes of which the facts say too little, or over a million points that no order of strides keeps apart.
std::optional<bool> injective(const Layout&, const std::vector<shape::Fact>& = {});

}  // namespace axon::layout
