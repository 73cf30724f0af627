#include "brute_force.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/bug.h"

namespace axon::task {

namespace {

std::string instance_text(const Program& p, const Instance& i) {
  return fmt::format("{}({}; {})", p.types[i.type].name, fmt::join(i.iteration, ", "),
                     fmt::join(i.coordinates, ", "));
}

/// Calls f at every point of the inclusive box until it says no; true when it never does.
bool for_box(const std::vector<std::pair<int64_t, int64_t>>& box,
             const std::function<bool(const std::vector<int64_t>&)>& f) {
  std::vector<int64_t> at;
  for (const auto& [low, high] : box) {
    if (low > high) return true;
    at.push_back(low);
  }
  for (;;) {
    if (!f(at)) return false;
    size_t a = at.size();
    while (a > 0 && ++at[a - 1] > box[a - 1].second) {
      --a;
      at[a] = box[a].first;
    }
    if (a == 0) return true;
  }
}

}  // namespace

Concrete::Concrete(const Program& p, const shape::Assignment& sizes, uint64_t seed)
    : p_(p), seed_(seed), values_(sizes), of_type_(p.types.size()), grids_(p.types.size()) {
  for (const auto& size : p.graph->sizes)
    if (size.from == graph::Size::From::data)
      values_.try_emplace(size.var, size.equation.evaluate(values_).value_or(3));
  std::vector<int64_t> iteration;
  enumerate(p.steps, iteration);
  before_.assign(instances_.size(), std::vector<bool>(instances_.size(), false));
  for (size_t i = 0; i < instances_.size(); ++i) order(i);
}

void Concrete::enumerate(const std::vector<Step>& steps, std::vector<int64_t>& iteration) {
  for (const Step& step : steps) {
    if (step.task.valid()) {
      add_grid(step.task, iteration);
      continue;
    }
    const Loop& loop = p_.loops[step.loop];
    const graph::Node& node = p_.graph->nodes[loop.node];
    if (node.condition)
      values_[graph::steps_var(node)] = static_cast<int64_t>((runs_[step.loop.index]++ + seed_) % 3);
    const int64_t extent = *loop.extent.evaluate(values_);
    for (int64_t i = 0; i < extent; ++i) {
      values_[loop.index] = i;
      iteration.push_back(i);
      enumerate(step.body, iteration);
      iteration.pop_back();
    }
    values_.erase(loop.index);
  }
}

void Concrete::add_grid(TaskTypeId id, const std::vector<int64_t>& iteration) {
  const TaskType& type = p_.types[id];
  std::vector<std::pair<int64_t, int64_t>> grid;
  grids_[id.index].clear();
  for (const auto& c : type.coordinates) {
    grids_[id.index].push_back(*c.extent.evaluate(values_));
    grid.emplace_back(0, grids_[id.index].back() - 1);
  }
  for_box(grid, [&](const std::vector<int64_t>& at) {
    Instance i{id, iteration, at, values_, {}};
    for (size_t c = 0; c < at.size(); ++c) i.values[type.coordinates[c].var] = at[c];
    for (const Access& access : type.accesses) {
      i.boxes.emplace_back();
      for (const Interval& axis : access.box) {
        i.boxes.back().push_back(number(axis.low, i));
        i.boxes.back().push_back(number(axis.high, i));
      }
    }
    of_type_[id.index].push_back(instances_.size());
    instances_.push_back(std::move(i));
    return true;
  });
}

int64_t Concrete::number(const Dim& d, const Instance& i) const {
  const auto value = d.evaluate(i.values);
  if (!value) base::bug("brute_force", "cannot evaluate " + d.str());
  return *value;
}

bool Concrete::holds(const Fact& f, const Instance& i) const {
  return shape::holds(f.relation, number(f.lhs, i), number(f.rhs, i));
}

size_t Concrete::leading(const Wait& wait) const {
  const auto& loops = p_.types[p_.events[wait.event].producer].loops;
  size_t n = wait.iteration.size();
  while (n > 0 && wait.iteration[n - 1] == p_.loops[loops[n - 1]].extent - Dim(1)) --n;
  return n;
}

std::vector<std::pair<int64_t, int64_t>> Concrete::box_of(const Wait& wait, const Instance& consumer) const {
  const Event& event = p_.events[wait.event];
  std::vector<std::pair<int64_t, int64_t>> box;
  for (const Coordinate& c : p_.types[event.producer].coordinates)
    box.emplace_back(0, number(c.extent, consumer) - 1);
  for (size_t a = 0; a < event.kept.size(); ++a)
    box[event.kept[a]] = {number(wait.box[a].first, consumer), number(wait.box[a].last, consumer)};
  return box;
}

/// Is the iteration of `of` at most this one, as seen by `at`, in the first `count` loops?
bool Concrete::is_through(const std::vector<Dim>& iteration, size_t count, const Instance& at,
                          const Instance& of) const {
  for (size_t b = 0; b < count; ++b) {
    const int64_t most = number(iteration[b], at);
    if (of.iteration[b] != most) return of.iteration[b] < most;
  }
  return true;
}

bool Concrete::is_meant(const Wait& wait, const Instance& consumer, const Instance& producer) const {
  return is_through(wait.iteration, leading(wait), consumer, producer);
}

void Concrete::order(size_t n) {
  const Instance& consumer = instances_[n];
  const auto add = [&](size_t earlier) {
    if (earlier >= n) {
      broken_ = instance_text(p_, consumer) + " waits for " + instance_text(p_, instances_[earlier]);
      return;
    }
    if (before_[n][earlier]) return;
    before_[n][earlier] = true;
    for (size_t i = 0; i < earlier; ++i)
      if (before_[earlier][i]) before_[n][i] = true;
  };
  for (size_t own : of_type(consumer.type))
    if (own < n && instances_[own].coordinates == consumer.coordinates) add(own);
  for (const Wait& wait : p_.waits) {
    if (wait.consumer != consumer.type) continue;
    for (size_t earlier : awaited(wait, consumer)) add(earlier);
    if (is_outside(wait, consumer)) broken_ = instance_text(p_, consumer) + " waits outside of the grid";
  }
}

bool Concrete::is_guarded_away(const Wait& wait, const Instance& consumer) const {
  return std::any_of(wait.guard.begin(), wait.guard.end(),
                     [&](const Fact& f) { return !holds(f, consumer); });
}

bool Concrete::is_outside(const Wait& wait, const Instance& consumer) const {
  if (is_guarded_away(wait, consumer)) return false;
  const auto& extents = grid(p_.events[wait.event].producer);
  const auto box = box_of(wait, consumer);
  for (size_t c = 0; c < box.size(); ++c)
    if (box[c].first < 0 || (!extents.empty() && box[c].second >= extents[c])) return true;
  return false;
}

std::vector<size_t> Concrete::awaited(const Wait& wait, const Instance& consumer) const {
  std::vector<size_t> found;
  if (is_guarded_away(wait, consumer)) return found;
  const auto box = box_of(wait, consumer);
  for (size_t earlier : of_type(p_.events[wait.event].producer)) {
    const Instance& of = instances_[earlier];
    bool inside = is_meant(wait, consumer, of);
    for (size_t c = 0; c < box.size(); ++c)
      inside = inside && box[c].first <= of.coordinates[c] && of.coordinates[c] <= box[c].second;
    if (inside) found.push_back(earlier);
  }
  return found;
}

bool Concrete::overlap(size_t a, size_t access_a, size_t b, size_t access_b) const {
  const auto &x = instances_[a].boxes[access_a], &y = instances_[b].boxes[access_b];
  for (size_t i = 0; i < x.size(); i += 2)
    if (std::max(x[i], y[i]) >= std::min(x[i + 1], y[i + 1])) return false;
  return true;
}

/// Tasks of one type in one iteration: their boxes may meet, but not what they touch (shared()).
bool Concrete::is_sibling(size_t a, size_t b) const {
  return instances_[a].type == instances_[b].type && instances_[a].iteration == instances_[b].iteration;
}

std::string Concrete::unordered() const {
  for (size_t later = 0; later < instances_.size(); ++later)
    for (size_t earlier = 0; earlier < later; ++earlier) {
      if (is_before(earlier, later) || is_sibling(later, earlier)) continue;
      const auto &own = p_.types[instances_[later].type].accesses,
                 &theirs = p_.types[instances_[earlier].type].accesses;
      for (size_t a = 0; a < own.size(); ++a)
        for (size_t b = 0; b < theirs.size(); ++b)
          if (own[a].buffer == theirs[b].buffer && (own[a].write || theirs[b].write) &&
              overlap(later, a, earlier, b))
            return fmt::format("{} and {} touch {}", instance_text(p_, instances_[earlier]),
                               instance_text(p_, instances_[later]), p_.buffers[own[a].buffer].name);
    }
  return {};
}

std::string Concrete::contradicts(const Finished& f) const {
  for (size_t later : of_type(f.consumer)) {
    const Instance& at = instances_[later];
    if (!std::all_of(f.guard.begin(), f.guard.end(), [&](const Fact& fact) { return holds(fact, at); }))
      continue;
    std::string wrong = contradicts(later, f.producer, f.ranges, [&](const Instance& of) {
      return is_through(f.through, f.through.size(), at, of);
    });
    if (!wrong.empty()) return wrong;
  }
  return {};
}

std::string Concrete::contradicts(size_t later, TaskTypeId producer, const Ranges& ranges,
                                  const std::function<bool(const Instance&)>& speaks_of) const {
  const auto& tasks = of_type(producer);
  if (tasks.empty()) return {};
  const Instance& at = instances_[later];
  std::vector<std::pair<int64_t, int64_t>> known;
  for (size_t c = 0; c < ranges.size(); ++c) {
    known.emplace_back(-1, -1);
    if (!ranges[c]) continue;
    known.back() = {number(ranges[c]->first, at), number(ranges[c]->last, at)};
    if (known.back().first < 0 || known.back().first > known.back().second ||
        known.back().second >= grid(producer)[c])
      return instance_text(p_, at) + ": empty or outside of the grid";
  }
  std::string wrong;
  for_box(known, [&](const std::vector<int64_t>& choice) {
    // One task among those of this choice, with all its iterations that are spoken of.
    std::map<std::vector<int64_t>, bool> finished;
    for (size_t earlier : tasks) {
      const Instance& of = instances_[earlier];
      bool chosen = true;
      for (size_t c = 0; c < choice.size(); ++c)
        chosen = chosen && (!ranges[c] || of.coordinates[c] == choice[c]);
      if (!chosen || !speaks_of(of)) continue;
      const auto it = finished.try_emplace(of.coordinates, true).first;
      it->second = it->second && is_before(earlier, later);
    }
    const bool right = finished.empty() || std::any_of(finished.begin(), finished.end(),
                                                       [](const auto& task) { return task.second; });
    if (!right)
      wrong = fmt::format("{}: not ({}) of {}", instance_text(p_, at), fmt::join(choice, ", "),
                          p_.types[producer].name);
    return right;
  });
  return wrong;
}

std::vector<std::string> Concrete::needless() const {
  std::vector<std::string> found;
  for (const Wait& wait : p_.waits) {
    const Event& event = p_.events[wait.event];
    const auto &own = p_.types[wait.consumer].accesses, &theirs = p_.types[event.producer].accesses;
    for (size_t k = 0; k < event.kept.size(); ++k) {
      const auto reason = [&](size_t a, size_t b) {  // are the ends those of the tasks that these two need?
        if (own[a].buffer != wait.buffer || theirs[b].buffer != wait.buffer) return false;
        if (own[a].write != (wait.why != Wait::Why::read_after_write)) return false;
        if (theirs[b].write != (wait.why != Wait::Why::write_after_read)) return false;
        for (size_t later : of_type(wait.consumer)) {
          const Instance& at = instances_[later];
          if (!std::all_of(wait.guard.begin(), wait.guard.end(), [&](const Fact& f) { return holds(f, at); }))
            continue;
          const auto range = box_of(wait, at)[event.kept[k]];
          int64_t first = INT64_MAX, last = INT64_MIN;
          for (size_t earlier : of_type(event.producer)) {
            const Instance& of = instances_[earlier];
            if (!is_meant(wait, at, of) || !overlap(later, a, earlier, b)) continue;
            first = std::min(first, of.coordinates[event.kept[k]]);
            last = std::max(last, of.coordinates[event.kept[k]]);
          }
          if (first <= last && range != std::pair{first, last}) return false;
        }
        return true;
      };
      bool needed = false;
      for (size_t a = 0; a < own.size() && !needed; ++a)
        for (size_t b = 0; b < theirs.size() && !needed; ++b) needed = reason(a, b);
      if (!needed)
        found.push_back(fmt::format("{} {} {}", p_.types[wait.consumer].name, p_.types[event.producer].name,
                                    event.kept[k]));
    }
  }
  return found;
}

}  // namespace axon::task
