// Tile programs that order keys. Only from_task.cpp includes this.
//
// In: a form, and whether keys are computed in vectors. Out: a program of one thread: each row is a loop that
// orders blocks of keys. Invariant: a block has one vector, or one key.
#pragma once
#include "tile/from_task/maker.h"
#include "tile/from_task/order_form.h"

namespace axon::tile {

class OrderMaker : ProgramMaker {
 public:
  OrderMaker(const Origin& of, const OrderForm& form, const Machine& machine, bool in_vectors)
      : ProgramMaker(of, machine, Choices{1}), order_(form), in_vectors_(in_vectors) {}
  /// Throws Declined.
  MadeProgram run();

 private:
  void choose_lanes();
  void row();
  Order order_of_row();
  Use keys(const Dim& number);

  const OrderForm& order_;
  const bool in_vectors_;
};

}  // namespace axon::tile
