// See conditions.h.
#include "shape/conditions.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "shape/candidates.h"
#include "shape/dim_node.h"

namespace axon::shape {
namespace {

/// Of `v % k == r`: v, with k and r.
std::optional<std::pair<Var, Congruence>> remainder_of(const Fact& fact) {
  if (fact.relation != Relation::eq) return std::nullopt;
  for (const auto& [side, other] : {std::pair(fact.lhs, fact.rhs), std::pair(fact.rhs, fact.lhs)}) {
    const auto alone = as_atom_plus_constant(side);
    if (!alone || alone->constant != 0 || alone->atom.kind() != AtomKind::mod) continue;
    const auto v = alone->atom.lhs().as_var();
    const auto k = alone->atom.rhs().constant(), r = other.constant();
    if (v && k && r && *k > 0 && 0 <= *r && *r < *k) return std::pair(*v, Congruence{*k, *r});
  }
  return std::nullopt;
}

}  // namespace

std::vector<size_t> connected(const std::vector<Fact>& facts, std::vector<Var>& reach) {
  const auto is_reached = [&](Var v) { return std::find(reach.begin(), reach.end(), v) != reach.end(); };
  std::vector<size_t> found;
  std::vector<bool> used(facts.size(), false);
  for (bool grew = true; grew;) {
    grew = false;
    for (size_t i = 0; i < facts.size(); ++i) {
      if (used[i]) continue;
      std::vector<Var> mine = facts[i].lhs.vars();
      facts[i].rhs.collect_vars(mine);
      if (std::none_of(mine.begin(), mine.end(), is_reached)) continue;
      used[i] = grew = true;
      found.push_back(i);
      for (const Var v : mine)
        if (!is_reached(v)) reach.push_back(v);
    }
  }
  return found;
}

std::vector<size_t> needed_facts(const std::vector<Fact>& facts, const std::vector<Fact>& goals) {
  std::vector<size_t> needed;
  for (size_t i = 0; i < facts.size(); ++i) needed.push_back(i);
  for (size_t at = needed.size(); at-- > 0;) {
    std::vector<Fact> others;
    for (size_t i = 0; i < needed.size(); ++i)
      if (i != at) others.push_back(facts[needed[i]]);
    if (prove_any(others, goals).verdict == Verdict::proved)
      needed.erase(needed.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return needed;
}

std::vector<Fact> simplified(const std::vector<Fact>& facts, const std::vector<Fact>& known) {
  std::vector<Fact> out;
  std::map<Var, size_t> merged;  // where the remainder of a variable stands
  for (const Fact& fact : facts) {
    const auto own = remainder_of(fact);
    const auto before = own ? merged.find(own->first) : merged.end();
    if (before != merged.end()) {
      const Congruence first = remainder_of(out[before->second])->second;
      const auto both = in_both(first, own->second);
      const Wide step = Wide{first.step} / std::gcd(first.step, own->second.step) * own->second.step;
      if (both && both->step == step) {
        out[before->second] = equal(mod(Dim(own->first), both->step), both->first);
        continue;
      }
    }
    if (own) merged.emplace(own->first, out.size());
    out.push_back(fact);
  }
  for (size_t at = out.size(); at-- > 0;) {
    std::vector<Fact> others = known;
    for (size_t i = 0; i < out.size(); ++i)
      if (i != at) others.push_back(out[i]);
    if (prove(others, out[at]).verdict == Verdict::proved)
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return out;
}

}  // namespace axon::shape
