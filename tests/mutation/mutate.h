// Programs changed a little: by tokens, and by expressions of the tree.
//
// In: the text of a program, others to take pieces from, and a seed. Out: another text, which mostly is no
// right program, and often nearly one.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace axon::mutation {

struct Program {
  std::string name;  ///< a path: imports are relative to it
  std::string text;
};

/// The programs of examples, library, tests and documents under `root`, in one order everywhere.
std::vector<Program> programs_of(const std::string& root);

/// The mutant of this seed: of which program, and its text.
Program mutant(const std::vector<Program>&, uint64_t seed);

}  // namespace axon::mutation
