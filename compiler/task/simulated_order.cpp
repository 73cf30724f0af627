// See simulated_order.h.
#include "task/simulated_order.h"

#include <algorithm>

#include "base/bug.h"

namespace axon::task {

bool for_box(const std::vector<int64_t>& low, const std::vector<int64_t>& high,
             const std::function<bool(const std::vector<int64_t>&)>& f) {
  for (size_t a = 0; a < low.size(); ++a)
    if (low[a] > high[a]) return true;
  std::vector<int64_t> at = low;
  for (;;) {
    if (!f(at)) return false;
    size_t a = at.size();
    while (a > 0 && ++at[a - 1] > high[a - 1]) {
      --a;
      at[a] = low[a];
    }
    if (a == 0) return true;
  }
}

void SimulatedOrder::add(const SimulatedTask& like, const std::vector<int64_t>& extents) {
  Grid& grid = grids_[like.type];
  SimulatedTask task = like;
  task.order = static_cast<int64_t>(grid.iterations.size());
  grid.iterations.push_back(like.iteration);
  grid.extents = extents;
  std::vector<int64_t> low(extents.size(), 0), high = extents;
  for (int64_t& h : high) --h;
  size_t cells = 1;
  for (const int64_t e : extents) cells *= static_cast<size_t>(e);
  for_box(low, high, [&](const std::vector<int64_t>& at) {
    task.coordinates = at;
    unblocked_.push_back(tasks_.size());
    tasks_.push_back(task);
    return true;
  });
  if (grid.done.size() < cells) grid.done.resize(cells, -1);
  grid.blocked.resize(grid.done.size());
}

const std::vector<int64_t>* SimulatedOrder::extents(TaskTypeId type) const {
  const auto found = grids_.find(type);
  return found == grids_.end() ? nullptr : &found->second.extents;
}

size_t SimulatedOrder::cell(TaskTypeId type, const std::vector<int64_t>& coordinates) const {
  size_t n = 0;
  const auto& extents = grids_.at(type).extents;
  for (size_t c = 0; c < coordinates.size(); ++c)
    n = n * static_cast<size_t>(extents[c]) + static_cast<size_t>(coordinates[c]);
  return n;
}

int64_t SimulatedOrder::number_of(TaskTypeId type, const std::vector<int64_t>& wanted) const {
  const auto& all = grids_.at(type).iterations;
  const auto next = std::upper_bound(all.begin(), all.end(), wanted);
  const bool never = next == all.end() && all.back() != wanted &&
                     std::find(wanted.begin(), wanted.end(), any_last) == wanted.end();
  return next - all.begin() - (never ? 0 : 1);
}

/// Any of the tasks that are not known to wait for another one.
size_t SimulatedOrder::draw() {
  std::swap(unblocked_[std::uniform_int_distribution<size_t>(0, unblocked_.size() - 1)(random_)],
            unblocked_.back());
  const size_t task = unblocked_.back();
  unblocked_.pop_back();
  return task;
}

/// A task that waits is put aside with the first thing that it waits for, and drawn again after that: nothing
/// finished becomes unfinished, so a ready task stays ready, and each is as likely as any other.
SimulatedOrder::Waiting SimulatedOrder::run(
    const std::function<std::optional<Requirement>(const SimulatedTask&)>& missing,
    const std::function<bool(const SimulatedTask&)>& execute) {
  size_t left = tasks_.size();
  while (!unblocked_.empty()) {
    const size_t number = draw();
    const SimulatedTask& task = tasks_[number];
    const Requirement before{task.type, cell(task.type, task.coordinates), task.order - 1};
    const auto waits = has_finished(before) ? missing(task) : std::optional(before);
    if (waits) {
      grids_.at(waits->type).blocked[waits->cell].push_back({number, waits->order});
      continue;
    }
    if (!execute(task)) return {};
    finish(task);
    --left;
  }
  return left > 0 ? Waiting{&first_blocked(), left} : Waiting{};
}

void SimulatedOrder::finish(const SimulatedTask& task) {
  Grid& grid = grids_.at(task.type);
  const size_t at = cell(task.type, task.coordinates);
  grid.done[at] = task.order;
  std::erase_if(grid.blocked[at], [&](const Blocked& b) {
    if (b.order > task.order) return false;
    unblocked_.push_back(b.task);
    return true;
  });
}

const SimulatedTask& SimulatedOrder::first_blocked() const {
  for (const auto& [type, grid] : grids_)
    for (const auto& tasks : grid.blocked)
      if (!tasks.empty()) return tasks_[tasks.front().task];
  base::bug("task::SimulatedOrder", "no task is blocked");
}

}  // namespace axon::task
