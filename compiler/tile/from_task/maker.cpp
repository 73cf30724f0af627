// See maker.h: grid, lanes, names, loops.
#include "tile/from_task/maker.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "base/elem.h"
#include "task/facts.h"
#include "tile/pointwise.h"

namespace axon::tile {

namespace {

/// Letters, digits and `_`, no digit first.
std::string as_name(const std::string& text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "t" + name : name;
}

}  // namespace

ProgramMaker::ProgramMaker(const task::Program& p, task::TaskTypeId id, graph::Graph& g, const RowForm& form,
                           const Machine& machine, const Choices& choices)
    : p_(p),
      id_(id),
      type_(p.types[id]),
      g_(g),
      node_(g.nodes[type_.node]),
      form_(form),
      choices_(choices),
      out_(made_.program),
      label_(shape::fresh_var("e")),
      row_label_(shape::fresh_var("r")) {
  out_.name = as_name(type_.name);
  out_.machine = machine;
}

MadeProgram ProgramMaker::run() {
  for (const char* word : {"if", "fill", "to", "in", "by", "index", "reads", "writes", "at", "inf", "nan"})
    names_.insert(word);
  for (const graph::Size& size : p_.graph->sizes) names_.insert(shape::var_name(size.var));
  out_.guard = form_.guard;
  declare_grid();
  choose_lanes();
  ones_.emplace_back();
  results_.resize(form_.reductions.size());
  plan_kept();
  Body statements;
  body_ = &statements;
  level(0);
  body_ = &out_.body;
  for (uint32_t n = 0; n < out_.waits.size(); ++n) emit(Wait{n});
  out_.body.insert(out_.body.end(), statements.begin(), statements.end());
  if (streams_) emit(Fence{});
  for (uint32_t w = 0; w < out_.tensors.size(); ++w)
    if (const Tensor& t = out_.tensors[{w}]; t.writes) {
      out_.notifications.push_back({{w}, *t.writes});
      emit(Notify{static_cast<uint32_t>(out_.notifications.size() - 1)});
    }
  reuse_tiles(out_);
  gather_sizes();
  return std::move(made_);
}

void ProgramMaker::declare_grid() {
  for (const task::Coordinate& c : type_.coordinates) {
    names_.insert(shape::var_name(c.var));
    out_.grid.push_back({c.var, c.extent});
  }
  for (const task::LoopId l : type_.loops) {
    names_.insert(shape::var_name(p_.loops[l].index));
    around_.push_back(shape::at_least(Dim(p_.loops[l].index), Dim(0)));
    around_.push_back(shape::less(Dim(p_.loops[l].index), p_.loops[l].extent));
  }
}

/// As many lanes as the widest type has in a register, so that an element is in the same lane of every tile.
void ProgramMaker::choose_lanes() {
  int64_t widest = 4;
  std::set<ScalarId> seen;
  const std::function<void(ScalarId, bool)> look = [&](ScalarId id, bool is_tile) {
    const graph::Scalar& s = g_.scalars[id];
    if (s.op == graph::Op::index ? !is_tile : !seen.insert(id).second) return;
    widest = std::max<int64_t>(widest, base::elem_bytes(base::computed_as(s.elem)));
    if (s.op == graph::Op::load) return;
    const bool narrows = s.op == graph::Op::cast && narrows_there(id);
    for (const ScalarId arg : s.args) look(arg, narrows);
  };
  for (const RowReduction& r : form_.reductions) {
    widest = std::max<int64_t>(widest, base::elem_bytes(r.in));
    look(r.term, false);
  }
  if (form_.along)
    for (const ScalarId output : form_.outputs) look(output, true);
  lanes_ = out_.machine.register_bytes / widest;
  block_ = lanes_ * choices_.registers_per_tile;
  for (const task::Coordinate& c : type_.coordinates)
    if (c.axis == form_.along)
      while (block_ > lanes_ && c.tile % block_ != 0) block_ /= 2;
  using layout::Iter;
  layout::Layout blocks;
  blocks.shards = {Iter{Dim(block_ / lanes_), 1, "m"}, Iter{Dim(lanes_), 1, "v"}};
  if (form_.across) {
    block_ = lanes_;
    layout::Layout turned;
    blocks.shards = {Iter{Dim(lanes_), 1, "m"}, Iter{Dim(lanes_), 1, "v"}};
    turned.shards = {Iter{Dim(lanes_), 1, "v"}, Iter{Dim(lanes_), 1, "m"}};
    turned_ = out_.layouts.add({name_for("turned"), {turned, {}}, ""});
  }
  blocks_ = out_.layouts.add({name_for("block"), {blocks, {}}, ""});
}

std::string ProgramMaker::name_for(const std::string& wish) {
  std::string name = as_name(wish);
  if (find_op(name) || base::elem_from_name(name)) name += "_";
  std::string unique = name;
  for (int n = 1; !names_.insert(unique).second; ++n) unique = name + "_" + std::to_string(n);
  return unique;
}

TileId ProgramMaker::tile(const std::string& name, Elem elem, bool is_block) {
  Tile t;
  t.name = name_for(name);
  t.elem = elem;
  if (is_block) t.shape.assign(form_.across ? 2 : 1, block_);
  t.layout = is_block ? blocks_ : one_for(elem);
  return out_.tiles.add(std::move(t));
}

OpId ProgramMaker::add(Op op) { return out_.ops.add(std::move(op)); }

/// A number in all lanes. Of a type that is wider than those of blocks, which only other such numbers are
/// made of, it is in as many lanes as a register has.
LayoutId ProgramMaker::one_for(Elem elem) {
  const int64_t lanes = std::min<int64_t>(lanes_, out_.machine.register_bytes / base::elem_bytes(elem));
  const auto [found, fresh] = ones_of_.try_emplace(lanes);
  if (fresh) {
    layout::Layout one;
    one.replicas = {layout::Iter{Dim(lanes), 1, "v"}};
    found->second = out_.layouts.add({name_for("one"), {one, {}}, ""});
  }
  return found->second;
}

ProgramMaker::Stretch ProgramMaker::stretch_of(uint32_t axis) const {
  const Dim extent = node_.domain[axis].extent;
  for (const task::Coordinate& c : type_.coordinates)
    if (c.axis == axis) {
      const Dim first = Dim(c.tile) * Dim(c.var);
      std::vector<Dim> ends{extent};
      if (c.tile % block_ != 0) ends.push_back(first + Dim(c.tile));
      return {first, shape::min(Dim(c.tile), extent - first), ends};
    }
  return {Dim(0), extent, {extent}};
}

namespace {

/// Every dimension of an operation.
void each_dim(const Op& op, const std::function<void(const Dim&)>& visit) {
  const auto facts = [&](const std::vector<Fact>& list) {
    for (const Fact& f : list) visit(f.lhs), visit(f.rhs);
  };
  const auto access = [&](const Access& a) {
    for (const Index& i : a.at) visit(i.dim);
  };
  if (const auto* copy = std::get_if<Copy>(&op)) {
    access(copy->from);
    facts(copy->bounds.facts);
  } else if (const auto* store = std::get_if<Store>(&op)) {
    access(store->to);
    facts(store->bounds);
  } else if (const auto* map = std::get_if<Map>(&op)) {
    facts(map->bounds.facts);
    for (const Expr& e : map->exprs)
      if (e.kind == Expr::Kind::index) visit(e.index);
  } else if (const auto* loop = std::get_if<Loop>(&op)) {
    visit(loop->extent);
  }
}

}  // namespace

/// The sizes that the program mentions, and what is known of them.
void ProgramMaker::gather_sizes() {
  std::vector<Dim> about;
  const auto visit = [&](const Dim& d) { about.push_back(d); };
  for (const Op& op : out_.ops) each_dim(op, visit);
  for (const Tensor& t : out_.tensors) {
    for (const Dim& d : t.shape) visit(d);
    for (const auto* box : {&t.reads, &t.writes})
      if (*box)
        for (const Interval& i : **box) visit(i.low), visit(i.high);
  }
  for (const Coordinate& c : out_.grid) visit(c.extent);
  for (const Fact& f : out_.guard) visit(f.lhs), visit(f.rhs);
  for (const task::LoopId l : type_.loops) visit(p_.loops[l].extent);
  std::vector<Fact> facts = p_.facts;
  for (const task::LoopId l : type_.loops) {
    visit(Dim(p_.loops[l].index));
    facts.push_back(shape::at_least(Dim(p_.loops[l].index), Dim(0)));
    facts.push_back(shape::less(Dim(p_.loops[l].index), p_.loops[l].extent));
  }
  for (const Fact& f : task::relevant(p_, facts, about))
    if (std::none_of(out_.facts.begin(), out_.facts.end(), [&](const Fact& other) {
          return other.lhs == f.lhs && other.relation == f.relation && other.rhs == f.rhs;
        }))
      out_.facts.push_back(f);
  for (const Fact& f : out_.facts) visit(f.lhs), visit(f.rhs);
  std::set<Var> inside;
  for (const Coordinate& c : out_.grid) inside.insert(c.var);
  for (const Op& op : out_.ops) {
    if (const auto* loop = std::get_if<Loop>(&op)) inside.insert(loop->index);
    if (const auto* copy = std::get_if<Copy>(&op))
      inside.insert(copy->to.labels.begin(), copy->to.labels.end());
    if (const auto* map = std::get_if<Map>(&op)) inside.insert(map->to.labels.begin(), map->to.labels.end());
    if (const auto* store = std::get_if<Store>(&op))
      inside.insert(store->from.labels.begin(), store->from.labels.end());
  }
  std::vector<Var> vars;
  for (const Dim& d : about) d.collect_vars(vars);
  for (const Var v : vars)
    if (inside.insert(v).second) out_.sizes.push_back(v);
}

}  // namespace axon::tile
