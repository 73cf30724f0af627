// See value_places.h.
#include "tile/from_task/value_places.h"

#include <algorithm>
#include <functional>

#include "task/facts.h"

namespace axon::tile {

using graph::Scalar;

namespace {

constexpr size_t most_written = 200;  ///< parts of an expression, each as often as it is written

}  // namespace

bool ValuePlaces::has_checks(ScalarId id) const {
  const auto [found, fresh] = has_checks_.try_emplace(id, false);
  if (!fresh) return found->second;
  return found->second = tile::has_checks(g_, id);
}

/// Every index that the data does not decide is inside of its axis where the facts hold.
bool ValuePlaces::in_range(ScalarId load, const std::vector<Fact>& facts) const {
  const Scalar& s = g_.scalars[load];
  const auto& shape = g_.type(s.target).shape;
  for (size_t a = 0; a < s.args.size(); ++a) {
    const auto index = graph::affine_index(g_, s.args[a]);
    // That of a tile no access reads through where it is outside.
    if (index && !is_on_axis(*index, shape[a], facts)) return false;
  }
  return true;
}

/// Can all that it loads be read where these variables have no values?
bool ValuePlaces::loads_stand_before(ScalarId id, const std::vector<Var>& inside, bool has_results) const {
  const auto mentions = [&](const Dim& d) {
    return std::any_of(inside.begin(), inside.end(), [&](Var v) { return d.contains(v); });
  };
  std::vector<Fact> around;
  for (const Fact& f : around_)
    if (!mentions(f.lhs) && !mentions(f.rhs)) around.push_back(f);
  return can_be_read(id, around, has_results);
}

/// Can all that it loads be read where the facts hold, and what its reductions and choices add to them?
bool ValuePlaces::can_be_read(ScalarId id, const std::vector<Fact>& facts, bool has_results) const {
  std::set<ScalarId> seen;  // of these facts
  const std::function<bool(ScalarId)> look = [&](ScalarId part) {
    if (!seen.insert(part).second) return true;
    const Scalar& s = g_.scalars[part];
    if (s.op == graph::Op::load && s.target.is_local()) return has_results || is_number(s.target.output);
    if (s.op == graph::Op::load && !in_range(part, facts)) return false;
    if (s.op == graph::Op::reduce)
      return can_be_read(s.args[0], task::both(facts, ranges_of_binders(s)), has_results);
    for (size_t a = 0; a < s.args.size(); ++a) {
      const auto implied =
          s.op == graph::Op::select && a > 0 ? implied_facts(g_, s.args[0], a == 1) : std::vector<Fact>{};
      if (implied.empty() ? !look(s.args[a])
                          : !can_be_read(s.args[a], task::both(facts, implied), has_results))
        return false;
    }
    return true;
  };
  return look(id);
}

/// Can it be computed there, and checked? What is made of indices alone is not worth a tile, unless it has
/// one anyway, and says more where it stands.
bool ValuePlaces::can_stand_before(ScalarId id, const std::vector<Var>& inside, bool has_results) const {
  const auto stands = [&](const std::pair<ScalarId, bool>& condition) {
    return loads_stand_before(condition.first, inside, has_results) &&
           std::none_of(inside.begin(), inside.end(),
                        [&](Var v) { return graph::depends_on(g_, condition.first, v); });
  };
  if (has_checks(id) && !std::all_of(conditions_.begin(), conditions_.end(), stands)) return false;
  const bool has_tile = g_.scalars[id].op == graph::Op::cast && narrows_there(id);
  return (has_tile || !graph::loads_in(g_, id).empty()) && loads_stand_before(id, inside, has_results);
}

/// Is it the same for all elements of the block?
bool ValuePlaces::is_outside_of_blocks(ScalarId id, const BlockPlace& place) const {
  if (!place.is_block || place.changes(g_, id)) return false;
  if (std::any_of(binders_.begin(), binders_.end(), [&](Var v) { return graph::depends_on(g_, id, v); }))
    return false;
  if (!may_check_before_ && has_checks(id)) return false;
  std::vector<Var> inside = binders_;
  inside.push_back(place.along);
  if (place.across) inside.push_back(*place.across);
  return can_stand_before(id, inside, false);
}

/// Is it the same for all elements that the block has of a row?
bool ValuePlaces::is_of_rows(ScalarId id, const BlockPlace& place) const {
  return has_rows_at_once() && place.across && !graph::depends_on(g_, id, place.along) &&
         can_stand_before(id, {place.along}, true);
}

/// Is it the same for all rows that a thread has at once?
bool ValuePlaces::is_of_columns(ScalarId id, const BlockPlace& place) const {
  return choices_.rows_of_block > 0 && place.across && !graph::depends_on(g_, id, *place.across) &&
         graph::depends_on(g_, id, place.along) && !has_checks(id) &&
         can_stand_before(id, {*place.across}, false);
}

/// In loops over points of reductions: is it a number there, the same for all elements of the block?
bool ValuePlaces::is_of_point(ScalarId id, const BlockPlace& place) const {
  if (binders_.empty() || !place.is_block || place.is_rows || place.changes(g_, id)) return false;
  std::vector<Var> inside{place.along};
  if (place.across) inside.push_back(*place.across);
  return can_stand_before(id, inside, false);
}

/// How many parts an expression has where each is written out as often as it is used, but for those that are
/// tiles of their own; not counted further than `most_counted`.
size_t ValuePlaces::written_size(ScalarId id) const {
  constexpr size_t most_counted = 1 << 20;
  const auto [found, fresh] = written_sizes_.try_emplace(id, 1);
  if (!fresh) return found->second;
  const Scalar& s = g_.scalars[id];
  size_t size = 1;
  if (s.op != graph::Op::load && s.op != graph::Op::reduce)
    for (const ScalarId arg : s.args) size += is_large(arg) ? 1 : written_size(arg);
  return written_sizes_[id] = std::min(size, most_counted);
}

/// Is it a tile, so that what it is part of stays short?
bool ValuePlaces::is_large(ScalarId id) const {
  const Scalar& s = g_.scalars[id];
  return s.elem != Elem::boolean && s.op != graph::Op::require && written_size(id) > most_written;
}

BlockPlace ValuePlaces::place_of_rows() const {
  BlockPlace place;
  place.is_block = place.is_rows = true;
  place.along = node_.domain[axis_of_rows()].var;
  place.label = row_label_;
  place.base = row_base_;
  for (const Dim& end : at_once_.ends) place.bounds.push_back(shape::less(row_base_ + Dim(row_label_), end));
  return place;
}

BlockPlace ValuePlaces::columns_of(const BlockPlace& block) const {
  BlockPlace place = block;
  place.across.reset();
  std::erase_if(place.bounds, [&](const Fact& f) {
    return f.lhs.contains(block.row_label) || f.rhs.contains(block.row_label);
  });
  return place;
}

}  // namespace axon::tile
