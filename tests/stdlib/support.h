// Library functions and whole models through the executors of tests/differential, with inputs that suit them.
//
// In: a program with entries, sizes by name, and rules for the contents of inputs (probabilities are
// positive, ids are below the vocabulary). Out: "" or the first executor whose result differs from the
// interpreter's.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "executors.h"

namespace axon::stdlib {

using differential::Compiled;
using differential::Inputs;
using Sizes = std::map<std::string, int64_t>;

/// Contents of the inputs whose path, with the entry's name in front, ends with `path`: evenly from `low` up
/// to `high` (integers: without it).
struct Fill {
  std::string path;
  double low = 0;
  double high = 0;
};

struct Program {
  std::string name;
  std::string source;            ///< every entry is run
  std::vector<Sizes> sizes;      ///< each entry takes what it names
  std::vector<Fill> fills = {};  ///< others: floats normal between -3 and 3, integers 0 or 1
};
void PrintTo(const Program&, std::ostream*);

std::string read_file(const std::string& path);

/// Compiles once for this machine, then runs every entry with every sizes: interpreter against simulator and
/// native code.
void expect_executors_agree(const Program&);

}  // namespace axon::stdlib
