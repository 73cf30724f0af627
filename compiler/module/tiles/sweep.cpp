// See sweep.h.
#include "module/tiles/sweep.h"

#include <algorithm>

#include "tile/names.h"

namespace axon::module::tiles {

using tile::Space;

namespace {

constexpr int64_t most_unrolled = 16;  ///< vectors that an operation on scratch memory has without a loop

void add_bounds(const tile::Program& p, const Views& views, const tile::Use& use, std::vector<Fact>& out) {
  if (p.tiles[use.tile].space != Space::view) return;
  const auto found = views.find(use.tile);
  if (found == views.end()) return;
  const tile::View& view = *found->second;
  Substitution labels;
  for (size_t a = 0; a < use.labels.size(); ++a) labels[view.to.labels[a]] = Dim(use.labels[a]);
  for (const Fact& fact : view.bounds.facts) out.push_back(substituted(fact, labels));
}

/// Does the tile read registers, by itself or through views?
bool reads_registers(const tile::Program& p, const Views& views, TileId tile) {
  if (p.tiles[tile].space == Space::registers) return true;
  const auto found = views.find(tile);
  if (p.tiles[tile].space != Space::view || found == views.end()) return false;
  const tile::Access& from = found->second->from;
  if (!from.tensor && reads_registers(p, views, from.tile)) return true;
  return std::any_of(from.at.begin(), from.at.end(), [&](const tile::Index& index) {
    return index.table && reads_registers(p, views, index.table->tile);
  });
}

}  // namespace

std::map<Var, int64_t> extents_of_labels(const tile::Program& p, const tile::Op& op) {
  std::map<Var, int64_t> out;
  for (const tile::Use* use : tile::uses(op))
    for (size_t a = 0; a < use->labels.size(); ++a) out[use->labels[a]] = p.tiles[use->tile].shape[a];
  return out;
}

std::vector<Fact> bounds_of(const tile::Program& p, const Views& views, const tile::Op& op) {
  std::vector<Fact> out;
  if (const auto* copy = std::get_if<tile::Copy>(&op)) out = copy->bounds.facts;
  if (const auto* store = std::get_if<tile::Store>(&op)) out = store->bounds;
  if (const auto* map = std::get_if<tile::Map>(&op)) out = map->bounds.facts;
  if (const auto* check = std::get_if<tile::Check>(&op)) out = check->bounds;
  if (const auto* scatter = std::get_if<tile::Scatter>(&op)) out = scatter->bounds;
  for (const tile::Use* use : tile::uses(op)) add_bounds(p, views, *use, out);
  return out;
}

std::vector<Fact> bounds_of(const tile::Program& p, const Views& views, const tile::Use& use) {
  std::vector<Fact> out;
  add_bounds(p, views, use, out);
  return out;
}

std::set<Var> labels_of_registers(const tile::Program& p, const Views& views, const tile::Op& op) {
  std::set<Var> out;
  for (const tile::Use* use : tile::uses(op))
    if (reads_registers(p, views, use->tile)) out.insert(use->labels.begin(), use->labels.end());
  if (const tile::Access* access = tile::access_of(op);
      access && !access->tensor && reads_registers(p, views, access->tile))
    for (const tile::Index& index : access->at)
      for (Var v : index.dim.vars()) out.insert(v);
  return out;
}

const tile::Use* swept(const tile::Op& op) {
  if (const auto* copy = std::get_if<tile::Copy>(&op)) return &copy->to;
  if (const auto* store = std::get_if<tile::Store>(&op)) return &store->from;
  if (const auto* map = std::get_if<tile::Map>(&op)) return &map->to;
  if (const auto* reduce = std::get_if<tile::Reduce>(&op)) return &reduce->to;
  if (const auto* check = std::get_if<tile::Check>(&op)) return &check->of;
  if (const auto* scatter = std::get_if<tile::Scatter>(&op)) return &scatter->from;
  return nullptr;
}

Steps steps_of(const tile::Program& p, const target::Machine& machine, const Views& views,
               const tile::Op& op) {
  const tile::Use* over = swept(op);
  Steps out;
  if (!over || p.tiles[over->tile].space == Space::registers) return out;
  const tile::Tile& tile = p.tiles[over->tile];
  int64_t vectors = 1;
  for (size_t a = tile.shape.size(); a-- > 0;) {
    int64_t count = tile.shape[a];
    if (!out.vector.valid() && (count > 1 || a == 0)) {
      out.vector = over->labels[a];
      out.lanes = std::min<int64_t>(count, machine.vector_bytes / base::elem_bytes(computed_as(tile.elem)));
      count = (count + out.lanes - 1) / out.lanes;
    }
    vectors *= count;
  }
  if (vectors <= most_unrolled) return out;
  const auto pinned = labels_of_registers(p, views, op);
  for (size_t a = 0; a < tile.shape.size(); ++a)
    if (tile.shape[a] > 1 && !pinned.contains(over->labels[a])) out.in_loops.push_back(over->labels[a]);
  return out;
}

std::vector<Dim> conditions_in(Var loop, const std::vector<Fact>& facts, const Substitution& now,
                               const std::map<Var, int64_t>& free) {
  std::vector<Dim> out;
  for (const Fact& fact : facts) {
    const auto wanted = nonnegatives_everywhere(substituted(fact, now), free);
    if (!wanted) continue;
    for (const Dim& d : *wanted)
      if (d.contains(loop)) out.push_back(d);
  }
  return out;
}

Sweep::Sweep(Context& context, Registers& registers, const tile::Op& op, const tile::Use& over)
    : c_(context),
      registers_(registers),
      over_(over),
      steps_(steps_of(context.p, context.f.level, context.views, op)),
      bounds_(bounds_of(context.p, context.views, op)),
      extents_(extents_of_labels(context.p, op)) {
  find_ends(op);
}

void Sweep::find_ends(const tile::Op& op) {
  const auto* map = std::get_if<tile::Map>(&op);
  if (!map || map->bounds.fill) return;
  for (const Fact& fact : map->bounds.facts) {
    const auto all = nonnegatives(fact);
    if (!all || all->size() != 1) continue;
    for (const Var label : over_.labels) {
      const auto split = all->front().linear_in(label);
      const auto vars = split ? split->second.vars() : std::vector<Var>();
      if (!split || !split->first.is(-1) ||
          std::any_of(vars.begin(), vars.end(), [&](Var v) { return extents_.contains(v); }))
        continue;
      const Dim end = shape::max(split->second + 1, 0);
      const auto [found, added] = ends_.try_emplace(label, end);
      if (!added) found->second = shape::min(found->second, end);
    }
  }
}

/// A loop over a label, or over vectors of its values.
void Sweep::through(const Axis& loop, Var label, std::vector<Dim> conditions,
                    const std::function<void()>& body) {
  const auto end = ends_.find(label);
  if (end == ends_.end()) return c_.loop(loop, conditions, body);
  const Dim count = label == steps_.vector ? shape::cdiv(end->second, steps_.lanes) : end->second;
  c_.loop({loop.var, shape::min(loop.extent, count)}, {}, body);
}

void Sweep::each(bool once, const Body& body) {
  if (c_.p.tiles[over_.tile].space == Space::registers) return each_register(once, body);
  next(0, {}, body);
}

void Sweep::each_register(bool once, const Body& body) {
  const auto& shape = c_.p.tiles[over_.tile].shape;
  for (int64_t number = 0; number < registers_.count(over_.tile); ++number) {
    if (number != c_.one_register.value_or(number)) continue;
    Lanes lanes;
    lanes.width = registers_.lanes(over_.tile);
    const auto held = registers_.elements(over_.tile, number, once);
    const std::vector<Dim> offsets = c_.threads.offsets(over_.tile);
    for (unsigned lane = 0; lane < lanes.width; ++lane) {
      if (!held[lane]) continue;
      int64_t rest = *held[lane];
      Substitution& labels = lanes.labels.emplace_back();
      lanes.own.push_back(lane);
      for (size_t a = shape.size(); a-- > 0; rest /= shape[a])
        labels[over_.labels[a]] = Dim(rest % shape[a]) + offsets[a] - c_.back.value_or(Dim(0));
    }
    if (lanes.size() > 0) body(lanes, number);
  }
}

std::vector<Dim> Sweep::conditions(Var loop, const Substitution& now, int64_t lanes) const {
  std::map<Var, int64_t> free;
  for (const auto& [label, extent] : extents_)
    if (!now.contains(label)) free[label] = label == steps_.vector && lanes > 0 ? lanes : extent;
  return conditions_in(loop, bounds_, now, free);
}

void Sweep::next(size_t axis, Substitution now, const Body& body) {
  if (axis == over_.labels.size()) return along_vector(now, body);
  const Var label = over_.labels[axis];
  const int64_t extent = c_.p.tiles[over_.tile].shape[axis];
  if (label == steps_.vector) return next(axis + 1, now, body);
  if (std::find(steps_.in_loops.begin(), steps_.in_loops.end(), label) == steps_.in_loops.end()) {
    for (int64_t i = 0; i < extent; ++i) {
      now[label] = Dim(i);
      next(axis + 1, now, body);
    }
    return;
  }
  const Axis loop{shape::fresh_var(shape::var_name(label)), Dim(extent)};
  now[label] = Dim(loop.var);
  through(loop, label, conditions(loop.var, now, 0), [&] { next(axis + 1, now, body); });
}

void Sweep::along_vector(const Substitution& now, const Body& body) {
  if (!steps_.vector.valid()) return vector(now, 0, 1, body);
  const int64_t extent = extents_.at(steps_.vector), lanes = steps_.lanes, whole = extent / lanes;
  const bool in_loop =
      std::find(steps_.in_loops.begin(), steps_.in_loops.end(), steps_.vector) != steps_.in_loops.end();
  if (in_loop && whole > 1) {
    const Axis loop{shape::fresh_var(shape::var_name(steps_.vector)), Dim(whole)};
    Substitution here = now;
    const Var lane = shape::fresh_var("lane");
    here[steps_.vector] = Dim(loop.var) * lanes + Dim(lane);
    std::map<Var, int64_t> free{{lane, lanes}};
    for (const auto& [label, count] : extents_)
      if (!here.contains(label)) free[label] = count;
    through(loop, steps_.vector, conditions_in(loop.var, bounds_, here, free),
            [&] { vector(now, Dim(loop.var) * lanes, lanes, body); });
  } else {
    for (int64_t i = 0; i < whole; ++i) vector(now, i * lanes, lanes, body);
  }
  if (extent % lanes != 0) vector(now, whole * lanes, extent % lanes, body);
}

void Sweep::vector(const Substitution& now, const Dim& first, int64_t count, const Body& body) {
  Lanes lanes;
  lanes.width = static_cast<unsigned>(count);
  for (int64_t l = 0; l < count; ++l) {
    lanes.labels.push_back(now);
    if (steps_.vector.valid()) lanes.labels.back()[steps_.vector] = first + l;
    lanes.own.push_back(static_cast<unsigned>(l));
  }
  body(lanes, 0);
}

}  // namespace axon::module::tiles
