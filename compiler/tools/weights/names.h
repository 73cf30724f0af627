// How alike the names of parameters and of tensors are, word by word, whatever convention either follows.
//
// `layers.norm1.w` and `h.{0}.ln_1.weight` are alike: `norm` and `ln` mean the same, 1 is 1, `w` begins
// `weight`.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace axon::tools {

/// The words of a name in lower case: parted by dots, underscores, digits and capitals. Indices in braces are
/// none.
std::vector<std::string> words_of(std::string_view name);

/// From 0, for nothing in common, to about 1.2.
double likeness(const std::vector<std::string>& parameter, const std::vector<std::string>& tensor);

/// Where a name stands among others that differ from it in one number alone: norm2 is the second of two, as
/// `layer.1.norm` is.
struct SeriesPlace {
  size_t number, count;
  bool operator==(const SeriesPlace&) const = default;
};
/// Of each name, a place for each of its numbers by which it differs from others. Indices in braces are none.
std::vector<std::vector<SeriesPlace>> series_in(const std::vector<std::string>& names);

/// Does the name end in a word for the factor or the summand of a layer: w, weight, gamma, b, bias?
bool ends_in_leaf(std::string_view name);

/// What a layer is a part of: `layers.attention` of `layers.attention.q` and of `layers.attention.q.weight`.
std::string home_of(std::string_view name);

/// A name without its last word between dots, and that word.
std::string_view parent_of(std::string_view name);
std::string_view leaf_of(std::string_view name);

}  // namespace axon::tools
