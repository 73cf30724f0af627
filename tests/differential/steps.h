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
  void loop_of_states(const Tensor&);
  void update();
  void update_state(const Tensor&);

  // data_sizes.cpp
  struct Reduced;
  Reduced reduce_part(const Dims& row, bool given, const std::function<std::string(const std::string&)>& of);
  void sizes_in_loop();
  void sizes_in_counted_loop();

  // branches.cpp
  void define_branch(const Dims&, const Dim& cost, const std::string& condition, const std::string& a,
                     const std::string& b);
  void branch();
  void branch_on_size();
  void branch_at_position();
  void branch_on_two_sizes();

  // data_updates.cpp
  std::string clamped(const std::string& from, const Dim& axis, int room);
  std::string clamped_datum(const Dim& axis, int room);
  void update_by_data();
  void update_by_data_in_loop(const Tensor&);

  // slice_updates.cpp
  struct SliceStep;
  std::string slice_start(const std::string& from, const Dim& axis, const Dim& width);
  SliceStep slice_step(const Dims&);
  void update_slices();
  void update_slices_in_elements();

  // dependent.cpp
  struct Maker;
  Maker maker();
  void dependent();

  // stated_types.cpp
  std::string stated_axes(const Dims&, const std::string& first);
  void stated();
  void stated_in_loop(const Tensor&);
  void stated_of_data(const Tensor&);
  void stated_by_function(const Tensor&);

  // binders.cpp
  void binders();
  void binders_of_three(const Tensor&);
  void binders_of_two(const Tensor&);
};

}  // namespace axon::differential
