// What a checkpoint offers to bind: single tensors, and stacks of those that differ in numbers alone.
#pragma once
#include <string>
#include <vector>

#include "host/weights/tensor_file.h"
#include "tools/weights/names.h"

namespace axon::tools {

/// A tensor, or a stack: its numbers count from 0 without gaps, and all of it has one shape and type.
struct Unit {
  std::string pattern;             ///< the name as a map has it, with {0} and {1} for the numbers of a stack
  std::vector<uint64_t> extents;   ///< of the stack's axes
  std::vector<uint64_t> shape;     ///< of one tensor
  std::vector<uint32_t> tensors;   ///< positions in the table
  std::vector<std::string> words;  ///< of the name
  Elem dtype = Elem::f32;
  bool converted = false;  ///< it is packed: no parameter has it as it is
  bool in_stack = false;   ///< a single tensor that is one of several in a stack
  std::vector<SeriesPlace> series = {};
};

/// In order of their names. Tensors that cannot be read are left out, and so are the parts of packed ones.
std::vector<Unit> units_of(const weights::TensorTable&);

/// A pattern as messages show it.
std::string pretty(const std::string& pattern);

/// `qkv` among the words of a parameter's name stands for the units, of these, whose names have words that
/// begin so. Empty where no word stands for several.
std::vector<size_t> units_by_letters(const std::vector<std::string>& words, const std::vector<size_t>& among,
                                     const std::vector<Unit>&);

}  // namespace axon::tools
