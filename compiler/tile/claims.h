// What is known of the elements of a tile: which are defined, and what lies outside of bounds.
//
// In: bounds of copies and maps. Out: claims. An element for which the facts of all claims hold is a true
// one: computed from elements inside of their tensors. One that breaks facts has what their claims say; where
// these differ, the weakest of it. Invariant: a tile without claims is defined everywhere.
#pragma once
#include <optional>
#include <vector>

#include "tile/tile.h"

namespace axon::tile {

struct Beyond {
  enum class Kind : uint8_t { undefined, defined, constant } kind = Kind::undefined;
  Number number;  ///< constant
  friend bool operator==(const Beyond&, const Beyond&) = default;
};
inline bool same(const Fact& a, const Fact& b) {
  return a.lhs == b.lhs && a.relation == b.relation && a.rhs == b.rhs;
}

struct Claim {
  Fact fact;
  Beyond beyond;
};

/// What holds where either does.
inline Beyond weaker(const Beyond& a, const Beyond& b) {
  if (a == b) return a;
  const bool undefined = a.kind == Beyond::Kind::undefined || b.kind == Beyond::Kind::undefined;
  return {undefined ? Beyond::Kind::undefined : Beyond::Kind::defined, {}};
}

class Claims {
 public:
  void add(const Fact& fact, const Beyond& beyond) {
    for (Claim& claim : list_)
      if (same(claim.fact, fact)) {
        claim.beyond = weaker(claim.beyond, beyond);
        return;
      }
    list_.push_back({fact, beyond});
  }
  const Claim* find(const Fact& fact) const {
    for (const Claim& claim : list_)
      if (same(claim.fact, fact)) return &claim;
    return nullptr;
  }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  bool empty() const { return list_.empty(); }
  bool mention(Var v) const {
    for (const Claim& claim : list_)
      if (claim.fact.lhs.contains(v) || claim.fact.rhs.contains(v)) return true;
    return false;
  }
  Claims substituted(const shape::Substitution& by) const {
    Claims out;
    for (const Claim& claim : list_)
      out.add({claim.fact.lhs.substitute(by), claim.fact.relation, claim.fact.rhs.substitute(by)},
              claim.beyond);
    return out;
  }
  friend bool operator==(const Claims& a, const Claims& b) {
    if (a.list_.size() != b.list_.size()) return false;
    for (const Claim& claim : a.list_) {
      const Claim* other = b.find(claim.fact);
      if (!other || other->beyond != claim.beyond) return false;
    }
    return true;
  }

 private:
  std::vector<Claim> list_;
};

}  // namespace axon::tile
