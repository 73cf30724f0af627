// See frame.h.
#include "tile/from_task/frame.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "base/elem.h"
#include "task/facts.h"
#include "tile/from_task/computed_types.h"
#include "tile/from_task/join_axes.h"
#include "tile/names.h"
#include "tile/pointwise.h"

namespace axon::tile {

namespace {

constexpr int64_t bytes_at_once = 16;  ///< that a thread loads with one instruction

/// Letters, digits and `_`, no digit first.
std::string as_name(const std::string& text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "t" + name : name;
}

}  // namespace

ProgramFrame::ProgramFrame(const Origin& of, const Machine& machine, const Choices& choices)
    : p_(of.program),
      id_(of.id),
      type_(of.program.types[of.id]),
      g_(of.graph),
      node_(of.graph.nodes[type_.node]),
      form_(of.form),
      choices_(choices),
      out_(made_.program),
      label_(shape::fresh_var("e")),
      row_label_(shape::fresh_var("r")) {
  out_.name = as_name(type_.name);
  out_.machine = machine;
}

void ProgramFrame::reserve_names() {
  for (const char* word : {"if", "fill", "to", "in", "by", "index", "reads", "writes", "at", "inf", "nan"})
    names_.insert(word);
  for (const graph::Size& size : p_.graph->sizes) names_.insert(shape::var_name(size.var));
}

void ProgramFrame::open() {
  reserve_names();
  out_.guard = form_.guard;
  declare_grid();
  ones_.emplace_back();
}

/// Has a task one index of the axis, or none?
bool ProgramFrame::has_one_at_most(uint32_t axis) const {
  return node_.domain[axis].extent.is(1) ||
         std::any_of(type_.coordinates.begin(), type_.coordinates.end(),
                     [&](const task::Coordinate& c) { return c.axis == axis && c.tile == 1; });
}

void ProgramFrame::over_axes(std::vector<uint32_t> axes, const std::function<void()>& inside,
                             const std::vector<TileId>& carries) {
  if (axes.empty()) return inside();
  const uint32_t a = axes.front();
  const graph::Axis& axis = node_.domain[a];
  const Stretch stretch = stretch_of(a);
  axes.erase(axes.begin());
  const Var index = shape::fresh_var(name_for(shape::var_name(axis.var)));
  add_range(axis.var, axis.extent);
  const bool alone = stretch.length.is(1);
  at_[axis.var] = has_one_at_most(a) ? stretch.first : stretch.first + Dim(index);
  if (alone) return over_axes(std::move(axes), inside, carries);
  loop(index, stretch.length, carries, [&] { over_axes(std::move(axes), inside, carries); });
}

void ProgramFrame::over_binders(std::vector<graph::Axis> binders, const std::vector<TileId>& carries,
                                const std::function<void()>& inside, const CountUses& counts) {
  if (binders.empty()) return inside();
  const graph::Axis binder = binders.front();
  binders.erase(binders.begin());
  const Var index = shape::fresh_var(name_for(shape::var_name(binder.var)));
  at_[binder.var] = Dim(index);
  add_range(binder.var, binder.extent);
  loop(
      index, binder.extent, carries, [&] { over_binders(std::move(binders), carries, inside); }, counts);
  around_.resize(around_.size() - 2);
  at_.erase(binder.var);
}

MadeProgram ProgramFrame::close(const Body& statements, bool streams) {
  body_ = &out_.body;
  for (uint32_t n = 0; n < out_.waits.size(); ++n) emit(Wait{n});
  out_.body.insert(out_.body.end(), statements.begin(), statements.end());
  if (streams) emit(Fence{});
  if (has_threads()) emit(Barrier{});
  for (uint32_t w = 0; w < out_.tensors.size(); ++w)
    if (const Tensor& t = out_.tensors[{w}]; t.writes) {
      out_.notifications.push_back({{w}, *t.writes});
      emit(Notify{static_cast<uint32_t>(out_.notifications.size() - 1)});
    }
  for (const Op& op : out_.ops)
    if (const auto* view = std::get_if<View>(&op);
        view && view->from.tensor && out_.tensors[view->from.tensor].writes)
      throw Declined{"an operand is written, too"};
  reuse_tiles(out_);
  prefetch_next_rows(out_);
  gather_sizes();
  return std::move(made_);
}

void ProgramFrame::declare_grid() {
  for (const task::Coordinate& c : type_.coordinates) {
    names_.insert(shape::var_name(c.var));
    out_.grid.push_back({c.var, c.extent});
  }
  for (const task::LoopId l : type_.loops) {
    names_.insert(shape::var_name(p_.loops[l].index));
    add_range(p_.loops[l].index, p_.loops[l].extent);
  }
}

bool has_checks(const graph::Graph& g, graph::ScalarId id) {
  const auto parts = graph::scalars_in(g, id);
  return std::any_of(parts.begin(), parts.end(), [&](graph::ScalarId part) {
    return g.scalars[part].op == graph::Op::bounded || g.scalars[part].op == graph::Op::require;
  });
}

namespace {

bool is_of_sizes(const graph::Graph& g, graph::ScalarId id) {
  const std::vector<Var> vars = graph::free_vars(g, id);
  return graph::loads_in(g, id).empty() && std::all_of(vars.begin(), vars.end(), [&](Var v) {
           return std::any_of(g.sizes.begin(), g.sizes.end(),
                              [&](const graph::Size& size) { return size.var == v; });
         });
}

/// Does more than sizes choose whether something is loaded where the data says, or is checked?
bool chooses_by_data(const graph::Graph& g, graph::ScalarId body) {
  // What the condition consists of is evaluated before.
  const auto is_of_data = [&](graph::ScalarId arm, graph::ScalarId condition) {
    const auto before = graph::scalars_in(g, condition);
    const auto parts = graph::scalars_in(g, arm);
    return std::any_of(parts.begin(), parts.end(), [&](graph::ScalarId part) {
      const graph::Scalar& s = g.scalars[part];
      const bool checks = s.op == graph::Op::bounded || s.op == graph::Op::require;
      const bool gathers = s.op == graph::Op::load &&
                           std::any_of(s.args.begin(), s.args.end(),
                                       [&](graph::ScalarId arg) { return !graph::affine_index(g, arg); });
      return (checks || gathers) && std::find(before.begin(), before.end(), part) == before.end();
    });
  };
  const auto parts = graph::scalars_in(g, body);
  return std::any_of(parts.begin(), parts.end(), [&](graph::ScalarId part) {
    const graph::Scalar& s = g.scalars[part];
    const bool chooses = s.op == graph::Op::select || s.op == graph::Op::and_ || s.op == graph::Op::or_;
    return chooses && !is_of_sizes(g, s.args[0]) &&
           std::any_of(s.args.begin() + 1, s.args.end(),
                       [&](graph::ScalarId arm) { return is_of_data(arm, s.args[0]); });
  });
}

}  // namespace

int64_t widest_in_blocks(const Origin& of, int64_t least) {
  int64_t widest = least;
  std::set<graph::ScalarId> seen;
  Var block;  // what its elements go along
  const graph::Node& node = of.graph.nodes[of.program.types[of.id].node];
  const auto changes = [&](graph::ScalarId id) {
    return graph::depends_on(of.graph, id, block) ||
           (of.form.across && graph::depends_on(of.graph, id, node.domain[*of.form.across].var));
  };
  const std::function<void(graph::ScalarId, const std::function<bool(graph::ScalarId)>&, bool)> look =
      [&](graph::ScalarId id, const std::function<bool(graph::ScalarId)>& is_index_tile, bool is_tile) {
        const graph::Scalar& s = of.graph.scalars[id];
        const bool is_leaf = s.op == graph::Op::index || s.op == graph::Op::constant;
        if (is_leaf ? !is_tile : !seen.insert(id).second) return;
        // What is compared so has a register's lanes all the same.
        if (graph::class_of(s.op) == graph::OpClass::comparison && is_of_sizes(of.graph, id)) return;
        const Elem elem = s.op == graph::Op::reduce ? base::accumulator(s.elem) : base::computed_as(s.elem);
        widest = std::max<int64_t>(widest, base::elem_bytes(elem));
        // Of an index that is the same for all of the block, it is a number before it.
        const bool narrows = s.op == graph::Op::cast && is_narrowing(of.graph, id) && changes(id);
        for (const graph::ScalarId arg : s.args)
          if (s.op != graph::Op::load || is_index_tile(arg)) look(arg, is_index_tile, narrows);
      };
  // An index that the data decides, and for a whole block alike, is a number before the block.
  const auto look_along = [&](graph::ScalarId body, Var along, bool is_tile) {
    const bool all = of.form.across || chooses_by_data(of.graph, body);
    block = along;
    seen.clear();
    look(
        body,
        [&](graph::ScalarId arg) {
          return !graph::affine_index(of.graph, arg) && (all || graph::depends_on(of.graph, arg, along));
        },
        is_tile);
  };
  for (const RowReduction& r : of.form.reductions) {
    widest = std::max<int64_t>(widest, base::elem_bytes(r.in));
    look_along(r.term, r.along.var, false);
  }
  if (of.form.along)
    for (const graph::ScalarId output : of.form.outputs)
      look_along(output, node.domain[*of.form.along].var, true);
  return widest;
}

/// As many lanes as the widest type has in a register, so that an element is in the same lane of every tile.
void ProgramFrame::choose_lanes() {
  if (has_threads()) return choose_runs();
  // A square of bytes would not fit into registers.
  const int64_t widest = widest_in_blocks(origin(), form_.across ? 4 : 1);
  const bool has_blocks = form_.along || !form_.has_own_reductions;
  lanes_ = !has_blocks ? 1 : out_.machine.register_bytes / widest;
  block_ = lanes_;
  // Joined axes may have few elements.
  if (form_.joined.empty() && !form_.across) block_ *= choices_.registers_per_tile;
  for (const task::Coordinate& c : type_.coordinates)
    if (c.axis == form_.along)
      while (block_ > lanes_ && c.tile % block_ != 0) block_ /= 2;
  const auto vectors = [&](int64_t elements, const char* name) {
    return layout(name, {{Dim(elements / lanes_), 1, "m"}, {Dim(lanes_), 1, "v"}});
  };
  if (form_.across) {
    layout::Layout turned;
    turned.shards = {layout::Iter{Dim(lanes_), 1, "v"}, layout::Iter{Dim(lanes_), 1, "m"}};
    turned_ = out_.layouts.add({name_for("turned"), {turned, {}}, ""});
    blocks_ = vectors(lanes_ * lanes_, "square");
    return;
  }
  column_layout_ = blocks_ = vectors(block_, "block");
  if (choices_.rows_of_block > 0) return choose_shared_rows();
  if (has_rows_at_once()) return choose_rows();
}

/// Numbers of rows are in all lanes, those of columns in the lanes of their own.
void ProgramFrame::choose_shared_rows() {
  const int64_t rows = rows_at_once_ = choices_.rows_of_block;
  block_shape_ = {rows, block_};
  blocks_ = layout("rows_of_block", {{Dim(rows * block_ / lanes_), 1, "m"}, {Dim(lanes_), 1, "v"}});
  row_layout_ = layout("rows", {{Dim(rows), 1, "m"}}, {{Dim(lanes_), 1, "v"}});
}

/// A register, or a few, of each row, and as many rows as a vector has lanes, of half the registers at most:
/// what is left of each row is in a lane of its own.
void ProgramFrame::choose_rows() {
  rows_at_once_ = std::min(lanes_, out_.machine.registers / 2);
  block_shape_ = {rows_at_once_, block_};
  const int64_t vectors = block_ / lanes_;
  blocks_ =
      layout("block", {{Dim(rows_at_once_), vectors, "m"}, {Dim(vectors), 1, "m"}, {Dim(lanes_), 1, "v"}});
  row_layout_ = layout("rows", {{Dim(rows_at_once_), 1, "v"}});
}

int64_t narrowest_in_memory(const Origin& of) {
  const graph::Graph& g = of.graph;
  const graph::NodeId id = of.program.types[of.id].node;
  const graph::Node& node = g.nodes[id];
  int64_t bytes = 8;
  const auto look = [&](graph::ScalarId body) {
    for (const graph::ScalarId load : graph::loads_in(g, body))
      if (const graph::Scalar& s = g.scalars[load]; !s.target.is_local())
        bytes = std::min<int64_t>(bytes, base::elem_bytes(g.type(s.target).elem));
  };
  for (const RowReduction& r : of.form.reductions) look(r.term);
  for (const graph::ScalarId output : of.form.outputs) look(output);
  for (uint32_t o = 0; o < node.outputs.size(); ++o)
    bytes = std::min<int64_t>(bytes, base::elem_bytes(g.type({id, o}).elem));
  return bytes;
}

/// Neighbouring threads, and then neighbouring warps, have neighbouring runs: rows of as many elements as all
/// threads load at once leave no warp without any.
void ProgramFrame::choose_runs() {
  if (form_.across) throw Declined{"transposes have no form for several threads yet"};
  const Machine& m = out_.machine;
  const int64_t run = bytes_at_once / narrowest_in_memory(origin());
  const int64_t lanes = choices_.lanes_of_row;
  int64_t& runs = runs_ = choices_.registers_per_tile;
  for (const task::Coordinate& c : type_.coordinates)
    if (c.axis == form_.along && form_.joined.empty())
      while (runs > 1 && c.tile < (lanes == 0 ? m.threads() : lanes) * run * runs) runs /= 2;
  const layout::Iter of_run{Dim(run), 1, "m"}, of_runs{Dim(runs), run, "m"}, warps{Dim(m.warps), 1, "warp"};
  if (lanes == 0) {
    block_ = m.threads() * run * runs;
    blocks_ = layout("block", {of_runs, warps, {Dim(m.lanes), 1, "lane"}, of_run});
    return;
  }
  const int64_t rows = choices_.rows_of_thread;
  block_ = lanes * run * runs;
  rows_at_once_ = rows * m.warps * (m.lanes / lanes);
  block_shape_ = {rows_at_once_, block_};
  const layout::Iter of_row{Dim(lanes), 1, "lane"}, of_warp{Dim(m.lanes / lanes), lanes, "lane"};
  blocks_ = layout("block", {{Dim(rows), run * runs, "m"}, warps, of_warp, of_runs, of_row, of_run});
  row_layout_ = layout("rows", {{Dim(rows), 1, "m"}, warps, of_warp}, {of_row});
}

LayoutId ProgramFrame::layout(const std::string& name, std::vector<layout::Iter> shards,
                              std::vector<layout::Iter> replicas) {
  layout::Layout made;
  made.shards = std::move(shards);
  made.replicas = std::move(replicas);
  std::erase_if(made.shards, [](const layout::Iter& iter) { return iter.extent.is(1); });
  std::erase_if(made.replicas, [](const layout::Iter& iter) { return iter.extent.is(1); });
  for (uint32_t l = 0; l < out_.layouts.size(); ++l)
    if (out_.layouts[LayoutId{l}].layout.layout == made) return LayoutId{l};
  return out_.layouts.add({name_for(name), {made, {}}, ""});
}

std::string ProgramFrame::name_for(const std::string& wish) {
  std::string name = as_name(wish);
  if (find_op(name) || base::elem_from_name(name)) name += "_";
  std::string unique = name;
  for (int n = 1; !names_.insert(unique).second; ++n) unique = name + "_" + std::to_string(n);
  return unique;
}

TileId ProgramFrame::tile(const std::string& name, Elem elem, bool is_block) {
  Tile t;
  t.name = name_for(name);
  t.elem = elem;
  const int64_t bytes = base::elem_bytes(elem);
  if (is_block && !has_threads() && lanes_ > 1 && lanes_ * bytes > out_.machine.register_bytes)
    throw Declined{"a block has elements that are wider than was foreseen"};
  if (is_block) t.shape = block_shape_;
  if (is_block && block_shape_.empty()) t.shape.assign(form_.across ? 2 : 1, block_);
  t.layout = is_block ? blocks_ : one_for(elem);
  return out_.tiles.add(std::move(t));
}

TileId ProgramFrame::tile(const std::string& name, Elem elem, const std::vector<Var>& labels) {
  const bool is_part = has_rows_at_once() && labels.size() == 1;
  const bool is_rows = is_part && labels.front() == row_label_;
  const TileId made = tile(name, elem, !is_rows && !labels.empty());
  if (!is_part) return made;
  const int64_t in_register = choices_.rows_of_block > 0 ? lanes_ : rows_at_once_;
  if (is_rows && !has_threads() && in_register * base::elem_bytes(elem) > out_.machine.register_bytes)
    throw Declined{"rows at once have numbers that are wider than was foreseen"};
  out_.tiles[made].shape = {is_rows ? rows_at_once_ : block_};
  out_.tiles[made].layout = is_rows ? row_layout_ : column_layout_;
  return made;
}

TileId ProgramFrame::scratch(const std::string& name, Elem elem, std::vector<int64_t> shape) {
  Tile t;
  t.name = name_for(name);
  t.space = Space::scratch;
  t.elem = elem;
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  t.shape = std::move(shape);
  t.layout = layout("line", {{Dim(elements), 1, "m"}});
  constexpr int64_t line = 64;
  t.offset = (made_.scratch_bytes + line - 1) / line * line;
  made_.scratch_bytes = t.offset + elements * base::elem_bytes(elem);
  return out_.tiles.add(std::move(t));
}

/// A number in all lanes. Of a type that is wider than those of blocks, which only other such numbers are
/// made of, it is in as many lanes as a register has.
LayoutId ProgramFrame::one_for(Elem elem) {
  if (has_threads()) {
    const Machine& m = out_.machine;
    const auto [found, fresh] = ones_of_.try_emplace(1);
    if (fresh) found->second = layout("one", {}, {{Dim(m.warps), 1, "warp"}, {Dim(m.lanes), 1, "lane"}});
    return found->second;
  }
  const int64_t lanes = std::min<int64_t>(lanes_, out_.machine.register_bytes / base::elem_bytes(elem));
  const auto [found, fresh] = ones_of_.try_emplace(lanes);
  if (fresh) found->second = layout("one", {}, {{Dim(lanes), 1, "v"}});
  return found->second;
}

bool is_same(const Fact& a, const Fact& b) {
  return a.lhs == b.lhs && a.relation == b.relation && a.rhs == b.rhs;
}

void add_once(const Fact& fact, std::vector<Fact>& to) {
  const auto is_it = [&](const Fact& other) { return is_same(other, fact); };
  if (std::none_of(to.begin(), to.end(), is_it)) to.push_back(fact);
}

bool ProgramFrame::is_whole(const Dim& extent) {
  if (!choices_.whole_blocks) return false;
  const Fact fact = shape::equal(shape::mod(extent, Dim(block_)), Dim(0));
  if (const auto constant = extent.constant()) {
    if (*constant % block_ != 0) throw Declined{"its rows are not whole blocks"};
    return uses_whole_blocks_ = true;
  }
  if (!extent.as_var()) throw Declined{"the prover does not follow such extents"};
  add_once(fact, out_.guard);
  return uses_whole_blocks_ = guards_blocks_ = true;
}

bool ProgramFrame::is_one_block(const Dim& extent) {
  if (!choices_.one_block) return false;
  if (const auto constant = extent.constant()) {
    if (*constant > block_) throw Declined{"its rows have several blocks"};
    return uses_one_block_ = true;
  }
  add_once(shape::at_most(extent, Dim(block_)), out_.guard);
  return uses_one_block_ = true;
}

/// Of all joined axes.
Stretch ProgramFrame::joined_stretch() {
  const uint32_t outer = form_.joined.front();
  Dim row(1);
  for (size_t a = 1; a < form_.joined.size(); ++a) row = row * node_.domain[form_.joined[a]].extent;
  const Dim end = node_.domain[outer].extent * row;
  for (const task::Coordinate& c : type_.coordinates)
    if (c.axis == outer) {
      const Dim first = Dim(c.tile) * Dim(c.var) * row, most = Dim(c.tile) * row;
      return {first, shape::min(most, end - first), {end, first + most}};
    }
  return {Dim(0), end, {end}};
}

Stretch ProgramFrame::stretch_of(uint32_t axis) {
  if (axis == form_.along && !form_.joined.empty()) return joined_stretch();
  const Dim extent = node_.domain[axis].extent;
  std::optional<Dim> blocks;
  if (axis == form_.along && is_one_block(extent)) blocks = Dim(1);
  for (const task::Coordinate& c : type_.coordinates)
    if (c.axis == axis) {
      const Dim first = Dim(c.tile) * Dim(c.var);
      const Dim length = shape::min(Dim(c.tile), extent - first);
      if (axis == form_.along && c.tile % block_ == 0 && is_whole(extent)) return {first, length, {}};
      std::vector<Dim> ends{extent};
      if (c.tile % block_ != 0) ends.push_back(first + Dim(c.tile));
      return {first, length, ends, blocks};
    }
  if (axis == form_.along && is_whole(extent)) return {Dim(0), extent, {}};
  return {Dim(0), extent, {extent}, blocks};
}

/// Where the task has so few rows that all are had at once, there is one block of them.
Stretch ProgramFrame::stretch_of_rows() {
  const uint32_t axis = axis_of_rows();
  const Dim extent = node_.domain[axis].extent;
  const auto count = [&](int64_t most) {
    return most <= rows_at_once_ ? std::optional(Dim(1)) : std::nullopt;
  };
  for (const task::Coordinate& c : type_.coordinates) {
    if (c.axis != axis) continue;
    const Dim first = Dim(c.tile) * Dim(c.var);
    std::vector<Dim> ends{extent};
    if (c.tile % rows_at_once_ != 0) ends.push_back(first + Dim(c.tile));
    return {first, shape::min(Dim(c.tile), extent - first), ends, count(c.tile)};
  }
  return {Dim(0), extent, {extent}, extent.constant() ? count(*extent.constant()) : std::nullopt};
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
  } else if (const auto* scatter = std::get_if<Scatter>(&op)) {
    access(scatter->to);
    facts(scatter->bounds);
  } else if (const auto* map = std::get_if<Map>(&op)) {
    facts(map->bounds.facts);
    for (const Expr& e : map->exprs)
      if (e.kind == Expr::Kind::index) visit(e.index);
  } else if (const auto* check = std::get_if<Check>(&op)) {
    for (const Dim& d : {check->extent.value_or(Dim(0)), check->found.dim, check->wanted.dim}) visit(d);
    facts(check->bounds);
  } else if (const auto* loop = std::get_if<Loop>(&op)) {
    visit(loop->extent);
    if (!loop->order) return;
    visit(loop->order->count), visit(loop->order->kept);
    for (const Dim& d : loop->order->row) visit(d);
  }
}

}  // namespace

/// The sizes that the program mentions, and what is known of them.
void ProgramFrame::gather_sizes() {
  std::vector<Dim> about;
  const auto visit = [&](const Dim& d) { about.push_back(d); };
  for (const Op& op : out_.ops) each_dim(op, visit);
  for (const Tensor& t : out_.tensors) {
    for (const Dim& d : t.shape) visit(d);
    for (const layout::Iter& iter : t.place.shards) visit(iter.stride);
    for (const auto& [axis, offset] : t.place.offset) visit(offset);
    for (const auto* box : {&t.reads, &t.writes})
      if (*box)
        for (const Interval& i : **box) visit(i.low), visit(i.high);
  }
  for (const Coordinate& c : out_.grid) visit(c.extent);
  for (const Fact& f : out_.guard) visit(f.lhs), visit(f.rhs);
  for (const task::LoopId l : type_.loops) visit(p_.loops[l].extent);
  std::vector<Fact> facts = task::both(p_.facts, stores_in_range_);
  for (const task::LoopId l : type_.loops) {
    visit(Dim(p_.loops[l].index));
    facts.push_back(shape::at_least(Dim(p_.loops[l].index), Dim(0)));
    facts.push_back(shape::less(Dim(p_.loops[l].index), p_.loops[l].extent));
  }
  for (const Fact& f : task::relevant(p_, facts, about)) add_once(f, out_.facts);
  for (const Fact& f : out_.facts) visit(f.lhs), visit(f.rhs);
  std::set<Var> inside;
  for (const Coordinate& c : out_.grid) inside.insert(c.var);
  for (const Op& op : out_.ops) {
    if (const auto* loop = std::get_if<Loop>(&op)) inside.insert(loop->index);
    for (const Use* use : uses(op)) inside.insert(use->labels.begin(), use->labels.end());
  }
  std::vector<Var> vars;
  for (const Dim& d : about) d.collect_vars(vars);
  for (const Var v : vars)
    if (inside.insert(v).second) out_.sizes.push_back(v);
}

// ---- expressions ----

Expr of_tile(const Use& use, Elem elem) {
  Expr e;
  e.kind = Expr::Kind::tile;
  e.use = use;
  e.elem = elem;
  return e;
}
Expr of_number(const Number& number, Elem elem) {
  Expr e;
  e.kind = Expr::Kind::constant;
  e.number = number;
  e.elem = elem;
  return e;
}
Expr applied(Pointwise op, Elem elem, std::vector<uint32_t> args) {
  Expr e;
  e.kind = Expr::Kind::apply;
  e.op = op;
  e.elem = elem;
  e.args = std::move(args);
  return e;
}

// ---- the graph's indices and types ----

bool narrows(Elem from, Elem to) {
  if (base::is_integer(from) && base::is_narrow(to)) return true;
  if (base::is_float(from) != base::is_float(to) || from == to) return false;
  return base::is_narrow(to) || base::elem_bytes(to) < base::elem_bytes(from);
}

Dim ProgramFrame::placed(const Dim& d, const BlockPlace& place) const {
  shape::Substitution at = at_;
  if (place.is_block) at[place.along] = place.base + Dim(place.label);
  if (place.across) at[*place.across] = place.row_base + Dim(place.row_label);
  return d.substitute(at);
}
Fact ProgramFrame::placed(const Fact& f, const BlockPlace& place) const {
  return {placed(f.lhs, place), f.relation, placed(f.rhs, place)};
}

std::vector<Dim> ProgramFrame::index_of(graph::Value v, const std::vector<Dim>& index,
                                        const BlockPlace& place) const {
  std::vector<Dim> out;
  if (const auto& slot = p_.place(v).slot) out.push_back(*slot);
  for (const Dim& d : index) out.push_back(placed(d, place));
  const task::BufferId buffer = p_.place(v).buffer;
  const auto flat = form_.flat.find(buffer);
  if (flat == form_.flat.end()) return out;
  return joined_index(std::move(out), p_.buffers[buffer].shape, flat->second);
}

bool ProgramFrame::narrows_there(ScalarId cast) const { return is_narrowing(g_, cast); }

}  // namespace axon::tile
