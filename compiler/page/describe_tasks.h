// A plan variant as JSON: task types, buffers, events, waits, and the order of the segments.
#pragma once
#include <map>

#include "page/expressions.h"
#include "source/span.h"

namespace axon::page {

Json describe_variant(const plan::Variant&, const std::map<graph::NodeId, int>& numbers,
                      const source::SourceFile&, const NameOf&);

}  // namespace axon::page
