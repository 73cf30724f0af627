// The entries of a file, for commands that take one of them.
#pragma once
#include <string>

#include "pipeline.h"

namespace axon::tools {

/// The entry of that name, or, without one, the only entry; invalid, with E0610, where that is none. The file
/// has been checked. `purpose`: what for, "to show".
core::GlobalId chosen_entry(const Compilation&, const std::string& name, const char* purpose,
                            source::Diagnostics&);

}  // namespace axon::tools
