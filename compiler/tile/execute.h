// One operation of a tile program on the values of a run. Only the interpreter includes this.
//
// In: an operation, the worker's memory, and what the task's coordinates, loops and sizes are. Out: written
// elements, or Failed. Invariant: an operation reads all of its operands before it writes.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tile/memory.h"
#include "tile/run_task.h"

namespace axon::tile {

struct Failed {
  std::string why;
  std::optional<FailedCheck> check = std::nullopt;
};

/// What all workers share.
struct Shared {
  const Program& program;
  std::vector<std::unique_ptr<TensorMemory>> tensors;
  std::vector<std::unique_ptr<Places>> places;  ///< of layouts
  uint64_t steps_left = 0;

  void spend(uint64_t steps) {
    if (steps > steps_left) throw Failed{"the run takes too many steps"};
    steps_left -= steps;
  }
};

/// A fill that has been issued and has not arrived.
struct PendingFill {
  OpId op;
  int64_t number = 0;
  int64_t task = 0;
  std::vector<Source> from;
};
/// Of one ring of one worker. Roles are numbers.
struct RingState {
  int64_t filled = 0;
  std::map<size_t, int64_t> acquired, released;  ///< of the roles that drain it
  std::deque<PendingFill> pending;
};
using Rings = std::map<TileId, RingState>;

/// Where a role of a worker stands.
struct Scene {
  size_t role = 0;
  int64_t task = 0;
  shape::Assignment values;                 ///< of sizes, coordinates and loops
  std::deque<std::function<void()>> gemms;  ///< asynchronous ones, not done yet
  std::map<TileId, int> in_flight;          ///< accumulators of those
};

/// Labels of an operation and what they count to.
struct Labels {
  std::vector<Var> vars;
  std::vector<int64_t> extents;
  size_t of(Var) const;
};

/// The element of a tile that a use names, for values of the labels.
class Flat {
 public:
  Flat(const Program&, const Use&, const Labels&);
  int64_t operator()(const std::vector<int64_t>& at) const {
    int64_t x = 0;
    for (const auto& [label, stride] : steps_) x += at[label] * stride;
    return x;
  }

 private:
  std::vector<std::pair<size_t, int64_t>> steps_;
};

class Executor {
 public:
  Executor(Shared& shared, WorkerMemory& memory, Rings& rings, Scene& scene)
      : shared_(shared), p_(shared.program), memory_(memory), rings_(rings), scene_(scene) {}

  /// All but loops, roles and what waits.
  void run(OpId);
  void arrive(const PendingFill&);  ///< the copy happens
  void note_keys(const Loop&);      ///< of a loop that orders, at the end of an iteration
  void store_order(const Loop&);    ///< behind it
  /// The first iteration of a loop, and the end of them, where it begins.
  std::pair<int64_t, int64_t> iterations(OpId loop);
  int64_t number(const Dim&) const;
  std::vector<std::pair<int64_t, int64_t>> numbers(const Box&) const;
  [[noreturn]] void fail(const std::string& why, std::optional<FailedCheck> check = std::nullopt) const;

 private:
  using At = std::vector<int64_t>;

  void execute(const Copy&);
  void execute(const Store&);
  void execute(const View&);
  void execute(const Map&);
  void execute(const Gemm&);
  void execute(const Reduce&);
  void execute(const Scan&);
  std::vector<Value> scanned_in_steps(const Scan&, int64_t lanes);
  void execute(const Scatter&);
  void execute(const Check&);
  template <class Other>
  void execute(const Other&) {}

  void store_block(const Store&);
  void gemm(const Gemm&, const std::map<TileId, int64_t>& slots);

  Labels labels_of(const Op&) const;
  int64_t slot(TileId) const;
  Value read(TileId, int64_t element, int64_t holder);
  Value read(TileId, int64_t element, int64_t holder, int64_t slot);
  Value fetch(const Source&);
  const Places* places(TileId) const;
  bool same_warp(TileId from, int64_t element, int64_t holder) const;
  /// For every copy of an element: its number and its holder, which is negative in scratch.
  void each_copy(TileId, int64_t element, const std::function<void(int64_t copy, int64_t holder)>&) const;
  void each_copy_of(const Use& to, const Labels&,
                    const std::function<Value(const At&, int64_t holder)>& value);

  class Conditions;
  class Indices;
  int64_t shown(const Index&, const Labels&, const At&);
  std::vector<Source> resolve(const Use& to, const Access&, const Bounds&, bool checked = false);
  std::string place(const Labels&, const At&) const;

  Shared& shared_;
  const Program& p_;
  WorkerMemory& memory_;
  Rings& rings_;
  Scene& scene_;
  OpId op_;
  std::map<const Loop*, std::map<int64_t, Number>> keys_;  ///< that have been noted, by position
};

}  // namespace axon::tile
