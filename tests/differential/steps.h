// One method per kind of step. Each adds to the program what fits the pool, or nothing.
#pragma once
#include "builder.h"

namespace axon::differential {

class Steps : public Builder {
 public:
  using Builder::Builder;
  Generated run();

 private:
  void step();

  // operators.cpp
  void elementwise();
  void broadcast();
  void numbers();  ///< integers and truth values, wrapping and flooring
  void contract_vector(const Tensor&);
  void contract();
  void attend();
  void reduce();
  void move();
  void slice();
  void index();

  // loops.cpp
  void loop();
  void loop_of_steps();
  void loop_over_layers(const Tensor&);
  void update();
  void update_state(const Tensor&);
};

}  // namespace axon::differential
