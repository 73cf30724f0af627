// Tensors by name: those of a stack, and what to say where there are none.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "host/weights/binding.h"

namespace axon::weights {

constexpr size_t shown_missing = 3;  ///< names of what is missing, in one message

/// The tensors of a pattern with indices, by their values.
struct Stack {
  std::map<std::vector<uint64_t>, uint32_t> tensors;
  std::vector<uint64_t> extents;
};
Stack find_stack(const TensorTable&, const NamePattern&, size_t indices);
/// The first names that a stack lacks, however large an index is; empty where it has no gaps.
std::string gaps_of(const Stack&, const NamePattern&);

/// A tensor name within a few letters, to suggest; or empty.
std::string nearest_name(const TensorTable&, const std::string& name);

/// What stands in front of all the names that are missing, and makes tensors of the table of them; else
/// empty.
std::string common_prefix(const TensorTable&, const std::vector<std::string>& missing);

}  // namespace axon::weights
