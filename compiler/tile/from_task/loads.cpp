// See values.h: what loads read. Indices that the data decides, or that may leave their axes, are numbers.
#include <algorithm>
#include <functional>
#include <utility>

#include "base/elem.h"
#include "task/facts.h"
#include "tile/from_task/values.h"

namespace axon::tile {

using graph::Scalar;

namespace {

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

Access ValueMaker::access_to(ScalarId load, const BlockPlace& place) {
  const graph::Scalar& s = g_.scalars[load];
  BlockPlace bounded = place;
  const std::vector<Dim> index = index_of(s.target, affine_indices(s, false, bounded.bounds), place);
  const task::BufferId buffer = p_.place(s.target).buffer;
  Access out;
  out.tensor = tensor_for(buffer, index, bounded, false);
  for (const Dim& d : index) out.at.push_back({std::nullopt, d});
  const size_t first = p_.place(s.target).slot ? 1 : 0;
  for (size_t a = 0; a < s.args.size(); ++a) {
    if (!is_by_tile(s, a, false)) continue;
    const auto number = index_numbers_.find(s.args[a]);
    if (number == index_numbers_.end()) throw Declined{"the data decides an index"};
    check_box(out.tensor, buffer, index, bounded);
    out.at[first + a] = {number->second, Dim(0)};
  }
  return out;
}

/// A load of which it is not known that it stays in the one box that the task has of a buffer: the indices
/// that may leave it are numbers, which count from where the box begins. Only where sizes say where that is.
std::optional<Access> ValueMaker::access_to_box(ScalarId id, bool may_leave, const BlockPlace& place) {
  const graph::Scalar load = g_.scalars[id];
  const task::BufferId buffer = p_.place(load.target).buffer;
  const std::vector<uint32_t> boxes = boxes_of(buffer, false);
  if (boxes.size() != 1 || !boxes_of(buffer, true).empty() || form_.flat.contains(buffer) ||
      !p_.buffers[buffer].placement.is_row_major() || may_widen(buffer))
    return std::nullopt;
  BlockPlace bounded = place;
  const std::vector<Dim> index =
      index_of(load.target, affine_indices(load, may_leave, bounded.bounds), place);
  const bool is_by_numbers = bounded.bounds.size() > place.bounds.size();
  if (!(is_by_numbers || is_hard(buffer, index)) || box_around(buffer, index, bounded, false))
    return std::nullopt;
  const Box box = box_of(boxes.front());
  const size_t first = p_.place(load.target).slot ? 1 : 0;
  std::vector<bool> is_number(index.size());
  for (size_t a = 0; a < index.size(); ++a) {
    is_number[a] = a >= first && (is_by_tile(load, a - first, may_leave) || is_hard(buffer, {index[a]}));
    if (is_number[a] && !(is_of_sizes(box[a].low) && is_of_sizes(box[a].high))) return std::nullopt;
  }
  Access out;
  for (size_t a = 0; a < index.size(); ++a) {
    if (!is_number[a]) {
      out.at.push_back({std::nullopt, index[a]});
      continue;
    }
    const ScalarId low = graph::index_of(g_, box[a].low);
    const ScalarId from = graph::cast(g_, Elem::i64, load.args[a - first]);
    out.at.push_back({value(graph::apply(g_, graph::Op::sub, {from, low}), place), Dim(0)});
  }
  out.tensor = box_alone(boxes.front(), is_number);
  return out;
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

/// What is at every point of the place, or of those where the arms around are chosen: an index that was
/// simplified there says nothing elsewhere.
Use ValueMaker::copied_from(const Access& from, const BlockPlace& place, std::optional<Number> fill) {
  const Tensor& tensor = out_.tensors[from.tensor];
  Copy copy{{tile(tensor.name, base::computed_as(tensor.elem), place.labels()), place.labels()}, from, {}};
  copy.bounds.fill = fill;
  if (!arms_.empty() && !is_in_tensor(from, place)) {
    for (const Fact& f : arms_) copy.bounds.facts.push_back(placed(f, place));
    copy.bounds.fill = Number();
  }
  for (const Fact& f : place.bounds) copy.bounds.facts.push_back(f);
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

}  // namespace axon::tile
