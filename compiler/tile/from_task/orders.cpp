// See orders.h.
#include "tile/from_task/orders.h"

namespace axon::tile {

MadeProgram OrderMaker::run() {
  if (has_threads()) throw Declined{"orders have no form for several threads yet"};
  open();
  choose_lanes();
  Body statements;
  body_ = &statements;
  over_axes(form_.rows, [&] { row(); });
  return close(statements, false);
}

void OrderMaker::choose_lanes() {
  if (!in_vectors_) return;
  RowForm keys;
  keys.reductions.push_back(
      {{}, base::computed_as(g_.scalars[order_.key].elem), {}, 0, {}, order_.binder, {}, {}, order_.key});
  lanes_ = block_ = out_.machine.register_bytes / widest_in_blocks({p_, id_, g_, keys});
  blocks_ = layout("block", {{Dim(lanes_), 1, "v"}});
}

/// The tensor's row, whose last index is the position.
Order OrderMaker::order_of_row() {
  const graph::Axis& last = node_.domain.back();
  const graph::Value target{type_.node, 0};
  const Var position = shape::fresh_var("i");
  const size_t known = around_.size();
  add_range(last.var, last.extent);
  at_[last.var] = Dim(position);
  loops_.emplace_back(position, last.extent);
  Order made;
  made.row = index_of(target, node_.outputs[0].at, {});
  made.to = tensor_for(p_.place(target).buffer, made.row, {}, true);
  loops_.pop_back();
  at_.erase(last.var);
  around_.resize(known);
  if (made.row.back() != Dim(position)) throw Declined{"its rows are stored in another way"};
  made.row.pop_back();
  made.count = placed(order_.binder.extent, {});
  made.kept = placed(last.extent, {});
  made.descending = order_.descending;
  return made;
}

void OrderMaker::row() {
  Order order = order_of_row();
  const Var block = shape::fresh_var(name_for("b"));
  const Dim extent = shape::cdiv(order.count, Dim(block_));
  Loop made{block, extent, {}, {}, std::nullopt};
  Body* const outer = body_;
  body_ = before_ = &made.body;
  ones_.emplace_back();
  loops_.emplace_back(block, extent);
  const size_t known = around_.size();
  add_range(order_.binder.var, order_.binder.extent);
  // Of an order without positions no key is looked at.
  if (order.kept.constant().value_or(0) < 1) check_facts_ = {shape::at_least(order.kept, Dim(1))};
  before_facts_ = check_facts_;
  order.keys = keys(Dim(block)).tile;
  around_.resize(known);
  at_.erase(order_.binder.var);
  loops_.pop_back();
  ones_.pop_back();
  body_ = outer;
  made.order = std::move(order);
  emit(std::move(made));
}

Use OrderMaker::keys(const Dim& number) {
  BlockPlace place;
  if (in_vectors_) {
    place.is_block = true;
    place.along = order_.binder.var;
    place.label = label_;
    place.number = number;
    place.base = Dim(block_) * number;
    place.bounds = {shape::less(place.base + Dim(label_), placed(order_.binder.extent, {}))};
  } else {
    at_[order_.binder.var] = number;
  }
  begin_statement(place);
  Map made;
  std::map<ScalarId, uint32_t> known;
  const uint32_t last = expr(made, known, order_.key, place);
  if (last + 1 != made.exprs.size()) throw Declined{"its keys are computed already"};
  end_statement();
  const Expr& whole = made.exprs[last];
  if (whole.kind == Expr::Kind::tile && whole.use.labels == place.labels()) return whole.use;
  made.to = {tile("key", whole.elem, place.labels()), place.labels()};
  const Use use = made.to;
  emit(std::move(made));
  return use;
}

}  // namespace axon::tile
