// See collective.h.
#include "layout/collective.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/bug.h"
#include "layout/evaluate.h"
#include "layout/group.h"
#include "layout/text.h"

namespace axon::layout {

using Kind = CollectiveStep::Kind;

std::string name(Kind kind) {
  static const char* const names[] = {"keep",    "slice",      "reduce-scatter", "reduce", "all-reduce",
                                      "scatter", "all-to-all", "relocate",       "move",   "permute",
                                      "gather",  "all-gather", "broadcast",      "send"};
  return names[static_cast<size_t>(kind)];
}

std::string print(const Collective& c, const CollectiveStep& step) {
  if (step.kind == Kind::send) return "send";
  const auto digit = [&](size_t d) {
    const MeshDigit& m = c.mesh[d];
    return m.extent == c.counts.at(m.axis)
               ? fmt::format("`{}`", m.axis.name)
               : fmt::format("{} of `{}`, {} apart", m.extent, m.axis.name, m.weight);
  };
  if (step.kind == Kind::permute) {
    std::vector<std::string> parts;
    for (size_t d = 0; d < step.digits.size(); ++d)
      if (step.digits[d] != d) parts.push_back(digit(d));
    return fmt::format("{} on {}", name(step.kind), fmt::join(parts, " and "));
  }
  return fmt::format("{} on {}", name(step.kind), digit(step.mesh));
}

namespace {

/// There is no refinement; the words say why.
struct Irregular {
  std::string why;
};

/// A digit of one layout: of the tensor, or a replica.
struct SideDigit {
  int64_t extent, stride;
  Axis axis;
};

/// Both layouts as digits of one refinement.
class CommonRefinement {
 public:
  CommonRefinement(const Layout& from, const Layout& to, const std::map<Axis, int64_t>& counts,
                   const std::set<Axis>& partial)
      : counts_(counts), partial_(partial) {
    const Outcome<Grouped> a = group(from, extents(to.shards)), b = group(to, extents(from.shards));
    if (!a || !b || !a.needs().empty() || !b.needs().empty())
      throw Irregular{"the parts of the two layouts do not nest"};
    sides_[0] = {digits(a->layout.shards), digits(from.replicas), offsets(from)};
    sides_[1] = {digits(b->layout.shards), digits(to.replicas), offsets(to)};
    while (cut_once()) {
    }
  }

  void fill(Collective& out) const {
    for (size_t i = 0; i < sides_[0].shards.size(); ++i)
      out.tensor.push_back({sides_[0].shards[i].extent, step_in_memory(sides_[0].shards[i]),
                            step_in_memory(sides_[1].shards[i])});
    for (const auto& [axis, count] : counts_) {
      const std::vector<int64_t> cuts = cuts_of(axis);
      for (size_t c = 0; c + 1 < cuts.size(); ++c) {
        out.mesh.push_back({axis, cuts[c], cuts[c + 1] / cuts[c]});
        out.before.push_back(content(sides_[0], out.mesh.back(), partial_.count(axis) == 1));
        out.after.push_back(content(sides_[1], out.mesh.back(), false));
      }
    }
  }

 private:
  struct Side {
    std::vector<SideDigit> shards, replicas;
    std::map<Axis, int64_t> offset;
  };

  static std::vector<SideDigit> digits(const std::vector<Iter>& iters) {
    std::vector<SideDigit> out;
    for (const Iter& iter : iters)
      out.push_back({number_in_layout(iter.extent), number_in_layout(iter.stride), iter.axis});
    return out;
  }
  static std::map<Axis, int64_t> offsets(const Layout& layout) {
    std::map<Axis, int64_t> out;
    for (const auto& [axis, amount] : layout.offset) out[axis] = number_in_layout(amount);
    return out;
  }
  static int64_t step_in_memory(const SideDigit& digit) { return digit.axis == Axis() ? digit.stride : 0; }
  static bool is_digit(const SideDigit& d) { return d.axis != Axis() && d.extent > 1; }

  /// Where the digits of an axis begin, from 1 to how many devices there are.
  std::vector<int64_t> cuts_of(const Axis& axis) const {
    std::set<int64_t> all{1, counts_.at(axis)};
    for (const Side& side : sides_)
      for (const auto* list : {&side.shards, &side.replicas})
        for (const SideDigit& d : *list)
          if (d.axis == axis && is_digit(d)) {
            if (d.stride <= 0) throw Irregular{fmt::format("a stride on `{}` is {}", axis.name, d.stride)};
            all.insert(d.stride);
            all.insert(d.stride * d.extent);
          }
    std::vector<int64_t> out(all.begin(), all.end());
    for (size_t i = 0; i + 1 < out.size(); ++i)
      if (out[i + 1] % out[i] != 0)
        throw Irregular{fmt::format("coordinates of `{}` are no digits: {} and {} do not divide", axis.name,
                                    out[i], out[i + 1])};
    return out;
  }

  /// Cuts one digit in two where a digit of its axis begins inside of it. False: there is none.
  bool cut_once() {
    for (const auto& [axis, count] : counts_)
      for (const int64_t cut : cuts_of(axis))
        for (size_t side = 0; side < 2; ++side) {
          for (size_t i = 0; i < sides_[side].shards.size(); ++i)
            if (is_inside(cut, sides_[side].shards[i], axis)) return cut_shard(side, i, cut), true;
          for (size_t i = 0; i < sides_[side].replicas.size(); ++i)
            if (is_inside(cut, sides_[side].replicas[i], axis))
              return cut_digit(sides_[side].replicas, i, cut / sides_[side].replicas[i].stride), true;
        }
    return false;
  }
  static bool is_inside(int64_t cut, const SideDigit& d, const Axis& axis) {
    return d.axis == axis && is_digit(d) && cut > d.stride && cut < d.stride * d.extent;
  }
  void cut_shard(size_t side, size_t i, int64_t cut) {
    const int64_t inner = cut / sides_[side].shards[i].stride;
    for (Side& one : sides_) cut_digit(one.shards, i, inner);
  }
  static void cut_digit(std::vector<SideDigit>& list, size_t i, int64_t inner) {
    const SideDigit d = list[i];
    list[i] = {d.extent / inner, d.stride * inner, d.axis};
    list.insert(list.begin() + static_cast<long>(i) + 1, {inner, d.stride, d.axis});
  }

  Content content(const Side& side, const MeshDigit& digit, bool partial) const {
    std::optional<Content> found;
    const auto take = [&](const Content& one) {
      if (found) throw Irregular{fmt::format("several digits count on `{}` alike", digit.axis.name)};
      found = one;
    };
    const auto counts = [&](const SideDigit& d) {
      return d.axis == digit.axis && d.extent > 1 && d.stride == digit.weight;
    };
    for (size_t i = 0; i < side.shards.size(); ++i)
      if (counts(side.shards[i])) take({Content::Kind::tensor, i, 0});
    for (const SideDigit& d : side.replicas)
      if (counts(d)) take({partial ? Content::Kind::partial : Content::Kind::copies, 0, 0});
    const auto offset = side.offset.find(digit.axis);
    const int64_t at = (offset == side.offset.end() ? 0 : offset->second) / digit.weight % digit.extent;
    if (!found) return {Content::Kind::only, 0, at};
    if (at != 0) throw Irregular{fmt::format("an offset on `{}` shifts a digit", digit.axis.name)};
    return *found;
  }

  const std::map<Axis, int64_t>& counts_;
  const std::set<Axis>& partial_;
  Side sides_[2];
};

/// Chooses steps until the mesh has what it is to have.
class StepFinder {
 public:
  explicit StepFinder(Collective& c) : c_(c), now_(c.before), place_(c.tensor.size()) {
    for (size_t d = 0; d < now_.size(); ++d)
      if (now_[d].kind == Content::Kind::tensor) place_[now_[d].digit] = d;
  }

  void run() {
    using Rule = bool (StepFinder::*)(size_t);
    static constexpr Rule rules[] = {
        &StepFinder::reduce_scatter, &StepFinder::reduce,     &StepFinder::keep,      &StepFinder::slice,
        &StepFinder::scatter,        &StepFinder::all_to_all, &StepFinder::relocate,  &StepFinder::move,
        &StepFinder::permute,        &StepFinder::gather,     &StepFinder::broadcast, &StepFinder::unlock};
    while (now_ != c_.after) {
      const bool found = std::any_of(std::begin(rules), std::end(rules), [&](Rule rule) {
        for (size_t d = 0; d < now_.size(); ++d)
          if (now_[d] != c_.after[d] && (this->*rule)(d)) return true;
        return false;
      });
      if (!found) base::bug("layout", "no collective leads on");
    }
  }

 private:
  using Has = Content::Kind;
  const Content& goal(size_t d) const { return c_.after[d]; }
  bool in_memory(size_t tensor) const { return !place_[tensor]; }
  /// Is the digit to have one of the tensor that each device has all of?
  bool wants_from_memory(size_t d) const { return goal(d).kind == Has::tensor && in_memory(goal(d).digit); }

  void set(size_t d, const Content& content) {
    if (now_[d].kind == Has::tensor) place_[now_[d].digit].reset();
    now_[d] = content;
    if (content.kind == Has::tensor) place_[content.digit] = d;
  }
  bool emit(Kind kind, size_t d, const Content& content) {
    CollectiveStep step;
    step.kind = kind;
    step.mesh = d;
    if (content.kind == Has::tensor) step.in = content.digit;
    if (now_[d].kind == Has::tensor) step.out = now_[d].digit;
    step.before = now_[d].coordinate;
    step.after = content.coordinate;
    c_.steps.push_back(step);
    set(d, content);
    return true;
  }

  bool reduce_scatter(size_t d) {
    return now_[d].kind == Has::partial && wants_from_memory(d) && emit(Kind::reduce_scatter, d, goal(d));
  }
  bool reduce(size_t d) {
    if (now_[d].kind != Has::partial) return false;
    if (goal(d).kind == Has::only) return emit(Kind::reduce, d, goal(d));
    return emit(Kind::all_reduce, d, {Has::copies, 0, 0});
  }
  bool keep(size_t d) {
    return now_[d].kind == Has::copies && goal(d).kind == Has::only && emit(Kind::keep, d, goal(d));
  }
  bool slice(size_t d) {
    return now_[d].kind == Has::copies && wants_from_memory(d) && emit(Kind::slice, d, goal(d));
  }
  bool scatter(size_t d) {
    return now_[d].kind == Has::only && wants_from_memory(d) && emit(Kind::scatter, d, goal(d));
  }
  bool all_to_all(size_t d) {
    return now_[d].kind == Has::tensor && wants_from_memory(d) && emit(Kind::all_to_all, d, goal(d));
  }
  bool relocate(size_t d) {
    return now_[d].kind == Has::only && goal(d).kind == Has::only && emit(Kind::relocate, d, goal(d));
  }
  /// A digit of the tensor that is on another digit of the mesh.
  bool move(size_t d) {
    if (goal(d).kind != Has::tensor || now_[d].kind == Has::tensor || in_memory(goal(d).digit)) return false;
    CollectiveStep step;
    step.kind = Kind::move;
    step.mesh = d;
    step.from_mesh = *place_[goal(d).digit];
    step.from_copies = now_[d].kind == Has::copies;
    step.before = now_[d].coordinate;
    step.at_one = goal(step.from_mesh).kind == Has::only;
    step.after = goal(step.from_mesh).coordinate;
    c_.steps.push_back(step);
    set(step.from_mesh, step.at_one ? goal(step.from_mesh) : Content{Has::copies, 0, 0});
    set(d, goal(d));
    return true;
  }
  /// Digits that have what each other is to have.
  bool permute(size_t d) {
    std::vector<size_t> from(now_.size());
    for (size_t i = 0; i < from.size(); ++i) from[i] = i;
    for (size_t at = d;;) {
      if (now_[at].kind != Has::tensor || goal(at).kind != Has::tensor || in_memory(goal(at).digit))
        return false;
      from[at] = *place_[goal(at).digit];
      at = from[at];
      if (at == d) break;
      if (from[at] != at) return false;  // a cycle that d leads to and is no part of
    }
    CollectiveStep step;
    step.kind = Kind::permute;
    step.mesh = d;
    step.digits = from;
    c_.steps.push_back(step);
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i] != i) now_[i] = goal(i), place_[goal(i).digit] = i;
    return true;
  }
  bool gather(size_t d) {
    if (now_[d].kind != Has::tensor || goal(d).kind == Has::tensor) return false;
    return emit(goal(d).kind == Has::only ? Kind::gather : Kind::all_gather, d, goal(d));
  }
  bool broadcast(size_t d) {
    return now_[d].kind == Has::only && goal(d).kind == Has::copies && emit(Kind::broadcast, d, goal(d));
  }
  /// What it has is in the way of what it is to have.
  bool unlock(size_t d) {
    return now_[d].kind == Has::tensor && emit(Kind::all_gather, d, {Has::copies, 0, 0});
  }

  Collective& c_;
  std::vector<Content> now_;
  std::vector<std::optional<size_t>> place_;  ///< of digits of the tensor: on which of the mesh
};

std::optional<std::string> why_not(const Layout& layout, const std::map<Axis, int64_t>& counts) {
  if (!is_constant(layout)) return "it has sizes, and collectives are counted for numbers";
  Axes axes;
  std::vector<Axes::MeshAxis> mesh;
  for (const auto& [axis, count] : counts)
    if (!axes.find(axis)) mesh.push_back({axis.name, count});
  axes.add_mesh("mesh", mesh);
  if (auto why = why_ill_formed(layout, axes)) return why;
  for (const auto& [axis, span] : spans(layout)) {
    const auto count = counts.find(axis);
    if (axis == Axis()) continue;
    if (count == counts.end()) return fmt::format("`{}` is no axis of the mesh", axis.name);
    if (number_in_layout(span.low) < 0 || number_in_layout(span.high) >= count->second)
      return fmt::format("it goes from {} to {} on `{}`, of which there are {}", number_in_layout(span.low),
                         number_in_layout(span.high), axis.name, count->second);
  }
  return std::nullopt;
}

}  // namespace

Outcome<Collective> collective(const Layout& from, const Layout& to, const std::map<Axis, int64_t>& counts,
                               const std::set<Axis>& partial_sums) {
  for (const Layout* layout : {&from, &to})
    if (auto why = why_not(*layout, counts)) return Refusal{print(*layout) + ": " + *why};
  if (size(from) != size(to))
    return Refusal{fmt::format("the sizes {} and {} differ", size(from).str(), size(to).str())};
  if (injective(to) != true) return Refusal{print(to) + ": two elements share a place"};
  Collective out{from, to, {}, {}, {}, {}, {}, counts, {}};
  try {
    CommonRefinement(from, to, counts, partial_sums).fill(out);
    StepFinder(out).run();
  } catch (const Irregular& irregular) {
    if (!partial_sums.empty()) return Refusal{"partial sums are added along digits: " + irregular.why};
    out = {from, to, {}, {}, {}, {}, {CollectiveStep{}}, counts, irregular.why};
  }
  return out;
}

}  // namespace axon::layout
