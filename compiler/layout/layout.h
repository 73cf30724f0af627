// Layouts: where each element of a tensor lives, in memory, in threads and registers, in devices.
//
// A layout is shards D, in order, replicas R and an offset O. The flat index x is split row-major over the
// extents of D, the last fastest; a digit times its stride counts on the iter's axis, and the sums are D(x).
// The element x is at every point of L(x) = { D(x) + r + O }, where r runs through the sums that the digits
// of R give. A layout knows no shape: it admits every shape of its size, row-major.
//
// Extents are >= 1. Extents and strides of tiles and atoms are numbers; those of places in global memory are
// expressions of sizes. Invariant: what computes with layouts of numbers is exact, and one whose coordinates
// or number of points leave 64 bits is ill-formed (why_ill_formed()). The operations take well-formed
// layouts.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "layout/axis.h"
#include "shape/dim.h"

namespace axon::layout {

using shape::Dim;
using Shape = std::vector<Dim>;

/// A digit below `extent` that counts `stride` on the axis.
struct Iter {
  Dim extent = 1, stride = 0;
  Axis axis;
  friend bool operator==(const Iter&, const Iter&) = default;
};

/// Equality is that of the text: same() in canonical.h compares what it means.
struct Layout {
  std::vector<Iter> shards, replicas;
  std::map<Axis, Dim> offset;  ///< an axis that is left out is at 0
  friend bool operator==(const Layout&, const Layout&) = default;
};

Dim product(const Shape&);
Shape extents(const std::vector<Iter>&);
Dim size(const Layout&);    ///< how many elements it places
Dim copies(const Layout&);  ///< how many digits its replicas have: at least the points of each element
std::set<Axis> axes_of(const Layout&);
Dim offset_on(const Layout&, const Axis&);
void add_offset(Layout&, const Axis&, const Dim& amount);
/// Only what counts on that axis: the size stays, and digits of other axes get the stride 0.
Layout on_axis(const Layout&, const Axis&);
Layout renamed(const Layout&, const Axis& from, const Axis& to);

/// The place of a whole tensor of that shape in memory, the last axis fastest.
Layout row_major(const Shape&);
/// Each extent up to a multiple of its number. A tensor whose place is over the shape rounded up is its
/// prefix.
Shape rounded_up(const Shape&, const std::vector<int64_t>& multiples);

bool is_constant(const Layout&);  ///< all of it is numbers
Layout substitute(const Layout&, const shape::Substitution&);
/// With the values of its sizes; nullopt where one is missing, an extent is below 1, or 64 bits do not hold
/// it.
std::optional<Layout> evaluate(const Layout&, const shape::Assignment&);

/// Why 64 bits do not hold its numbers, its coordinates or the number of its points; nullopt where they do.
std::optional<std::string> why_too_large(const Layout&);
/// Why this is no layout: an extent below 1, axes that are not connected, numbers that 64 bits do not hold, a
/// coordinate that its axis does not have; nullopt where it is one.
std::optional<std::string> why_ill_formed(const Layout&, const Axes& = {});

}  // namespace axon::layout
