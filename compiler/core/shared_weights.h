// Weights that several entries of a file take.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/core.h"
#include "source/diagnostic.h"

namespace axon::core {

/// A tensor among the weights of an entry.
struct WeightLeaf {
  std::string path;  ///< "p.layers.wq"
  base::Elem elem;
  size_t rank;    ///< with the axes of stacks around it
  size_t stacks;  ///< how many axes these are
};

/// What an entry takes as weights, by parameter.
struct EntryWeights {
  struct Parameter {
    source::Span at;
    std::vector<WeightLeaf> leaves;
  };
  std::string entry;
  std::vector<Parameter> parameters;
};

/// Of an entry that was checked without errors.
EntryWeights weights_of(const Program& program, GlobalId entry);

/// A weight is bound once for all entries, by its path. Compares entries about its element type and its
/// number of axes, in the order in which they are added; their sizes are compared when it is bound.
class SharedWeights {
 public:
  explicit SharedWeights(source::Diagnostics& diagnostics) : diagnostics_(diagnostics) {}
  /// False when it takes a weight in another way than one before, which is reported, once for each parameter.
  bool add(const EntryWeights& entry);

 private:
  struct Taken {
    WeightLeaf leaf;
    std::string entry;
    source::Span at;
  };
  bool agrees(const Taken& taken);

  source::Diagnostics& diagnostics_;
  std::map<std::string, Taken> seen_;  ///< by path
};

}  // namespace axon::core
