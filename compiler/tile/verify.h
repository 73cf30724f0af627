// The parts of verify(): each adds the obligations of one subject, in words, with their fate.
//
// In: a program. Out: obligations. Invariant: nothing here is used by what makes tile programs, and what is
// not shown is not proved: no part takes for granted what another one refuses.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tile/places.h"
#include "tile/tile.h"

namespace axon::tile {

class Report {
 public:
  void add(std::string what, bool proved, std::string by) {
    list_.push_back({std::move(what), proved, std::move(by)});
  }
  std::vector<Obligation> take() { return std::move(list_); }

 private:
  std::vector<Obligation> list_;
};

using Vars = std::vector<Var>;

/// What holds where an operation stands.
class Scope {
 public:
  explicit Scope(const Program&);  ///< facts of the sizes
  static Scope of_tasks(const Program&);
  void add(const Fact&);
  void add(const std::vector<Fact>& facts) {
    for (const Fact& fact : facts) add(fact);
  }
  void add_range(Var, const Dim& extent);  ///< 0 <= v < extent
  bool shows(const Fact&) const;

 private:
  bool shows_one(const Fact&) const;
  bool shows_nearby(const Fact&) const;
  bool is_size(Var) const;
  std::vector<Fact> within(Vars) const;

  const std::vector<Var>* sizes_;  ///< of the program
  std::vector<Fact> facts_;
  std::vector<std::shared_ptr<const Vars>> vars_;  ///< of each fact, sorted
  size_t of_sizes_ = 0;                            ///< so many facts are of the sizes
};

/// A loop around an operation.
struct Around {
  Var index;
  Dim extent;
  bool is_counted = false;  ///< by the data: it may have fewer iterations
};

/// The operations of a role; a program without roles has one.
struct RoleView {
  std::string name;
  const std::vector<OpId>* body = nullptr;
  int64_t warps = 1, registers = 0;
};
std::vector<RoleView> roles_of(const Program&);
template <class Step>  // step(op id) for all operations in a body, those of loops behind the loop
void each_op(const Program& p, const std::vector<OpId>& body, const Step& step);

using AllPlaces = std::vector<std::unique_ptr<Places>>;  ///< of layouts

/// Do elements of two tiles share bytes of scratch? A tile does with itself.
bool share_memory(const Program&, const AllPlaces&, TileId, TileId);

void verify_places(const Program&, const AllPlaces&, Report&);   ///< layouts, places of tensors, budgets
void verify_holders(const Program&, const AllPlaces&, Report&);  ///< operands are where they are used
/// What fills the slot that an acquire gets.
struct Filling {
  OpId fill;
  shape::Substitution loops;  ///< of the fill, in terms of those around the acquire
};
using Fillings = std::map<OpId, Filling>;
Fillings verify_rings(const Program&, Report&);  ///< fills and drains correspond, nothing deadlocks
void verify_flow(const Program&, const AllPlaces&, const Fillings&, Report&);  ///< what is read was written
void verify_updates(const Program&, Report&);  ///< what is read of a tensor was not stored before
/// Is what the store writes the box of its tensor, each element once?
bool covers_once(const Program&, const Store&, const std::vector<Around>&, const Scope&);

template <class Step>
void each_op(const Program& p, const std::vector<OpId>& body, const Step& step) {
  for (OpId id : body) {
    step(id);
    if (const auto* loop = std::get_if<Loop>(&p.ops[id])) each_op(p, loop->body, step);
  }
}

}  // namespace axon::tile
