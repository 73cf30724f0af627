// The elements of a tile that an operation goes through, a vector at a time.
//
// In: an operation and the tile that it writes, or stores. Out: body() for vectors that together have each
// element. Registers are gone through one by one; scratch memory by vectors of the machine along the last
// axis, in loops where there are many. Invariant: labels that registers are named by are numbers.
#pragma once
#include <set>

#include "module/tiles/accesses.h"

namespace axon::module::tiles {

using Views = std::map<TileId, const tile::View*>;

std::map<Var, int64_t> extents_of_labels(const tile::Program&, const tile::Op&);
/// Of the operation and of the views that it reads, over its labels.
std::vector<Fact> bounds_of(const tile::Program&, const Views&, const tile::Op&);
/// Of the view that it reads, if any.
std::vector<Fact> bounds_of(const tile::Program&, const Views&, const tile::Use&);
/// Labels that say which register is read.
std::set<Var> labels_of_registers(const tile::Program&, const Views&, const tile::Op&);
/// The use whose elements the operation goes through; null of one that does so by itself.
const tile::Use* swept(const tile::Op&);

/// How the elements of a tile outside of registers are gone through.
struct Steps {
  Var vector;  ///< the label that runs in the lanes
  int64_t lanes = 1;
  std::vector<Var> in_loops;  ///< labels; of others each value has code of its own
};
Steps steps_of(const tile::Program&, const target::Machine&, const Views&, const tile::Op&);

class Sweep {
 public:
  /// `number` is that of the register.
  using Body = std::function<void(const Lanes&, int64_t number)>;
  Sweep(Context&, Registers&, const tile::Op&, const tile::Use& over);
  /// `once`: an element that several lanes have counts in one of them.
  void each(bool once, const Body&);

 private:
  void each_register(bool once, const Body&);
  void next(size_t axis, Substitution now, const Body&);
  void along_vector(const Substitution& now, const Body&);
  void vector(const Substitution& now, const Dim& first, int64_t lanes, const Body&);
  std::vector<Dim> conditions(Var loop, const Substitution& now, int64_t lanes) const;
  void find_ends(const tile::Op&);
  void through(const Axis&, Var label, std::vector<Dim> conditions, const std::function<void()>& body);

  Context& c_;
  Registers& registers_;
  const tile::Use& over_;
  Steps steps_;
  std::vector<Fact> bounds_;
  std::map<Var, int64_t> extents_;
  /// Where loops over labels may end: what lies behind is undefined.
  std::map<Var, Dim> ends_;
};

/// The conditions under which all facts hold, of those that mention the loop and whose other labels are
/// `free`; what a fact says of a label that `now` does not name holds for all of its values.
std::vector<Dim> conditions_in(Var loop, const std::vector<Fact>&, const Substitution& now,
                               const std::map<Var, int64_t>& free);

}  // namespace axon::module::tiles
