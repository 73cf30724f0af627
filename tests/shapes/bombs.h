// Programs made to take for ever, with what is said of each.
#pragma once
#include <set>
#include <string>
#include <vector>

namespace axon::corpus {

struct Bomb {
  std::string name, program;
  std::set<std::string> codes;  ///< one of these is reported first; empty: it is accepted
};

std::vector<Bomb> bombs();

}  // namespace axon::corpus
