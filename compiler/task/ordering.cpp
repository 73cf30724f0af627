// See ordering.h.
#include "task/ordering.h"
#include <algorithm>
#include <set>

namespace axon::task {

std::optional<Relation> relation_of(const Program& p, const Wait& wait) {
  const auto& producer = p.types[p.events[wait.event].producer];
  const auto& consumer = p.types[wait.consumer];
  Relation relation;
  size_t common = 0;
  while (common < producer.loops.size() && common < consumer.loops.size() &&
         producer.loops[common] == consumer.loops[common])
    ++common;
  for (size_t i = 0; i < common; ++i) {
    const auto distance = (Dim(p.loops[producer.loops[i]].index) - wait.iteration[i]).constant();
    if (!distance || *distance < 0 || (i + 1 < common && *distance != 0)) return std::nullopt;
    if (i + 1 == common) relation.distance = static_cast<int>(*distance);
  }
  relation.leaves_loop = producer.loops.size() > common;
  for (size_t i = common; i < producer.loops.size(); ++i)
    if (wait.iteration[i] != p.loops[producer.loops[i]].extent - Dim(1)) return std::nullopt;
  return relation;
}

std::vector<Coverage> coverage_of(const Program& p, const Wait& wait) {
  const auto& event = p.events[wait.event];
  const auto& producer = p.types[event.producer];
  const auto& consumer = p.types[wait.consumer];
  std::vector<Coverage> coverage(producer.coordinates.size(), {Coverage::Kind::whole, 0});
  for (size_t a = 0; a < event.kept.size(); ++a) {
    const auto& range = wait.box[a];
    if (range.first.is(0) && range.last == event.shape[a] - Dim(1)) continue;
    Coverage& of = coverage[event.kept[a]];
    of = {};
    for (uint32_t c = 0; c < consumer.coordinates.size(); ++c)
      if (range.first == range.last && range.first == Dim(consumer.coordinates[c].var))
        of = {Coverage::Kind::same, c};
  }
  return coverage;
}

Ordering::Ordering(const Program& program) : program_(program) {
  for (const Wait& wait : program.waits) add(wait);
}

void Ordering::add(const Wait& wait) {
  const auto relation = relation_of(program_, wait);
  if (!relation) return;
  edges_.push_back({wait.consumer, program_.events[wait.event].producer, relation->distance,
                    coverage_of(program_, wait), relation->leaves_loop});
}

std::vector<Coverage> Ordering::compose(const std::vector<Coverage>& of_consumer, const Edge& edge) const {
  std::vector<Coverage> result = edge.coverage;
  for (size_t r = 0; r < result.size(); ++r) {
    if (result[r].kind != Coverage::Kind::same) continue;
    const uint32_t via = result[r].coordinate;
    const Dim& theirs = program_.types[edge.producer].coordinates[r].extent;
    const Dim& ours = program_.types[edge.consumer].coordinates[via].extent;
    const Coverage& known = of_consumer[via];
    if (known.kind == Coverage::Kind::whole && theirs != ours) result[r] = {};
    else result[r] = known;
  }
  return result;
}

std::vector<std::vector<Coverage>> Ordering::coverages(TaskTypeId later, TaskTypeId earlier, int distance) const {
  struct State {
    TaskTypeId type;
    int distance;
    std::vector<Coverage> coverage;
    auto operator<=>(const State&) const = default;
  };
  std::vector<std::vector<Coverage>> found;
  State start{later, 0, {}};
  for (uint32_t c = 0; c < program_.types[later].coordinates.size(); ++c)
    start.coverage.push_back({Coverage::Kind::same, c});
  std::set<State> seen{start};
  std::vector<State> work{start};
  while (!work.empty()) {
    const State at = work.back();
    work.pop_back();
    for (const Edge& edge : edges_) {
      if (edge.consumer != at.type) continue;
      // A chain through a loop proves nothing about what stands before the loop: it may run zero times.
      if (edge.leaves_loop && program_.types[edge.producer].loops != program_.types[earlier].loops) continue;
      State next{edge.producer, at.distance + edge.distance, compose(at.coverage, edge)};
      if (next.distance > distance) continue;
      if (next.type == earlier) found.push_back(next.coverage);
      if (seen.size() < 4096 && seen.insert(next).second) work.push_back(std::move(next));
    }
  }
  return found;
}

bool Ordering::ordered(TaskTypeId later, TaskTypeId earlier, int distance, const std::vector<Coverage>& needed) const {
  for (const auto& known : coverages(later, earlier, distance)) {
    bool covers = true;
    for (size_t c = 0; c < needed.size() && covers; ++c)
      covers = known[c].kind == Coverage::Kind::whole ||
               (needed[c].kind == Coverage::Kind::same && known[c] == needed[c]);
    if (covers) return true;
  }
  return false;
}

bool Ordering::ordered_whole(TaskTypeId later, TaskTypeId earlier, int distance) const {
  const std::vector<Coverage> whole(program_.types[earlier].coordinates.size(), {Coverage::Kind::whole, 0});
  return ordered(later, earlier, distance, whole);
}

}  // namespace axon::task
