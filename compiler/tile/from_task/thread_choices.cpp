// See thread_choices.h.
#include "tile/from_task/thread_choices.h"

#include <algorithm>
#include <bit>

namespace axon::tile {

namespace {

constexpr int64_t bytes_of_run = 16;  ///< that a thread loads with one instruction
constexpr int64_t few_bytes = 64;     ///< of elements of a tile that a thread has, where rows are short
constexpr int64_t bytes_in_registers = 128;  ///< the same of rows that stay in registers whole
constexpr int64_t most_of_long = 32;         ///< where long functions have temporaries of their own

int64_t power_of_two_from(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
}

class ThreadChoices {
 public:
  ThreadChoices(const Origin& of, const Machine& machine, bool has_long_functions)
      : of_(of),
        type_(of.program.types[of.id]),
        node_(of.graph.nodes[type_.node]),
        machine_(machine),
        has_long_functions_(has_long_functions),
        run_(bytes_of_run / narrowest_in_memory(of)),
        widest_(widest_in_blocks(of)) {}

  std::vector<Choices> run() {
    if (rows_of_task() > 1) add_rows_at_once();
    if (of_.form.reductions.size() + (of_.form.along ? 1 : 0) > 1) add_whole_rows();
    for (int64_t runs = has_long_functions_ ? 1 : 2; runs > 0; runs /= 2) add({.registers_per_tile = runs});
    return std::move(out_);
  }

 private:
  void add(Choices choices) {
    choices.keep_costly = choices.one_block;
    out_.push_back(choices);
  }

  /// Runs of which a thread has so many bytes, at least one.
  int64_t runs_in(int64_t bytes) const {
    return std::max<int64_t>((has_long_functions_ ? std::min(bytes, most_of_long) : bytes) / (run_ * widest_),
                             1);
  }

  /// Of the axis whose rows can be had at once; 1 where there is none.
  int64_t rows_of_task() const {
    const RowForm& form = of_.form;
    if (form.rows.empty() || form.across || !form.joined.empty()) return 1;
    const uint32_t axis = form.rows.back();
    for (const task::Coordinate& c : type_.coordinates)
      if (c.axis == axis) return c.tile;
    return node_.domain[axis].extent.constant().value_or(1);
  }

  /// Of all rows that statements run along, where that is known.
  std::optional<int64_t> longest_row() const {
    int64_t most = 1;
    const auto add = [&](const Dim& extent) { most = std::max(most, extent.constant().value_or(INT64_MAX)); };
    for (const RowReduction& r : of_.form.reductions) add(r.along.extent);
    if (of_.form.along) add(node_.domain[*of_.form.along].extent);
    return most == INT64_MAX ? std::nullopt : std::optional(most);
  }

  /// Each warp has rows of its own: short ones several, others one at a time. Rows of which all threads would
  /// load some need no warp for each.
  void add_rows_at_once() {
    const bool is_pointwise = of_.form.reductions.empty();
    const int64_t most = std::min(runs_in(2 * bytes_in_registers), machine_.warps);
    if (const auto length = longest_row()) {
      const int64_t runs = power_of_two_from((*length + run_ - 1) / run_);
      const int64_t lanes = std::clamp(runs, fewest_lanes(), machine_.lanes);
      if (runs / lanes <= most) add_rows(lanes, std::max<int64_t>(runs / lanes, 1), true);
    } else {
      if (fewest_lanes() < machine_.lanes) add_rows(fewest_lanes(), 1, true);
      add_rows(machine_.lanes, 1, true);
      for (int64_t runs = std::min<int64_t>(most, 4); runs <= most && !is_pointwise; runs *= 2)
        if (runs > 1) add_rows(machine_.lanes, runs, true);
    }
    add_rows(machine_.lanes, std::min<int64_t>(runs_in(few_bytes), 4), false);
    if (!is_pointwise) out_.back().most_of_row = machine_.threads() * run_;
  }

  /// Of a row: with fewer, some warps had none of the rows of a task.
  int64_t fewest_lanes() const {
    return std::min(power_of_two_from(machine_.lanes * machine_.warps / rows_of_task()), machine_.lanes);
  }

  void add_rows(int64_t lanes, int64_t runs, bool one_block) {
    const int64_t of_warps = machine_.warps * (machine_.lanes / lanes);
    const int64_t together = std::min(rows_of_task() / of_warps, runs_in(few_bytes) / runs);
    add({.registers_per_tile = runs,
         .one_block = one_block,
         .lanes_of_row = lanes,
         .rows_of_thread = std::max<int64_t>(std::bit_floor(static_cast<uint64_t>(together)), 1),
         .rows_for_all = runs > 1 || !one_block});
  }

  /// All threads have a row, and keep it: what statements share of it is loaded and computed once.
  void add_whole_rows() {
    const int64_t few = runs_in(few_bytes / 2), most = runs_in(bytes_in_registers);
    for (int64_t runs = few; runs <= most; runs *= 2) add({.registers_per_tile = runs, .one_block = true});
  }

  const Origin& of_;
  const task::TaskType& type_;
  const graph::Node& node_;
  const Machine& machine_;
  const bool has_long_functions_;
  const int64_t run_, widest_;
  std::vector<Choices> out_;
};

}  // namespace

std::vector<Choices> choices_for_threads(const Origin& of, const Machine& machine, bool has_long_functions) {
  return ThreadChoices(of, machine, has_long_functions).run();
}

}  // namespace axon::tile
