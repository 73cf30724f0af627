// What clashes in the errors at a place.
#pragma once
#include <vector>

#include "query/why.h"

namespace axon::query {

/// For each error or warning that marks the place: its headline, what is said of each marked place in the
/// order of the text, and what is known besides.
std::vector<Step> why_error(const source::Diagnostics& said, source::FileId file, uint32_t offset);

}  // namespace axon::query
