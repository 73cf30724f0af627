// Types as `check --types` prints them, to be compared where names may differ.
#pragma once
#include <string>

namespace axon::query {

/// Types with all names numbered, each kind by itself: names of variables may come from those of parameters
/// and binders.
std::string normal(const std::string& types);

}  // namespace axon::query
