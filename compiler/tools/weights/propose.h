// A binding map for a checkpoint, found by shapes and names.
//
// In: what a program says of its weights, and the table of a checkpoint. Out: rules that bind as many weights
// as can be, each with tensors of its own, and what is unsure about them. Parameters whose best tensor stands
// out most are matched first; what their shapes say of the program's sizes leaves fewer tensors for the
// others. Parameters that are left share a tensor, or are joined of several, or, last, take one that another
// has. A tensor that is left and usually added to another one is.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "host/manifest.h"
#include "host/weights/tensor_file.h"

namespace axon::tools {

struct ProposedRule {
  std::vector<std::string> fields;   ///< of the program; several: they share the tensor
  std::vector<std::string> tensors;  ///< with {0} and {1} for the indices; several: they are joined or summed
  size_t indices = 0;
  bool matrix = false;  ///< a single tensor has two axes or more
  bool transposed = false, summed = false;
  std::string axes;        ///< "axes a b -> b a", behind a comma; or empty
  std::string cut;         ///< "split columns", behind a comma; or empty
  std::optional<Elem> as;  ///< the parameter's type, where the file has another
};

struct Proposal {
  std::vector<ProposedRule> rules;  ///< in the program's order of parameters
  std::vector<std::string> doubts;  ///< a line each
  std::vector<std::string> unbound;  ///< a line each: the parameter, and why
};

/// `names`: of the weights, as a map has them. `stacks`: how many of each weight's axes are those of stacks.
Proposal propose(const host::Manifest&, const weights::TensorTable&, const std::vector<std::string>& names,
                 const std::vector<size_t>& stacks);

/// The text of the map: rules of one pattern are one, with `*`, `words` and `prefix`.
std::string map_text(const Proposal&);

}  // namespace axon::tools
