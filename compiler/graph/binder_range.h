// Masks of positions: which points of a binder can count in a reduction of (if c then x else unit), where c
// compares the binder with something else. The one recogniser: emission walks these points only, and
// estimates of work count them.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace axon::graph {

/// Keys outside of low <= key < end have the score -inf and the weight 0. All bounds hold together; none
/// means that all keys may count. They are over what the score depends on besides the key, and lie anywhere,
/// also outside of the axis. Dims among them cannot leave i64.
struct BinderRange {
  std::vector<Dim> low, end;
  /// A bound that an integer decides which may be any: plus + value or plus - value, which may leave i64. It
  /// is read wherever the binder has a point (but see ReadBounds).
  struct Data {
    ScalarId value;
    bool subtracted;
    Dim plus;
    /// Where one of these does not hold it bounds nothing: an index that is converted to the value's type
    /// wraps.
    std::vector<Fact> where;
  };
  std::vector<Data> low_by_data, end_by_data;
  /// What is folded where the range is all that the masks say: then it is `unmasked` inside of the range, and
  /// the unit outside. Invalid where they say more.
  ScalarId unmasked;
  bool empty() const { return low.empty() && end.empty() && low_by_data.empty() && end_by_data.empty(); }
};

/// Which bounds the data may say.
enum class ReadBounds : uint8_t {
  of_all_points,   ///< values that every point computes, and those in which nothing can fail
  of_some_points,  ///< and those that are loaded without a check: who uses them shows that they can be
};

/// The range of a binder of a `reduce` or `online`. Taken from the conditions around what it folds, under
/// `&&`, nested, negated or with the arms exchanged. A condition that bounds the binder through something
/// else than one comparison linear in it bounds nothing. Of an argmax the unit is that of max, and only an
/// end bounds it: of equal values the first counts.
BinderRange binder_range(const Graph&, const Scalar& reduction, size_t binder,
                         ReadBounds = ReadBounds::of_all_points);

}  // namespace axon::graph
