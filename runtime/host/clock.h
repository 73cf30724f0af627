// The clock that launches and kernels are measured by.
#pragma once
#include <chrono>

namespace axon::host {

using Clock = std::chrono::steady_clock;

inline double nanoseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

}  // namespace axon::host
