// See prefixes.h.
#include "tile/from_task/prefixes.h"

#include "tile/pointwise.h"

namespace axon::tile {

MadeProgram PrefixMaker::run() {
  if (has_threads()) throw Declined{"prefixes have no form for several threads yet"};
  open();
  choose_lanes();
  results_.resize(1);
  Body statements;
  body_ = &statements;
  over_axes(form_.rows, [&] { prefix_.down ? columns() : rows_alone(); });
  return close(statements, streams_);
}

Use PrefixMaker::beginning(const BlockPlace& place) {
  const Elem in = fold().in;
  const Number none = neutral(operator_of_fold(), in);
  Map made{{tile("carry", in, place.labels()), place.labels()}, {}, {}};
  if (prefix_.begin.valid()) {
    std::map<ScalarId, uint32_t> known;
    converted(made, expr(made, known, prefix_.begin, place), in);
    made.bounds.facts = place.bounds;
    if (!place.bounds.empty()) made.bounds.fill = none;
  } else {
    made.exprs = {of_number(none, in)};
  }
  const Use to = made.to;
  emit(std::move(made));
  return to;
}

void PrefixMaker::rows_alone() {
  const Use carry = beginning({});
  const graph::Axis& axis = node_.domain[prefix_.axis];
  const size_t known = around_.size();
  add_range(axis.var, axis.extent);
  blocks(axis.var, stretch_of(prefix_.axis), {carry.tile},
         [&](const BlockPlace& place) { scan_block(carry, place); });
  around_.resize(known);
}

void PrefixMaker::scan_block(const Use& carry, const BlockPlace& place) {
  const std::vector<Var> labels = place.labels();
  const Elem in = fold().in;
  const Use term{tile("term", in, labels), labels}, prefix{tile("prefix", in, labels), labels};
  Map made{term, {}, {place.bounds, {}}};
  if (!place.bounds.empty()) made.bounds.fill = neutral(operator_of_fold(), in);
  std::map<ScalarId, uint32_t> known;
  const uint32_t last = converted(made, expr(made, known, fold().term, place), in);
  if (last + 1 != made.exprs.size()) throw Declined{"a term is computed already"};
  emit(std::move(made));
  emit(Scan{operator_of_fold(), prefix, term, place.label, carry, in});
  Copy next{carry, {}, {}};
  next.from.tile = prefix.tile;
  next.from.at = {at(Dim(block_ - 1))};
  emit(std::move(next));
  store_prefix(prefix, place);
}

void PrefixMaker::columns() {
  const graph::Axis& across = node_.domain[*form_.along];
  const size_t known = around_.size();
  add_range(across.var, across.extent);
  blocks(across.var, stretch_of(*form_.along), {}, [&](const BlockPlace& place) {
    const Use carry = beginning(place);
    const Remembered before = remembered();
    binders_.push_back(node_.domain[prefix_.axis].var);
    over_axes({prefix_.axis}, [&] { step(carry, place); }, {carry.tile});
    binders_.pop_back();
    forget_all_but(before);
  });
  around_.resize(known);
}

void PrefixMaker::step(const Use& carry, const BlockPlace& place) {
  accumulate(operator_of_fold(), carry, fold().term, place);
  store_prefix(carry, place);
}

void PrefixMaker::store_prefix(const Use& prefix, const BlockPlace& place) {
  results_[0] = prefix.tile;
  if (fold().kept != fold().in) {
    Copy narrowed{{tile("total", fold().kept, prefix.labels), prefix.labels}, {}, {}};
    narrowed.from.tile = prefix.tile;
    for (const Var label : prefix.labels) narrowed.from.at.push_back(at(Dim(label)));
    results_[0] = narrowed.to.tile;
    emit(std::move(narrowed));
  }
  store_all(place);
}

}  // namespace axon::tile
