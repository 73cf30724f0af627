// What a layout that is written behind `@` means.
//
// In: the parts as they are kept with a type. Out: a layout over the sizes of that type. Invariant: what is
// written as a type's layout has a meaning there (layouts_from_syntax.cpp refuses the rest), so whoever meets
// one later may ask for it.
//
// In a list of extents, `S[4@x, n, d]`, each counts on its axis, and those of one axis lie row-major. In
// `S[(m, n) : (1, m)]` each stride says its axis. An axis that is left out is memory.
#pragma once
#include "core/type.h"
#include "layout/layout.h"
#include "layout/outcome.h"

namespace axon::core {

/// Refused where the parts are no layout: not one `S`, or an axis at an extent that has a stride.
layout::Outcome<layout::Layout> layout_of(const std::vector<LayoutPart>&);
/// Why the layout does not fit the tensor: axes that cannot stand in types, another number of elements, or it
/// is ill-formed; nullopt where it fits, for all sizes.
std::optional<std::string> why_misfit(const layout::Layout&, const layout::Shape&, const layout::Axes&);

/// The first element that two layouts of one shape place differently, for sizes for which they do.
struct LayoutDifference {
  shape::Assignment sizes;
  std::vector<int64_t> element;
  layout::Layout first, second;  ///< of numbers
  int64_t index = 0;             ///< row-major
};
/// nullopt where none was found for small sizes that satisfy the facts.
std::optional<LayoutDifference> find_difference(const layout::Layout&, const layout::Layout&,
                                                const layout::Shape&, const std::vector<shape::Fact>&);

}  // namespace axon::core
