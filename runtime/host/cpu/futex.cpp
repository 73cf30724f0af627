// The futex system call (futex.h).
#include "host/cpu/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace axon::host {

void futex_wait(const uint32_t* word, uint32_t seen, int64_t nanoseconds) {
  timespec limit{static_cast<time_t>(nanoseconds / 1'000'000'000),
                 static_cast<long>(nanoseconds % 1'000'000'000)};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, nanoseconds < 0 ? nullptr : &limit, nullptr, 0);
}

void futex_wake_all(const uint32_t* word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace axon::host
