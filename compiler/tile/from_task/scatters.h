// Tile programs of reductions that scatter. Only from_task.cpp includes this.
//
// In: a form, and how many vectors there are at once of what has no place in a sum. Out: a program of one
// thread: sums of the task's part in scratch, which are cleared; the binders, point by point, each of which
// is combined into the element that its numbers say, where the task has that; then the outputs. Invariant: an
// element combines its terms in the order of the binders; what no index depends on of these is summed in
// vectors before. Sums are over the axes of the domain that are indexed, and of which a task has several
// indices and terms differ along them; the last is the one that vectors run along.
#pragma once
#include "tile/from_task/maker.h"
#include "tile/from_task/scatter_form.h"

namespace axon::tile {

class ScatterMaker : ProgramMaker {
 public:
  ScatterMaker(const Origin& of, const ScatterForm& form, const Machine& machine, int64_t vectors)
      : ProgramMaker(of, machine, Choices{vectors}), sums_(form.sums) {}
  /// Throws Declined.
  MadeProgram run();

 private:
  /// One in scratch.
  struct Accumulators {
    TileId tile;
    std::vector<uint32_t> axes;  ///< of the domain, as the tile has them
  };

  Accumulators accumulators_for(const ScatteredSum&);
  int64_t most_of(uint32_t axis) const;
  Dim first_of(uint32_t axis) const;
  bool has_part(uint32_t axis) const;
  void clear(const ScatteredSum&, const Accumulators&);
  int64_t lanes_of(const ScatteredSum&, const graph::Axis& along) const;
  Use sum_of_terms(const ScatteredSum&);
  void scatter(const ScatteredSum&, const Accumulators&);
  void combine(const ScatteredSum&, const Accumulators&, const std::map<uint32_t, Index>& found);
  void combine_along(const ScatteredSum&, const Accumulators&, const std::map<uint32_t, Index>& found);
  void combine_at(const ScatteredSum&, const Accumulators&, const std::map<uint32_t, Index>& found,
                  const BlockPlace&);
  std::map<uint32_t, Index> indices_of(const ScatteredSum&);
  Use term_of(const ScatteredSum&, const BlockPlace&);
  void outputs();
  void read_sums(const BlockPlace&);
  void have_lanes(int64_t lanes, int64_t block);
  /// body() with what is known of indices and values as it is outside.
  void apart(const std::function<void()>& body);

  const std::vector<ScatteredSum>& sums_;
  std::vector<Accumulators> accumulators_;
};

}  // namespace axon::tile
