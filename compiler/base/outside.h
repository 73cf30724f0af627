// A stretch of a long computation during which others may have what it shares with them.
//
// In: a stretch that touches nothing of that, such as a question to a solver. Out: what it does, and
// Cancelled where others have ended the computation in the meantime (interrupt.h). Invariant: who was
// cancelled never looks at what others have changed.
#pragma once
#include <exception>

#include "base/interrupt.h"

namespace axon::base {

/// Runs the stretch, and polls behind it, also where it fails. `stop` ends it early, from any thread.
template <class Stretch>
void outside(const std::function<void()>& stop, const Stretch& stretch) {
  std::exception_ptr failed;
  {
    const Outside others_have_it(stop);
    try {
      stretch();
    } catch (...) {
      failed = std::current_exception();
    }
  }
  poll_now();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace axon::base
