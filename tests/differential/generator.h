// Random programs in the language itself: well typed by construction, values kept small, every operator
// family and loops. A program is one entry; several entries make a file.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shape/dim.h"
#include "shape/prover.h"

namespace axon::differential {

using shape::Dim;

enum class Family : uint8_t {
  elementwise,
  contract,
  reduce,
  move,
  index,
  loop,
  data_size,      ///< that is another one in every iteration of a loop
  branch,         ///< on sizes
  data_update,    ///< at positions that the data decides
  slice_update,   ///< of slices, in loops and elements
  dependent,      ///< functions as values, each of whose calls has a size of its own
  stated,         ///< `:>`
  binders,        ///< reductions over three of them or more
  mixed_weights,  ///< in an element type that is not that of the program
};
inline constexpr Family families[] = {
    Family::elementwise, Family::contract,  Family::reduce,  Family::move,         Family::index,
    Family::loop,        Family::data_size, Family::branch,  Family::data_update,  Family::slice_update,
    Family::dependent,   Family::stated,    Family::binders, Family::mixed_weights};
const char* family_name(Family);

struct Parameter {
  std::string path;  ///< as the runtime names it: "x3", or a field of a record of weights: "w5.a2"
  enum class Kind : uint8_t { argument, weight, state, size } kind = Kind::argument;
  std::string elem;
  std::vector<Dim> dims;
  std::optional<Dim> bound;  ///< integers lie in [0, bound); floats have none
  std::optional<Dim> value;  ///< what all of these integers are
  bool checked = false;      ///< the program looks at the bound, or the value, when it runs
};

/// A program, or one that shares weights with others: the same seed and group give the same program.
struct Generated {
  uint64_t seed = 0;
  std::string name;  ///< of the entry: "p<seed>"
  std::string source;
  std::string group;  ///< name of the record of weights that it shares with others; empty: it has its own
  std::string elem;   ///< of its floats
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::string, shape::Var>> sizes;
  std::map<std::string, int64_t> least;  ///< what each size must at least be for the program to be defined
  std::vector<shape::Fact> conditions;   ///< of branches
  Dim cost;                              ///< scalar operations of one run, roughly
  std::map<Family, int> used;
  int operators = 0;
};

Generated generate(uint64_t seed, const std::string& group = "");

/// Programs for one file. Those of some files share weights: they have the same sizes, and where two name a
/// weight of one shape and element type it is one.
std::vector<Generated> generate_file(uint64_t first, uint64_t last);

}  // namespace axon::differential
