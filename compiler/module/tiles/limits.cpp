// See emit_program.h: what has no code yet, or never will.
#include <algorithm>

#include "layout/evaluate.h"
#include "module/tiles/emit_program.h"
#include "module/tiles/sweep.h"
#include "tile/names.h"
#include "tile/places.h"

namespace axon::module {

namespace {

using tile::Space;
using tile::TileId;
using Reason = std::optional<std::string>;

constexpr int64_t most_lanes_of_a_vector = 64, most_vectors = 4096;

class Limits {
 public:
  explicit Limits(const tile::Program& p) : p_(p) {}

  Reason of_program() {
    for (const tile::Tile& tile : p_.tiles)
      if (auto why = of_tile(tile)) return why;
    return of_body(p_.body, {});
  }

 private:
  Reason of_tile(const tile::Tile& tile) const {
    if (tile.space == Space::ring) return tile.name + " is a ring";
    if (tile.space == Space::view) return std::nullopt;
    const layout::Swizzled& place = p_.layouts[tile.layout].layout;
    const tile::Places places(place);
    if (tile.space == Space::registers) {
      if (places.vector_lanes() > most_lanes_of_a_vector) return tile.name + " has vectors of too many lanes";
      if (several()) return tiles::why_not_in_threads(p_, tile);
      for (int64_t x = 0; x < places.elements(); ++x)
        for (const tile::Point& point : places.of(x))
          if (point.holder >= tile::most_vector_lanes) return tile.name + " lies in several threads";
      return std::nullopt;
    }
    if (place.swizzle.bits != 0 && !several()) return tile.name + " is swizzled in scratch memory";
    if (places.copies() != 1 || places.vector_lanes() != 1) return tile.name + " has lanes in scratch memory";
    return std::nullopt;
  }

  Reason of_body(const std::vector<tile::OpId>& body, tiles::Views views) {
    for (const tile::OpId id : body) {
      const tile::Op& op = p_.ops[id];
      if (const auto* view = std::get_if<tile::View>(&op)) views[view->to.tile] = view;
      auto why = std::visit([&](const auto& which) { return of(which); }, op);
      if (!why) why = of_uses(op, views);
      if (!why && several()) why = of_threads(op);
      if (!why) why = of_writes(op, views);
      if (why) return "`" + tile::print(p_, id) + "`: " + *why;
      if (const auto* loop = std::get_if<tile::Loop>(&op))
        if (auto inner = of_body(loop->body, views)) return inner;
    }
    return std::nullopt;
  }

  // ---- operations without code ----
  Reason of(const tile::Role&) const { return "roles have no code on a CPU"; }
  Reason of(const tile::Scan& scan) const {
    if (tile::lanes_of_scan(p_, scan) == 1) return "only rows of vectors are scanned";
    if (scan.start && !in_registers(scan.start->tile)) return "what comes before is not in registers";
    return std::nullopt;
  }
  Reason of(const tile::Scatter& scatter) const {
    if (several()) return "scatters have no code for several threads yet";
    if (!in_registers(scatter.from.tile)) return "what it adds is not in registers";
    const tile::Places places(p_.layouts[p_.tiles[scatter.from.tile].layout].layout);
    for (int64_t x = 1; x < places.elements(); ++x)
      if (order_of(places, x) <= order_of(places, x - 1))
        return "registers have its elements in another order";
    return std::nullopt;
  }
  /// In which an operation goes through an element that is in several lanes, it takes the first.
  static std::pair<int64_t, int64_t> order_of(const tile::Places& places, int64_t element) {
    const tile::Point& point = places.of(element)[0];
    return {point.at, point.holder};
  }
  Reason of(const tile::Loop& loop) const {
    if (!loop.order) return std::nullopt;
    if (several()) return "orders have no code for several threads yet";
    std::set<TileId> made;
    for (const tile::OpId id : loop.body) {
      const auto defined = tile::defined_tiles(p_.ops[id]);
      for (const TileId tile : tile::tiles(p_.ops[id]))
        if (!made.contains(tile) && std::find(defined.begin(), defined.end(), tile) == defined.end())
          return "its keys are made of tiles of another body";
      made.insert(defined.begin(), defined.end());
    }
    const tile::Tensor& to = p_.tensors[loop.order->to];
    std::vector<Dim> at = loop.order->row;
    const Var position = shape::fresh_var("i");
    at.emplace_back(position);
    const auto points = layout::apply(to.place, layout::rounded_up(to.shape, to.multiples), at);
    const auto offset = points.find("m");
    const auto step = offset == points.end() ? std::nullopt : offset->second.linear_in(position);
    const bool is_one = !to.shape.empty() && to.shape.back().is(1);
    if (!is_one && (!step || !step->first.is(1))) return "its rows do not lie together";
    return std::nullopt;
  }
  Reason of(const tile::Gemm& gemm) const {
    if (gemm.async) return "it is asynchronous";
    if (!gemm.by.empty() && (gemm.by != "mma.m16n8k16" || !several()))
      return "the instruction has no code yet";
    if (gemm.by.empty() && several()) return "no thread has the elements of a product";
    if (p_.tiles[gemm.acc.tile].space != Space::registers) return "it sums in scratch memory";
    return std::nullopt;
  }
  Reason of(const tile::Check& check) const {
    if (several()) return "checks have no code for several threads yet";
    if (!in_registers(check.of.tile)) return "what it checks is not in registers";
    return std::nullopt;
  }
  template <class Other>
  Reason of(const Other&) const {
    return std::nullopt;
  }

  // ---- several threads ----
  bool several() const { return p_.machine.threads() > 1; }
  bool in_registers(TileId tile) const { return p_.tiles[tile].space == Space::registers; }
  /// Only registers are gone through thread by thread.
  Reason of_threads(const tile::Op& op) const {
    const tile::Use* over = tiles::swept(op);
    if (over && !in_registers(over->tile)) return "its elements are no thread's";
    if (const auto* copy = std::get_if<tile::Copy>(&op);
        copy && !copy->from.tensor && in_registers(copy->from.tile))
      return of_own(copy->to, copy->from.tile, copy->from.at);
    if (const auto* map = std::get_if<tile::Map>(&op))
      for (const tile::Expr& e : map->exprs)
        if (e.kind == tile::Expr::Kind::tile && in_registers(e.use.tile)) {
          std::vector<tile::Index> at;
          for (const Var label : e.use.labels) at.push_back({std::nullopt, Dim(label)});
          if (auto why = of_own(map->to, e.use.tile, at)) return why;
        }
    return std::nullopt;
  }
  /// Does every thread find the elements in registers of its own, and of the same numbers?
  Reason of_own(const tile::Use& to, TileId from, const std::vector<tile::Index>& at) const {
    const tile::Places target(p_.layouts[p_.tiles[to.tile].layout].layout),
        source(p_.layouts[p_.tiles[from].layout].layout);
    std::map<std::pair<int64_t, int64_t>, int64_t> numbers;  // of the target, and lane: of the source
    for (int64_t x = 0; x < target.elements(); ++x) {
      tiles::Substitution labels;
      int64_t rest = x, y = 0;
      for (size_t a = to.labels.size(); a-- > 0; rest /= p_.tiles[to.tile].shape[a])
        labels[to.labels[a]] = Dim(rest % p_.tiles[to.tile].shape[a]);
      for (size_t a = 0; a < at.size(); ++a)
        y = y * p_.tiles[from].shape[a] + at[a].dim.substitute(labels).constant().value_or(0);
      for (const tile::Point& point : target.of(x)) {
        const auto held = source.held(y, point.holder);
        if (!held) return "threads exchange registers";
        const int64_t number = source.of(y)[static_cast<size_t>(*held)].at;
        const auto [found, added] =
            numbers.try_emplace({point.at, point.holder % tile::most_vector_lanes}, number);
        if (found->second != number) return "threads have their elements in different registers";
      }
    }
    return std::nullopt;
  }

  // ---- what is read ----
  Reason of_uses(const tile::Op& op, const tiles::Views& views) const {
    for (const tile::Use* use : tile::uses(op))
      if (p_.tiles[use->tile].space == Space::view && !views.contains(use->tile))
        return p_.tiles[use->tile].name + " was made in another body";
    const tile::Access* access = tile::access_of(op);
    if (access && !access->tensor) {
      if (p_.tiles[access->tile].space == Space::view && !views.contains(access->tile))
        return p_.tiles[access->tile].name + " was made in another body";
      if (auto why = of_registers(op, *access, views)) return why;
    }
    int64_t vectors = 1;
    const auto extents = tiles::extents_of_labels(p_, op);
    for (Var v : tiles::labels_of_registers(p_, views, op))
      if (const auto found = extents.find(v); found != extents.end()) vectors *= found->second;
    if (vectors > most_vectors * most_lanes_of_a_vector) return "it takes too much code";
    return std::nullopt;
  }
  Reason of_registers(const tile::Op& op, const tile::Access& access, const tiles::Views& views) const {
    const std::set<Var> named = tiles::labels_of_registers(p_, views, op);
    const bool in_registers =
        p_.tiles[access.tile].space == Space::registers ||
        std::any_of(access.at.begin(), access.at.end(), [&](const tile::Index& index) {
          const auto vars = index.dim.vars();
          return p_.tiles[access.tile].space == Space::view &&
                 std::any_of(vars.begin(), vars.end(), [&](Var v) { return named.contains(v); });
        });
    if (!in_registers) return std::nullopt;
    if (std::holds_alternative<tile::Store>(op)) return "it stores into registers";
    const auto extents = tiles::extents_of_labels(p_, op);
    for (const tile::Index& index : access.at) {
      if (index.table) return "an index of the data names a register";
      for (Var v : index.dim.vars())
        if (!extents.contains(v)) return "the index of a register is no number";
    }
    return std::nullopt;
  }

  // ---- what is written ----

  /// The scratch tiles that a tile is read from.
  void add_sources(TileId id, const tiles::Views& views, std::vector<TileId>& out) const {
    if (p_.tiles[id].space == Space::scratch) out.push_back(id);
    const auto view = views.find(id);
    if (p_.tiles[id].space == Space::view && view != views.end() && !view->second->from.tensor)
      add_sources(view->second->from.tile, views, out);
  }
  bool overlap(TileId x, TileId y) const {
    const auto range = [&](TileId id) {
      const tile::Tile& tile = p_.tiles[id];
      const int64_t bytes = base::elem_bytes(tile.elem) * tile::Places(p_.layouts[tile.layout].layout).span();
      return std::pair(tile.offset, tile.offset + bytes);
    };
    const auto [a, a_end] = range(x);
    const auto [b, b_end] = range(y);
    return a < b_end && b < a_end;
  }
  /// An element of scratch memory may be written while others are still to be read.
  Reason of_writes(const tile::Op& op, const tiles::Views& views) const {
    const tile::Use* to = tiles::swept(op);
    const auto* store = std::get_if<tile::Store>(&op);
    if (!to || std::holds_alternative<tile::View>(op) || std::holds_alternative<tile::Scatter>(op))
      return std::nullopt;
    const TileId target = store ? store->to.tile : to->tile;
    if ((store && store->to.tensor) || p_.tiles[target].space != Space::scratch) return std::nullopt;
    std::vector<TileId> sources;
    const auto all = tile::uses(op);
    for (const tile::Use* use : all) {
      if (use == to && !store) continue;
      const bool same =
          !store && use->tile == target && use->labels == to->labels && std::holds_alternative<tile::Map>(op);
      if (!same) add_sources(use->tile, views, sources);
    }
    if (const auto* copy = std::get_if<tile::Copy>(&op); copy && !copy->from.tensor)
      add_sources(copy->from.tile, views, sources);
    for (const TileId source : sources)
      if (overlap(source, target)) return "it reads the memory that it writes";
    return std::nullopt;
  }

  const tile::Program& p_;
};

}  // namespace

std::optional<std::string> why_not_emitted(const tile::Program& p) { return Limits(p).of_program(); }

}  // namespace axon::module
