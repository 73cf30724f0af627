// What is known while tensors are matched with parameters (propose.h): the parameters, the units of the
// checkpoint, which of them are taken, and what follows for sizes.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/weights/elements.h"
#include "tools/weights/arrange.h"
#include "tools/weights/facts.h"
#include "tools/weights/names.h"
#include "tools/weights/propose.h"
#include "tools/weights/sums.h"
#include "tools/weights/units.h"

namespace axon::tools {

constexpr double alike = 0.05;    ///< what names may differ in and leave open which is meant
constexpr size_t most_shown = 4;  ///< others that are as like

using Shape = std::vector<uint64_t>;

struct Candidate {
  size_t unit;
  double score;
  bool plain = false, transposed = false;  ///< the orientations that fit
  std::optional<Arrangement> axes = {};    ///< what fits where neither does
  bool open = false;                       ///< something may, once more is known

  bool fits() const { return plain || transposed || axes; }
};

struct Parameter {
  std::string name;
  std::vector<std::string> words;
  std::vector<SeriesPlace> series;
  uint32_t rank = 0;
  size_t stacks = 0;  ///< axes of these
  Elem elem = Elem::f32;
  bool withheld = false;  ///< it is thought to share a tensor: matched when the others are
  size_t version = 0;     ///< of the facts that the candidates agree with
  std::vector<Candidate> candidates;
  std::optional<Candidate> chosen;
  bool settled = false;  ///< its shape is among the facts
  bool done = false;
};

inline Shape shape_of(const Unit& unit, bool transposed) {
  Shape out = unit.extents;
  out.insert(out.end(), unit.shape.begin(), unit.shape.end());
  if (transposed) std::swap(out[out.size() - 1], out[out.size() - 2]);
  return out;
}

class Matching {
 protected:
  Matching(Facts facts, std::vector<Unit> units, size_t tensors)
      : facts_(std::move(facts)), units_(std::move(units)), used_(tensors, false) {}

  bool is_free(const Unit& unit) const {
    return std::none_of(unit.tensors.begin(), unit.tensors.end(), [&](uint32_t t) { return used_[t]; });
  }
  void use(const Unit& unit) {
    for (const uint32_t t : unit.tensors) used_[t] = true;
  }
  static bool same_kind(const Parameter& p, const Unit& unit) {
    return unit.extents.size() + unit.shape.size() == p.rank && weights::convertible(unit.dtype, p.elem);
  }
  /// Is it the other summand? Whether it is one, or another parameter, is seen when all are matched.
  bool is_rival(const std::string& field, const Unit& chosen, const Unit& other) {
    const bool is = added_to(chosen.pattern) == other.pattern;
    if (is) sums_.rivals.insert(field);
    return is;
  }

  ProposedRule rule_for(const Parameter& p, const Unit& unit) const {
    ProposedRule rule;
    rule.fields = {p.name};
    rule.tensors = {unit.pattern};
    rule.indices = unit.extents.size();
    rule.matrix = unit.shape.size() >= 2;
    if (unit.dtype != p.elem || unit.converted) rule.as = p.elem;
    return rule;
  }

  static bool is_matrix(const Unit& unit) { return unit.shape.size() == 2; }

  Facts facts_;
  const std::vector<Unit> units_;
  std::vector<bool> used_;  ///< by tensor
  std::vector<Parameter> parameters_;
  Sums sums_;
  int votes_[2] = {0, 0};  ///< matrices that are transposed, less those that are not; alone, and in layers
  Proposal out_;
};

}  // namespace axon::tools
