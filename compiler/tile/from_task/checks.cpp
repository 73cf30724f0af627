// See values.h: checks of the data, `bounded` and `require`, where evaluation comes to them.
//
// An arm of a choice, and the right operand of `and` and `or`, are computed whether they are wanted or not.
// What is checked there is whether the conditions around let the check be evaluated; what they do not let be
// evaluated may have any value.
#include <algorithm>

#include "tile/from_task/values.h"

namespace axon::tile {

using graph::Scalar;

/// Of an expression, one operand. What is known inside of an arm is not known outside.
uint32_t ValueMaker::argument(Map& map, std::map<ScalarId, uint32_t>& known, const Scalar& s, size_t arg,
                              const BlockPlace& place) {
  const bool chooses = s.op == graph::Op::select || s.op == graph::Op::and_ || s.op == graph::Op::or_;
  const bool is_checked = chooses && arg > 0 && has_checks(s.args[arg]);
  if (!is_checked && (s.op != graph::Op::select || arg == 0)) return expr(map, known, s.args[arg], place);
  std::map<ScalarId, uint32_t> inside = known;
  if (is_checked)
    conditions_.emplace_back(s.args[0], s.op == graph::Op::select ? arg == 1 : s.op == graph::Op::and_);
  const uint32_t made = expr(map, inside, s.args[arg], place);
  if (is_checked) conditions_.pop_back();
  return made;
}

Use ValueMaker::bounded(ScalarId id, const BlockPlace& place) {
  const Scalar s = g_.scalars[id];
  const Use index = value(graph::cast(g_, Elem::i64, s.args[0]), place);
  const Dim extent = placed(s.dim, place);
  if (conditions_.empty()) {
    check({s.check, index, extent, {}, {}, {}}, place);
    return index;
  }
  Expr end;
  end.kind = Expr::Kind::index;
  end.elem = Elem::i64;
  end.index = extent;
  Map holds;
  holds.exprs = {of_tile(index, Elem::i64),
                 of_number(Number(), Elem::i64),
                 end,
                 applied(Pointwise::le, Elem::boolean, {1, 0}),
                 applied(Pointwise::lt, Elem::boolean, {0, 2}),
                 applied(Pointwise::and_, Elem::boolean, {3, 4})};
  check({s.check,
         truth(std::move(holds), place),
         std::nullopt,
         {index, Dim(0)},
         {std::nullopt, extent - Dim(1)},
         {}},
        place);
  return index;
}

void ValueMaker::require(ScalarId id, const BlockPlace& place) {
  const Scalar s = g_.scalars[id];
  Map holds;
  std::map<ScalarId, uint32_t> known;
  const uint32_t last = expr(holds, known, s.args[0], place);
  if (last + 1 != holds.exprs.size()) throw Declined{"what is required is computed already"};
  const auto shown = [&](ScalarId number) -> Index {
    if (const auto dim = graph::affine_index(g_, number)) return {std::nullopt, placed(*dim, place)};
    return {value(graph::cast(g_, Elem::i64, number), place), Dim(0)};
  };
  const Index found = shown(s.args[1]), wanted = shown(s.args[2]);
  check({s.check, truth(std::move(holds), place), std::nullopt, found, wanted, {}}, place);
}

Use ValueMaker::truth(Map holds, const BlockPlace& place) {
  auto all = static_cast<uint32_t>(holds.exprs.size() - 1);
  const auto add = [&](Expr e) {
    holds.exprs.push_back(std::move(e));
    return static_cast<uint32_t>(holds.exprs.size() - 1);
  };
  std::map<ScalarId, uint32_t> known;
  const auto conditions = std::exchange(conditions_, {});
  for (const auto& [condition, value] : conditions) {
    uint32_t other = expr(holds, known, condition, place);
    if (value) other = add(applied(Pointwise::not_, Elem::boolean, {other}));
    all = add(applied(Pointwise::or_, Elem::boolean, {all, other}));
    conditions_.emplace_back(condition, value);  // of what later conditions check
  }
  conditions_ = conditions;
  holds.to = {tile("good", Elem::boolean, place.labels()), place.labels()};
  // Numbers that the check shows are in as many lanes.
  if (!place.is_block) out_.tiles[holds.to.tile].layout = one_for(Elem::i64);
  const Use made = holds.to;
  emit(std::move(holds));
  return made;
}

void ValueMaker::check(Check made, const BlockPlace& place) {
  if (has_threads()) throw Declined{"checks have no form for several threads yet"};
  made.bounds = place.bounds;
  made.bounds.insert(made.bounds.end(), check_facts_.begin(), check_facts_.end());
  emit(std::move(made));
}

}  // namespace axon::tile
