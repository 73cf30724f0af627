// What tells builds of the compiler apart.
#pragma once
#include <string>

namespace axon::tools {

/// The build ids of this program and of the libraries that it was started with, LLVM and Z3 among them: two
/// processes that have the same have the same code. Empty where the program has none, so that nothing is
/// known.
std::string build_id();

}  // namespace axon::tools
