// See values.h. Accesses to tensors are in tensors.cpp.
#include "tile/from_task/values.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/elem.h"
#include "graph/round.h"
#include "task/facts.h"
#include "tile/claims.h"
#include "tile/from_task/index_values.h"

namespace axon::tile {

using graph::Scalar;

namespace {

constexpr size_t most_written = 200;  ///< parts of an expression, each as often as it is written

/// Is each index that the data decides one that is checked?
bool are_bounded(const graph::Graph& g, const Scalar& load) {
  return std::all_of(load.args.begin(), load.args.end(), [&](graph::ScalarId arg) {
    return graph::affine_index(g, arg) || g.scalars[arg].op == graph::Op::bounded;
  });
}

/// Does the data decide an index of the load, and another one for each value of the variable?
bool has_gathered(const graph::Graph& g, graph::ScalarId load, Var v) {
  const std::vector<graph::ScalarId>& args = g.scalars[load].args;
  return std::any_of(args.begin(), args.end(), [&](graph::ScalarId arg) {
    return !graph::affine_index(g, arg) && graph::depends_on(g, arg, v);
  });
}

/// Does the index move by one where the variable does, if not between clamps everywhere?
bool moves_by_one(const graph::Graph& g, graph::ScalarId index, Var v) {
  if (const auto dim = graph::affine_index(g, index)) {
    const auto by = dim->linear_in(v);
    return by && by->first.is(1);
  }
  const Scalar& s = g.scalars[index];
  const auto moves = [&](size_t a) { return moves_by_one(g, s.args[a], v); };
  const auto stands = [&](size_t a) { return !graph::depends_on(g, s.args[a], v); };
  const bool clamps = s.op == graph::Op::min || s.op == graph::Op::max;
  if (s.op == graph::Op::cast || s.op == graph::Op::bounded) return moves(0);
  if (s.op == graph::Op::sub) return moves(0) && stands(1);
  return (s.op == graph::Op::add || clamps) && ((moves(0) && stands(1)) || (stands(0) && moves(1)));
}

/// Are elements that the data chooses along the last axis mostly neighbours where the variable moves?
bool reads_runs(const graph::Graph& g, graph::ScalarId load, Var v) {
  const std::vector<graph::ScalarId>& args = g.scalars[load].args;
  return std::all_of(args.begin(), args.end(), [&](const graph::ScalarId& arg) {
    return &arg == &args.back() ? moves_by_one(g, arg, v) : !graph::depends_on(g, arg, v);
  });
}

}  // namespace

bool ValueMaker::is_on_axis(const Dim& index, const Dim& extent, const std::vector<Fact>& facts) const {
  const auto known = task::relevant(p_, task::both(facts, p_.facts), {index, extent});
  return task::holds(p_, known, shape::at_least(index, Dim(0))) &&
         task::holds(p_, known, shape::less(index, extent));
}

/// Every index that the data does not decide is inside of its axis where the facts hold.
bool ValueMaker::in_range(ScalarId load, const std::vector<Fact>& facts) const {
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
bool ValueMaker::loads_stand_before(ScalarId id, const std::vector<Var>& inside, bool has_results) const {
  const auto mentions = [&](const Dim& d) {
    return std::any_of(inside.begin(), inside.end(), [&](Var v) { return d.contains(v); });
  };
  std::vector<Fact> around;
  for (const Fact& f : around_)
    if (!mentions(f.lhs) && !mentions(f.rhs)) around.push_back(f);
  return can_be_read(id, around, has_results);
}

/// Can all that it loads be read where the facts hold, and what its reductions and choices add to them?
bool ValueMaker::can_be_read(ScalarId id, const std::vector<Fact>& facts, bool has_results) const {
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
bool ValueMaker::can_stand_before(ScalarId id, const std::vector<Var>& inside, bool has_results) const {
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
bool ValueMaker::is_outside_of_blocks(ScalarId id, const BlockPlace& place) const {
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
bool ValueMaker::is_of_rows(ScalarId id, const BlockPlace& place) const {
  return has_rows_at_once() && place.across && !graph::depends_on(g_, id, place.along) &&
         can_stand_before(id, {place.along}, true);
}

/// Is it the same for all rows that a thread has at once?
bool ValueMaker::is_of_columns(ScalarId id, const BlockPlace& place) const {
  return choices_.rows_of_block > 0 && place.across && !graph::depends_on(g_, id, *place.across) &&
         graph::depends_on(g_, id, place.along) && !has_checks(id) &&
         can_stand_before(id, {*place.across}, false);
}

/// In loops over points of reductions: is it a number there, the same for all elements of the block?
bool ValueMaker::is_of_point(ScalarId id, const BlockPlace& place) const {
  if (binders_.empty() || !place.is_block || place.is_rows || place.changes(g_, id)) return false;
  std::vector<Var> inside{place.along};
  if (place.across) inside.push_back(*place.across);
  return can_stand_before(id, inside, false);
}

Use ValueMaker::result_at(ScalarId, const BlockPlace&) {
  throw Declined{"a result is read at another index"};
}

Use ValueMaker::reduced_there(ScalarId, const BlockPlace&) {
  throw Declined{"a reduction stands inside of another"};
}

// ---- tiles ----

void ValueMaker::begin_statement(const BlockPlace& place) {
  const auto alike = [&](const BlockPlace& other) {
    return other.base == place.base && other.bounds.size() == place.bounds.size() &&
           std::equal(place.bounds.begin(), place.bounds.end(), other.bounds.begin(), same);
  };
  if (!choices_.one_block || !block_at_hand_ || !alike(*block_at_hand_)) in_block_.clear();
  checked_.clear();
  block_at_hand_ = place;
}

void ValueMaker::end_statement() {
  written_.insert(written_here_.begin(), written_here_.end());
  written_here_.clear();
  checked_.clear();
}

Use ValueMaker::value(ScalarId id, const BlockPlace& place) {
  const Scalar& s = g_.scalars[id];
  const bool is_result = s.op == graph::Op::load && s.target.is_local();
  if (is_result && s.args.empty())
    return {results_[s.target.output],
            has_rows_at_once() || is_number(s.target.output) ? labels_of_rows() : place.labels()};
  if (is_outside_of_blocks(id, place)) return value_before(id, {});
  if (is_of_rows(id, place)) return of_rows(id);
  if (is_of_columns(id, place)) return of_columns(id, place);
  if (is_of_point(id, place)) return value(id, {});
  const bool in_block = place.is_block && !place.is_rows;
  const auto known = [&]() -> std::map<ScalarId, Use>& {
    return in_block ? in_block_ : has_checks(id) ? checked_ : ones_.back();
  };
  if (const auto found = known().find(id); found != known().end()) return found->second;
  for (const auto& scope : ones_)
    if (const auto found = scope.find(id); !in_block && found != scope.end()) return found->second;
  // What can be read without a choice does not change by its arms, and is there for what comes after them.
  std::vector<Fact> arms;
  if (s.op == graph::Op::reduce && !has_checks(id) && can_be_read(id)) std::swap(arms, arms_);
  const Use made = is_result                                      ? result_at(id, place)
                   : s.op == graph::Op::load                      ? loaded(id, place)
                   : s.op == graph::Op::bounded                   ? bounded(id, place)
                   : s.op == graph::Op::reduce                    ? reduced_there(id, place)
                   : s.op == graph::Op::cast && narrows_there(id) ? narrowed(id, place)
                   : in_block && kept_.contains(id)               ? kept(id, place)
                                                                  : computed(id, place);
  if (arms_.empty() && (conditions_.empty() || !has_checks(id))) known()[id] = made;
  if (!arms.empty()) arms_ = std::move(arms);
  return made;
}

Use ValueMaker::value_where(const std::vector<Fact>& facts, ScalarId id, const BlockPlace& place) {
  const size_t outside = arms_.size();
  arms_.insert(arms_.end(), facts.begin(), facts.end());
  const Use made = value(id, place);
  arms_.resize(outside);
  return made;
}

BlockPlace ValueMaker::place_of_rows() const {
  BlockPlace place;
  place.is_block = place.is_rows = true;
  place.along = node_.domain[axis_of_rows()].var;
  place.label = row_label_;
  place.base = row_base_;
  for (const Dim& end : at_once_.ends) place.bounds.push_back(shape::less(row_base_ + Dim(row_label_), end));
  return place;
}

BlockPlace ValueMaker::columns_of(const BlockPlace& block) const {
  BlockPlace place = block;
  place.across.reset();
  std::erase_if(place.bounds, [&](const Fact& f) {
    return f.lhs.contains(block.row_label) || f.rhs.contains(block.row_label);
  });
  return place;
}

/// Before the loop over blocks, but for what the points of reductions change.
Use ValueMaker::of_rows(ScalarId id) {
  const bool is_of_points =
      std::any_of(binders_.begin(), binders_.end(), [&](Var v) { return graph::depends_on(g_, id, v); });
  if (!is_of_points) return value_before(id, place_of_rows());
  const std::vector<Fact> arms = std::exchange(arms_, {});
  const Use made = value(id, place_of_rows());
  arms_ = arms;
  return made;
}

Use ValueMaker::of_columns(ScalarId id, const BlockPlace& place) {
  const std::vector<Fact> arms = std::exchange(arms_, {});
  const Use made = value(id, columns_of(place));
  arms_ = arms;
  return made;
}

/// Of one point, or of rows, before the loop over blocks.
Use ValueMaker::value_before(ScalarId id, const BlockPlace& place) {
  for (const auto& scope : ones_)
    if (const auto found = scope.find(id); found != scope.end()) return found->second;
  Body* const body = std::exchange(body_, before_);
  std::vector<Fact> arms = std::exchange(arms_, {}), facts = std::exchange(check_facts_, before_facts_);
  const Use made = value(id, place);
  body_ = body;
  arms_ = std::move(arms);
  check_facts_ = std::move(facts);
  return made;
}

Use ValueMaker::computed(ScalarId id, const BlockPlace& place) {
  const Elem elem = base::computed_as(g_.scalars[id].elem);
  Map map;
  std::map<ScalarId, uint32_t> known;
  const auto outer = std::exchange(computing_, id);
  const uint32_t last = expr(map, known, id, place);
  computing_ = outer;
  if (const Expr& e = map.exprs[last]; e.kind == Expr::Kind::tile && last + 1 == map.exprs.size())
    return e.use;
  map.to = {tile(place.is_block ? "t" : "s", elem, place.labels()), place.labels()};
  const Use made = map.to;
  const LayoutId fewest = place.is_block ? out_.tiles[made.tile].layout : fewest_lanes(map);
  if (fewest != out_.tiles[made.tile].layout) {
    map.to.tile = tile("s", elem, false);
    out_.tiles[map.to.tile].layout = fewest;
  }
  Copy spread{made, {}, {}};
  spread.from.tile = map.to.tile;
  emit(std::move(map));
  if (spread.from.tile != made.tile) emit(std::move(spread));
  return made;
}

/// Of the result and the operands, all of them numbers, the layout with the fewest lanes: there all are.
LayoutId ValueMaker::fewest_lanes(const Map& map) const {
  std::set<LayoutId> layouts{out_.tiles[map.to.tile].layout};
  for (const Expr& e : map.exprs)
    if (e.kind == Expr::Kind::tile) layouts.insert(out_.tiles[e.use.tile].layout);
  for (const auto& [lanes, layout] : ones_of_)
    if (layouts.contains(layout)) return layout;
  return *layouts.begin();
}

/// What is kept of an earlier statement is read; else it is computed, and kept where a later one reads it.
Use ValueMaker::kept(ScalarId id, const BlockPlace& place) {
  if (choices_.one_block) return computed(id, place);
  const TileId scratch = kept_.at(id);
  Access at;
  at.tile = scratch;
  at.at = {{std::nullopt, place.number}, {std::nullopt, Dim(place.label)}};
  if (written_.contains(id)) {
    const Use use{tile("t", out_.tiles[scratch].elem, true), place.labels()};
    emit(Copy{use, at, {}});
    return use;
  }
  const Use use = computed(id, place);
  emit(Store{use, at, {}, false});
  written_here_.insert(id);
  return use;
}

/// Where a load reads by the axes of the domain, what its buffer's own axes do not say, or say at length.
std::optional<Access> ValueMaker::access_by_domain(ScalarId load, const BlockPlace& place) {
  const Scalar s = g_.scalars[load];
  if (auto here = updated(s, place)) return here;
  std::vector<Fact> any;
  const std::vector<Dim> index = index_of(s.target, affine_indices(s, false, any), place);
  const task::BufferId buffer = p_.place(s.target).buffer;
  if (!any.empty() || !is_hard(buffer, index) || box_around(buffer, index, place, false)) return std::nullopt;
  return unmerged(s, place);
}

/// What is at every point of the place.
Use ValueMaker::copied_from(const Access& from, const BlockPlace& place, std::optional<Number> fill) {
  const Tensor& tensor = out_.tensors[from.tensor];
  Copy copy{{tile(tensor.name, base::computed_as(tensor.elem), place.labels()), place.labels()}, from, {}};
  copy.bounds = {place.bounds, fill};
  if (choices_.rows_of_block > 0 && !binders_.empty()) copy.bounds.fill = Number();
  const Use made = copy.to;
  emit(std::move(copy));
  return made;
}

Use ValueMaker::loaded(ScalarId id, const BlockPlace& place) {
  const Scalar s = g_.scalars[id];
  if (const auto own = access_by_domain(id, place)) return copied_from(*own, place);
  const bool may_leave = !in_range(id, task::both(around_, arms_));
  if (const auto own = access_to_box(id, may_leave, place)) return copied_from(*own, place, Number());
  BlockPlace bounded = place;  // and wherever the data may say
  const std::vector<Dim> index = index_of(s.target, affine_indices(s, may_leave, bounded.bounds), place);
  const bool has_tables = bounded.bounds.size() > place.bounds.size();
  const task::BufferId buffer = p_.place(s.target).buffer;
  if (may_leave && form_.flat.contains(buffer)) throw Declined{"an index may leave its axis"};
  // An index that was simplified where the arm is chosen says nothing elsewhere.
  const bool safe = arms_.empty() || ((may_leave || in_range(id, around_)) &&
                                      box_around(buffer, index, bounded, false).has_value());
  Copy copy;
  if (!safe) {
    for (const Fact& f : arms_) copy.bounds.facts.push_back(placed(f, place));
  }
  bounded.bounds.insert(bounded.bounds.begin(), copy.bounds.facts.begin(), copy.bounds.facts.end());
  for (const Fact& f : place.bounds) copy.bounds.facts.push_back(f);
  copy.checked =
      has_tables && !may_leave && conditions_.empty() && check_facts_.empty() && are_bounded(g_, s);
  // Sums of a block of rows take whole blocks: what is outside of the bounds counts as 0, and is not stored.
  const bool is_summed = choices_.rows_of_block > 0 && !binders_.empty();
  if (!safe || (has_tables && !copy.checked) || is_summed) copy.bounds.fill = Number();
  copy.from.tensor = tensor_for(buffer, index, bounded, false);
  if (has_tables) check_box(copy.from.tensor, buffer, index, bounded);
  for (const Dim& d : index) copy.from.at.push_back({std::nullopt, d});
  index_by_tiles(copy.from, s, may_leave, place);
  copy.from.in_runs =
      has_tables && place.is_block && copy.from.at.back().table && reads_runs(g_, id, place.along);
  const Elem elem = base::computed_as(p_.buffers[buffer].elem);
  copy.to = {tile(p_.buffers[buffer].name, elem, place.labels()), place.labels()};
  const Use made = copy.to;
  const bool turned = !may_leave && is_turned(id, place);
  if (turned) out_.tiles[made.tile].layout = turned_;
  emit(std::move(copy));
  if (!turned) return made;
  Copy turn{{tile("t", elem, place.labels()), place.labels()}, {}, {}};
  turn.from.tile = made.tile;
  for (const Var label : place.labels()) turn.from.at.push_back({std::nullopt, Dim(label)});
  const Use straight = turn.to;
  emit(std::move(turn));
  return straight;
}

/// Is the index one that the data decides, or that may leave its axis where all that may do are numbers?
bool ValueMaker::is_by_tile(const Scalar& load, size_t axis, bool may_leave) const {
  const auto index = graph::affine_index(g_, load.args[axis]);
  return !index || (may_leave && !is_on_axis(*index, g_.type(load.target).shape[axis], around_));
}

/// Of an index that is a number, any in its axis.
std::vector<Dim> ValueMaker::affine_indices(const Scalar& load, bool may_leave,
                                            std::vector<Fact>& any) const {
  std::vector<Dim> out;
  for (size_t a = 0; a < load.args.size(); ++a) {
    if (!is_by_tile(load, a, may_leave)) {
      out.push_back(*graph::affine_index(g_, load.args[a]));
      continue;
    }
    out.emplace_back(shape::fresh_var("any"));
    any.push_back(shape::at_least(out.back(), Dim(0)));
    any.push_back(shape::less(out.back(), g_.type(load.target).shape[a]));
  }
  return out;
}

void ValueMaker::index_by_tiles(Access& access, const Scalar& load, bool may_leave, const BlockPlace& place) {
  const size_t first = p_.place(load.target).slot ? 1 : 0;
  for (size_t a = 0; a < load.args.size(); ++a)
    if (is_by_tile(load, a, may_leave)) access.at[first + a] = {value(load.args[a], place), Dim(0)};
}

/// Do its elements lie next to each other along the rows of the block?
bool ValueMaker::is_turned(ScalarId load, const BlockPlace& place) const {
  return place.across && graph::depends_on(g_, load, place.along) && !has_gathered(g_, load, place.along) &&
         step_of_load(p_, g_, load, place.along) != 1;
}

/// A copy narrows; floats that are narrower than f32 are computed with in that.
Use ValueMaker::narrowed(ScalarId id, const BlockPlace& place) {
  const Elem elem = g_.scalars[id].elem;
  Use from = value(g_.scalars[id].args[0], place);
  const auto copied = [&](Elem to) {
    Copy copy{{tile("t", to, from.labels), from.labels}, {}, {}};
    copy.from.tile = from.tile;
    for (const Var label : from.labels) copy.from.at.push_back({std::nullopt, Dim(label)});
    from = copy.to;
    emit(std::move(copy));
  };
  copied(elem);
  if (base::is_narrow(elem)) copied(Elem::f32);
  return from;
}

/// What the store of an output takes: it narrows by itself.
Use ValueMaker::stored_value(ScalarId id, const BlockPlace& place) {
  if (g_.scalars[id].op == graph::Op::cast && narrows_there(id)) return value(g_.scalars[id].args[0], place);
  return value(id, place);
}

// ---- expressions ----

uint32_t ValueMaker::operand(Map& map, const Use& use) {
  map.exprs.push_back(of_tile(use, out_.tiles[use.tile].elem));
  return static_cast<uint32_t>(map.exprs.size() - 1);
}

uint32_t ValueMaker::converted(Map& map, uint32_t from, Elem to) {
  const Elem elem = map.exprs[from].elem;
  if (elem == to) return from;
  if (narrows(elem, to) || base::is_narrow(to)) throw Declined{"a value is narrowed inside of an expression"};
  Expr e;
  e.kind = Expr::Kind::cast;
  e.elem = to;
  e.args = {from};
  map.exprs.push_back(std::move(e));
  return static_cast<uint32_t>(map.exprs.size() - 1);
}

/// How many parts an expression has where each is written out as often as it is used, but for those that are
/// tiles of their own; not counted further than `most_counted`.
size_t ValueMaker::written_size(ScalarId id) const {
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
bool ValueMaker::is_large(ScalarId id) const {
  const Scalar& s = g_.scalars[id];
  return s.elem != Elem::boolean && s.op != graph::Op::require && written_size(id) > most_written;
}

/// Is the value a tile of its own where it stands?
bool ValueMaker::has_tile(ScalarId id, const BlockPlace& place) const {
  const Scalar& s = g_.scalars[id];
  const bool is_kept = place.is_block && !place.is_rows && kept_.contains(id) && id != computing_;
  return s.op == graph::Op::load || s.op == graph::Op::bounded || s.op == graph::Op::reduce || is_kept ||
         (id != computing_ && is_large(id)) || (s.op == graph::Op::cast && narrows_there(id)) ||
         is_outside_of_blocks(id, place) || is_of_rows(id, place) || is_of_columns(id, place) ||
         is_of_point(id, place) || (place.is_block && !place.is_rows && in_block_.contains(id));
}

/// A constant, or an index as an integer of any type, which moves by steps; nullopt of anything else.
std::optional<Expr> ValueMaker::leaf(ScalarId id, const BlockPlace& place) const {
  const Scalar& s = g_.scalars[id];
  Expr e;
  e.elem = base::computed_as(s.elem);
  if (s.op == graph::Op::constant) {
    e.number = base::is_float(e.elem) ? Number{graph::round_to(s.elem, s.number), 0} : Number{0, s.integer};
    return e;
  }
  const bool is_cast = s.op == graph::Op::cast && base::is_integer(e.elem);
  const Scalar& index = is_cast ? g_.scalars[s.args[0]] : s;
  if (index.op != graph::Op::index) return std::nullopt;
  e.kind = Expr::Kind::index;
  e.index = placed(index.dim, place);
  return moves_by_steps(e.index, place.labels()) ? std::optional(e) : std::nullopt;
}

uint32_t ValueMaker::expr(Map& map, std::map<ScalarId, uint32_t>& known, ScalarId id,
                          const BlockPlace& place) {
  if (const auto found = known.find(id); found != known.end()) return found->second;
  const auto push = [&](Expr e) {
    map.exprs.push_back(std::move(e));
    return known[id] = static_cast<uint32_t>(map.exprs.size() - 1);
  };
  if (auto e = leaf(id, place)) return push(std::move(*e));
  if (has_tile(id, place)) return known[id] = operand(map, value(id, place));
  const Scalar s = g_.scalars[id];
  const Elem elem = base::computed_as(s.elem);
  if (map.exprs.size() > most_exprs) throw Declined{"an expression is too large"};
  if (s.op == graph::Op::index)
    return known[id] = IndexValue(map, place.labels(), std::max(block_, rows_at_once_) - 1)
                           .number_of(placed(s.dim, place));
  if (s.op == graph::Op::select) return known[id] = choice(map, known, s, place);
  if (s.op == graph::Op::require) {
    require(id, place);
    return push(of_number(Number(), elem));
  }
  std::vector<uint32_t> args;
  for (size_t a = 0; a < s.args.size(); ++a) args.push_back(argument(map, known, s, a, place));
  if (s.op == graph::Op::cast) return known[id] = converted(map, args[0], elem);
  Elem of = elem;  // of the operands
  if (graph::class_of(s.op) == graph::OpClass::comparison) {
    of = map.exprs[args[0]].elem;
    if (base::elem_bytes(map.exprs[args[1]].elem) > base::elem_bytes(of)) of = map.exprs[args[1]].elem;
  }
  for (uint32_t& arg : args) arg = converted(map, arg, of);
  const auto op = graph::pointwise_of(s.op);
  if (!op) throw Declined{std::string("no tile has the value of `") + graph::op_name(s.op) + "`"};
  return push(applied(*op, elem, std::move(args)));
}

/// Both arms are computed, each as if the condition chose it: a load that the condition keeps inside of its
/// axis has 0 elsewhere.
uint32_t ValueMaker::choice(Map& map, std::map<ScalarId, uint32_t>& known, const Scalar& s,
                            const BlockPlace& place) {
  const Elem elem = base::computed_as(s.elem);
  std::vector<uint32_t> args{expr(map, known, s.args[0], place)};
  for (const size_t arm : {1, 2}) {
    const size_t outside = arms_.size();
    auto facts = implied_facts(g_, s.args[0], arm == 1);
    // Masks are made of differences, which must not leave i64. A condition on what is computed of an index
    // says nothing to the verifier.
    std::erase_if(facts, [&](const Fact& f) {
      return graph::reads_integer(g_, f.lhs) || graph::reads_integer(g_, f.rhs) ||
             !moves_by_steps(placed(f.lhs, place), place.labels()) ||
             !moves_by_steps(placed(f.rhs, place), place.labels());
    });
    arms_.insert(arms_.end(), facts.begin(), facts.end());
    args.push_back(converted(map, argument(map, known, s, arm, place), elem));
    arms_.resize(outside);
  }
  map.exprs.push_back(applied(Pointwise::select, elem, std::move(args)));
  return static_cast<uint32_t>(map.exprs.size() - 1);
}

}  // namespace axon::tile
