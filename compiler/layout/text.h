// Layouts as text: `S[(8,2,4,2):(4@lane,1@warp,1@lane,1)] + R[2:4@warp] + 5@warp`.
//
// In: a layout, or its text. Out: the other. `S` has extents and strides of the shards, `R` of the replicas,
// and an offset is an amount with its axis; a stride without an axis counts on `m`; `S[2,3,4]` is row-major.
// Sizes are in source syntax, in parentheses where they are more than a product. Invariant: print() has one
// spelling for each layout, and parse() reads it back.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "layout/layout.h"
#include "layout/swizzle.h"
#include "shape/parse.h"

namespace axon::layout {

std::string print(const Layout&);
/// The same with sizes under the names that the function gives them.
std::string print(const Layout&, const std::function<std::string(const Dim&)>& size);

using ParseError = shape::DimParseError;
/// The whole text is one layout over these axes, well-formed, white space around its parts allowed.
std::optional<Layout> parse(std::string_view text, const shape::NameLookup&, const Axes& = {},
                            ParseError* error = nullptr);
/// The same without names.
std::optional<Layout> parse(std::string_view text, ParseError* error = nullptr);

/// ` ^ (3,3,3)` behind the layout where its memory is swizzled.
std::string print(const Swizzled&);
std::optional<Swizzled> parse_swizzled(std::string_view text, const shape::NameLookup&, const Axes& = {},
                                       ParseError* error = nullptr);

}  // namespace axon::layout
