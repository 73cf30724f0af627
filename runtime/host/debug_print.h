// `debug "name" x` without a listener: the value as text on stderr, long ones shortened.
#pragma once
#include <string>

#include "axon/axon.h"

namespace axon::host {

/// `x = f32[2, 3] [[1, 2, 3], [4, 5, 6]]`
std::string debug_text(const std::string& name, const axon_view&);
void debug_print(const std::string& name, const axon_view&);

}  // namespace axon::host
