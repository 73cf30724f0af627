// Rings: fills and drains correspond, and nobody waits for ever.
//
// In: the operations of all roles. Out: obligations, and which fill each acquire gets. The fills of the role
// that fills, without those of rings that another role does not drain, are the same sequence as the acquires
// of that role: loop by loop, with the same trip counts, zero included; none of them are counted by the data.
// So the n-th acquire gets the n-th fill, over the borders of tasks, too.
//
// Why nothing deadlocks: say that a drain waits for a slot that is not filled yet. All that were filled
// before it have been acquired, because both go in one order. So the role that fills can wait for that ring
// alone, and only where all slots are acquired and not released; verify_flow() shows of each acquire that a
// slot is left. Waits are for earlier tasks. A role that fills drains nothing, unless it is the only one.
#include <fmt/format.h>

#include <algorithm>

#include "tile/names.h"
#include "tile/verify.h"

namespace axon::tile {

namespace {

/// Fills or acquires, and the loops that have some.
struct Skeleton {
  TileId ring;  ///< of a leaf
  OpId op;
  Var index;  ///< of a loop
  Dim extent;
  std::vector<Skeleton> body;
};

class RingChecks {
 public:
  RingChecks(const Program& p, Report& report) : p_(p), report_(report), roles_(roles_of(p)) {}

  Fillings run() {
    for (uint32_t t = 0; t < p_.tiles.size(); ++t)
      if (p_.tiles[TileId{t}].space == Space::ring) ring({t});
    bool apart = true;
    for (size_t r = 0; r < roles_.size(); ++r)
      apart &= roles_.size() == 1 || fills_[r].empty() || drains_[r].empty();
    if (!rings_.empty()) report_.add("rings: a role fills or drains", apart, "compared");
    for (size_t from = 0; from < roles_.size(); ++from)
      for (size_t to = 0; to < roles_.size(); ++to) pair(from, to);
    return std::move(found_);
  }

 private:
  void ring(TileId ring) {
    rings_.insert(ring);
    std::set<size_t> filling, draining;
    for (size_t r = 0; r < roles_.size(); ++r)
      each_op(p_, *roles_[r].body, [&](OpId id) {
        const auto* copy = std::get_if<Copy>(&p_.ops[id]);
        const auto* acquire = std::get_if<Acquire>(&p_.ops[id]);
        const auto* release = std::get_if<Release>(&p_.ops[id]);
        if (copy && copy->to.tile == ring) filling.insert(r), fills_[r].insert(ring);
        if ((acquire && acquire->ring == ring) || (release && release->ring == ring))
          draining.insert(r), drains_[r].insert(ring);
      });
    report_.add(fmt::format("ring {}: one role fills it, and some drain it", p_.tiles[ring].name),
                filling.size() == 1 && !draining.empty(), "compared");
  }

  void pair(size_t from, size_t to) {
    std::set<TileId> shared;
    std::set_intersection(fills_[from].begin(), fills_[from].end(), drains_[to].begin(), drains_[to].end(),
                          std::inserter(shared, shared.end()));
    if (shared.empty()) return;
    const auto fills = skeleton(*roles_[from].body, shared, true);
    const auto drains = skeleton(*roles_[to].body, shared, false);
    std::string names;
    for (TileId ring : shared) names += (names.empty() ? "" : ", ") + p_.tiles[ring].name;
    report_.add(fmt::format("ring {}: fills and drains are one sequence", names),
                same(fills, drains, {}, Scope::of_tasks(p_)), "compared");
  }

  std::vector<Skeleton> skeleton(const std::vector<OpId>& ops, const std::set<TileId>& rings,
                                 bool fills) const {
    std::vector<Skeleton> out;
    for (OpId id : ops) {
      const auto* copy = std::get_if<Copy>(&p_.ops[id]);
      const auto* acquire = std::get_if<Acquire>(&p_.ops[id]);
      if (fills && copy && rings.contains(copy->to.tile)) out.push_back({copy->to.tile, id, {}, {}, {}});
      if (!fills && acquire && rings.contains(acquire->ring)) out.push_back({acquire->ring, id, {}, {}, {}});
      if (const auto* loop = std::get_if<Loop>(&p_.ops[id])) {
        auto inner = skeleton(loop->body, rings, fills);
        if (!inner.empty()) out.push_back({{}, id, loop->index, loop->extent, std::move(inner)});
      }
    }
    return out;
  }

  /// `loops`: of the fills, in terms of those of the drains.
  bool same(const std::vector<Skeleton>& fills, const std::vector<Skeleton>& drains,
            const shape::Substitution& loops, const Scope& scope) {
    bool all = fills.size() == drains.size();
    for (size_t i = 0; i < std::min(fills.size(), drains.size()); ++i) {
      const Skeleton &fill = fills[i], &drain = drains[i];
      all &= fill.ring == drain.ring && fill.body.empty() == drain.body.empty();
      if (!all) return false;
      if (fill.body.empty()) {
        found_[drain.op] = {fill.op, loops};
        continue;
      }
      const Dim extent = fill.extent.substitute(loops);
      all &= !is_counted(loop_of(fill)) && !is_counted(loop_of(drain));
      all &= scope.shows(shape::equal(shape::max(extent, 0), shape::max(drain.extent, 0)));
      shape::Substitution inner = loops;
      inner[fill.index] = drain.index;
      Scope inside = scope;
      inside.add_range(drain.index, drain.extent);
      all &= same(fill.body, drain.body, inner, inside);
    }
    return all;
  }

  const Loop& loop_of(const Skeleton& s) const { return std::get<Loop>(p_.ops[s.op]); }

  const Program& p_;
  Report& report_;
  const std::vector<RoleView> roles_;
  std::set<TileId> rings_;
  std::map<size_t, std::set<TileId>> fills_, drains_;
  Fillings found_;
};

}  // namespace

Fillings verify_rings(const Program& p, Report& report) { return RingChecks(p, report).run(); }

}  // namespace axon::tile
