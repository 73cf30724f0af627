// See propose.h.
#include "tools/weights/propose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "host/weight_fit.h"
#include "tools/weights/sharing.h"

namespace axon::tools {

namespace {

constexpr double sibling_bonus = 0.5;  ///< for the bias beside the weight
constexpr double turned_malus = 0.2;   ///< for a matrix that lies otherwise than those beside it
constexpr double open_malus = 0.3;     ///< for what does not fit by what is known, once nothing else is clear
constexpr double kin_bonus = 0.1;      ///< beside a tensor of a parameter of the same record
constexpr double part_malus = 0.1;     ///< for one tensor of a stack
constexpr double series_bonus = 0.3;   ///< for the same place in a series of as many names
constexpr double depth_malus =
    0.3;  ///< for each index that a stack of tensors has more or less than one of records
constexpr double axes_malus = 0.2;      ///< for axes in another order
constexpr double least_for_axes = 0.5;  ///< how alike names have to be for that

class Matcher : Sharing {
 public:
  Matcher(const host::Manifest& manifest, const weights::TensorTable& table,
          const std::vector<std::string>& names, const std::vector<size_t>& stacks)
      : Sharing(Facts(manifest, host::sizes_in(table)), units_of(table), table.tensors.size()) {
    for (size_t i = 0; i < names.size(); ++i) {
      Parameter p;
      p.name = names[i];
      // What a parameter is called in one letter says nothing of its tensors.
      p.words = words_of(p.name.size() > 2 && p.name[1] == '.' ? p.name.substr(2) : p.name);
      p.rank = manifest.weights[i].rank;
      p.stacks = stacks[i];
      p.elem = static_cast<Elem>(manifest.weights[i].elem);
      parameters_.push_back(std::move(p));
    }
    const auto series = series_in(names);
    for (size_t i = 0; i < names.size(); ++i) parameters_[i].series = series[i];
  }

  Proposal run() {
    for (size_t i = 0; i < parameters_.size(); ++i) add_candidates(i);
    withhold_parts();
    match_each();
    share_tensors();
    for (Parameter& p : parameters_) p.withheld = false;
    match_each();
    share_tensors();
    join_tensors();
    borrow_tensors();
    assume_orientations();
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].chosen) finish(i);
      if (!parameters_[i].done) out_.unbound.push_back(parameters_[i].name + why_unbound(parameters_[i]));
    }
    add_summands(out_, units_, used_, sums_);
    std::stable_sort(out_.rules.begin(), out_.rules.end(), [&](const ProposedRule& a, const ProposedRule& b) {
      return position(a.fields[0]) < position(b.fields[0]);
    });
    return std::move(out_);
  }

 private:
  size_t position(const std::string& name) const {
    return static_cast<size_t>(std::find_if(parameters_.begin(), parameters_.end(),
                                            [&](const Parameter& p) { return p.name == name; }) -
                               parameters_.begin());
  }

  // ---- one tensor, or one stack, for one parameter ----

  /// Which orientations of a unit the parameter can have; none: it cannot be this unit.
  void orient(size_t parameter, Candidate& candidate) const {
    const Unit& unit = units_[candidate.unit];
    const uint32_t rank = parameters_[parameter].rank;
    candidate.plain = facts_.fits(parameter, shape_of(unit, false));
    candidate.transposed = unit.shape.size() >= 2 && facts_.fits(parameter, shape_of(unit, true));
    candidate.axes = std::nullopt;
    candidate.open = false;
    if (!candidate.fits() && candidate.score >= least_for_axes)
      candidate.axes = arrangement_of(facts_, parameter, rank, unit, orders_, candidate.open);
  }

  void add_candidates(size_t i) {
    Parameter& p = parameters_[i];
    for (size_t u = 0; u < units_.size(); ++u) {
      const Unit& unit = units_[u];
      if (!same_kind(p, unit) &&
          (!weights::convertible(unit.dtype, p.elem) || unit.in_stack || unit.extents.size() != p.stacks))
        continue;
      Candidate candidate{u, likeness(p.words, units_[u].words)};
      orient(i, candidate);
      if (candidate.fits() || candidate.open) p.candidates.push_back(candidate);
    }
    p.version = facts_.version();
  }

  /// Drops candidates that are taken, or that what became known rules out.
  void prune(size_t i) {
    Parameter& p = parameters_[i];
    const bool facts_changed = p.version != facts_.version();
    for (Candidate& candidate : p.candidates)
      if (facts_changed) orient(i, candidate);
    p.version = facts_.version();
    std::erase_if(p.candidates,
                  [&](const Candidate& c) { return (!c.fits() && !c.open) || !is_free(units_[c.unit]); });
  }

  /// A weight and its bias have the same parent in the program and in the file.
  double score(const Parameter& p, const Candidate& candidate) const {
    const Unit& unit = units_[candidate.unit];
    double out = candidate.score;
    const int votes = votes_[is_layer(p, unit)];
    const bool turned = candidate.transposed ? votes < 0 : votes > 0;
    if (is_matrix(unit) && candidate.plain != candidate.transposed && turned) out -= turned_malus;
    if (candidate.axes) out -= axes_malus;
    if (unit.in_stack) out -= part_malus;
    if (const auto kin = homes_.find(home_of(p.name));
        kin != homes_.end() && kin->second.contains(home_of(unit.pattern)))
      out += kin_bonus;
    out += series_bonus * in_series(p.series, unit.series);
    const size_t depth = unit.extents.size();
    out -= depth_malus * static_cast<double>(depth < p.stacks ? p.stacks - depth : depth - p.stacks);
    if (!ends_in_leaf(p.name)) return out;
    const auto sibling = siblings_.find(std::string(parent_of(p.name)));
    return out +
           (sibling != siblings_.end() && sibling->second == parent_of(unit.pattern) ? sibling_bonus : 0);
  }

  /// 1 for the same place in a series of as many names, -1 for others, 0 where there is no such series.
  static double in_series(const std::vector<SeriesPlace>& some, const std::vector<SeriesPlace>& others) {
    double out = 0;
    for (const SeriesPlace& one : some)
      for (const SeriesPlace& other : others) {
        if (one == other) return 1;
        if (one.count == other.count) out = -1;
      }
    return out;
  }

  struct Best {
    const Candidate* candidate = nullptr;
    double score = 0, margin = 0;  ///< over all others
  };
  /// The best candidate, the first of those that are as good; none while a better one is open.
  Best best(const Parameter& p) const {
    Best out;
    double second = 0;
    for (const Candidate& candidate : p.candidates) {
      const double value = score(p, candidate) - (candidate.fits() || patient_ ? 0 : open_malus);
      if (!out.candidate || value > out.score + alike) {
        second = out.candidate ? out.score : 0;
        out.score = value;
        out.candidate = &candidate;
      } else {
        second = std::max(second, value);
      }
    }
    if (out.candidate && !out.candidate->fits()) return {};
    out.margin = out.score - second;
    return out;
  }

  /// The best that may fit, once more is known.
  const Candidate* open_candidate(const Parameter& p) const {
    const Candidate* out = nullptr;
    for (const Candidate& candidate : p.candidates)
      if (candidate.open && is_free(units_[candidate.unit]) && (!out || candidate.score > out->score))
        out = &candidate;
    return out;
  }

  /// What is left for a parameter, as words behind its name.
  std::string why_unbound(const Parameter& p) const {
    if (const Candidate* const open = open_candidate(p))
      return fmt::format(": maybe {}, with `axes`, which its shape does not tell",
                         pretty(units_[open->unit].pattern));
    return ": no tensor of its shape and type is left";
  }

  void match_each() {
    for (const bool patient : {true, false}) {
      patient_ = patient;
      while (const auto next = clearest()) choose(*next);
    }
  }

  /// The open parameter whose best tensor stands out most, of those whose best tensor is not that of another
  /// one which is more like it.
  std::optional<size_t> clearest() {
    for (size_t i = 0; i < parameters_.size(); ++i) settle(i);
    std::vector<Best> all(parameters_.size());
    std::map<size_t, double> highest;  // by unit
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].done || parameters_[i].withheld) continue;
      prune(i);
      all[i] = best(parameters_[i]);
      if (!all[i].candidate || all[i].margin <= alike) continue;
      double& most = highest[all[i].candidate->unit];
      most = std::max(most, all[i].score);
    }
    std::optional<size_t> out;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!all[i].candidate || all[i].score < highest[all[i].candidate->unit] - alike) continue;
      if (!out || stands_out(all[i], all[*out])) out = i;
    }
    return out;
  }

  /// More than the other one; of two that do not, the one whose tensor is more like it.
  static bool stands_out(const Best& a, const Best& b) {
    if (a.margin > alike || b.margin > alike) return a.margin > b.margin + 1e-9;
    return a.score > b.score + 1e-9;
  }

  void choose(size_t i) {
    Parameter& p = parameters_[i];
    const Candidate chosen = *best(p).candidate;
    const Unit& unit = units_[chosen.unit];
    std::vector<std::string> others;
    for (const Candidate& other : p.candidates)
      if (other.unit != chosen.unit && other.fits() &&
          std::abs(score(p, other) - score(p, chosen)) <= alike && others.size() < most_shown &&
          !is_rival(p.name, unit, units_[other.unit]))
        others.push_back(pretty(units_[other.unit].pattern));
    if (!others.empty())
      doubts_[i] = fmt::format("{}: {}, or {}", p.name, pretty(unit.pattern), fmt::join(others, ", "));
    p.chosen = chosen;
    p.done = true;
    use(unit);
    if (!home_of(p.name).empty()) homes_[home_of(p.name)].insert(home_of(unit.pattern));
    if (ends_in_leaf(p.name)) siblings_.emplace(parent_of(p.name), parent_of(unit.pattern));
  }

  /// Takes the shape of a chosen unit for a fact as soon as only one orientation of it fits.
  void settle(size_t i) {
    Parameter& p = parameters_[i];
    if (!p.chosen || p.settled) return;
    const Unit& unit = units_[p.chosen->unit];
    orient(i, *p.chosen);
    if (p.chosen->axes) {
      p.settled = true;
      facts_.take(i, p.chosen->axes->shape);
      if (p.chosen->axes->certain && !p.chosen->axes->order.empty()) ++orders_[p.chosen->axes->order];
      arranged_.emplace(i, *p.chosen->axes);
      return;
    }
    const bool square = shape_of(unit, false) == shape_of(unit, unit.shape.size() >= 2);
    if (p.chosen->plain == p.chosen->transposed && !square) return;
    p.settled = true;
    facts_.take(i, shape_of(unit, p.chosen->transposed));
    if (is_matrix(unit) && !square) votes_[is_layer(p, unit)] += p.chosen->transposed ? 1 : -1;
  }

  /// What shapes leave open is assumed to be as it usually is, of those with few axes first: that may leave
  /// others one order of their axes.
  void assume_orientations() {
    std::vector<size_t> open;
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (parameters_[i].chosen && !parameters_[i].settled) open.push_back(i);
    std::stable_sort(open.begin(), open.end(), [&](size_t a, size_t b) {
      return units_[parameters_[a].chosen->unit].shape.size() <
             units_[parameters_[b].chosen->unit].shape.size();
    });
    for (const size_t i : open) {
      settle(i);
      Parameter& p = parameters_[i];
      if (p.settled || !p.chosen->plain) continue;
      const Unit& unit = units_[p.chosen->unit];
      const bool turned = votes_on(i, unit) > 0;
      assumed_.emplace(i, turned);
      facts_.take(i, shape_of(unit, turned));
      p.settled = true;
    }
  }

  /// Writes the rule of a parameter that has a tensor of its own.
  void finish(size_t i) {
    const Parameter& p = parameters_[i];
    Candidate chosen = *p.chosen;
    const Unit& unit = units_[chosen.unit];
    ProposedRule rule = rule_for(p, unit);
    if (const auto found = arranged_.find(i); found != arranged_.end()) {
      finish_arranged(i, found->second, rule);
      return;
    }
    orient(i, chosen);
    rule.transposed = chosen.transposed && (!chosen.plain || usually_transposed(i, unit));
    if (const auto assumed = assumed_.find(i); assumed != assumed_.end()) {
      if (!chosen.plain || !chosen.transposed) usually_transposed(i, unit);  // which says that it is unsure
      rule.transposed = assumed->second;
    }
    out_.rules.push_back(rule);
    if (const auto doubt = doubts_.find(i); doubt != doubts_.end()) out_.doubts.push_back(doubt->second);
  }

  /// What was not certain then may be by what was found since.
  void finish_arranged(size_t i, Arrangement found, ProposedRule& rule) {
    const Parameter& p = parameters_[i];
    bool open = false;
    auto again = arrangement_of(facts_, i, p.rank, units_[p.chosen->unit], orders_, open);
    if (again && !found.certain) found = std::move(*again);
    rule.axes = found.axes;
    out_.rules.push_back(rule);
    if (const auto doubt = doubts_.find(i); doubt != doubts_.end()) out_.doubts.push_back(doubt->second);
    if (!found.certain)
      out_.doubts.push_back(fmt::format("{}: which of its axes is which, its shape does not tell", p.name));
  }

  int votes_on(size_t i, const Unit& unit) const {
    return is_matrix(unit) ? votes_[is_layer(parameters_[i], unit)] : 0;
  }

  /// What square matrices are: as most others of layers, or of those outside, whose orientation is known.
  /// Filters, which have more axes, are written as they are: their last axes are places, or the matrices of a
  /// stack.
  bool usually_transposed(size_t i, const Unit& unit) {
    const int votes = votes_on(i, unit);
    if (votes == 0 && unit.shape.size() <= 3)
      out_.doubts.push_back(
          fmt::format("{}: whether it is transposed, its shape does not tell", parameters_[i].name));
    return votes > 0;
  }

  /// Is it one of a stack, or has it a bias beside it? Embeddings, which are not, often lie otherwise.
  bool is_layer(const Parameter& p, const Unit& unit) const {
    const std::string_view parent = parent_of(p.name);
    return !unit.extents.empty() ||
           std::any_of(parameters_.begin(), parameters_.end(), [&](const Parameter& other) {
             return !parent.empty() && parent_of(other.name) == parent && other.rank == 1 &&
                    ends_in_leaf(other.name) && ends_in_leaf(p.name);
           });
  }

  // ---- the tensor of another parameter ----

  /// Where nothing is left for a parameter, it may be that of another, as the embedding is for a classifier.
  void borrow_tensors() {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      Parameter& p = parameters_[i];
      if (p.done || p.rank < 2 || open_candidate(p)) continue;
      std::vector<size_t> found;
      for (size_t u = 0; u < units_.size(); ++u)
        if (same_kind(p, units_[u]) && units_[u].extents.empty() &&
            facts_.fits(i, shape_of(units_[u], false)))
          found.push_back(u);
      if (found.size() != 1) continue;
      p.done = true;
      out_.rules.push_back(rule_for(p, units_[found[0]]));
      out_.doubts.push_back(fmt::format("{}: no tensor of its own, {} has its shape", p.name,
                                        pretty(units_[found[0]].pattern)));
    }
  }

  std::map<std::string, std::string> siblings_;         ///< the parent of tensors, by that of parameters
  std::map<std::string, std::set<std::string>> homes_;  ///< of tensors, by that of parameters
  std::map<size_t, std::string> doubts_;
  bool patient_ = true;                     ///< no second choice is taken while the first one is open
  std::map<size_t, Arrangement> arranged_;  ///< by parameter
  OrdersSeen orders_;
  std::map<size_t, bool> assumed_;  ///< whether it is transposed, which shapes do not tell
};

}  // namespace

Proposal propose(const host::Manifest& manifest, const weights::TensorTable& table,
                 const std::vector<std::string>& names, const std::vector<size_t>& stacks) {
  return Matcher(manifest, table, names, stacks).run();
}

}  // namespace axon::tools
