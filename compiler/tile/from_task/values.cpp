// See values.h. What loads read is in loads.cpp.
#include "tile/from_task/values.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/elem.h"
#include "graph/round.h"
#include "task/facts.h"
#include "tile/from_task/index_values.h"

namespace axon::tile {

using graph::Scalar;

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
           std::equal(place.bounds.begin(), place.bounds.end(), other.bounds.begin(), is_same);
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

/// A value that is had already may have a label of rows that the place has not.
static bool is_of_labels(const Use& had, const std::vector<Var>& labels) {
  return std::all_of(had.labels.begin(), had.labels.end(), [&](Var label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  });
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
  if (is_of_point(id, place)) return of_point(id, place);
  const bool in_block = place.is_block && !place.is_rows;
  const auto known = [&]() -> std::map<ScalarId, Use>& {
    return in_block ? in_block_ : has_checks(id) ? checked_ : ones_.back();
  };
  const auto had = [&](const std::map<ScalarId, Use>& values) -> std::optional<Use> {
    const auto found = values.find(id);
    const bool fits = found != values.end() && is_of_labels(found->second, place.labels());
    return fits ? std::optional(found->second) : std::nullopt;
  };
  if (const auto found = had(known())) return *found;
  if (!in_block)
    for (const auto& scope : ones_)
      if (const auto found = had(scope)) return *found;
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

/// What a choice says of the elements of a block, it does not say of a number that is had for all of them.
Use ValueMaker::of_point(ScalarId id, const BlockPlace& place) {
  const auto moves = [&](const Dim& d) {
    return d.contains(place.along) || (place.across && d.contains(*place.across));
  };
  const std::vector<Fact> arms = arms_;
  std::erase_if(arms_, [&](const Fact& f) { return moves(f.lhs) || moves(f.rhs); });
  const Use made = value(id, {});
  arms_ = arms;
  return made;
}

/// Of one point, or of rows, before the loop over blocks.
Use ValueMaker::value_before(ScalarId id, const BlockPlace& place) {
  for (const auto& scope : ones_)
    if (const auto found = scope.find(id);
        found != scope.end() && is_of_labels(found->second, place.labels()))
      return found->second;
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
