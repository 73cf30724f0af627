// See slices.h.
#include "module/tiles/slices.h"

#include <algorithm>
#include <set>

#include "module/tiles/sweep.h"
#include "tile/claims.h"
#include "tile/names.h"
#include "tile/pointwise.h"

namespace axon::module::tiles {

using tile::Space;

namespace {

class Slicer {
 public:
  Slicer(Context& c, const tile::Loop& loop) : c_(c), p_(c.p), loop_(loop) {}

  std::optional<Slices> run() {
    for (const tile::OpId id : loop_.body)
      if (!look_at(p_.ops[id])) return std::nullopt;
    if (!facts_ || facts_->empty() || !is_used_inside_alone()) return std::nullopt;
    return slices();
  }

 private:
  bool look_at(const tile::Op& op) {
    if (const auto* copy = std::get_if<tile::Copy>(&op)) {
      if (std::any_of(copy->from.at.begin(), copy->from.at.end(),
                      [](const auto& i) { return i.table && !i.table->labels.empty(); }))
        return false;
      if (!copy->from.tensor || !is_block(copy->to)) return false;
      read_.insert(c_.memory.regions[copy->from.tensor.index]);
      return define(copy->to, copy->bounds);
    }
    if (const auto* store = std::get_if<tile::Store>(&op)) {
      if (!store->to.tensor || !is_block(store->from)) return false;
      written_.insert(c_.memory.regions[store->to.tensor.index]);
      reads_others_ |= !made_.contains(store->from.tile);
      keep(store->bounds, store->from.labels);
      return true;
    }
    const auto* map = std::get_if<tile::Map>(&op);
    if (!map || !is_block(map->to)) return false;
    for (const tile::Expr& e : map->exprs) {
      if (e.kind != tile::Expr::Kind::tile || e.use.labels.empty()) continue;
      if (!is_block(e.use) || e.use.labels != map->to.labels) return false;
      reads_others_ |= !made_.contains(e.use.tile);
    }
    if (!is_carried(map->to.tile)) return !reads_carried(*map) && define(map->to, map->bounds);
    return adds(*map);
  }

  /// A tile in registers, of one axis and of the layout that all of them have.
  bool is_block(const tile::Use& use) {
    const tile::Tile& t = p_.tiles[use.tile];
    if (t.space != Space::registers || use.labels.size() != 1 || c_.places(use.tile).copies() != 1)
      return false;
    if (!block_) block_ = use.tile;
    return p_.tiles[*block_].layout == t.layout && p_.tiles[*block_].shape == t.shape;
  }

  bool is_carried(tile::TileId t) const {
    return std::find(loop_.carries.begin(), loop_.carries.end(), t) != loop_.carries.end();
  }
  bool reads_carried(const tile::Map& map) const {
    return std::any_of(map.exprs.begin(), map.exprs.end(), [&](const tile::Expr& e) {
      return e.kind == tile::Expr::Kind::tile && is_carried(e.use.tile);
    });
  }

  bool define(const tile::Use& to, const tile::Bounds& bounds) {
    if (is_carried(to.tile)) return false;
    made_.insert(to.tile);
    fills_.erase(to.tile);
    const std::vector<Fact> facts = facts_of(bounds.facts, to.labels);
    all_.insert(all_.end(), facts.begin(), facts.end());
    if (bounds.fill) fills_[to.tile] = {facts, *bounds.fill};
    return true;
  }

  /// carried = carried `monoid` tile, where bounds make the tile neutral.
  bool adds(const tile::Map& map) {
    if (map.exprs.size() != 3 || !map.bounds.facts.empty()) return false;
    const tile::Expr &sum = map.exprs[0], &more = map.exprs[1], &all = map.exprs[2];
    if (sum.kind != tile::Expr::Kind::tile || more.kind != tile::Expr::Kind::tile ||
        all.kind != tile::Expr::Kind::apply || all.args != std::vector<uint32_t>{0, 1})
      return false;
    const auto fill = fills_.find(more.use.tile);
    if (sum.use.tile != map.to.tile || !is_monoid(all.op) || fill == fills_.end() ||
        !(fill->second.second == tile::neutral(all.op, all.elem)))
      return false;
    meet(fill->second.first);
    has_sums_ = true;
    return true;
  }
  static bool is_monoid(base::Pointwise op) {
    return op == base::Pointwise::add || op == base::Pointwise::max || op == base::Pointwise::min;
  }

  // ---- facts that every effect needs ----

  std::vector<Fact> facts_of(const std::vector<Fact>& facts, const std::vector<Var>& labels) const {
    std::vector<Fact> out;
    for (const Fact& f : facts) out.push_back(substituted(f, {{labels[0], Dim(label_)}}));
    return out;
  }
  void keep(const std::vector<Fact>& facts, const std::vector<Var>& labels) { meet(facts_of(facts, labels)); }
  void meet(const std::vector<Fact>& facts) {
    all_.insert(all_.end(), facts.begin(), facts.end());
    if (!facts_) {
      facts_ = facts;
      return;
    }
    std::erase_if(*facts_, [&](const Fact& f) {
      return std::none_of(facts.begin(), facts.end(),
                          [&](const Fact& other) { return tile::same(f, other); });
    });
  }

  /// Nothing but carried tiles lives longer than an iteration.
  bool is_used_inside_alone() const {
    std::set<tile::TileId> made;
    std::set<const tile::Op*> inside;
    for (const tile::OpId id : loop_.body) {
      inside.insert(&p_.ops[id]);
      for (const tile::TileId t : tile::defined_tiles(p_.ops[id]))
        if (!is_carried(t)) made.insert(t);
    }
    for (const tile::Op& op : p_.ops) {
      if (inside.contains(&op)) continue;
      auto named = tile::tiles(op);
      if (const auto* loop = std::get_if<tile::Loop>(&op))
        named.insert(named.end(), loop->carries.begin(), loop->carries.end());
      if (std::any_of(named.begin(), named.end(), [&](tile::TileId t) { return made.contains(t); }))
        return false;
    }
    return true;
  }

  /// Of facts that fall along the block: where they break for its first element, they do for all.
  std::optional<Slices> slices() {
    std::vector<Dim> falling;
    for (const Fact& f : *facts_) {
      const auto wanted = nonnegatives(f);
      if (!wanted) continue;
      for (const Dim& d : *wanted) {
        const auto step = d.linear_in(label_);
        const auto by = step ? step->first.constant() : std::nullopt;
        if (by && *by < 0) falling.push_back(d);
      }
    }
    const int64_t count = c_.places(*block_).span(), lanes = c_.places(*block_).vector_lanes();
    if (falling.empty() || !is_in_order(count, lanes)) return std::nullopt;
    Slices out;
    out.lanes = lanes;
    out.can_repeat = lanes > 1 && can_repeat() && goes_over_blocks(count * lanes);
    if (count < 2 && !out.can_repeat) return std::nullopt;
    out.are_alike = count > 1 && loop_.carries.empty() && !reads_others_;
    for (int64_t r = 0; r < count; ++r) {
      auto& of = out.conditions.emplace_back();
      for (const Dim& d : falling) of.push_back(d.substitute({{label_, Dim(r * lanes)}}));
    }
    return out;
  }
  /// Does nothing read what is stored, are there no sums, and no bounds along the block but those that all
  /// operations have, of one element after the other?
  bool can_repeat() const {
    const auto is_common = [&](const Fact& f) {
      const auto wanted = nonnegatives(f);
      return wanted &&
             std::all_of(wanted->begin(), wanted->end(),
                         [&](const Dim& d) {
                           const auto step = d.linear_in(label_);
                           return step && step->first.is(-1);
                         }) &&
             std::any_of(facts_->begin(), facts_->end(),
                         [&](const Fact& other) { return tile::same(f, other); });
    };
    return !has_sums_ &&
           std::none_of(written_.begin(), written_.end(), [&](uint32_t r) { return read_.contains(r); }) &&
           std::all_of(all_.begin(), all_.end(), [&](const Fact& f) {
             return (!f.lhs.contains(label_) && !f.rhs.contains(label_)) || is_common(f);
           });
  }
  /// Is an element in the next iteration what one that many further is in this one, wherever operations say
  /// which they mean? Then the last elements of an iteration before are had here, too.
  bool goes_over_blocks(int64_t elements) const {
    const auto is_alike = [&](const Dim& d, const std::vector<Var>& labels) {
      if (labels.empty()) return !d.contains(loop_.index);
      const Dim moved =
          d.substitute({{loop_.index, Dim(loop_.index) - 1}, {labels[0], Dim(labels[0]) + Dim(elements)}});
      return moved == d;
    };
    const auto are_alike = [&](const tile::Access* access, const std::vector<Fact>& facts,
                               const std::vector<Var>& labels) {
      const auto of_fact = [&](const Fact& f) { return is_alike(f.lhs, labels) && is_alike(f.rhs, labels); };
      const auto of_index = [&](const tile::Index& index) { return is_alike(index.dim, labels); };
      return (!access || std::all_of(access->at.begin(), access->at.end(), of_index)) &&
             std::all_of(facts.begin(), facts.end(), of_fact);
    };
    const auto of_op = [&](tile::OpId id) {
      const tile::Op& op = p_.ops[id];
      if (const auto* copy = std::get_if<tile::Copy>(&op))
        return are_alike(&copy->from, copy->bounds.facts, copy->to.labels);
      if (const auto* store = std::get_if<tile::Store>(&op))
        return are_alike(&store->to, store->bounds, store->from.labels);
      const auto& map = std::get<tile::Map>(op);
      return are_alike(nullptr, map.bounds.facts, map.to.labels) &&
             std::all_of(map.exprs.begin(), map.exprs.end(), [&](const tile::Expr& e) {
               return e.kind != tile::Expr::Kind::index || is_alike(e.index, map.to.labels);
             });
    };
    return std::all_of(loop_.body.begin(), loop_.body.end(), of_op);
  }
  /// Is the first element of each register the least, and so on?
  bool is_in_order(int64_t count, int64_t lanes) {
    const tile::Places& places = c_.places(*block_);
    if (places.elements() != count * lanes) return false;
    for (int64_t x = 0; x < places.elements(); ++x)
      if (places.of(x)[0].at != x / lanes) return false;
    return true;
  }

  Context& c_;
  const tile::Program& p_;
  const tile::Loop& loop_;
  const Var label_ = shape::fresh_var("e");
  std::optional<tile::TileId> block_;
  std::optional<std::vector<Fact>> facts_;
  std::map<tile::TileId, std::pair<std::vector<Fact>, tile::Number>> fills_;
  std::vector<Fact> all_;              ///< of all operations
  std::set<uint32_t> read_, written_;  ///< regions of memory
  std::set<tile::TileId> made_;        ///< in the body so far
  bool has_sums_ = false;
  bool reads_others_ = false;  ///< tiles that are made before
};

}  // namespace

std::optional<Slices> slices_of(Context& c, const tile::Loop& loop) { return Slicer(c, loop).run(); }

}  // namespace axon::module::tiles
