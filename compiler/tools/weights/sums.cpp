// See sums.h.
#include "tools/weights/sums.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/weights/families.h"

namespace axon::tools {

namespace {

const Unit* unit_named(const std::vector<Unit>& units, const std::string& pattern) {
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const Unit& unit) { return unit.pattern == pattern; });
  return found == units.end() ? nullptr : &*found;
}

bool are_alike(const Unit& a, const Unit& b) {
  return a.shape == b.shape && a.extents == b.extents && a.dtype == b.dtype && a.converted == b.converted;
}

}  // namespace

void add_summands(Proposal& proposal, const std::vector<Unit>& units, std::vector<bool>& used,
                  const Sums& sums) {
  for (ProposedRule& rule : proposal.rules) {
    const std::string name = rule.tensors[0], other = rule.tensors.size() == 1 ? added_to(name) : "";
    const Unit *const one = unit_named(units, name), *const summand = unit_named(units, other);
    if (other.empty() || !one || !summand) continue;
    const std::string fields = fmt::format("{}", fmt::join(rule.fields, ", "));
    const bool is_left = std::none_of(summand->tensors.begin(), summand->tensors.end(),
                                      [&](const uint32_t t) { return used[t]; });
    if (!is_left || !are_alike(*one, *summand) || one->shape.size() != 1) {
      if (sums.rivals.contains(rule.fields[0]))
        proposal.doubts.push_back(fmt::format("{}: {}, or {}", fields, pretty(name), pretty(other)));
      continue;
    }
    for (const uint32_t t : summand->tensors) used[t] = true;
    rule.tensors.push_back(other);
    std::sort(rule.tensors.rbegin(), rule.tensors.rend());  // what is computed of the input comes first
    rule.summed = true;
    if (sums.apart.contains(rule.fields[0]))
      proposal.doubts.push_back(
          fmt::format("{}: the sum of {} and {}, of which PyTorch resets one with the last gate", fields,
                      pretty(rule.tensors[0]), pretty(rule.tensors[1])));
  }
}

}  // namespace axon::tools
