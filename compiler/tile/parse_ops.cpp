// See parse_ops.h.
#include "tile/parse_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "tile/pointwise.h"

namespace axon::tile {

// ---- lines ----

std::vector<OpId> OpsReader::body(size_t depth) {
  std::vector<OpId> out;
  if (depth > most_nested) return fail("loops are nested too deeply"), out;
  while (!failed() && !at_end() && indentation() == 2 * depth) out.push_back(line(depth));
  if (!failed() && !at_end() && indentation() > 2 * depth) fail("this line is indented too far");
  return out;
}

std::vector<OpId> OpsReader::roles() {
  std::vector<OpId> out;
  while (!failed() && !at_end()) {
    expect("role");
    Role r;
    r.name = name();
    expect("warps");
    r.first_warp = number();
    expect(":");
    r.end_warp = number();
    expect("registers");
    r.registers = number();
    require(r.first_warp < r.end_warp && r.end_warp <= program_.machine.warps,
            "a role has warps, and they are the machine's");
    end_of_line();
    r.body = body(1);
    if (!failed()) out.push_back(program_.ops.add(std::move(r)));
  }
  return out;
}

OpId OpsReader::line(size_t depth) {
  for (const auto& [name, label] : labels_) forget(name);
  labels_.clear();
  return program_.ops.add(op(name(), depth));
}

Op OpsReader::op(const std::string& word, size_t depth) {
  if (word == "for") return loop(depth);
  Op out = Barrier();
  if (word == "copy")
    out = copy();
  else if (word == "view")
    out = view();
  else if (word == "prefetch")
    out = prefetch();
  else if (word == "map")
    out = map();
  else if (word == "gemm")
    out = gemm();
  else if (word == "reduce")
    out = reduce();
  else if (word == "scan")
    out = scan();
  else if (word == "scatter")
    out = scatter();
  else if (word == "check")
    out = check();
  else if (word == "wait")
    out = Wait{number_below(program_.waits.size(), "wait")};
  else if (word == "notify")
    out = Notify{number_below(program_.notifications.size(), "notification")};
  else if (word == "fence")
    out = Fence();
  else if (word == "acquire")
    out = Acquire{ring()};
  else if (word == "release")
    out = Release{ring()};
  else if (word == "settle")
    out = Settle{number_below(UINT32_MAX, "count")};
  else if (word != "barrier")
    fail(fmt::format("no operation is called `{}`", word));
  end_of_line();
  return out;
}

uint32_t OpsReader::number_below(size_t count, const char* what) {
  const int64_t value = number();
  if (value >= static_cast<int64_t>(count)) fail(fmt::format("there is no {} {}", what, value));
  return static_cast<uint32_t>(value);
}

TileId OpsReader::ring() {
  const TileId id = known(tiles_, "tile");
  if (!failed()) require(program_.tiles[id].space == Space::ring, "this is no ring");
  return id;
}

Op OpsReader::loop(size_t depth) {
  Loop out;
  const std::string index = fresh_name("loop");
  expect("<");
  out.extent = size();
  if (accept("from")) out.first = count();
  if (accept("below")) out.count = count();
  out.index = declare(index, shape::fresh_var(index));
  if (accept("carry")) do
      out.carries.push_back(known(tiles_, "tile"));
    while (!failed() && accept(","));
  if (accept("order")) out.order = order();
  require((!out.first && !out.count) || !out.order, "a loop that orders has no count");
  end_of_line();
  out.body = body(depth + 1);
  forget(index);
  return out;
}

Use OpsReader::count() {
  Use out = use_of_known();
  if (failed()) return out;
  const Tile& of = tile(out);
  require(of.shape.empty() && of.space == Space::registers && (of.elem == Elem::i32 || of.elem == Elem::i64),
          "a count is a number in registers, i32 or i64");
  return out;
}

Order OpsReader::order() {
  Order out;
  out.keys = known(tiles_, "tile");
  expect("of");
  out.count = size();
  expect("to");
  out.to = known(tensors_, "tensor");
  expect("[");
  list("]", [&] { out.row.push_back(size()); });
  expect("of");
  out.kept = size();
  out.descending = accept("descending");
  if (failed()) return out;
  const Tensor& to = program_.tensors[out.to];
  require(program_.tiles[out.keys].shape.size() <= 1 && program_.tiles[out.keys].space == Space::registers,
          "keys are a number, or have one axis, in registers");
  require(to.elem == Elem::i64, "positions are i64");
  require(to.shape.size() == out.row.size() + 1, "one index per axis but the last is expected");
  return out;
}

// ---- operations ----

bool OpsReader::checked(const Access& from) {
  if (!accept("checked")) return false;
  require(std::any_of(from.at.begin(), from.at.end(), [](const Index& i) { return i.table.has_value(); }),
          "only an index tile is checked");
  return true;
}

Op OpsReader::copy() {
  const Use tile_use = use();
  if (accept("to")) return store(tile_use);
  expect("=");
  Copy out{tile_use, access(), {}};
  if (failed()) return out;
  out.bounds = bounds(tile(out.to).elem);
  out.checked = checked(out.from);
  require(tile(out.to).space != Space::view, "a view has no storage");
  require(tile(out.to).space != Space::ring || out.from.tensor.valid(), "a ring is filled from a tensor");
  const Elem from =
      out.from.tensor ? program_.tensors[out.from.tensor].elem : program_.tiles[out.from.tile].elem;
  const Elem to = tile(out.to).elem;
  require_kind(from, to);
  return out;
}

Op OpsReader::store(const Use& from) {
  Store out{from, access(), {}, false};
  if (failed()) return out;
  require(tile(from).space != Space::view, "a view is not stored: copy what it shows");
  if (out.to.tensor.valid()) {
    if (accept("if")) out.bounds = conditions();
    out.streaming = accept("streaming");
  } else {
    require_block(out);
  }
  if (failed()) return out;
  const Elem to = out.to.tensor ? program_.tensors[out.to.tensor].elem : program_.tiles[out.to.tile].elem;
  require_kind(tile(from).elem, to);
  return out;
}

void OpsReader::require_kind(Elem from, Elem to) {
  require(base::is_float(to) || !base::is_float(from), "a copy does not make integers of floats");
  require(base::is_float(from) || base::is_narrow(to) || !base::is_float(to),
          "a copy makes only narrow floats of integers");
}

void OpsReader::require_block(const Store& op) {
  const Tile& to = program_.tiles[op.to.tile];
  const std::vector<Var>& labels = op.from.labels;
  require(to.space == Space::scratch, "a copy from a tile goes to a tensor or to a tile in scratch");
  require(op.to.tile != op.from.tile, "a block comes from another tile");
  if (op.to.at.size() < labels.size()) return fail("the tile has fewer axes than the block");
  const size_t first = op.to.at.size() - labels.size();
  for (size_t a = 0; a < op.to.at.size(); ++a) {
    const Index& index = op.to.at[a];
    require(!index.table, "no index tile says where a block goes");
    if (a >= first) {
      require(index.dim == Dim(labels[a - first]),
              "the last indices of a block are all labels in their order");
      require(to.shape[a] == tile(op.from).shape[a - first],
              "a block has the extents of the tile's last axes");
    } else {
      for (Var label : labels)
        require(!index.dim.contains(label), "the first indices of a block are expressions without labels");
    }
  }
  if (accept("if") || accept("streaming")) fail("a block is stored as a whole, without bounds");
}

Op OpsReader::view() {
  View out{use(), {}, {}};
  expect("=");
  out.from = access();
  if (failed()) return out;
  out.bounds = bounds(tile(out.to).elem);
  out.checked = checked(out.from);
  require(tile(out.to).space == Space::view, "this tile has storage of its own");
  if (out.from.tensor.valid()) {
    require(program_.tensors[out.from.tensor].elem == tile(out.to).elem, "a view has the type of its tensor");
    require(!program_.tensors[out.from.tensor].writes, "a view is of a tensor that the task does not write");
  } else {
    const Tile& from = program_.tiles[out.from.tile];
    require(from.elem == tile(out.to).elem, "a view has the type of its tile");
    require(from.space != Space::registers, "a view is of a tensor, of scratch or of another view");
  }
  return out;
}

Op OpsReader::prefetch() {
  Prefetch out;
  out.along = accept("along");
  do {
    const std::string word = fresh_name("label");
    expect("<");
    const int64_t extent = number();
    if (failed()) return out;
    require(extent >= 1, "a label has an extent of at least 1");
    const Var v = declare(word, shape::fresh_var(word));
    labels_[word] = {v, extent};
    out.labels.push_back({v, extent});
  } while (accept(","));
  expect("of");
  out.tensor = known(tensors_, "tensor");
  expect("[");
  list("]", [&] { out.at.push_back(size()); });
  require(failed() || out.at.size() == program_.tensors[out.tensor].shape.size(),
          "one index per axis is expected");
  if (!out.along && accept("if")) out.facts = conditions();
  for (const auto& [v, extent] : out.labels)
    for (const Fact& fact : out.facts)
      require(!fact.lhs.contains(v) && !fact.rhs.contains(v), "no label decides whether it is asked for");
  return out;
}

Op OpsReader::map() {
  Map out;
  out.to = use();
  define(out.to);
  expect("=");
  const uint32_t last = expr(out, 0);
  if (failed()) return out;
  out.bounds = bounds(tile(out.to).elem);
  require(out.exprs[last].elem == tile(out.to).elem, "the value has another type than the tile");
  return out;
}

uint32_t OpsReader::add(Map& map, Expr e) {
  if (map.exprs.size() == 1000) fail("the expression is too large");
  map.exprs.push_back(std::move(e));
  return static_cast<uint32_t>(map.exprs.size() - 1);
}

uint32_t OpsReader::expr(Map& map, size_t depth) {
  std::string word;
  if (depth > 64) return fail("the expression is nested too deeply"), 0;
  if (!next_is_name(word)) return fail("an expression is expected"), 0;
  Expr e;
  if (tiles_.contains(word)) {
    e.kind = Expr::Kind::tile;
    e.use = use_of_known();
    e.elem = failed() ? Elem::f32 : tile(e.use).elem;
    return add(map, std::move(e));
  }
  const auto op = find_op(word);
  if (!op && !base::elem_from_name(word))
    return fail(fmt::format("no tile, type or operator is called `{}`", word)), 0;
  name();
  expect("(");
  if (const auto to = base::elem_from_name(word)) return conversion(map, *to, depth);
  e.kind = Expr::Kind::apply;
  e.op = *op;
  std::vector<Elem> types;
  list(")", [&] {
    e.args.push_back(expr(map, depth + 1));
    if (!failed()) types.push_back(map.exprs[e.args.back()].elem);
  });
  if (failed()) return 0;
  const auto type = types.empty() ? std::nullopt : result_elem(e.op, types);
  if (!type) return fail(fmt::format("`{}` has no operands of these types", word)), 0;
  e.elem = *type;
  return add(map, std::move(e));
}

uint32_t OpsReader::conversion(Map& map, Elem to, size_t depth) {
  Expr e;
  e.elem = to;
  std::string word;
  const bool named = next_is_name(word) && word != "inf" && word != "nan";
  if (named && word == "index") {
    accept("index");
    expect("(");
    e.kind = Expr::Kind::index;
    e.index = size();
    expect(")");
    require(base::is_integer(to), "an index is an integer");
  } else if (named) {
    e.kind = Expr::Kind::cast;
    e.args.push_back(expr(map, depth + 1));
    if (failed()) return 0;
    const Elem from = map.exprs[e.args[0]].elem;
    require(!base::is_narrow(to) && (base::is_float(from) != base::is_float(to) ||
                                     base::elem_bytes(to) >= base::elem_bytes(from)),
            "only a copy narrows a type");
  } else {
    e.kind = Expr::Kind::constant;
    e.number = literal_of(to);
  }
  expect(")");
  return add(map, std::move(e));
}

Op OpsReader::gemm() {
  Gemm out;
  out.acc = use();
  define(out.acc);
  expect("+");
  expect("=");
  out.a = use();
  expect("*");
  out.b = use();
  expect("in");
  out.in = elem();
  if (accept("by")) out.by = word();
  out.async = accept("async");
  if (failed()) return out;
  const Elem a = tile(out.a).elem, b = tile(out.b).elem;
  require(tile(out.acc).elem == out.in, "the accumulators have the type of the sums");
  // Integers of 8 bits are floats exactly, as weights with scales are.
  const auto holds = [&](Elem e) {
    if (base::is_float(e) != base::is_float(out.in))
      return base::is_float(out.in) && base::elem_bytes(e) == 1;
    return base::elem_bytes(out.in) >= base::elem_bytes(base::accumulator(e));
  };
  require(!base::is_narrow(out.in) && holds(a) && holds(b) && a != Elem::boolean && b != Elem::boolean,
          "the sums have a type that holds products of the operands");
  require(out.by.empty() || (a == b && a != out.in), "an instruction takes operands of one narrow type");
  require(!out.async || !out.by.empty(), "only an instruction is asynchronous");
  for (const Use* part : {&out.a, &out.b})
    for (Var v : part->labels)
      require(has(out.acc, v) || (has(out.a, v) && has(out.b, v)), "a label is in two of the three tiles");
  for (Var v : out.acc.labels) require(has(out.a, v) || has(out.b, v), "an operand has the label");
  return out;
}

Op OpsReader::reduce() {
  Reduce out;
  out.monoid = monoid(Elem::f32);
  out.to = use();
  define(out.to);
  expect("=");
  out.from = use();
  expect("in");
  out.in = elem();
  if (failed()) return out;
  require(all_in(out.to, out.from), "the operand has all labels of the result");
  require(tile(out.to).elem == out.in && result_elem(out.monoid, {out.in, out.in}) == out.in,
          "the result has the type of the sums");
  require(base::is_float(tile(out.from).elem) == base::is_float(out.in) &&
              base::elem_bytes(tile(out.from).elem) <= base::elem_bytes(out.in),
          "the sums have a type that holds the operand");
  return out;
}

Op OpsReader::scan() {
  Scan out;
  out.monoid = monoid(Elem::f32);
  out.to = use();
  define(out.to);
  expect("=");
  out.from = use_of_known();
  expect("along");
  out.along = label();
  if (accept("from")) out.start = use_of_known();
  expect("in");
  out.in = elem();
  if (failed()) return out;
  require(all_in(out.to, out.from), "the operand has all labels of the result");
  require(has(out.from, out.along), "the operand has the label");
  require(!out.start || !has(*out.start, out.along),
          "what it begins from has not the label that it is along");
  require(!out.start || tile(*out.start).elem == out.in, "what it begins from has the type of the sums");
  require(tile(out.to).elem == out.in && result_elem(out.monoid, {out.in, out.in}) == out.in &&
              tile(out.from).elem == out.in,
          "operand and result have the type of the sums");
  return out;
}

Op OpsReader::scatter() {
  Scatter out;
  out.monoid = monoid(Elem::f32);
  out.from = use();
  expect("to");
  out.to = access();
  if (accept("if")) out.bounds = conditions();
  if (failed()) return out;
  require(out.to.tile.valid() && program_.tiles[out.to.tile].space == Space::scratch,
          "the target is a tile in scratch, which the task owns");
  if (failed()) return out;
  const Elem elem = program_.tiles[out.to.tile].elem;
  require(tile(out.from).elem == elem && result_elem(out.monoid, {elem, elem}) == elem,
          "source and target have one type");
  return out;
}

Op OpsReader::check() {
  Check out;
  out.number = number_below(UINT32_MAX, "check");
  out.of = use();
  if (accept("below")) {
    out.extent = size();
  } else {
    expect("shows");
    out.found = index();
    expect(",");
    out.wanted = index();
  }
  if (accept("if")) out.bounds = conditions();
  if (failed()) return out;
  const Elem elem = tile(out.of).elem;
  if (out.extent)
    require(base::is_integer(elem), "an index is an integer");
  else
    require(elem == Elem::boolean, "a check is of truth values, or of indices below an extent");
  return out;
}

}  // namespace axon::tile
