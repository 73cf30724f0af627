// Layouts made of layouts: the direct sum, tiles, their inverses, and views as vectors.
//
// In: layouts, each with the shape of its tensor; all with as many axes. Out: the layout of the shape whose
// axis i is outer i times inner i. Invariant: what an inverse gives, put together again, is the layout that
// was asked about (same()), so an inverse never approximates. Refusals say which part does not match:
// dispatch prints them.
#pragma once
#include "layout/layout.h"
#include "layout/outcome.h"

namespace axon::layout {

struct Shaped {
  Layout layout;
  Shape shape;
};

/// Index outer * n + inner of each axis, n the extent of the inner one, is at outer's points plus inner's.
Outcome<Shaped> direct_sum(const Shaped& outer, const Shaped& inner);
/// The `outer` of which with `inner` the whole is the direct sum.
Outcome<Shaped> outer_of_sum(const Shaped& whole, const Shaped& inner);
/// The `inner` of which with `outer` the whole is the direct sum.
Outcome<Shaped> inner_of_sum(const Shaped& whole, const Shaped& outer);

/// `inner` again and again, where `outer` says: a step of `outer` on an axis is as many places as `inner`
/// spans on it. That is the direct sum, with `outer` scaled.
Outcome<Shaped> tile(const Shaped& outer, const Shaped& inner);
/// By what the whole is a tiling of `inner`.
Outcome<Shaped> outer_of_tile(const Shaped& whole, const Shaped& inner);
/// Of what the whole is a tiling by `outer`.
Outcome<Shaped> inner_of_tile(const Shaped& whole, const Shaped& outer);

/// Elements of that axis in groups of `count`, each group one element `count` times as large: `m` counts
/// those. The elements of a group lie next to each other on `m`, in order, and no group begins inside of
/// another.
Outcome<Shaped> pack(const Shaped&, size_t axis, int64_t count);
/// Each element as `count` smaller ones along that axis.
Outcome<Shaped> unpack(const Shaped&, size_t axis, int64_t count);

/// The tensor of that shape in which an axis of extent 1, or one that is missing in front, repeats its
/// element.
Outcome<Shaped> broadcast(const Shaped&, const Shape&);

}  // namespace axon::layout
