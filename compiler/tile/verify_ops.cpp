// What each operation needs, and what is known behind it (see verify_op.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "tile/names.h"
#include "tile/pointwise.h"
#include "tile/verify_op.h"

namespace axon::tile {

namespace {

constexpr Beyond undefined = undefined_beyond, defined_somehow = {Beyond::Kind::defined, {}};

std::vector<Var> others(const Use& of, const Use& than) {
  std::vector<Var> out;
  for (Var v : of.labels)
    if (std::find(than.labels.begin(), than.labels.end(), v) == than.labels.end()) out.push_back(v);
  return out;
}

/// What a part of an expression is worth at elements that break a fact.
struct PartValue {
  std::optional<Number> value;  ///< where it is known
  bool is_true = true;          ///< computed from nothing that breaks the fact
};

PartValue part_of_apply(const Map& map, const Expr& e, const std::vector<PartValue>& args) {
  PartValue out{std::nullopt,
                std::all_of(args.begin(), args.end(), [](const PartValue& w) { return w.is_true; })};
  const Elem elem = map.exprs[e.args.back()].elem;
  if (std::all_of(args.begin(), args.end(), [](const PartValue& w) { return w.value.has_value(); })) {
    std::vector<Number> values;
    for (const PartValue& arg : args) values.push_back(*arg.value);
    out.value = apply(e.op, elem, values);
  }
  // What changes nothing may as well be left out.
  for (size_t i = 0; is_monoid(e.op) && i < args.size(); ++i)
    if (args[i].value == neutral(e.op, elem) && args[1 - i].is_true) return args[1 - i];
  return out;
}

/// Of the whole expression. `claims`: of the tiles that claim the fact.
PartValue part_value(const Map& map, const std::map<uint32_t, const Claim*>& claims) {
  std::vector<PartValue> all;
  for (uint32_t i = 0; i < map.exprs.size(); ++i) {
    const Expr& e = map.exprs[i];
    std::vector<PartValue> args;
    for (uint32_t arg : e.args) args.push_back(all[arg]);
    const auto claim = claims.find(i);
    all.emplace_back();
    if (e.kind == Expr::Kind::constant) all.back().value = e.number;
    if (e.kind == Expr::Kind::tile && claim != claims.end()) {
      all.back().is_true = false;
      const Beyond& beyond = claim->second->beyond;
      if (beyond.kind == Beyond::Kind::constant) all.back().value = beyond.number;
    }
    if (e.kind == Expr::Kind::cast) {
      all.back() = args[0];
      if (args[0].value) all.back().value = cast(*args[0].value, map.exprs[e.args[0]].elem, e.elem);
    }
    if (e.kind == Expr::Kind::apply) all.back() = part_of_apply(map, e, args);
  }
  return all.back();
}

/// Under which conditions a map's value depends on each of its operands: those of the choices on the way from
/// the value to the operand, as facts; one list for each way.
class Ways {
 public:
  explicit Ways(const Map& map) : map_(map) { follow(static_cast<uint32_t>(map.exprs.size() - 1), {}); }

  /// Does the fact hold wherever the value depends on the operand?
  bool imply(uint32_t operand, const Fact& fact, const Scope& scope) const {
    if (left_ == 0) return false;
    const auto [first, end] = ways_.equal_range(operand);
    return std::all_of(first, end, [&](const auto& way) {
      if (way.second.empty()) return false;
      Scope here = scope;
      here.add(way.second);
      return here.shows(fact);
    });
  }

 private:
  void follow(uint32_t at, const std::vector<Fact>& facts) {
    if (left_ == 0 || --left_ == 0) return;
    const Expr& e = map_.exprs[at];
    if (e.kind == Expr::Kind::tile) ways_.emplace(at, facts);
    for (size_t a = 0; a < e.args.size(); ++a) {
      std::vector<Fact> more = facts;
      if (e.kind == Expr::Kind::apply && e.op == Pointwise::select && a > 0) add(e.args[0], a == 1, more);
      follow(e.args[a], more);
    }
  }

  /// What the truth value of a comparison of indices says, also under `and`, `or` and `not`.
  void add(uint32_t condition, bool value, std::vector<Fact>& facts) const {
    const Expr& e = map_.exprs[condition];
    if (e.kind != Expr::Kind::apply) return;
    if (e.op == Pointwise::not_) return add(e.args[0], !value, facts);
    if (e.op == (value ? Pointwise::and_ : Pointwise::or_)) {
      for (uint32_t arg : e.args) add(arg, value, facts);
      return;
    }
    if (e.args.size() != 2) return;
    const auto lhs = index(e.args[0]), rhs = index(e.args[1]);
    if (!lhs || !rhs) return;
    if (e.op == Pointwise::lt) facts.push_back(value ? shape::less(*lhs, *rhs) : shape::at_most(*rhs, *lhs));
    if (e.op == Pointwise::le) facts.push_back(value ? shape::at_most(*lhs, *rhs) : shape::less(*rhs, *lhs));
    if (e.op == (value ? Pointwise::eq : Pointwise::ne)) facts.push_back(shape::equal(*lhs, *rhs));
  }
  /// An index is an integer without bounds here: only of i64 is it the same in the map.
  std::optional<Dim> index(uint32_t at) const {
    const Expr& e = map_.exprs[at];
    if (e.elem != Elem::i64) return std::nullopt;
    if (e.kind == Expr::Kind::index) return e.index;
    if (e.kind == Expr::Kind::constant) return Dim(e.number.integer);
    return std::nullopt;
  }

  const Map& map_;
  size_t left_ = 1000;  ///< steps: more ways are not followed
  std::multimap<uint32_t, std::vector<Fact>> ways_;
};

}  // namespace

void OpChecks::check(const Copy& op) {
  const Claims claims = claims_of(op.to, op.from, op.bounds, op.checked);
  if (p_.tiles[op.to.tile].space != Space::ring) return write(op.to, claims);
  add("a fill reads what the task does not write", !p_.tensors[op.from.tensor].writes, "compared");
  if (!setting_.alone) return;
  Slots& slots = state_.slots[op.to.tile];
  add("a slot is free", slots.held + slots.filled < p_.tiles[op.to.tile].depth);
  ++slots.filled;
}

void OpChecks::check(const View& op) {
  const Claims claims = claims_of(op.to, op.from, op.bounds, op.checked);
  write(op.to, claims);
  if (!op.from.tensor) state_.views[op.to.tile] = op.from.tile;
}

void OpChecks::check(const Store& op) {
  if (!op.to.tensor) return check_block(op);
  const Scope scope = with(op.bounds);
  bool valid = true;
  for (const Claim& claim : read(op.from)) valid &= scope.shows(claim.fact);
  add("only elements inside of bounds are stored", valid, "prover");
  Scope inner = scope;
  const std::vector<Dim> index = index_of(op.to, inner);
  stores(op, index, inner, around_);
}

void OpChecks::stores(const Store& op, const std::vector<Dim>& index, const Scope& scope,
                      const std::vector<Around>& around) {
  const Tensor& tensor = p_.tensors[op.to.tensor];
  Box whole;
  for (const Dim& extent : tensor.shape) whole.push_back({0, extent});
  add("its indices are inside of " + tensor.name, in_box(index, scope, whole), "prover");
  add("they are in the box that is declared of " + tensor.name,
      tensor.writes && in_box(index, scope, *tensor.writes), "prover");
  if (!tensor.reads) waited_for(op.to.tensor, index, scope);
  add(fmt::format("what is written of {} is its box, each element once", tensor.name),
      setting_.stores.at(op.to.tensor) == 1 && covers_once(p_, op, around, scope_), "mixed radix");
  bool late = true;
  for (uint32_t n : state_.notified) late &= p_.notifications[n].tensor != op.to.tensor;
  add("no notification has announced it before", late);
  state_.stored_since_barrier = true;
  state_.streamed_since_fence |= op.streaming;
}

void OpChecks::check(const Map& op) {
  const Scope scope = with(op.bounds.facts);
  const Beyond outside = op.bounds.fill ? Beyond{Beyond::Kind::constant, *op.bounds.fill} : undefined;
  std::map<uint32_t, Claims> operands;
  for (uint32_t i = 0; i < op.exprs.size(); ++i)
    if (op.exprs[i].kind == Expr::Kind::tile) operands[i] = read(op.exprs[i].use);
  bool in_place = true;
  for (const Expr& e : op.exprs)
    in_place &= e.kind != Expr::Kind::tile || e.use.tile != op.to.tile || e.use.labels == op.to.labels;
  add("it reads its result at the element that it writes", in_place, "compared");
  Claims out;
  for (const Fact& fact : op.bounds.facts) out.add(fact, outside);
  const Ways ways(op);
  for (const auto& [expr, claims] : operands)
    for (const Claim& claim : claims) {
      if (!op.bounds.facts.empty() && scope.shows(claim.fact)) continue;
      if (ways.imply(expr, claim.fact, scope)) continue;
      std::map<uint32_t, const Claim*> broken;
      Beyond beyond = defined_somehow;
      for (const auto& [other, of_other] : operands)
        if (const Claim* same = of_other.find(claim.fact)) {
          broken[other] = same;
          if (same->beyond.kind == Beyond::Kind::undefined) beyond = undefined;
        }
      const PartValue value = part_value(op, broken);
      if (beyond != undefined && value.is_true) continue;
      if (beyond != undefined && value.value) beyond = {Beyond::Kind::constant, *value.value};
      out.add(claim.fact, op.bounds.facts.empty() ? beyond : weaker(beyond, outside));
    }
  write(op.to, out);
}

void OpChecks::check(const Gemm& op) {
  const std::vector<Var> over = others(op.a, op.acc);
  Claims factors, out;
  for (const Use* use : {&op.a, &op.b})
    for (const Claim& claim : read(*use))
      // Where a factor is 0, accumulators stay as they are.
      if (claim.beyond.kind != Beyond::Kind::constant || !(claim.beyond.number == Number()))
        factors.add(claim.fact, claim.beyond);
  for (const Claim& claim : summed(factors, over, Number())) out.add(claim.fact, claim.beyond);
  const auto before = state_.written.find(op.acc.tile);
  add(p_.tiles[op.acc.tile].name + " is written before", before != state_.written.end());
  Claims acc = before == state_.written.end() ? Claims() : before->second;
  for (Carried& loop : carried_)
    if (loop.in_body.contains(op.acc.tile) && !loop.written.contains(op.acc.tile))
      loop.needed.insert(op.acc.tile);
  std::vector<Running> running;
  if (op.async) std::swap(running, state_.running);
  bool apart = true;
  for (const Running& gemm : running)
    for (const auto& [read, ago] : gemm.reads) apart &= read != op.acc.tile;
  if (op.async) add("no gemm that is running reads its accumulators", apart);
  if (!op.async) note_read(op.acc.tile);
  shape::Substitution labels;
  for (size_t a = 0; a < op.acc.labels.size(); ++a)
    labels[setting_.axes[op.acc.tile.index][a]] = op.acc.labels[a];
  for (const Claim& claim : acc)
    out.add({claim.fact.lhs.substitute(labels), claim.fact.relation, claim.fact.rhs.substitute(labels)},
            weaker(claim.beyond, defined_somehow));
  write(op.acc, out);
  if (!op.async) return;
  state_.running = std::move(running);
  state_.running.push_back({op.acc.tile, {{op.a.tile, 0}, {op.b.tile, 0}}});
}

void OpChecks::check(const Reduce& op) {
  write(op.to,
        summed(read(op.from), others(op.from, op.to), neutral(op.monoid, p_.tiles[op.from.tile].elem)));
}

void OpChecks::check(const Scan& op) {
  const Number nothing = neutral(op.monoid, op.in);
  Claims out;
  bool all = true;
  for (const Claim& claim : read(op.from)) {
    const bool along = mentions(claim.fact, {op.along});
    if (along && claim.beyond.kind == Beyond::Kind::constant && claim.beyond.number == nothing) continue;
    all &= !along || is_prefix(claim.fact, op.along);
    out.add(claim.fact, weaker(claim.beyond, defined_somehow));
  }
  add("an element is summed of elements inside of bounds", all, "prover");
  if (op.start)
    for (const Claim& claim : read(*op.start)) out.add(claim.fact, weaker(claim.beyond, defined_somehow));
  write(op.to, out);
}

void OpChecks::check(const Scatter& op) {
  const Scope scope = with(op.bounds);
  const Number nothing = neutral(op.monoid, p_.tiles[op.to.tile].elem);
  inside(op.to, scope, std::nullopt);
  bool all = true;
  for (const Claim& claim : read(op.from))
    all &= (claim.beyond.kind == Beyond::Kind::constant && claim.beyond.number == nothing) ||
           scope.shows(claim.fact);
  add("what lies outside of bounds is neutral in the sum", all, "prover");
  const Claims claims = read(op.to.tile);
  Claims out;
  for (const Claim& claim : claims) out.add(claim.fact, weaker(claim.beyond, defined_somehow));
  state_.fresh_reads.erase(op.to.tile);
  note_write(op.to.tile);
  state_.written[op.to.tile] = out;
}

void OpChecks::check(const Check& op) {
  const Scope scope = with(op.bounds);
  defined(op.of, scope, "what is checked is defined");
  for (const Index* shown : {&op.found, &op.wanted})
    if (shown->table) defined(*shown->table, scope, "what it shows is defined");
}

// ---- loops ----

void OpChecks::check_counts(const Loop& op) {
  for (const auto& number : {op.first, op.count})
    if (number) defined(*number, scope_, "its count is defined");
}

void OpChecks::check_keys(const Loop& op) {
  const Tile& keys = p_.tiles[op.order->keys];
  const Dim elements(keys.shape.empty() ? 1 : keys.shape[0]);
  const Use use{op.order->keys, keys.shape.empty() ? std::vector<Var>() : std::vector{shape::fresh_var("e")}};
  Scope scope = scope_;
  Dim position = elements * Dim(op.index);
  for (const Var label : use.labels) {
    scope.add_range(label, elements);
    position = position + Dim(label);
  }
  scope.add(shape::less(position, op.order->count));
  defined(use, scope, "the keys are defined");
}

/// Are all of its operations such, so that running them again makes no difference?
static bool makes_tiles_alone(const Program& p, const Loop& loop) {
  return loop.carries.empty() && std::all_of(loop.body.begin(), loop.body.end(), [&](OpId id) {
           const Op& op = p.ops[id];
           const auto defined = defined_tiles(op);
           return (std::holds_alternative<Copy>(op) || std::holds_alternative<View>(op) ||
                   std::holds_alternative<Map>(op) || std::holds_alternative<Reduce>(op) ||
                   std::holds_alternative<Check>(op)) &&
                  std::all_of(defined.begin(), defined.end(), [&](TileId tile) {
                    return p.tiles[tile].space == Space::registers || p.tiles[tile].space == Space::view;
                  });
         });
}

/// It stores a row as a loop over positions does.
void OpChecks::check(const Loop& op) {
  if (!op.order) return;
  const Order& order = *op.order;
  const Tile& keys = p_.tiles[order.keys];
  add("its iterations make tiles in registers, and know nothing of each other", makes_tiles_alone(p_, op),
      "compared");
  add("all elements have keys",
      scope_.shows(shape::at_most(order.count, Dim(keys.shape.empty() ? 1 : keys.shape[0]) * op.extent)),
      "prover");
  add("one thread orders, and nothing reads the row",
      setting_.alone && !setting_.several && !p_.tensors[order.to].reads, "compared");
  const Var position = shape::fresh_var("i");
  Store row{{order.keys, {}}, {order.to, {}, {}}, {}, false};
  std::vector<Dim> index = order.row;
  index.emplace_back(position);
  for (const Dim& d : index) row.to.at.push_back({std::nullopt, d});
  std::vector<Around> around = around_;
  around.push_back({position, order.kept});
  Scope scope = scope_;
  scope.add_range(position, order.kept);
  stores(row, index, scope, around);
}

// ---- order ----

void OpChecks::check(const Wait& op) { state_.waited.insert(op.number); }

void OpChecks::check(const Notify& op) {
  const Announcement& what = p_.notifications[op.number];
  const Tensor& tensor = p_.tensors[what.tensor];
  add(fmt::format("{} is stored before", tensor.name), state_.stored.contains(what.tensor));
  Scope scope = scope_;
  std::vector<Dim> element;
  for (const Interval& i : what.box) {
    element.emplace_back(shape::fresh_var("element"));
    scope.add(shape::at_least(element.back(), i.low));
    scope.add(shape::less(element.back(), i.high));
  }
  add("it announces what is written", tensor.writes && in_box(element, scope, *tensor.writes), "prover");
  add("it is sent once", !state_.notified.contains(op.number));
  add("streaming stores have a fence before it", !state_.streamed_since_fence);
  if (setting_.several) add("stores have a barrier before it", !state_.stored_since_barrier);
  state_.notified.insert(op.number);
  state_.sent.insert(op.number);
}

void OpChecks::check(const Barrier&) {
  state_.fresh_reads.clear();
  state_.fresh_writes.clear();
  state_.stored_since_barrier = false;
}
void OpChecks::check(const Fence&) { state_.streamed_since_fence = false; }

void OpChecks::check(const Acquire& op) {
  Slots& slots = state_.slots[op.ring];
  const std::string& name = p_.tiles[op.ring].name;
  if (setting_.alone)
    add("a slot is filled before", slots.filled-- > 0);
  else
    add(fmt::format("{} has a slot more than are held", name), slots.held + 1 <= p_.tiles[op.ring].depth);
  ++slots.held;
  for (Running& gemm : state_.running)
    for (auto& [read, ago] : gemm.reads)
      if (read == op.ring) ++ago;
  state_.forget(op.ring);
  const auto filling = setting_.fillings.find(op_);
  add("a fill corresponds to it", filling != setting_.fillings.end());
  if (filling == setting_.fillings.end()) return;
  state_.written[op.ring] =
      claims_of_fill(setting_, std::get<Copy>(p_.ops[filling->second.fill]), filling->second.loops);
}

void OpChecks::check(const Release& op) {
  Slots& slots = state_.slots[op.ring];
  add("a slot is acquired before", slots.held > 0);
  bool read = false;
  for (const Running& gemm : state_.running)
    for (const auto& [tile, ago] : gemm.reads) read |= tile == op.ring && ago == slots.held - 1;
  add("no gemm that is running reads the slot", !read);
  if (--slots.held <= 0) state_.forget(op.ring);
}

void OpChecks::check(const Settle& op) {
  while (state_.running.size() > op.left) state_.running.erase(state_.running.begin());
}

}  // namespace axon::tile
