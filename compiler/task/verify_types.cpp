// One task type at a time: its tiles cover the domain, its stores never collide.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "task/facts.h"
#include "task/verify.h"

namespace axon::task {

namespace {

using graph::Axis;
using graph::Node;

constexpr int max_places = 2000;  ///< tried: for six digits, all orders

/// Do the stored positions determine the domain point?
class Injective {
 public:
  Injective(const Program& p, const Node& node, uint32_t output) : p_(p), node_(node), facts_(p.facts) {
    known_ = node.outputs[output].at;
    for (const Axis& a : node.domain) {
      facts_.push_back(shape::at_least(Dim(a.var), Dim(0)));
      facts_.push_back(shape::less(Dim(a.var), a.extent));
    }
  }

  /// From a quotient and a remainder by the same divisor follows the dividend; from an expression in mixed
  /// radix follow its digits, once the other variables in it are known.
  bool run() {
    if (std::any_of(node_.domain.begin(), node_.domain.end(), [](const Axis& a) { return a.extent.is(0); }))
      return true;  // there are no elements
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < known_.size(); ++i) {
        changed = fix_digits(known_[i]) || changed;
        for (size_t j = 0; j < known_.size(); ++j)
          if (const auto whole = dividend(known_[i], known_[j]);
              whole && std::find(known_.begin(), known_.end(), *whole) == known_.end()) {
            known_.push_back(*whole);
            changed = true;
          }
      }
    }
    return std::all_of(node_.domain.begin(), node_.domain.end(), [&](const Axis& a) {
      return fixed_.contains(a.var) || holds(p_, p_.facts, shape::at_most(a.extent, Dim(1)));
    });
  }

 private:
  struct Digit {
    Var var;
    Dim stride, extent;
  };

  bool fix_digits(const Dim& expr) {
    std::vector<Digit> digits;
    Dim rest = expr;
    for (const Axis& a : node_.domain) {
      if (fixed_.contains(a.var) || !expr.contains(a.var)) continue;
      const auto linear = rest.linear_in(a.var);
      if (!linear) return false;
      digits.push_back({a.var, linear->first, a.extent});
      rest = linear->second;
    }
    const auto is_digit = [&](const Dim& d) {
      return std::any_of(digits.begin(), digits.end(),
                         [&](const Digit& digit) { return d.contains(digit.var); });
    };
    for (const Digit& digit : digits)
      if (is_digit(digit.stride)) return false;
    if (digits.empty() || !in_mixed_radix(digits)) return false;
    for (const Digit& digit : digits) fixed_.insert(digit.var);
    return true;
  }

  /// Is there an order of the digits, last first, in which each stride is at least 1 and exceeds what the
  /// digits after it can add up to? Then the greatest digit, and so every digit, can be read off the sum. (A
  /// single digit only needs a stride that is not 0.)
  bool in_mixed_radix(const std::vector<Digit>& digits) const {
    if (digits.size() == 1 && holds(p_, facts_, {digits[0].stride, shape::Relation::ne, Dim(0)})) return true;
    int tried = 0;
    return place_from(digits, Dim(1), tried);
  }

  /// `below`: the number of values that the digits placed so far can take. Strides that say so by their form
  /// go first: where all do, no other order is tried.
  bool place_from(const std::vector<Digit>& digits, const Dim& below, int& tried) const {
    if (digits.empty()) return true;
    for (const bool by_form : {true, false})
      for (size_t d = 0; d < digits.size(); ++d) {
        const Digit& digit = digits[d];
        if (by_form != (digit.stride == below)) continue;
        if (++tried > max_places || !exceeds(digit.stride, below)) continue;
        std::vector<Digit> rest = digits;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(d));
        if (place_from(rest, digit.stride * digit.extent, tried)) return true;
      }
    return false;
  }

  /// stride >= below, and stride >= 1 wherever the domain is not empty.
  bool exceeds(const Dim& stride, const Dim& below) const {
    return (stride == below || cheaply(p_, facts_, shape::at_least(stride, below))) &&
           (stride.is(1) || holds(p_, facts_, shape::at_least(stride, Dim(1))));
  }

  /// E when the two are E / d and E % d, beside what is known already. They are compared after division: the
  /// normal form pulls common factors out of a quotient, but not out of a remainder.
  std::optional<Dim> dividend(const Dim& quotient, const Dim& remainder) const {
    for (const shape::Term& term : remainder.terms()) {
      if (term.factors.size() != 1 || term.factors[0].kind() != shape::AtomKind::mod) continue;
      const Dim whole = term.factors[0].lhs(), divisor = term.factors[0].rhs();
      if (is_known(divisor) && is_known(quotient - shape::floor_div(whole, divisor)) &&
          is_known(remainder - shape::mod(whole, divisor)))
        return whole;
    }
    return std::nullopt;
  }

  bool is_known(const Dim& d) const {
    return std::none_of(node_.domain.begin(), node_.domain.end(),
                        [&](const Axis& a) { return !fixed_.contains(a.var) && d.contains(a.var); });
  }

  const Program& p_;
  const Node& node_;
  std::vector<Fact> facts_;
  std::vector<Dim> known_;
  std::set<Var> fixed_;
};

/// Coordinates cut axes of their own into tiles that cover them.
bool verify_tiles(const Program& p, const TaskType& type, Report& report) {
  const Node& node = p.graph->nodes[type.node];
  std::set<uint32_t> cut;
  std::set<Var> names;
  for (const Coordinate& c : type.coordinates) {
    const bool own =
        c.axis < node.domain.size() && cut.insert(c.axis).second && names.insert(c.var).second && c.tile >= 1;
    report.add(fmt::format("{}: coordinate {} cuts an axis of its own", type.name, shape::var_name(c.var)),
               own, "form");
    if (!own) return false;
    const Dim& points = node.domain[c.axis].extent;
    auto used = p.facts;
    used.push_back(shape::at_least(points, Dim(1)));
    const auto prove = [&](const char* what, const std::vector<Fact>& facts, const Fact& goal) {
      const auto about = relevant(p, facts, {goal.lhs, goal.rhs});
      auto answer = shape::prove(about, goal);
      if (answer.verdict != shape::Verdict::proved) answer = shape::prove(facts, goal);
      report.add(fmt::format("{}: {} {}", type.name, what, c.axis), answer);
    };
    prove("the grid is not empty along axis", p.facts, shape::at_least(c.extent, Dim(1)));
    prove("tiles cover axis", p.facts, shape::at_least(c.extent * Dim(c.tile), points));
    prove("the last tile is used along axis", used, shape::less((c.extent - Dim(1)) * Dim(c.tile), points));
  }
  return true;
}

}  // namespace

void verify_types(const Program& p, Report& report) {
  for (const TaskType& type : p.types) {
    if (!verify_tiles(p, type, report)) continue;
    const Node& node = p.graph->nodes[type.node];
    for (uint32_t o = 0; o < node.outputs.size(); ++o)
      report.add(fmt::format("{}: output {} stores no element twice", type.name, o),
                 Injective(p, node, o).run(), "mixed radix");
  }
}

}  // namespace axon::task
