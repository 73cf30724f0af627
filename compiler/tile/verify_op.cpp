// See verify_op.h. What tiles and accesses need; the operations are in verify_ops.cpp.
#include "tile/verify_op.h"

#include <fmt/format.h>

#include <algorithm>

#include "tile/names.h"
#include "tile/pointwise.h"

namespace axon::tile {

OpChecks::OpChecks(const Setting& setting, OpId op, State& state, const Scope& scope,
                   const std::vector<Around>& around, std::vector<Carried>& carried, Report* report)
    : setting_(setting),
      p_(setting.program),
      op_(op),
      state_(state),
      scope_(scope),
      around_(around),
      carried_(carried),
      report_(report) {}

void OpChecks::run() {
  std::visit([this](const auto& op) { check(op); }, p_.ops[op_]);
}

void OpChecks::add(const std::string& what, bool proved, const char* by) {
  if (report_) report_->add(fmt::format("`{}`: {}", print(p_, op_), what), proved, by);
}

Scope OpChecks::with(const std::vector<Fact>& bounds) const {
  Scope out = scope_;
  std::set<Var> seen;
  for (const Use* use : uses(p_.ops[op_]))
    for (size_t a = 0; a < use->labels.size(); ++a)
      if (seen.insert(use->labels[a]).second) out.add_range(use->labels[a], p_.tiles[use->tile].shape[a]);
  out.add(bounds);
  return out;
}

// ---- tiles ----

void OpChecks::note_read(TileId tile) {
  for (Carried& loop : carried_)
    if (loop.in_body.contains(tile) && !loop.written.contains(tile)) loop.needed.insert(tile);
  bool running = false;
  for (const Running& gemm : state_.running) running |= gemm.acc == tile;
  if (running) add(p_.tiles[tile].name + " is read when its gemms are done", false);
  const Space space = p_.tiles[tile].space;
  if (space == Space::ring)
    add(p_.tiles[tile].name + " has a slot that is acquired", state_.slots[tile].held > 0);
  if (space == Space::view)
    if (const auto of = state_.views.find(tile); of != state_.views.end()) return note_read(of->second);
  if (space != Space::scratch || !setting_.several) return;
  bool ordered = true;
  for (TileId other : state_.fresh_writes) ordered &= !share_memory(p_, setting_.places, tile, other);
  add("a barrier is between what wrote " + p_.tiles[tile].name + " and this", ordered);
  state_.fresh_reads.insert(tile);
}

void OpChecks::note_write(TileId tile) {
  for (Carried& loop : carried_) loop.written.insert(tile);
  bool running = false;
  for (const Running& gemm : state_.running) {
    running |= gemm.acc == tile;
    for (const auto& [read, ago] : gemm.reads) running |= read == tile;
  }
  if (running) add("no gemm that is running uses " + p_.tiles[tile].name, false);
  if (p_.tiles[tile].space != Space::scratch) return state_.forget(tile);
  bool apart = true;
  for (TileId other : tiles(p_.ops[op_]))
    apart &= other == tile || !share_memory(p_, setting_.places, tile, other);
  add(p_.tiles[tile].name + " shares no memory with other tiles of the operation", apart, "counted");
  bool ordered = true;
  for (const auto* fresh : {&state_.fresh_writes, &state_.fresh_reads})
    for (TileId other : *fresh) ordered &= !share_memory(p_, setting_.places, tile, other);
  if (setting_.several) {
    add("a barrier is between what used the memory of " + p_.tiles[tile].name + " and this", ordered);
    state_.fresh_writes.insert(tile);
  }
  for (uint32_t other = 0; other < p_.tiles.size(); ++other)
    if (share_memory(p_, setting_.places, tile, {other})) state_.forget({other});
}

Claims OpChecks::read(TileId tile) {
  note_read(tile);
  const auto found = state_.written.find(tile);
  add(p_.tiles[tile].name + " is written before", found != state_.written.end());
  return found == state_.written.end() ? Claims() : found->second;
}

namespace {

Claims renamed(const Claims& claims, const shape::Substitution& names) {
  Claims out;
  for (const Claim& claim : claims)
    out.add({claim.fact.lhs.substitute(names), claim.fact.relation, claim.fact.rhs.substitute(names)},
            claim.beyond);
  return out;
}
shape::Substitution pairs(const std::vector<Var>& from, const std::vector<Var>& to) {
  shape::Substitution out;
  for (size_t i = 0; i < from.size(); ++i) out[from[i]] = to[i];
  return out;
}
const Fact never = shape::equal(0, 1);

}  // namespace

Claims OpChecks::read(const Use& use) {
  return renamed(read(use.tile), pairs(setting_.axes[use.tile.index], use.labels));
}

void OpChecks::write(const Use& use, const Claims& over_labels) {
  note_write(use.tile);
  state_.written[use.tile] = renamed(over_labels, pairs(use.labels, setting_.axes[use.tile.index]));
}

bool OpChecks::mentions(const Fact& fact, const std::vector<Var>& vars) const {
  return std::any_of(vars.begin(), vars.end(),
                     [&](Var v) { return fact.lhs.contains(v) || fact.rhs.contains(v); });
}

// ---- accesses ----

std::vector<Dim> OpChecks::index_of(const Access& access, Scope& scope) {
  std::vector<Dim> out;
  for (size_t a = 0; a < access.at.size(); ++a) {
    if (!access.at[a].table) {
      out.push_back(access.at[a].dim);
      continue;
    }
    const Var any = shape::fresh_var("any");
    scope.add_range(any,
                    access.tensor ? p_.tensors[access.tensor].shape[a] : Dim(p_.tiles[access.tile].shape[a]));
    out.emplace_back(any);
  }
  return out;
}

bool OpChecks::in_box(const std::vector<Dim>& index, const Scope& scope, const Box& box) const {
  for (size_t a = 0; a < index.size(); ++a)
    if (!scope.shows(shape::at_most(box[a].low, index[a])) ||
        !scope.shows(shape::less(index[a], box[a].high)))
      return false;
  return true;
}

void OpChecks::inside(const Access& access, const Scope& scope, const std::optional<Box>& box) {
  Scope inner = scope;
  const std::vector<Dim> index = index_of(access, inner);
  Box whole;
  for (size_t a = 0; a < index.size(); ++a)
    whole.push_back(
        {0, access.tensor ? p_.tensors[access.tensor].shape[a] : Dim(p_.tiles[access.tile].shape[a])});
  const std::string& name = access.tensor ? p_.tensors[access.tensor].name : p_.tiles[access.tile].name;
  add("its indices are inside of " + name, in_box(index, inner, whole), "prover");
  for (const Index& i : access.at)
    if (i.table) defined(*i.table, scope);
  if (!access.tensor) return;
  add("they are in the box that is declared of " + name, box && in_box(index, inner, *box), "prover");
  waited_for(access.tensor, index, inner);
  if (setting_.several && p_.tensors[access.tensor].writes)
    add("a barrier is between stores and this read of " + name, !state_.stored_since_barrier);
}

/// Of each element that the scope speaks of.
void OpChecks::defined(const Use& use, const Scope& scope, const char* what) {
  bool all = true;
  for (const Claim& claim : read(use))
    all &= claim.beyond.kind != Beyond::Kind::undefined || scope.shows(claim.fact);
  add(what, all, "prover");
}

void OpChecks::waited_for(TensorId tensor, const std::vector<Dim>& index, const Scope& scope) {
  bool any = false, found = false;
  for (uint32_t w = 0; w < p_.waits.size(); ++w) {
    if (p_.waits[w].tensor != tensor) continue;
    any = true;
    found = found || (state_.waited.contains(w) && in_box(index, scope, p_.waits[w].box));
  }
  if (any) add("a wait that guards it is before", found, "prover");
}

/// What copies and views know of their elements, over labels.
Claims OpChecks::claims_of(const Use& to, const Access& access, const Bounds& bounds, bool checked) {
  const Scope scope = with(bounds.facts);
  inside(access, scope, access.tensor ? p_.tensors[access.tensor].reads : std::nullopt);
  const Beyond beyond =
      bounds.fill ? Beyond{Beyond::Kind::constant, *bounds.fill} : Beyond{Beyond::Kind::undefined, {}};
  Claims out;
  for (const Fact& fact : bounds.facts) out.add(fact, beyond);
  const bool has_table =
      std::any_of(access.at.begin(), access.at.end(), [](const Index& i) { return i.table.has_value(); });
  if (has_table && !bounds.fill && !checked) out.add(never, beyond);
  if (access.tensor) return out;
  shape::Substitution at;
  for (size_t a = 0; a < access.at.size(); ++a) at[setting_.axes[access.tile.index][a]] = access.at[a].dim;
  for (const Claim& claim : read(access.tile)) {
    Beyond source = claim.beyond;
    if (source.kind == Beyond::Kind::constant)
      source.number = cast(source.number, p_.tiles[access.tile].elem, p_.tiles[to.tile].elem);
    if (!bounds.facts.empty()) source = weaker(source, beyond);
    const Fact fact = {claim.fact.lhs.substitute(at), claim.fact.relation, claim.fact.rhs.substitute(at)};
    if (has_table)
      out.add(never, weaker(source, {Beyond::Kind::defined, {}}));
    else if ((bounds.facts.empty() && mentions(fact, to.labels)) || !scope.shows(fact))
      out.add(fact, source);
  }
  return out;
}

Claims claims_of_fill(const Setting& setting, const Copy& op, const shape::Substitution& loops) {
  const Beyond beyond =
      op.bounds.fill ? Beyond{Beyond::Kind::constant, *op.bounds.fill} : Beyond{Beyond::Kind::undefined, {}};
  Claims out;
  for (const Fact& fact : op.bounds.facts) out.add(fact, beyond);
  for (const Index& index : op.from.at)
    if (index.table && !op.bounds.fill && !op.checked) out.add(never, beyond);
  shape::Substitution names = pairs(op.to.labels, setting.axes[op.to.tile.index]);
  names.insert(loops.begin(), loops.end());
  return renamed(out, names);
}

// ---- sums ----

Claims OpChecks::summed(const Claims& claims, const std::vector<Var>& over, const Number& neutral) {
  Claims out;
  bool all = true;
  const Scope scope = with_labels();
  for (const Claim& claim : claims) {
    if (!mentions(claim.fact, over)) {
      out.add(claim.fact, weaker(claim.beyond, {Beyond::Kind::defined, {}}));
      continue;
    }
    const bool is_neutral = claim.beyond.kind == Beyond::Kind::constant && claim.beyond.number == neutral;
    all &= is_neutral || scope.shows(claim.fact);
  }
  add("what lies outside of bounds is neutral in the sum", all, "prover");
  return out;
}

/// Does it hold for every index before one for which it holds?
bool OpChecks::is_prefix(const Fact& fact, Var along) const {
  const Var before = shape::fresh_var("before");
  Scope scope = with({fact});
  scope.add(shape::at_least(before, 0));
  scope.add(shape::at_most(before, along));
  const shape::Substitution at = {{along, before}};
  return scope.shows({fact.lhs.substitute(at), fact.relation, fact.rhs.substitute(at)});
}

}  // namespace axon::tile
