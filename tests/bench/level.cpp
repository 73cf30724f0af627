#include "level.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace axon::bench {

namespace {

/// What the runtime asks of a machine for the level too.
int best() {
  if (__builtin_cpu_supports("x86-64-v4")) return 4;
  return __builtin_cpu_supports("x86-64-v3") ? 3 : 2;
}

int chosen() {
  const char* const forced = std::getenv("AXON_LEVEL");
  if (!forced) return best();
  for (const int number : {2, 3, 4}) {
    if (forced != "x86-64-v" + std::to_string(number)) continue;
    if (number <= best()) return number;
    std::fprintf(stderr, "AXON_LEVEL is %s, which this machine cannot run\n", forced);
    std::exit(77);
  }
  std::fprintf(stderr, "AXON_LEVEL is %s, which is no instruction-set level\n", forced);
  std::exit(2);
}

}  // namespace

int level() {
  static const int number = chosen();
  return number;
}

}  // namespace axon::bench
