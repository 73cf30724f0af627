// See convert.h. An axis at a time: a digit counts on one axis, and a set of points is the product of its
// axes.
#include "layout/convert.h"

#include <fmt/format.h>

#include <algorithm>

#include "layout/canonical.h"
#include "layout/evaluate.h"
#include "layout/fuse.h"
#include "layout/group.h"
#include "layout/sums.h"

namespace axon::layout {

std::string name(Movement movement) {
  static const char* const names[] = {"same",    "local",          "within-thread", "shuffle",
                                      "shared",  "global",         "permute",       "broadcast",
                                      "scatter", "gather",         "all-gather",    "all-to-all",
                                      "reduce",  "reduce-scatter", "all-reduce"};
  return names[static_cast<size_t>(movement)];
}

Movement Conversion::in_device() const {
  Movement most = Movement::same;
  for (const auto& [axis, movement] : axes)
    if (movement <= Movement::global) most = std::max(most, movement);
  return most;
}

namespace {

/// A digit of both layouts: how far one step of it goes in each, on one axis.
struct Step {
  Dim extent, from, to;
};

/// One axis of two layouts.
class OneAxis {
 public:
  OneAxis(const Layout& from, const Layout& to, const Axis& axis, const Needs& facts)
      : from_(canonical(on_axis(from, axis))),
        to_(canonical(on_axis(to, axis))),
        axis_(axis),
        facts_(facts) {}

  Outcome<Movement> movement(AxisKind kind, bool partial_sums) {
    steps_ = steps();
    if (!steps_) pairs_ = pairs();
    const Refusal undecided{fmt::format("what moves on `{}` is not decided", axis_.name)};
    if (!steps_ && !pairs_) return undecided;
    if (partial_sums && !from_.replicas.empty()) return collective(true);
    const auto kept = contained(to_, from_, false), all = contained(from_, to_, true);
    if (!kept || (*kept && !all)) return undecided;
    if (*kept) return *all ? Movement::same : Movement::local;
    if (kind == AxisKind::memory) return Movement::within_thread;
    if (kind == AxisKind::device) return collective(false);
    return axis_.name == "lane"                             ? Movement::shuffle
           : axis_.name == "warp" || axis_.name == "thread" ? Movement::shared
                                                            : Movement::global;
  }

 private:
  /// The digits of both; nullopt where extents do not divide each other.
  std::optional<std::vector<Step>> steps() const {
    const Outcome<Grouped> a = group(from_, extents(to_.shards)), b = group(to_, extents(from_.shards));
    if (!a || !b || !a.needs().empty() || !b.needs().empty()) return std::nullopt;
    std::vector<Step> out;
    for (size_t i = 0; i < a->layout.shards.size(); ++i)
      out.push_back({a->layout.shards[i].extent, a->layout.shards[i].stride, b->layout.shards[i].stride});
    return out;
  }

  /// Are the coordinates of each element in `inner` among those in `outer`?
  std::optional<bool> contained(const Layout& inner, const Layout& outer, bool swapped) const {
    const Dim offset = offset_on(inner, axis_) - offset_on(outer, axis_);
    const auto held = sums(outer.replicas), wanted = sums(inner.replicas), apart = distances(swapped);
    if (!held || !wanted || !apart || !offset.constant())
      return inner.replicas.empty() && outer.replicas.empty() ? equal(offset) : std::nullopt;
    for (const int64_t distance : *apart)
      for (const int64_t copy : *wanted)
        if (!std::binary_search(held->begin(), held->end(), distance + copy + *offset.constant()))
          return false;
    return true;
  }

  /// Of sizes, and without copies: are all coordinates equal?
  std::optional<bool> equal(const Dim& offset) const {
    if (surely(shape::less(offset, 0)) || surely(shape::less(0, offset))) return false;
    bool all = surely(shape::equal(offset, 0)) && steps_;
    for (const Step& step : steps_.value_or(std::vector<Step>{})) {
      if (surely(shape::equal(step.from, step.to))) continue;
      all = false;
      if (surely({step.from, shape::Relation::ne, step.to}) && surely(shape::less(1, step.extent)))
        return false;
    }
    return all ? std::optional(true) : std::nullopt;
  }
  bool surely(const shape::Fact& fact) const {
    return shape::prove(facts_, fact).verdict == shape::Verdict::proved;
  }

  /// D of the second minus D of the first, over all elements; the reverse where swapped.
  std::optional<std::vector<int64_t>> distances(bool swapped) const {
    if (steps_) {
      std::vector<Iter> apart;
      for (const Step& step : *steps_)
        if (const Dim one = swapped ? step.from - step.to : step.to - step.from; !one.is(0))
          apart.push_back({step.extent, one, axis_});
      return sums(apart);
    }
    if (!pairs_) return std::nullopt;
    std::set<int64_t> out;
    for (const auto& [from, to] : *pairs_) out.insert(swapped ? from - to : to - from);
    return std::vector<int64_t>(out.begin(), out.end());
  }

  using Pairs = std::set<std::pair<int64_t, int64_t>>;
  /// D of the first and D of the second, of each element; nullopt where that is too many, or no numbers.
  std::optional<Pairs> pairs() const {
    const auto elements = size(from_).constant();
    if (!is_constant(from_) || !is_constant(to_) || static_cast<size_t>(*elements) > most_sums)
      return std::nullopt;
    const Evaluator a({from_.shards, {}, {{axis_, 0}}}), b({to_.shards, {}, {{axis_, 0}}});
    const auto at = [&](const Evaluator& layout, int64_t x) {
      const auto found = std::find(layout.axes().begin(), layout.axes().end(), axis_);
      return layout.base(x)[static_cast<size_t>(found - layout.axes().begin())];
    };
    Pairs out;
    for (int64_t x = 0; x < *elements; ++x) out.emplace(at(a, x), at(b, x));
    return out;
  }

  /// What chooses a device before, and after.
  struct Choice {
    bool parted = false;   ///< the first layout has parts
    bool refined = false;  ///< a part of the first is in several of the second
    bool joined = false;   ///< a part of the second is of several of the first
  };
  Choice choice() const {
    Choice out;
    if (steps_) {
      for (const Step& step : *steps_) {
        out.parted |= !step.from.is(0);
        out.refined |= step.from.is(0) && !step.to.is(0);
        out.joined |= !step.from.is(0) && step.to.is(0);
      }
      return out;
    }
    std::set<int64_t> from, to;
    for (const auto& [a, b] : *pairs_) {
      out.refined |= !from.insert(a).second;
      out.joined |= !to.insert(b).second;
    }
    out.parted = from.size() > 1;
    return out;
  }

  Movement collective(bool partial_sums) const {
    const Choice by = choice();
    const bool copied = !to_.replicas.empty();
    if (partial_sums)
      return by.refined ? Movement::reduce_scatter : copied ? Movement::all_reduce : Movement::reduce;
    if (by.refined) return by.parted ? Movement::all_to_all : Movement::scatter;
    if (by.joined) return copied ? Movement::all_gather : Movement::gather;
    return copied ? Movement::broadcast : Movement::permute;
  }

  Layout from_, to_;
  Axis axis_;
  const Needs& facts_;
  std::optional<std::vector<Step>> steps_;
  std::optional<Pairs> pairs_;  // where there are no steps
};

/// Where the rule applies to all that use `axis`, with the others left alone.
using Rule = Outcome<Layout> (*)(const Layout&, const AxisSplit&);
bool apply_to_both(Rule rule, const AxisSplit& axes, const Axis& axis, Layout& a, Layout& b) {
  std::vector<Layout> made;
  for (Layout* layout : {&a, &b}) {
    const bool used = axes_of(*layout).count(axis) == 1;
    const Outcome<Layout> one = used ? rule(*layout, axes) : Outcome<Layout>(*layout);
    if (!one) return false;
    made.push_back(*one);
  }
  a = made[0];
  b = made[1];
  return true;
}

/// Both with warps of a block and lanes, where threads can be split so; else both with threads of a block.
void make_chains_alike(Layout& a, Layout& b) {
  const AxisSplit &threads = thread_splits().at(0), &warpgroups = thread_splits().at(1);
  apply_to_both(fuse, warpgroups, warpgroups.coarse, a, b);
  const bool any = axes_of(a).count(threads.fused) || axes_of(b).count(threads.fused);
  if (!any || apply_to_both(split, threads, threads.fused, a, b)) return;
  apply_to_both(fuse, threads, threads.fine, a, b);
}

}  // namespace

Outcome<Conversion> conversion(const Layout& from, const Layout& to, const std::set<Axis>& partial_sums,
                               const Needs& facts, const Axes& axes) {
  if (size(from) != size(to))
    return Refusal{fmt::format("the sizes {} and {} differ", size(from).str(), size(to).str())};
  Layout a = from, b = to;
  make_chains_alike(a, b);
  Needs known = positive_extents(a);
  append(known, positive_extents(b));
  append(known, facts);
  Conversion out;
  std::set<Axis> all = axes_of(a);
  all.merge(axes_of(b));
  for (const Axis& axis : all) {
    const AxisInfo* info = axes.find(axis);
    if (!info) return Refusal{fmt::format("no axis is called `{}`", axis.name)};
    const Outcome<Movement> movement =
        OneAxis(a, b, axis, known).movement(info->kind, partial_sums.count(axis) == 1);
    if (!movement) return movement.refusal();
    out.axes[axis] = *movement;
  }
  return out;
}

}  // namespace axon::layout
