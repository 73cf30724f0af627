// See emulator.h: words of a report.
#include <fmt/format.h>

#include <algorithm>

#include "emulator/emulator.h"

namespace axon::emulator {

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::unsupported:
      return "unsupported";
    case Kind::race:
      return "race";
    case Kind::out_of_bounds:
      return "out of bounds";
    case Kind::read_only:
      return "read only";
    case Kind::uninitialised:
      return "uninitialised";
    case Kind::misaligned:
      return "misaligned";
    case Kind::divergence:
      return "divergence";
    case Kind::mask:
      return "mask";
    case Kind::event:
      return "event";
    case Kind::deadlock:
      return "deadlock";
    case Kind::step_limit:
      return "step limit";
    case Kind::trap:
      return "trap";
  }
  return "";
}

bool Report::has(Kind kind) const {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return finding.kind == kind; });
}

std::string Report::text() const {
  std::string all;
  for (const Finding& finding : findings) all += fmt::format("{}: {}\n", name(finding.kind), finding.message);
  return all;
}

}  // namespace axon::emulator
