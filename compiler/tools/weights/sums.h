// Tensors that a checkpoint has beside those of a proposal, and that are added to them.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "tools/weights/propose.h"
#include "tools/weights/units.h"

namespace axon::tools {

/// What is known of rules, by their first fields, from when they were made.
struct Sums {
  std::set<std::string> apart;   ///< the tensor is one summand of what is no sum in general
  std::set<std::string> rivals;  ///< the other summand is as like the parameters
};

/// A recurrent layer of a checkpoint may have two biases where the program has one: a rule whose tensor has a
/// summand that is left takes it. Where another rule has it, the proposal says which were as like.
void add_summands(Proposal&, const std::vector<Unit>&, std::vector<bool>& used, const Sums&);

}  // namespace axon::tools
