// See generator.h. A program is a chain of `let`s over a pool of tensors; each step picks an operator that
// some tensor of the pool fits, and everything that nothing reads is a result. Comparisons that choose values
// look at indices, integers and inputs only, so that rounding cannot flip them; products are damped and sums
// squashed, so that values and their errors stay small.
#include "generator.h"

#include "steps.h"

namespace axon::differential {

const char* family_name(Family family) {
  switch (family) {
    case Family::elementwise:
      return "elementwise";
    case Family::contract:
      return "contract";
    case Family::reduce:
      return "reduce";
    case Family::move:
      return "move";
    case Family::index:
      return "index";
    case Family::loop:
      return "loop";
    case Family::data_size:
      return "data_size";
    case Family::branch:
      return "branch";
    case Family::data_update:
      return "data_update";
    case Family::slice_update:
      return "slice_update";
    case Family::dependent:
      return "dependent";
    case Family::stated:
      return "stated";
    case Family::binders:
      return "binders";
    case Family::mixed_weights:
      return "mixed_weights";
  }
  return "?";
}

Generated Steps::run() {
  for (int i = 0; i < 3; ++i) input(pick_dims(i == 0 ? 2 : 1 + below(2)));
  if (!out_.group.empty())
    for (int i = 0; i < 3; ++i) contract();
  const int wanted = 5 + below(26);
  for (int tries = 0; out_.operators < wanted && tries < 400; ++tries) step();
  return finish();
}

void Steps::step() {
  switch (below(20)) {
    case 0:
      return elementwise();
    case 1:
      return broadcast();
    case 2:
    case 3:
      return contract();
    case 4:
      return attend();
    case 5:
      return reduce();
    case 6:
      return move();
    case 7:
      return slice();
    case 8:
      return index();
    case 9:
      return loop();
    case 10:
      return loop_of_steps();
    case 11:
      return update();
    case 12:
      return numbers();
    case 13:
      return sizes_in_loop();
    case 14:
      return branch();
    case 15:
      return update_by_data();
    case 16:
      return update_slices();
    case 17:
      return dependent();
    case 18:
      return stated();
    case 19:
      return binders();
  }
}

Generated generate(uint64_t seed, const std::string& group) { return Steps(seed, group).run(); }

std::vector<Generated> generate_file(uint64_t first, uint64_t last) {
  const std::string group = first % 3 == 0 ? fmt::format("shared{}", first) : "";
  std::vector<Generated> programs;
  for (uint64_t seed = first; seed <= last; ++seed) programs.push_back(generate(seed, group));
  return programs;
}

}  // namespace axon::differential
