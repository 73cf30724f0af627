// Masks of positions: which keys of an online reduction can count, where the scores are
// (if c then x else -inf) and c compares the key with something else. The one recogniser: emission walks
// these keys only, and estimates of work count them.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace axon::graph {

/// Keys outside of low <= key < end have the score -inf and the weight 0. All bounds hold together; none
/// means that all keys may count. They are over what the score depends on besides the key, and lie anywhere,
/// also outside of the axis. Dims among them cannot leave i64.
struct KeyRange {
  std::vector<Dim> low, end;
  /// A bound that the data decides: value + plus, an i64. The value is read for every row that has keys.
  struct Data {
    ScalarId value;
    Dim plus;
  };
  std::vector<Data> low_by_data, end_by_data;
  /// The score where the range is all that the masks say: then it is `unmasked` inside of the range, and -inf
  /// outside. Invalid where they say more.
  ScalarId unmasked;
  bool empty() const { return low.empty() && end.empty() && low_by_data.empty() && end_by_data.empty(); }
};

/// The range of the last binder of an online reduction. Taken from the conditions around the score, under
/// `&&`, nested, negated or with the arms exchanged. A condition that bounds the key through something else
/// than one comparison linear in it bounds nothing.
KeyRange key_range(const Graph&, const Scalar& online);

}  // namespace axon::graph
