// The third kind of failure: a bug in the compiler. (A user's error and a limitation are diagnostics.)
// bug() throws InternalError, which only the driver catches: it writes a reproducer and exits with 70.
#pragma once
#include <stdexcept>
#include <string>

namespace axon::base {

struct InternalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reports a broken invariant; `where` names the pass or function. Never used for anything a user can cause.
[[noreturn]] inline void bug(const std::string& where, const std::string& what) {
  throw InternalError("internal error in " + where + ": " + what);
}

}  // namespace axon::base
