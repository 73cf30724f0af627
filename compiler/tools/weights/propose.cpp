// See propose.h.
#include "tools/weights/propose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "host/weight_fit.h"
#include "tools/weights/facts.h"
#include "tools/weights/names.h"
#include "tools/weights/units.h"

namespace axon::tools {

namespace {

constexpr double alike = 0.05;         ///< what names may differ in and leave open which is meant
constexpr double sibling_bonus = 0.5;  ///< for the bias beside the weight
constexpr double turned_malus = 0.2;   ///< for a matrix that lies otherwise than those beside it
constexpr size_t most_parts = 8, most_shown = 4;

using Shape = std::vector<uint64_t>;

struct Candidate {
  size_t unit;
  double score;
  bool plain = false, transposed = false;  ///< the orientations that fit
};

struct Parameter {
  std::string name;
  std::vector<std::string> words;
  uint32_t rank = 0;
  Elem elem = Elem::f32;
  bool pruned = false;
  size_t version = 0;  ///< of the facts that the candidates agree with
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

std::string pretty(const std::string& pattern) { return fmt::format("`{}`", pattern); }

class Matcher {
 public:
  Matcher(const host::Manifest& manifest, const weights::TensorTable& table,
          const std::vector<std::string>& names)
      : facts_(manifest, host::sizes_in(table)), units_(units_of(table)), used_(table.tensors.size(), false) {
    for (size_t i = 0; i < names.size(); ++i) {
      Parameter p;
      p.name = names[i];
      // What a parameter is called in one letter says nothing of its tensors.
      p.words = words_of(p.name.size() > 2 && p.name[1] == '.' ? p.name.substr(2) : p.name);
      p.rank = manifest.weights[i].rank;
      p.elem = static_cast<Elem>(manifest.weights[i].elem);
      parameters_.push_back(std::move(p));
    }
  }

  Proposal run() {
    for (size_t i = 0; i < parameters_.size(); ++i) add_candidates(i);
    while (const auto next = clearest()) choose(*next);
    share_tensors();
    join_tensors();
    borrow_tensors();
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].chosen) finish(i);
      if (!parameters_[i].done) out_.unbound.push_back(parameters_[i].name);
    }
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
  /// Which orientations of a unit the parameter can have; neither: it cannot be this unit.
  void orient(size_t parameter, Candidate& candidate) const {
    const Unit& unit = units_[candidate.unit];
    candidate.plain = facts_.fits(parameter, shape_of(unit, false));
    candidate.transposed = unit.shape.size() >= 2 && facts_.fits(parameter, shape_of(unit, true));
  }

  void add_candidates(size_t i) {
    Parameter& p = parameters_[i];
    for (size_t u = 0; u < units_.size(); ++u) {
      if (!same_kind(p, units_[u])) continue;
      Candidate candidate{u, 0};
      orient(i, candidate);
      if (!candidate.plain && !candidate.transposed) continue;
      candidate.score = likeness(p.words, units_[u].words);
      p.candidates.push_back(candidate);
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
    std::erase_if(p.candidates, [&](const Candidate& c) {
      return (!c.plain && !c.transposed) || !is_free(units_[c.unit]);
    });
  }

  /// A weight and its bias have the same parent in the program and in the file.
  double score(const Parameter& p, const Candidate& candidate) const {
    const Unit& unit = units_[candidate.unit];
    double out = candidate.score;
    const int votes = votes_[is_layer(p, unit)];
    const bool turned = candidate.transposed ? votes < 0 : votes > 0;
    if (unit.shape.size() >= 2 && candidate.plain != candidate.transposed && turned) out -= turned_malus;
    if (!ends_in_leaf(p.name)) return out;
    const auto sibling = siblings_.find(std::string(parent_of(p.name)));
    return out +
           (sibling != siblings_.end() && sibling->second == parent_of(unit.pattern) ? sibling_bonus : 0);
  }

  struct Best {
    const Candidate* candidate = nullptr;
    double score = 0, margin = 0;  ///< over all others
  };
  /// The best candidate, the first of those that are as good.
  Best best(const Parameter& p) const {
    Best out;
    double second = 0;
    for (const Candidate& candidate : p.candidates) {
      const double value = score(p, candidate);
      if (!out.candidate || value > out.score + alike) {
        second = out.candidate ? out.score : 0;
        out.score = value;
        out.candidate = &candidate;
      } else {
        second = std::max(second, value);
      }
    }
    out.margin = out.score - second;
    return out;
  }

  /// The open parameter whose best tensor stands out most, of those whose best tensor is not that of another
  /// one which is more like it.
  std::optional<size_t> clearest() {
    for (size_t i = 0; i < parameters_.size(); ++i) settle(i);
    std::vector<Best> all(parameters_.size());
    std::map<size_t, double> highest;  // by unit
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].chosen) continue;
      prune(i);
      all[i] = best(parameters_[i]);
      if (!all[i].candidate || all[i].margin <= alike) continue;
      double& most = highest[all[i].candidate->unit];
      most = std::max(most, all[i].score);
    }
    std::optional<size_t> out;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!all[i].candidate || all[i].score < highest[all[i].candidate->unit] - alike) continue;
      if (!out || all[i].margin > all[*out].margin + 1e-9) out = i;
    }
    return out;
  }

  void choose(size_t i) {
    Parameter& p = parameters_[i];
    const Candidate chosen = *best(p).candidate;
    const Unit& unit = units_[chosen.unit];
    std::vector<std::string> others;
    for (const Candidate& other : p.candidates)
      if (other.unit != chosen.unit && std::abs(score(p, other) - score(p, chosen)) <= alike &&
          others.size() < most_shown)
        others.push_back(pretty(units_[other.unit].pattern));
    if (!others.empty())
      doubts_[i] = fmt::format("{}: {}, or {}", p.name, pretty(unit.pattern), fmt::join(others, ", "));
    p.chosen = chosen;
    p.done = true;
    use(unit);
    if (ends_in_leaf(p.name)) siblings_.emplace(parent_of(p.name), parent_of(unit.pattern));
  }

  /// Takes the shape of a chosen unit for a fact as soon as only one orientation of it fits.
  void settle(size_t i) {
    Parameter& p = parameters_[i];
    if (!p.chosen || p.settled) return;
    const Unit& unit = units_[p.chosen->unit];
    orient(i, *p.chosen);
    const bool square = shape_of(unit, false) == shape_of(unit, unit.shape.size() >= 2);
    if (p.chosen->plain == p.chosen->transposed && !square) return;
    p.settled = true;
    facts_.take(i, shape_of(unit, p.chosen->transposed));
    if (unit.shape.size() >= 2 && !square) votes_[is_layer(p, unit)] += p.chosen->transposed ? 1 : -1;
  }

  /// Writes the rule of a parameter that has a tensor of its own.
  void finish(size_t i) {
    const Parameter& p = parameters_[i];
    Candidate chosen = *p.chosen;
    const Unit& unit = units_[chosen.unit];
    orient(i, chosen);
    ProposedRule rule = rule_for(p, unit);
    rule.transposed = chosen.transposed && (!chosen.plain || usually_transposed(i));
    out_.rules.push_back(rule);
    if (const auto doubt = doubts_.find(i); doubt != doubts_.end()) out_.doubts.push_back(doubt->second);
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

  /// What square matrices are: as most others of layers, or of those outside, whose orientation is known.
  bool usually_transposed(size_t i) {
    const int votes = votes_[is_layer(parameters_[i], units_[parameters_[i].chosen->unit])];
    if (votes == 0)
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

  /// Parameters that are left, and differ in one word of their names.
  std::vector<std::vector<size_t>> families() const {
    std::map<std::string, std::vector<size_t>> out;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].done) continue;
      const std::string_view name = parameters_[i].name, parent = parent_of(name), leaf = leaf_of(name);
      out[fmt::format("{}.?{} {}", parent, kind(leaf), parameters_[i].rank)].push_back(i);
      if (parent.empty()) continue;
      out[fmt::format("{}.?{}.{} {}", parent_of(parent), kind(leaf_of(parent)), leaf, parameters_[i].rank)]
          .push_back(i);
    }
    std::vector<std::vector<size_t>> lists;
    for (auto& [key, list] : out)
      if (list.size() > 1) lists.push_back(std::move(list));
    return lists;
  }
  static std::string kind(std::string_view component) {
    std::vector<std::string> words = words_of(component);
    if (!words.empty()) words.pop_back();
    return fmt::format("{}", fmt::join(words, "_"));
  }

  struct Split {
    double score = -1;
    size_t unit = 0;
    std::vector<size_t> parts;
    bool transposed = false;
    std::string cut;
    std::vector<Shape> shapes;
  };

  void share_tensors() {
    while (true) {
      Split best;
      for (const std::vector<size_t>& family : families())
        for (size_t count = std::min(family.size(), most_parts); count > 1; --count)
          for (size_t first = 0; first + count <= family.size(); ++first)
            try_parts({family.begin() + static_cast<ptrdiff_t>(first),
                       family.begin() + static_cast<ptrdiff_t>(first + count)},
                      best);
      if (best.parts.empty()) return;
      take(best);
    }
  }

  void try_parts(const std::vector<size_t>& parts, Split& best) const {
    for (size_t u = 0; u < units_.size(); ++u) {
      const Unit& unit = units_[u];
      if (!same_kind(parameters_[parts[0]], unit) || unit.shape.empty() || !is_free(unit)) continue;
      double score = 0;
      for (const size_t part : parts) score += likeness(parameters_[part].words, unit.words);
      score = score / static_cast<double>(parts.size()) + 0.01 * static_cast<double>(parts.size());
      if (score <= best.score) continue;
      for (const auto& [transposed, back] : orientations(unit)) {
        if (!cut(parts, unit, transposed, back, best)) continue;
        best.score = score;
        best.unit = u;
        break;
      }
    }
  }

  /// How a unit may be cut or joined: transposed or not, as most layers are first, and along which axis,
  /// counted from the last.
  std::vector<std::pair<bool, size_t>> orientations(const Unit& unit) const {
    if (unit.shape.size() < 2) return {{false, 1}};
    const bool usual = votes_[1] > 0;
    return {{usual, 1}, {usual, 2}, {!usual, 1}, {!usual, 2}};
  }

  /// Can these parameters share the unit along an axis, counted from the last?
  bool cut(const std::vector<size_t>& parts, const Unit& unit, bool transposed, size_t back,
           Split& out) const {
    Shape shape = shape_of(unit, transposed);
    const size_t axis = shape.size() - back;
    const uint64_t extent = shape[axis];
    std::vector<uint64_t> sizes;
    uint64_t sum = 0;
    bool same = true;
    for (const size_t part : parts) {
      same = same && facts_.text(part, axis) == facts_.text(parts[0], axis);
      if (const auto size = facts_.extent(part, axis)) sum += sizes.emplace_back(*size);
    }
    if (sizes.size() < parts.size() && (!same || extent % parts.size() != 0)) return false;
    if (sizes.size() < parts.size())
      sizes.assign(parts.size(), extent / parts.size());
    else if (sum != extent)
      return false;
    std::vector<Shape> shapes;
    for (size_t i = 0; i < parts.size(); ++i) {
      shape[axis] = sizes[i];
      if (!facts_.fits(parts[i], shape)) return false;
      shapes.push_back(shape);
    }
    out.parts = parts;
    out.transposed = transposed;
    out.shapes = std::move(shapes);
    out.cut = fmt::format("split {}", back == 1 || shape.size() == 1 ? "columns" : "rows");
    if (!same) out.cut += fmt::format(" {}", fmt::join(sizes, " "));
    return true;
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
    out_.doubts.push_back(
        fmt::format("{}: parts of {}, in this order", fmt::join(rule.fields, ", "), pretty(unit.pattern)));
    out_.rules.push_back(std::move(rule));
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
      for (std::vector<size_t> units : {by_letters(p, family), family}) {
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

  /// `qkv` of a parameter's name stands for the tensors whose names have words that begin so.
  std::vector<size_t> by_letters(const Parameter& p, const std::vector<size_t>& family) const {
    for (const std::string& word : p.words) {
      std::vector<size_t> out;
      for (const char letter : word)
        for (const size_t u : family) {
          const std::vector<std::string> words = words_of(leaf_of(parent_of(units_[u].pattern)));
          const bool begins =
              std::any_of(words.begin(), words.end(), [&](const auto& w) { return w[0] == letter; });
          if (begins && std::find(out.begin(), out.end(), u) == out.end()) {
            out.push_back(u);
            break;
          }
        }
      if (out.size() == word.size() && out.size() > 1) return out;
    }
    return {};
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
      if (p.done || p.rank < 2) continue;
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
  std::map<size_t, std::string> doubts_;
  int votes_[2] = {0, 0};  ///< matrices that are transposed, less those that are not; alone, and in layers
  Proposal out_;
};

}  // namespace

Proposal propose(const host::Manifest& manifest, const weights::TensorTable& table,
                 const std::vector<std::string>& names) {
  return Matcher(manifest, table, names).run();
}

}  // namespace axon::tools
