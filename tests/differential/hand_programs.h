// Small programs written by hand, which programs_test.cpp runs in every executor: what generated programs
// cannot say (entries that share weights, states with a size that changes), and one for each bug that they
// found.
#pragma once
#include <string>
#include <vector>

#include "bindings.h"

namespace axon::differential {

struct HandProgram {
  const char* name;
  std::string source;  ///< every entry is run
  std::vector<Sizes> sizes;
  int64_t bound = 100;  ///< of integers
};

std::vector<HandProgram> programs_of_features();
std::vector<HandProgram> programs_of_data();
std::vector<HandProgram> programs_of_rows();
std::vector<HandProgram> programs_of_places();
std::vector<HandProgram> programs_of_bugs();

}  // namespace axon::differential
