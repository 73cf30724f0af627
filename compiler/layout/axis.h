// Axes: what the coordinates of a place count.
//
// In: names, of the machine's axes and of meshes. Out: the kind of each, what it counts within, and the rules
// by which one axis is the fuse of two. Invariant: the rules are rows of tables, so an axis of another
// machine is another row.
//
// A device axis counts machines, a thread axis counts what runs at one time on a device, a memory axis counts
// elements. Thread axes form the chain block > warpgroup > warp > lane. A warp is counted in its warpgroup
// where a layout uses that axis, and in its block where it does not; `thread` counts in a block what warps
// and lanes count together. `m` is the memory, `v` the lane of a vector.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace axon::layout {

/// An axis is its name.
struct Axis {
  std::string name = "m";
  Axis() = default;
  Axis(std::string name)
      : name(std::move(name)) {}          // NOLINT: implicit on purpose, `{8, 4, "lane"}` must read so
  Axis(const char* name) : name(name) {}  // NOLINT
  friend auto operator<=>(const Axis&, const Axis&) = default;
};

enum class AxisKind : uint8_t { device, thread, memory };

struct AxisInfo {
  std::string name;
  AxisKind kind = AxisKind::memory;
  std::vector<std::string> inside;  ///< it counts directly within one of these, where they are used
  std::string mesh;                 ///< of a device axis
  std::optional<int64_t> count;     ///< coordinates are below it
};

/// The names that a layout may use: the machine's axes, and those of meshes.
class Axes {
 public:
  Axes();  ///< those of the machine
  struct MeshAxis {
    std::string name;
    std::optional<int64_t> count;
  };
  /// Adds the axes of a mesh. False, and nothing is added, where a name is taken.
  bool add_mesh(const std::string& mesh, const std::vector<MeshAxis>& axes);

  const AxisInfo* find(const Axis&) const;
  /// Below what the coordinates are, where that is known: in a layout that uses these axes.
  std::optional<int64_t> count(const Axis&, const std::set<Axis>& used) const;
  /// Why no layout can use these axes together: an unknown one, a gap in the chain of threads, one that is
  /// the fuse of others, two meshes; nullopt where they are connected.
  std::optional<std::string> unconnected(const std::set<Axis>&) const;

 private:
  std::vector<AxisInfo> infos_;
};

/// fused = ratio * coarse + fine, with 0 <= fine < ratio.
struct AxisSplit {
  Axis fused, coarse, fine;
  int64_t ratio = 1;
};
/// The rules of the chain of threads. `warp` is split into the warpgroup and the warp in it.
const std::vector<AxisSplit>& thread_splits();

enum class Processor : uint8_t { cpu, gpu };
/// What the axis `worker` is there: a thread of a CPU, a block of a GPU.
Axis worker_axis(Processor);

}  // namespace axon::layout
