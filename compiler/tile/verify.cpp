// In: a tile program. Out: its proof obligations, for all sizes, each proved or not.
//
// What is shown, and how:
//   places    layouts put no two elements at one point, in threads and vectors that there are;   counted
//             the place of a tensor is over its shape, and injective where it is written         prover
//   budgets   scratch and registers; rings and scratch of roles are disjoint                     counted
//   holders   each thread and lane has the operands of what it computes                          counted
//   rings     fills and drains are the same sequence, loop by loop; slots suffice; one role      compared
//             fills, others drain, so that no cycle of them can wait
//   inside    every index is inside of its tensor or tile, and in the box that is declared       prover
//   written   every element is defined before it is used; what lies outside of bounds is         flow, prover
//             neutral in sums; only elements inside of bounds are stored
//   waits     what a wait guards is read behind it; a notification is behind the store           flow
//   once      the stores of a tensor are its box, each element once                              mixed radix
//   updates   of a tensor that one thread reads and stores, an element is read before it is      prover
//             stored or never
//   barriers  threads' conflicting accesses to scratch have one in between                       flow
//   slots     none is released while a gemm reads it, none read that is not acquired             flow
// Bounds are in logical coordinates: layouts play no part in what the prover sees.
#include "tile/verify.h"

#include <fmt/format.h>

#include <algorithm>

namespace axon::tile {

namespace {

/// Of a sum with c * min(x, y), as an upper bound, or with c * max(x, y), as a lower one: the sums with c * x
/// and with c * y, which bound as much together.
std::optional<std::pair<Dim, Dim>> both_bounds(const Dim& sum, bool is_upper) {
  const std::vector<shape::Term>& terms = sum.terms();
  const auto found = std::find_if(terms.begin(), terms.end(), [&](const shape::Term& term) {
    const auto kind = (term.coefficient > 0) == is_upper ? shape::AtomKind::min : shape::AtomKind::max;
    return term.factors.size() == 1 && term.factors.front().kind() == kind;
  });
  if (found == terms.end()) return std::nullopt;
  const Dim scale(found->coefficient);
  Dim lhs = scale * found->factors.front().lhs(), rhs = scale * found->factors.front().rhs();
  for (auto term = terms.begin(); term != terms.end(); ++term) {
    if (term == found) continue;
    lhs = lhs + shape::dim_of(*term);
    rhs = rhs + shape::dim_of(*term);
  }
  return std::pair(lhs, rhs);
}

/// Inequalities that together say the same, without minima and maxima that say two of them at once: these
/// would be cases to the prover.
void split(const Fact& fact, std::vector<Fact>& out) {
  const bool is_inequality = fact.relation == shape::Relation::le || fact.relation == shape::Relation::lt;
  if (const auto rhs = is_inequality ? both_bounds(fact.rhs, true) : std::nullopt) {
    split({fact.lhs, fact.relation, rhs->first}, out);
    split({fact.lhs, fact.relation, rhs->second}, out);
  } else if (const auto lhs = is_inequality ? both_bounds(fact.lhs, false) : std::nullopt) {
    split({lhs->first, fact.relation, fact.rhs}, out);
    split({lhs->second, fact.relation, fact.rhs}, out);
  } else {
    out.push_back(fact);
  }
}

}  // namespace

namespace {

Vars vars_of(const Fact& fact) {
  Vars out;
  fact.lhs.collect_vars(out);
  fact.rhs.collect_vars(out);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

Scope::Scope(const Program& p) : sizes_(&p.sizes) {
  add(p.facts);
  add(p.guard);
  of_sizes_ = facts_.size();
}
void Scope::add(const Fact& fact) {
  split(fact, facts_);
  for (size_t i = vars_.size(); i < facts_.size(); ++i)
    vars_.push_back(std::make_shared<const Vars>(vars_of(facts_[i])));
}
Scope Scope::of_tasks(const Program& p) {
  Scope out(p);
  for (const Coordinate& c : p.grid) out.add_range(c.var, c.extent);
  return out;
}
void Scope::add_range(Var v, const Dim& extent) {
  add(shape::at_least(v, 0));
  add(shape::less(v, extent));
}

/// The facts that speak of these variables alone.
std::vector<Fact> Scope::within(Vars vars) const {
  std::sort(vars.begin(), vars.end());
  std::vector<Fact> out;
  for (size_t i = 0; i < facts_.size(); ++i)
    if (std::includes(vars.begin(), vars.end(), vars_[i]->begin(), vars_[i]->end())) out.push_back(facts_[i]);
  return out;
}

/// Most goals follow from the facts of their own variables, or of these and of what bounds them here: first
/// of what bounds labels, loops and coordinates, as any fact may mention a size; then of what bounds sizes,
/// too. Programs may come with many facts of sizes.
bool Scope::shows_nearby(const Fact& goal) const {
  const Vars own = vars_of(goal);
  Vars moving = own;
  std::erase_if(moving, [&](Var v) { return is_size(v); });
  size_t tried = 0;
  for (const Vars& bounded : {Vars(), moving, own}) {
    Vars vars = own;
    for (size_t i = of_sizes_; i < facts_.size(); ++i) {
      const auto is_bounded = [&](Var v) { return std::binary_search(bounded.begin(), bounded.end(), v); };
      if (std::any_of(vars_[i]->begin(), vars_[i]->end(), is_bounded))
        vars.insert(vars.end(), vars_[i]->begin(), vars_[i]->end());
    }
    const std::vector<Fact> near = within(std::move(vars));
    if (near.size() == facts_.size()) return false;
    if (!bounded.empty() && near.size() == tried) continue;
    tried = near.size();
    if (shape::prove(near, goal, {.z3_rlimit = 0}).verdict == shape::Verdict::proved) return true;
  }
  return false;
}

bool Scope::is_size(Var v) const { return std::find(sizes_->begin(), sizes_->end(), v) != sizes_->end(); }

bool Scope::shows(const Fact& goal) const {
  std::vector<Fact> goals;
  split(goal, goals);
  return std::all_of(goals.begin(), goals.end(), [&](const Fact& one) { return shows_one(one); });
}

bool Scope::shows_one(const Fact& goal) const {
  if (const auto difference = (goal.rhs - goal.lhs).constant())
    return shape::holds(goal.relation, 0, *difference);
  for (const Fact& f : facts_)
    if (f.relation == goal.relation && f.lhs == goal.lhs && f.rhs == goal.rhs) return true;
  return shows_nearby(goal) || shape::prove(facts_, goal).verdict == shape::Verdict::proved;
}

bool share_memory(const Program& p, const AllPlaces& places, TileId a, TileId b) {
  const Tile &x = p.tiles[a], &y = p.tiles[b];
  if (x.space != Space::scratch || y.space != Space::scratch) return a == b;
  const auto end = [&](const Tile& t) {
    return t.offset + places[t.layout.index]->span() * base::elem_bytes(t.elem);
  };
  return x.offset < end(y) && y.offset < end(x);
}

std::vector<RoleView> roles_of(const Program& p) {
  std::vector<RoleView> out;
  for (OpId id : p.body)
    if (const auto* role = std::get_if<Role>(&p.ops[id]))
      out.push_back({role->name, &role->body, role->end_warp - role->first_warp, role->registers});
  if (out.empty()) out.push_back({"", &p.body, p.machine.warps, p.machine.registers});
  return out;
}

std::vector<Obligation> verify(const Program& p) {
  const shape::ProverSession session(50'000'000);
  AllPlaces places;
  for (const NamedLayout& l : p.layouts) places.push_back(std::make_unique<Places>(l.layout));
  Report report;
  Scope before(p);  // a coordinate may depend on those before it
  for (const Coordinate& c : p.grid) {
    report.add(fmt::format("grid {}: there is a task", shape::var_name(c.var)),
               before.shows(shape::at_least(c.extent, 1)), "prover");
    before.add_range(c.var, c.extent);
  }
  verify_places(p, places, report);
  verify_holders(p, places, report);
  const Fillings fillings = verify_rings(p, report);
  verify_flow(p, places, fillings, report);
  verify_updates(p, report);
  return report.take();
}

}  // namespace axon::tile
