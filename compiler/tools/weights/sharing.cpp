// See sharing.h.
#include "tools/weights/sharing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace axon::tools {

namespace {

constexpr size_t most_parts = 8;

}  // namespace

// ---- several parameters of one tensor ----

std::vector<Family> Sharing::families() const {
  std::vector<OpenName> open;
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (!parameters_[i].done) open.push_back({i, parameters_[i].name, parameters_[i].rank});
  return families_of(open);
}

void Sharing::withhold_parts() {
  for (const Family& family : families())
    if (family.order && are_together(*family.order))
      for (const size_t part : family.order->members) parameters_[part].withheld = true;
}

bool Sharing::are_together(const UsualOrder& order) const {
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

void Sharing::share_tensors() {
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

double Sharing::score_of_parts(const std::vector<size_t>& parts, const Unit& unit) const {
  double score = 0;
  for (const size_t part : parts) score += likeness(parameters_[part].words, unit.words);
  return score / static_cast<double>(parts.size()) + 0.01 * static_cast<double>(parts.size());
}

void Sharing::try_parts(const std::vector<size_t>& parts, const std::optional<UsualOrder>& order,
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

std::vector<std::pair<bool, size_t>> Sharing::orientations(const Unit& unit) const {
  if (unit.shape.size() < 2) return {{false, 1}};
  const bool usual = votes_[1] > 0;
  return {{usual, 1}, {!usual, 1}, {usual, 2}, {!usual, 2}};
}

bool Sharing::cut(const std::vector<size_t>& parts, const Unit& unit, Split& out) const {
  const auto ways = orientations(unit);
  return std::any_of(ways.begin(), ways.end(),
                     [&](const auto& way) { return cut(parts, unit, way.first, way.second, out); });
}

bool Sharing::cut(const std::vector<size_t>& parts, const Unit& unit, bool transposed, size_t back,
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

bool Sharing::allow_what_is_chosen(const Facts& known) const {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& p = parameters_[i];
    if (!p.chosen || p.settled) continue;
    const Unit& unit = units_[p.chosen->unit];
    const bool turned = unit.shape.size() >= 2 && known.fits(i, shape_of(unit, true));
    if (!turned && !known.fits(i, shape_of(unit, false))) return false;
  }
  return true;
}

std::vector<uint64_t> Sharing::sizes_of_parts(const std::vector<size_t>& parts, size_t axis,
                                              uint64_t extent) const {
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

void Sharing::take(const Split& split) {
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

void Sharing::doubt_parts(const Split& split, const ProposedRule& rule) {
  std::vector<std::string> others;
  for (const Unit& unit : units_) {
    Split tried;
    if (same_kind(parameters_[split.parts[0]], unit) && !unit.shape.empty() && is_free(unit) &&
        std::abs(score_of_parts(split.parts, unit) - split.score) <= alike && others.size() < most_shown &&
        cut(split.parts, unit, tried) && !is_rival(rule.fields[0], units_[split.unit], unit))
      others.push_back(pretty(unit.pattern));
  }
  const std::string fields = fmt::format("{}", fmt::join(rule.fields, ", ")), name = pretty(rule.tensors[0]);
  if (!others.empty())
    out_.doubts.push_back(fmt::format("{}: {}, or {}", fields, name, fmt::join(others, ", ")));
  const bool gates = split.order && split.order->gates;
  if (!gates || !is_recurrent_of_pytorch(rule.tensors[0]))
    out_.doubts.push_back(fmt::format("{}: parts of {}, in this order", fields, name));
  if (gates && !split.order->has_sum) sums_.apart.insert(rule.fields[0]);
}

// ---- several tensors for one parameter ----

void Sharing::join_tensors() {
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (!parameters_[i].done) join(i);
}

std::vector<std::vector<size_t>> Sharing::unit_families(const Parameter& p) const {
  std::map<std::string, std::vector<size_t>> out;
  for (size_t u = 0; u < units_.size(); ++u) {
    if (!same_kind(p, units_[u]) || units_[u].shape.empty() || !is_free(units_[u])) continue;
    const std::string_view pattern = units_[u].pattern, parent = parent_of(pattern), leaf = leaf_of(pattern);
    out[fmt::format("{}.?.{}", parent_of(parent), leaf)].push_back(u);
    out[fmt::format("{}.?", parent)].push_back(u);
  }
  std::vector<std::vector<size_t>> lists;
  for (auto& [key, list] : out)
    if (list.size() > 1) lists.push_back(std::move(list));
  return lists;
}

void Sharing::join(size_t i) {
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

bool Sharing::joined(size_t i, const std::vector<size_t>& units, ProposedRule& out) {
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

}  // namespace axon::tools
