// Reads a dimension in source syntax: integers, names, + - * / %, min, max, cdiv and parentheses. `/` is
// floor division and `%` its remainder; min and max take two or more arguments. A leading minus is accepted,
// so that everything Dim::str() prints is read back to the same Dim. Used for the texts of graphs, tasks and
// plans; source programs go through the grammar instead.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "shape/dim.h"

namespace axon::shape {

struct DimParseError {
  size_t offset = 0;  ///< into the text
  std::string message;
};
/// The Dim of a name; nullopt makes it an unknown name.
using NameLookup = std::function<std::optional<Dim>(std::string_view)>;

/// The whole text is one dimension, white space around it allowed.
std::optional<Dim> parse_dim(std::string_view text, const NameLookup&, DimParseError* error = nullptr);
/// Reads the longest dimension that begins at `position` and moves behind it (for texts where more follows).
std::optional<Dim> parse_dim_prefix(std::string_view text, size_t& position, const NameLookup&,
                                    DimParseError* error = nullptr);

}  // namespace axon::shape
