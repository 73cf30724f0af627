// Layouts, places and budgets: obligations that enumeration and the formula of spans decide.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "layout/canonical.h"
#include "layout/evaluate.h"
#include "tile/names.h"
#include "tile/verify.h"

namespace axon::tile {

namespace {

int64_t bytes_of(const AllPlaces& places, const Tile& t) {
  return places[t.layout.index]->span() * base::elem_bytes(t.elem) * t.depth;
}

class PlaceChecks {
 public:
  PlaceChecks(const Program& p, const AllPlaces& places, Report& report)
      : p_(p), places_(places), report_(report) {}

  void run() {
    for (uint32_t l = 0; l < p_.layouts.size(); ++l)
      report_.add(fmt::format("layout {}: no two elements share a point", p_.layouts[LayoutId{l}].name),
                  places_[l]->injective(), "counted");
    for (const Tensor& t : p_.tensors) tensor(t);
    scratch();
    for (const RoleView& role : roles_of(p_)) registers(role);
    owners();
  }

 private:
  void tensor(const Tensor& t) {
    const Scope scope(p_);
    const layout::Shape rounded = layout::rounded_up(t.shape, t.multiples);
    bool fits = scope.shows(shape::equal(layout::size(t.place), layout::product(rounded)));
    for (const layout::Axis& axis : layout::axes_of(t.place)) fits &= axis.name == "m";
    fits &= t.place.replicas.empty();
    for (const Dim& extent : t.shape) fits &= scope.shows(shape::at_least(extent, 0));
    fits &= t.stated || begins_at_0(t.place, scope);
    report_.add(fmt::format("{}: its place is over its shape, rounded up", t.name), fits, "prover");
    if (t.writes && !t.stated)
      report_.add(fmt::format("{}: no two elements share a place", t.name), is_injective(t.place), "prover");
    report_.add(fmt::format("{}: its alignment is that of whole elements", t.name),
                t.align % base::elem_bytes(t.elem) == 0 && (t.align & (t.align - 1)) == 0, "counted");
  }

  /// Is no element before the base?
  bool begins_at_0(const layout::Layout& place, const Scope& scope) const {
    Scope with_elements = scope;
    with_elements.add(layout::positive_extents(place));
    if (no_stride_is_negative(place, with_elements))
      return with_elements.shows(shape::at_least(layout::offset_on(place, {}), 0));
    const auto ends = layout::spans(place, p_.facts);
    const auto memory = ends.find(layout::Axis());
    return memory != ends.end() && with_elements.shows(shape::at_least(memory->second.low, 0));
  }

  /// Whether no stride is negative where the place has elements. The stride of an axis around others is often
  /// the product of their extents, as a sum without its factors: so it may also be another one's stride times
  /// its extent, where that one is not negative.
  static bool no_stride_is_negative(const layout::Layout& place, const Scope& scope) {
    std::vector<const layout::Iter*> shown, left;
    for (const layout::Iter& iter : place.shards)
      (scope.shows(shape::at_least(iter.stride, 0)) ? shown : left).push_back(&iter);
    for (size_t s = 0; s < shown.size() && !left.empty(); ++s) {
      const auto around = [&](const layout::Iter* iter) {
        return scope.shows(shape::equal(iter->stride, shown[s]->extent * shown[s]->stride));
      };
      const auto rest = std::stable_partition(left.begin(), left.end(), std::not_fn(around));
      shown.insert(shown.end(), rest, left.end());
      left.erase(rest, left.end());
    }
    return left.empty();
  }

  /// Mostly for all sizes: a guard that says what one is leaves products of sizes without their factors.
  bool is_injective(const layout::Layout& place) const {
    std::vector<Fact> facts = p_.facts;
    if (layout::injective(place, facts) == true) return true;
    facts.insert(facts.end(), p_.guard.begin(), p_.guard.end());
    return layout::injective(place, facts) == true;
  }

  void scratch() {
    int64_t most = 0;
    std::vector<std::tuple<int64_t, int64_t, const Tile*>> ranges;
    for (const Tile& t : p_.tiles) {
      if (t.space != Space::scratch && t.space != Space::ring) continue;
      ranges.emplace_back(t.offset, t.offset + bytes_of(places_, t), &t);
      most = std::max(most, std::get<1>(ranges.back()));
      report_.add(fmt::format("{}: its offset is that of whole elements", t.name),
                  t.offset % base::elem_bytes(t.elem) == 0, "counted");
    }
    report_.add(fmt::format("scratch: {} of {} bytes", most, p_.machine.scratch), most <= p_.machine.scratch,
                "counted");
    for (const auto& [low, high, ring] : ranges) {
      if (ring->space != Space::ring) continue;
      bool alone = true;
      for (const auto& [other_low, other_high, other] : ranges)
        alone &= other == ring || other_high <= low || high <= other_low;
      report_.add(fmt::format("ring {}: nothing else is in its memory", ring->name), alone, "counted");
    }
  }

  /// The most that is in use at one operation. A tile is in use from the operation that names it first to the
  /// one that names it last, and all through a loop where it is also named before the loop or is carried.
  void registers(const RoleView& role) {
    std::set<TileId> used;
    each_op(p_, *role.body, [&](OpId id) {
      for (TileId tile : tiles(p_.ops[id]))
        if (p_.tiles[tile].space == Space::registers) used.insert(tile);
    });
    bool fit = true;
    for (TileId id : used) {
      const Tile& t = p_.tiles[id];
      const Places& places = *places_[t.layout.index];
      const int64_t vector = places.vector_lanes() * base::elem_bytes(t.elem);
      fit &= vector <= std::max<int64_t>(p_.machine.register_bytes, base::elem_bytes(t.elem));
      for (int64_t x = 0; x < places.elements(); ++x)
        for (const Point& point : places.of(x))
          fit &= warp_of(point.holder) < role.warps && lane_of(point.holder) < p_.machine.lanes;
    }
    const int64_t most = most_in_use(*role.body, {});
    const std::string name = role.name.empty() ? "" : role.name + ": ";
    report_.add(name + "its tiles are in threads and vectors that there are", fit, "counted");
    report_.add(fmt::format("{}registers: {} of {}", name, most, role.registers),
                most <= role.registers && role.registers <= p_.machine.registers, "counted");
  }

  int64_t registers_of(TileId id) const {
    const Tile& t = p_.tiles[id];
    const Places& places = *places_[t.layout.index];
    const int64_t vector = places.vector_lanes() * base::elem_bytes(t.elem);
    return places.span() * ((vector + p_.machine.register_bytes - 1) / p_.machine.register_bytes);
  }
  std::set<TileId> named(const std::vector<OpId>& ops) const {
    std::set<TileId> out;
    each_op(p_, ops, [&](OpId id) {
      for (TileId tile : tiles(p_.ops[id]))
        if (p_.tiles[tile].space == Space::registers) out.insert(tile);
    });
    return out;
  }

  /// `outside`: tiles that are in use all through these operations.
  int64_t most_in_use(const std::vector<OpId>& ops, const std::set<TileId>& outside) const {
    int64_t most = 0;
    std::set<TileId> before = outside;
    for (size_t i = 0; i < ops.size(); ++i) {
      const auto* loop = std::get_if<Loop>(&p_.ops[ops[i]]);
      const std::set<TileId> here = loop ? named(loop->body) : named({ops[i]}),
                             later = named({ops.begin() + static_cast<std::ptrdiff_t>(i) + 1, ops.end()});
      std::set<TileId> through = outside;
      for (TileId tile : before)
        if (later.contains(tile) || here.contains(tile)) through.insert(tile);
      before.insert(here.begin(), here.end());
      if (loop) {
        std::set<TileId> at_begin = through;  // what counts its iterations is read there
        for (const auto& number : {loop->first, loop->count})
          if (number) at_begin.insert(number->tile);
        most = std::max(most, registers_of(at_begin));
        for (TileId tile : loop->carries)
          if (p_.tiles[tile].space == Space::registers) through.insert(tile);
        for (TileId tile : here)
          if (later.contains(tile)) through.insert(tile);
        most = std::max(most, most_in_use(loop->body, through));
        continue;
      }
      through.insert(here.begin(), here.end());
      most = std::max(most, registers_of(through));
    }
    return most;
  }
  int64_t registers_of(const std::set<TileId>& tiles) const {
    int64_t all = 0;
    for (const TileId tile : tiles) all += registers_of(tile);
    return all;
  }

  /// Tiles but rings belong to one role, and memory that tiles share to one.
  void owners() {
    std::map<TileId, size_t> owner;
    bool alone = true;
    const std::vector<RoleView> roles = roles_of(p_);
    for (size_t r = 0; r < roles.size(); ++r)
      each_op(p_, *roles[r].body, [&](OpId id) {
        for (TileId tile : tiles(p_.ops[id]))
          if (p_.tiles[tile].space != Space::ring) alone &= owner.try_emplace(tile, r).first->second == r;
      });
    for (const auto& [a, of_a] : owner)
      for (const auto& [b, of_b] : owner) {
        const Tile &x = p_.tiles[a], &y = p_.tiles[b];
        if (of_a == of_b || x.space != Space::scratch || y.space != Space::scratch) continue;
        alone &= x.offset + bytes_of(places_, x) <= y.offset || y.offset + bytes_of(places_, y) <= x.offset;
      }
    report_.add("each tile but rings is one role's", alone, "compared");
    tensors_of(roles);
    const auto& all = p_.body;
    bool apart = true;
    for (OpId a : all)
      for (OpId b : all) {
        const auto *x = std::get_if<Role>(&p_.ops[a]), *y = std::get_if<Role>(&p_.ops[b]);
        apart &= a == b || !x || !y || x->end_warp <= y->first_warp || y->end_warp <= x->first_warp;
      }
    report_.add("no warp has two roles", apart, "compared");
  }

  /// What a role stores, no other role touches.
  void tensors_of(const std::vector<RoleView>& roles) {
    std::map<TensorId, std::set<size_t>> touched;
    for (size_t r = 0; r < roles.size(); ++r)
      each_op(p_, *roles[r].body, [&](OpId id) {
        if (const Access* access = access_of(p_.ops[id]); access && access->tensor)
          touched[access->tensor].insert(r);
      });
    bool alone = true;
    for (const auto& [tensor, by] : touched) alone &= !p_.tensors[tensor].writes || by.size() == 1;
    report_.add("each tensor that is written is one role's", alone, "compared");
  }

  const Program& p_;
  const AllPlaces& places_;
  Report& report_;
};

}  // namespace

void verify_places(const Program& p, const AllPlaces& places, Report& report) {
  PlaceChecks(p, places, report).run();
}

}  // namespace axon::tile
