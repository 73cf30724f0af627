// The flow of each role: what is known before and behind each operation, loops included.
//
// A loop is gone through until what is known at its head no longer changes; only then do its operations add
// obligations. What holds behind it holds after any number of iterations, and after none where there may be
// none, as where the data counts them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tile/names.h"
#include "tile/verify.h"
#include "tile/verify_op.h"

namespace axon::tile {

namespace {

constexpr int most_rounds = 8;

class Flow {
 public:
  Flow(const Setting& setting, Report& report) : setting_(setting), p_(setting.program), report_(report) {}

  State run(const std::vector<OpId>& body) {
    State state;
    for (uint32_t t = 0; t < p_.tiles.size(); ++t)
      if (p_.tiles[TileId{t}].space == Space::ring) state.slots[{t}] = {};
    walk(body, state, Scope::of_tasks(p_), &report_);
    return state;
  }

 private:
  void walk(const std::vector<OpId>& ops, State& state, const Scope& scope, Report* report) {
    for (OpId id : ops) {
      if (const auto* loop = std::get_if<Loop>(&p_.ops[id]))
        this->loop(id, *loop, state, scope, report);
      else
        OpChecks(setting_, id, state, scope, around_, carried_, report).run();
      if (around_.empty()) note_stores(id, state);
    }
  }

  /// Behind the outermost loop around a store, the tensor is wholly stored: also where no iteration is.
  void note_stores(OpId id, State& state) {
    each_op(p_, {id}, [&](OpId op) {
      if (const auto* store = std::get_if<Store>(&p_.ops[op]); store && store->to.tensor)
        state.stored.insert(store->to.tensor);
      if (const auto* loop = std::get_if<Loop>(&p_.ops[op]); loop && loop->order)
        state.stored.insert(loop->order->to);
    });
  }

  void loop(OpId id, const Loop& loop, State& state, const Scope& scope, Report* report) {
    if (is_counted(loop)) OpChecks(setting_, id, state, scope, around_, carried_, report).check_counts(loop);
    Scope inside = scope;
    inside.add_range(loop.index, loop.extent);
    around_.push_back({loop.index, loop.extent, is_counted(loop)});
    Carried carried;
    each_op(p_, loop.body, [&](OpId op) {
      for (TileId tile : defined_tiles(p_.ops[op]))
        if (p_.tiles[tile].space != Space::ring) carried.in_body.insert(tile);
    });
    carried_.push_back(carried);
    const std::map<TileId, Claims> ahead = blocks_ahead(setting_, loop, state);
    const auto iteration = [&](State at, Report* to) {
      carried_.back() = carried;
      for (const auto& [tile, claims] : ahead) at.written[tile] = claims;
      walk(loop.body, at, inside, to);
      return at;
    };
    State head = state;
    bool stable = false;
    for (int round = 0; round < most_rounds && !stable; ++round) {
      State after = iteration(head, nullptr);
      advance(after, loop.index);
      if (!loop.first) put_in_terms_of(loop.index, after, head);
      State next = joined(head, after);
      forget_unsteady(loop.index, after, next);
      stable = next == head;
      head = std::move(next);
    }
    State after = iteration(head, report);
    if (loop.order) OpChecks(setting_, id, after, inside, around_, carried_, report).check_keys(loop);
    const std::map<TileId, Claims> blocks = blocks_behind(setting_, loop, after);
    forget(after, loop.index);
    if (report) {
      const std::set<TileId> stated(loop.carries.begin(), loop.carries.end());
      report->add(fmt::format("`{}`: it carries what its iterations read of those before", print(p_, id)),
                  stable && stated == carried_.back().needed && stated.size() == loop.carries.size(), "flow");
      report->add(fmt::format("`{}`: rings and gemms are as they were after each iteration", print(p_, id)),
                  stable && head.is_uniform, "flow");
    }
    carried_.pop_back();
    around_.pop_back();
    for (Carried& outer : carried_)
      for (TileId tile : carried.in_body) outer.written.insert(tile);
    const bool has_iteration = !is_counted(loop) && scope.shows(shape::at_least(loop.extent, 1));
    const State before = std::exchange(state, has_iteration ? after : joined(state, after));
    for (const auto& [tile, claims] : blocks) {
      if (!is_counted(loop)) {
        state.written[tile] = claims;
      } else if (const auto found = before.written.find(tile); found != before.written.end()) {
        state.written[tile] = joined(found->second, claims);
      }
    }
    if (!loop.order) return;
    for (const TileId tile : carried.in_body) state.forget(tile);
    OpChecks(setting_, id, state, scope, around_, carried_, report).run();
  }

  const Setting& setting_;
  const Program& p_;
  Report& report_;
  std::vector<Around> around_;
  std::vector<Carried> carried_;  ///< of the loops around
};

/// What has to hold when a task ends.
void at_end(const Program& p, const RoleView& role, const State& state, Report& report) {
  const std::string name = role.name.empty() ? "" : role.name + ": ";
  if (!state.slots.empty()) {
    bool even = state.is_uniform;
    for (const auto& [ring, slots] : state.slots) even &= slots.held == 0 && slots.filled == 0;
    report.add(name + "each slot is released", even, "flow");
  }
  bool has_gemms = false;
  each_op(p, *role.body, [&](OpId id) {
    const auto* gemm = std::get_if<Gemm>(&p.ops[id]);
    has_gemms |= gemm && gemm->async;
  });
  if (has_gemms) report.add(name + "gemms are done", state.running.empty(), "flow");
}

}  // namespace

void verify_flow(const Program& p, const AllPlaces& places, const Fillings& fillings, Report& report) {
  const std::vector<RoleView> roles = roles_of(p);
  Setting setting{p, places, fillings, {}, {}, roles.size() == 1, false};
  for (const Tile& tile : p.tiles) {
    setting.axes.emplace_back();
    for (size_t a = 0; a < tile.shape.size(); ++a) setting.axes.back().push_back(shape::fresh_var("axis"));
  }
  for (const Op& op : p.ops) {
    if (const auto* store = std::get_if<Store>(&op); store && store->to.tensor)
      ++setting.stores[store->to.tensor];
    if (const auto* loop = std::get_if<Loop>(&op); loop && loop->order) ++setting.stores[loop->order->to];
  }
  std::set<uint32_t> sent;
  bool once = true;
  for (const RoleView& role : roles) {
    setting.several = role.warps * p.machine.lanes > 1;
    const State end = Flow(setting, report).run(*role.body);
    at_end(p, role, end, report);
    for (uint32_t n : end.sent) once &= sent.insert(n).second;
  }
  report.add("each notification is sent", once && sent.size() == p.notifications.size(), "flow");
  bool all = true;
  for (uint32_t t = 0; t < p.tensors.size(); ++t)
    all &= !p.tensors[TensorId{t}].writes || setting.stores.contains(TensorId{t});
  report.add("each tensor that is written has a store", all, "compared");
}

}  // namespace axon::tile
