// Dimensions and facts as JSON that a script evaluates (the format is in docs/page.md), and sizes to begin
// with.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace axon::page {

using Json = nlohmann::json;
using NameOf = std::function<std::string(shape::Var)>;

/// A number, the name of a variable, or [operator, operands..]; null for what is too large to be known.
Json expression(const shape::Dim&, const NameOf&);
Json expressions(const std::vector<shape::Dim>&, const NameOf&);
/// [relation, left, right].
Json fact(const shape::Fact&, const NameOf&);
Json facts(const std::vector<shape::Fact>&, const NameOf&);

/// The least sizes, none below `least`, for which the facts of the variant hold; only those that do not
/// depend on data. nullopt where none are found.
std::optional<shape::Assignment> sizes_from(const plan::Variant&, int64_t least);

/// Sizes for which the facts of the variant hold and it has some tasks to look at, but not too many. Those
/// that the facts allow at all where there are no such.
shape::Assignment first_sizes(const plan::Variant&);

/// The sizes, with those that the makespan model takes for data-dependent sizes and trip counts.
shape::Assignment with_typical(const plan::Variant&, shape::Assignment);

}  // namespace axon::page
