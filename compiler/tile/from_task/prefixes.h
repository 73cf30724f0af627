// Tile programs of prefix reductions. Only from_task.cpp includes this.
//
// In: a form. Out: a program of one thread. A row is gone through once, block by block: what its elements
// fold up to each of them is scanned, from what the block before it has carried on. Where lanes have rows of
// their own, each element is one step of all of them.
#pragma once
#include "tile/from_task/maker.h"
#include "tile/from_task/prefix_form.h"

namespace axon::tile {

class PrefixMaker : ProgramMaker {
 public:
  /// Blocks of so many vectors.
  PrefixMaker(const Origin& of, const PrefixForm& form, const Machine& machine, int64_t vectors)
      : ProgramMaker(of, machine, Choices{vectors}), prefix_(form) {}
  /// Throws Declined.
  MadeProgram run();

 private:
  const RowReduction& fold() const { return form_.reductions[0]; }
  Pointwise operator_of_fold() const { return graph::operator_of(fold().monoid).value(); }
  /// What a row begins from.
  Use beginning(const BlockPlace&);
  void rows_alone();
  void columns();
  void scan_block(const Use& carry, const BlockPlace&);
  void step(const Use& carry, const BlockPlace&);
  /// The output at the prefix, which has its own type from here on.
  void store_prefix(const Use& prefix, const BlockPlace&);

  const PrefixForm& prefix_;
};

}  // namespace axon::tile
