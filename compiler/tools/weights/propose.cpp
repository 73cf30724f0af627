// See propose.h.
#include "tools/weights/propose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "host/weight_fit.h"
#include "tools/weights/arrange.h"
#include "tools/weights/facts.h"
#include "tools/weights/families.h"
#include "tools/weights/names.h"
#include "tools/weights/sums.h"
#include "tools/weights/units.h"

namespace axon::tools {

namespace {

constexpr double alike = 0.05;         ///< what names may differ in and leave open which is meant
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
constexpr size_t most_parts = 8, most_shown = 4;

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

Shape shape_of(const Unit& unit, bool transposed) {
  Shape out = unit.extents;
  out.insert(out.end(), unit.shape.begin(), unit.shape.end());
  if (transposed) std::swap(out[out.size() - 1], out[out.size() - 2]);
  return out;
}

class Matcher {
 public:
  Matcher(const host::Manifest& manifest, const weights::TensorTable& table,
          const std::vector<std::string>& names, const std::vector<size_t>& stacks)
      : facts_(manifest, host::sizes_in(table)), units_(units_of(table)), used_(table.tensors.size(), false) {
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

  bool is_free(const Unit& unit) const {
    return std::none_of(unit.tensors.begin(), unit.tensors.end(), [&](uint32_t t) { return used_[t]; });
  }
  void use(const Unit& unit) {
    for (const uint32_t t : unit.tensors) used_[t] = true;
  }
  static bool same_kind(const Parameter& p, const Unit& unit) {
    return unit.extents.size() + unit.shape.size() == p.rank && weights::convertible(unit.dtype, p.elem);
  }
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

  /// Is it the other summand? Whether it is one, or another parameter, is seen when all are matched.
  bool is_rival(const std::string& field, const Unit& chosen, const Unit& other) {
    const bool is = added_to(chosen.pattern) == other.pattern;
    if (is) sums_.rivals.insert(field);
    return is;
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

  // ---- several parameters of one tensor ----

  std::vector<Family> families() const {
    std::vector<OpenName> open;
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (!parameters_[i].done) open.push_back({i, parameters_[i].name, parameters_[i].rank});
    return families_of(open);
  }

  /// Parts in a usual order wait until other parameters are matched, where there are not as many tensors as
  /// parameters and none, or not one each, with the words of the parts.
  void withhold_parts() {
    for (const Family& family : families())
      if (family.order && are_together(*family.order))
        for (const size_t part : family.order->members) parameters_[part].withheld = true;
  }
  bool are_together(const UsualOrder& order) const {
    const Parameter& first = parameters_[order.members[0]];
    const auto alike_count = std::count_if(parameters_.begin(), parameters_.end(), [&](const Parameter& p) {
      return p.rank == first.rank && p.elem == first.elem;
    });
    std::set<uint32_t> stacked;
    for (const Unit& unit : units_)
      if (!unit.extents.empty()) stacked.insert(unit.tensors.begin(), unit.tensors.end());
    ptrdiff_t units = 0;
    size_t own = 0;
    for (const Unit& unit : units_) {
      if (unit.extents.empty() && stacked.contains(unit.tensors[0])) continue;
      if (!same_kind(first, unit)) continue;
      ++units;
      own += std::any_of(order.words.begin(), order.words.end(), [&](const std::vector<std::string>& part) {
        return std::any_of(unit.words.begin(), unit.words.end(), [&](const std::string& word) {
          return std::find(part.begin(), part.end(), word) != part.end();
        });
      });
    }
    return alike_count > units && own < order.words.size();
  }
  struct Split {
    double score = -1;
    size_t unit = 0;
    std::vector<size_t> parts;
    bool transposed = false;
    std::string cut;
    std::vector<Shape> shapes;
    std::optional<UsualOrder> order;  ///< that the parts are in
  };

  /// Parts that have a usual order are tried in it, others as they stand beside each other in the program.
  void share_tensors() {
    while (true) {
      Split best;
      for (const Family& family : families()) {
        if (family.order) try_parts(family.order->members, family.order, best);
        if (family.order) continue;
        const auto begin = family.members.begin();
        for (size_t count = std::min(family.members.size(), most_parts); count > 1; --count)
          for (size_t first = 0; first + count <= family.members.size(); ++first)
            try_parts({begin + static_cast<ptrdiff_t>(first), begin + static_cast<ptrdiff_t>(first + count)},
                      std::nullopt, best);
      }
      if (best.parts.empty()) return;
      take(best);
    }
  }

  double score_of_parts(const std::vector<size_t>& parts, const Unit& unit) const {
    double score = 0;
    for (const size_t part : parts) score += likeness(parameters_[part].words, unit.words);
    return score / static_cast<double>(parts.size()) + 0.01 * static_cast<double>(parts.size());
  }

  void try_parts(const std::vector<size_t>& parts, const std::optional<UsualOrder>& order,
                 Split& best) const {
    for (size_t u = 0; u < units_.size(); ++u) {
      const Unit& unit = units_[u];
      if (!same_kind(parameters_[parts[0]], unit) || unit.shape.empty() || !is_free(unit)) continue;
      const double score = score_of_parts(parts, unit);
      if (score <= best.score || !cut(parts, unit, best)) continue;
      best.score = score;
      best.unit = u;
      best.order = order;
    }
  }

  /// How a unit may be cut or joined: along the columns first, transposed or not, as most layers are first;
  /// the axis is counted from the last.
  std::vector<std::pair<bool, size_t>> orientations(const Unit& unit) const {
    if (unit.shape.size() < 2) return {{false, 1}};
    const bool usual = votes_[1] > 0;
    return {{usual, 1}, {!usual, 1}, {usual, 2}, {!usual, 2}};
  }

  bool cut(const std::vector<size_t>& parts, const Unit& unit, Split& out) const {
    const auto ways = orientations(unit);
    return std::any_of(ways.begin(), ways.end(),
                       [&](const auto& way) { return cut(parts, unit, way.first, way.second, out); });
  }

  /// Can these parameters share the unit along an axis, counted from the last?
  bool cut(const std::vector<size_t>& parts, const Unit& unit, bool transposed, size_t back,
           Split& out) const {
    Shape shape = shape_of(unit, transposed);
    const size_t axis = shape.size() - back;
    const uint64_t extent = shape[axis];
    bool same = true;
    for (const size_t part : parts) same = same && facts_.text(part, axis) == facts_.text(parts[0], axis);
    const std::vector<uint64_t> sizes = sizes_of_parts(parts, axis, extent);
    if (sizes.empty()) return false;
    std::vector<Shape> shapes;
    Facts known = facts_;
    for (size_t i = 0; i < parts.size(); ++i) {
      shape[axis] = sizes[i];
      if (!known.fits(parts[i], shape)) return false;
      known.take(parts[i], shape);
      shapes.push_back(shape);
    }
    if (!allow_what_is_chosen(known)) return false;
    out.parts = parts;
    out.transposed = transposed;
    out.shapes = std::move(shapes);
    out.cut = fmt::format("split {}", back == 1 || shape.size() == 1 ? "columns" : "rows");
    if (!same) out.cut += fmt::format(" {}", fmt::join(sizes, " "));
    return true;
  }

  /// Is there an orientation left for each tensor that is chosen?
  bool allow_what_is_chosen(const Facts& known) const {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Parameter& p = parameters_[i];
      if (!p.chosen || p.settled) continue;
      const Unit& unit = units_[p.chosen->unit];
      const bool turned = unit.shape.size() >= 2 && known.fits(i, shape_of(unit, true));
      if (!turned && !known.fits(i, shape_of(unit, false))) return false;
    }
    return true;
  }

  /// How much of an axis each part has: what is known of it, and of what is left as much as the others of the
  /// same size. Empty where that does not follow, or is not all of the axis.
  std::vector<uint64_t> sizes_of_parts(const std::vector<size_t>& parts, size_t axis, uint64_t extent) const {
    std::vector<uint64_t> sizes;
    std::set<std::string> open;
    uint64_t sum = 0, count = 0;
    for (const size_t part : parts) {
      const auto size = facts_.extent(part, axis);
      sum += sizes.emplace_back(size.value_or(0));
      if (!size) open.insert(facts_.text(part, axis)), ++count;
    }
    if (sum > extent || open.size() > 1) return {};
    const uint64_t rest = extent - sum;
    if (count == 0 ? rest != 0 : rest % count != 0 || (rest == 0 && count < parts.size())) return {};
    for (size_t i = 0; i < parts.size(); ++i)
      if (!facts_.extent(parts[i], axis)) sizes[i] = rest / count;
    return sizes;
  }

  void take(const Split& split) {
    const Unit& unit = units_[split.unit];
    ProposedRule rule = rule_for(parameters_[split.parts[0]], unit);
    rule.fields.clear();
    for (size_t i = 0; i < split.parts.size(); ++i) {
      Parameter& p = parameters_[split.parts[i]];
      rule.fields.push_back(p.name);
      p.done = true;
      facts_.take(split.parts[i], split.shapes[i]);
    }
    rule.transposed = split.transposed;
    rule.cut = split.cut;
    use(unit);
    doubt_parts(split, rule);
    out_.rules.push_back(std::move(rule));
  }

  /// What a split leaves open: the tensor, where another is as like the parts, and their order.
  void doubt_parts(const Split& split, const ProposedRule& rule) {
    std::vector<std::string> others;
    for (const Unit& unit : units_) {
      Split tried;
      if (same_kind(parameters_[split.parts[0]], unit) && !unit.shape.empty() && is_free(unit) &&
          std::abs(score_of_parts(split.parts, unit) - split.score) <= alike && others.size() < most_shown &&
          cut(split.parts, unit, tried) && !is_rival(rule.fields[0], units_[split.unit], unit))
        others.push_back(pretty(unit.pattern));
    }
    const std::string fields = fmt::format("{}", fmt::join(rule.fields, ", ")),
                      name = pretty(rule.tensors[0]);
    if (!others.empty())
      out_.doubts.push_back(fmt::format("{}: {}, or {}", fields, name, fmt::join(others, ", ")));
    const bool gates = split.order && split.order->gates;
    if (!gates || !is_recurrent_of_pytorch(rule.tensors[0]))
      out_.doubts.push_back(fmt::format("{}: parts of {}, in this order", fields, name));
    if (gates && !split.order->has_sum) sums_.apart.insert(rule.fields[0]);
  }

  // ---- several tensors for one parameter ----

  void join_tensors() {
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (!parameters_[i].done) join(i);
  }

  /// Units that are free and have the same name but for one part between dots, by that.
  std::vector<std::vector<size_t>> unit_families(const Parameter& p) const {
    std::map<std::string, std::vector<size_t>> out;
    for (size_t u = 0; u < units_.size(); ++u) {
      if (!same_kind(p, units_[u]) || units_[u].shape.empty() || !is_free(units_[u])) continue;
      const std::string_view pattern = units_[u].pattern, parent = parent_of(pattern),
                             leaf = leaf_of(pattern);
      out[fmt::format("{}.?.{}", parent_of(parent), leaf)].push_back(u);
      out[fmt::format("{}.?", parent)].push_back(u);
    }
    std::vector<std::vector<size_t>> lists;
    for (auto& [key, list] : out)
      if (list.size() > 1) lists.push_back(std::move(list));
    return lists;
  }

  void join(size_t i) {
    const Parameter& p = parameters_[i];
    double most = -1;
    std::vector<size_t> best;
    ProposedRule rule;
    for (const std::vector<size_t>& family : unit_families(p))
      for (std::vector<size_t> units : {units_by_letters(p.words, family, units_), family}) {
        if (units.size() < 2 || units.size() > most_parts) continue;
        double score = 0;
        for (const size_t u : units) score = std::max(score, likeness(p.words, units_[u].words));
        if (score <= most || !joined(i, units, rule)) continue;
        most = score;
        best = units;
      }
    if (best.empty()) return;
    for (const size_t u : best) use(units_[u]);
    parameters_[i].done = true;
    out_.doubts.push_back(
        fmt::format("{}: joined of {}, in this order", p.name, fmt::join(rule.tensors, " and ")));
    out_.rules.push_back(rule);
  }

  /// The rule, if the parameter can have the shape of the units behind one another.
  bool joined(size_t i, const std::vector<size_t>& units, ProposedRule& out) {
    const Unit& first = units_[units[0]];
    for (const auto& [transposed, back] : orientations(first)) {
      Shape whole = shape_of(first, transposed);
      const size_t axis = whole.size() - back;
      bool fits = true;
      for (const size_t u : units) {
        const Unit& unit = units_[u];
        Shape shape = shape_of(unit, transposed);
        if (u != units[0]) whole[axis] += shape[axis];
        shape[axis] = whole[axis];
        fits = fits && shape == whole && unit.dtype == first.dtype && unit.converted == first.converted;
      }
      if (!fits || !facts_.fits(i, whole)) continue;
      facts_.take(i, whole);
      out = rule_for(parameters_[i], first);
      out.tensors.clear();
      for (const size_t u : units) out.tensors.push_back(units_[u].pattern);
      out.transposed = transposed;
      out.cut = fmt::format("joined {}", back == 1 ? "columns" : "rows");
      return true;
    }
    return false;
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

  Facts facts_;
  const std::vector<Unit> units_;
  std::vector<bool> used_;  ///< by tensor
  std::vector<Parameter> parameters_;
  std::map<std::string, std::string> siblings_;  ///< the parent of tensors, by that of parameters
  std::map<std::string, std::set<std::string>> homes_;  ///< of tensors, by that of parameters
  std::map<size_t, std::string> doubts_;
  bool patient_ = true;                     ///< no second choice is taken while the first one is open
  std::map<size_t, Arrangement> arranged_;  ///< by parameter
  OrdersSeen orders_;
  std::map<size_t, bool> assumed_;  ///< whether it is transposed, which shapes do not tell
  Sums sums_;
  int votes_[2] = {0, 0};  ///< matrices that are transposed, less those that are not; alone, and in layers
  Proposal out_;
};

}  // namespace

Proposal propose(const host::Manifest& manifest, const weights::TensorTable& table,
                 const std::vector<std::string>& names, const std::vector<size_t>& stacks) {
  return Matcher(manifest, table, names, stacks).run();
}

}  // namespace axon::tools
