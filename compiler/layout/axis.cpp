// The tables of axis.h, and which axes go together.
#include "layout/axis.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/contains.h"

namespace axon::layout {

constexpr int64_t lanes_of_a_warp = 32, warps_of_a_warpgroup = 4;

Axes::Axes()
    : infos_{
          {"node", AxisKind::device, {}, "", {}},
          {"gpu", AxisKind::device, {"node"}, "", {}},
          {"worker", AxisKind::thread, {}, "", {}},
          {"block", AxisKind::thread, {}, "", {}},
          {"thread", AxisKind::thread, {"block"}, "", {}},
          {"warpgroup", AxisKind::thread, {"block"}, "", {}},
          {"warp", AxisKind::thread, {"warpgroup", "block"}, "", {}},
          {"lane", AxisKind::thread, {"warp"}, "", {}},
          {"m", AxisKind::memory, {}, "", {}},
          {"v", AxisKind::memory, {}, "", {}},
      } {}

const std::vector<AxisSplit>& thread_splits() {
  static const std::vector<AxisSplit> splits = {
      {"thread", "warp", "lane", lanes_of_a_warp},
      {"warp", "warpgroup", "warp", warps_of_a_warpgroup},
  };
  return splits;
}

Axis worker_axis(Processor processor) { return processor == Processor::cpu ? "thread" : "block"; }

bool Axes::add_mesh(const std::string& mesh, const std::vector<MeshAxis>& axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (find(axes[i].name)) return false;
    for (size_t j = 0; j < i; ++j)
      if (axes[i].name == axes[j].name) return false;
  }
  for (const MeshAxis& axis : axes) infos_.push_back({axis.name, AxisKind::device, {}, mesh, axis.count});
  return true;
}

const AxisInfo* Axes::find(const Axis& axis) const {
  const auto found = std::find_if(infos_.begin(), infos_.end(),
                                  [&](const AxisInfo& info) { return info.name == axis.name; });
  return found == infos_.end() ? nullptr : &*found;
}

std::optional<int64_t> Axes::count(const Axis& axis, const std::set<Axis>& used) const {
  // An axis that is called like its fuse is the fine one where the coarse one is used.
  for (const AxisSplit& rule : thread_splits())
    if (axis == rule.fine && (axis != rule.fused || used.count(rule.coarse))) return rule.ratio;
  const AxisInfo* info = find(axis);
  return info ? info->count : std::nullopt;
}

namespace {

/// What the axis counts within, of those that are used.
const AxisInfo* parent(const AxisInfo& info, const std::vector<const AxisInfo*>& used) {
  for (const std::string& name : info.inside)
    for (const AxisInfo* other : used)
      if (other->name == name) return other;
  return nullptr;
}

/// Each thread axis but one counts within another, and no two within the same one.
std::optional<std::string> broken_chain(const std::vector<const AxisInfo*>& threads) {
  for (size_t i = 0; i < threads.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const AxisInfo *a = threads[j], *b = threads[i], *within = parent(*a, threads);
      if (within != parent(*b, threads)) continue;
      if (within)
        return fmt::format("`{}` and `{}` both count all of a `{}`", a->name, b->name, within->name);
      return fmt::format("`{}` and `{}` are not connected: neither counts within the other", a->name,
                         b->name);
    }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Axes::unconnected(const std::set<Axis>& used) const {
  std::vector<const AxisInfo*> threads, devices;
  for (const Axis& axis : used) {
    const AxisInfo* info = find(axis);
    if (!info) return fmt::format("no axis is called `{}`", axis.name);
    if (info->kind == AxisKind::thread) threads.push_back(info);
    if (info->kind == AxisKind::device) devices.push_back(info);
  }
  for (const AxisInfo* device : devices)
    if (device->mesh != devices.front()->mesh)
      return fmt::format("`{}` and `{}` are axes of different meshes", devices.front()->name, device->name);
  return broken_chain(threads);
}

}  // namespace axon::layout
