// Of a tensor that a task reads and stores, each element is read before it is stored, or never.
//
// In: a program of one thread. Out: an obligation for each read and each store of such a tensor. A store
// comes before a read where it is in an earlier iteration of a loop around both, or in the same iterations
// and further up. In each of these cases the elements differ on some axis. An index tile may name any
// element.
#include <fmt/format.h>

#include <algorithm>

#include "tile/names.h"
#include "tile/verify.h"

namespace axon::tile {

namespace {

/// An operation, with the loops around it, outermost first, and where it and these stand in their bodies.
struct Place {
  OpId op;
  std::vector<OpId> loops;
  std::vector<size_t> at;
};

class Updates {
 public:
  Updates(const Program& p, Report& report) : p_(p), report_(report) { gather(p.body, {}); }

  void run() {
    for (const Place& read : places_) {
      const Access* from = access_of(p_.ops[read.op]);
      if (!from || is_store(read) || !from->tensor || !p_.tensors[from->tensor].writes) continue;
      bool apart = true;
      for (const Place& store : places_)
        if (is_store(store) && access_of(p_.ops[store.op])->tensor == from->tensor)
          apart = apart && are_apart(read, store);
      report_.add(fmt::format("`{}`: what it reads of {} is not stored before", print(p_, read.op),
                              p_.tensors[from->tensor].name),
                  apart, "prover");
    }
  }

 private:
  void gather(const std::vector<OpId>& body, const Place& around) {
    for (size_t i = 0; i < body.size(); ++i) {
      Place place = around;
      place.op = body[i];
      place.at.push_back(i);
      places_.push_back(place);
      if (!std::holds_alternative<Loop>(p_.ops[body[i]])) continue;
      place.loops.push_back(body[i]);
      gather(std::get<Loop>(p_.ops[body[i]]).body, place);
    }
  }
  bool is_store(const Place& place) const { return std::holds_alternative<Store>(p_.ops[place.op]); }
  const Loop& loop(OpId id) const { return std::get<Loop>(p_.ops[id]); }

  bool are_apart(const Place& read, const Place& store) const {
    size_t common = 0;
    while (common < std::min(read.loops.size(), store.loops.size()) &&
           read.loops[common] == store.loops[common])
      ++common;
    for (size_t earlier = 0; earlier < common; ++earlier)
      if (!differ(read, store, earlier, true)) return false;
    return read.at[common] < store.at[common] || differ(read, store, common, false);
  }

  /// The first `same` loops are in one iteration, and the next one, if `earlier`, is in an earlier one at the
  /// store than at the read.
  bool differ(const Place& read, const Place& store, size_t same, bool earlier) const {
    Scope scope = Scope::of_tasks(p_);
    add(read, {}, scope);
    shape::Substitution other;
    for (size_t l = same; l < store.loops.size(); ++l) {
      const Var index = loop(store.loops[l]).index;
      other[index] = Dim(shape::fresh_var(shape::var_name(index)));
    }
    for (const Use* use : uses(p_.ops[store.op]))
      for (const Var label : use->labels)
        other.try_emplace(label, Dim(shape::fresh_var(shape::var_name(label))));
    add(store, other, scope);
    if (earlier) {
      const Dim index(loop(read.loops[same]).index);
      scope.add(shape::less(index.substitute(other), index));
    }
    const Access &from = *access_of(p_.ops[read.op]), &to = *access_of(p_.ops[store.op]);
    for (size_t a = 0; a < from.at.size(); ++a) {
      if (from.at[a].table || to.at[a].table) continue;
      const Dim x = from.at[a].dim, y = to.at[a].dim.substitute(other);
      if (scope.shows(shape::less(y, x)) || scope.shows(shape::less(x, y)) ||
          scope.shows({x, shape::Relation::ne, y}))
        return true;
      scope.add(shape::equal(x, y));
    }
    return false;
  }

  /// Where the operation's loops, labels and bounds are.
  void add(const Place& place, const shape::Substitution& names, Scope& scope) const {
    const auto range = [&](Var v, const Dim& extent) {
      const Dim named = Dim(v).substitute(names);
      scope.add(shape::at_least(named, 0));
      scope.add(shape::less(named, extent.substitute(names)));
    };
    for (const OpId id : place.loops) range(loop(id).index, loop(id).extent);
    for (const Use* use : uses(p_.ops[place.op]))
      for (size_t a = 0; a < use->labels.size(); ++a) range(use->labels[a], p_.tiles[use->tile].shape[a]);
    const auto* copy = std::get_if<Copy>(&p_.ops[place.op]);
    const auto* store = std::get_if<Store>(&p_.ops[place.op]);
    const std::vector<Fact> none;
    for (const Fact& f : copy ? copy->bounds.facts : store ? store->bounds : none)
      scope.add({f.lhs.substitute(names), f.relation, f.rhs.substitute(names)});
  }

  const Program& p_;
  Report& report_;
  std::vector<Place> places_;
};

}  // namespace

/// Of several threads, barriers order stores and reads, and roles and layers share tensors.
void verify_updates(const Program& p, Report& report) {
  if (p.machine.threads() == 1) Updates(p, report).run();
}

}  // namespace axon::tile
