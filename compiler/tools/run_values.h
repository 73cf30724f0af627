// What a command line gives for the parameters of an entry.
//
// In: an entry, of a bundle with or without code, and NAME=VALUE each. Out: an array for each input, numbers
// for sizes, files for weights; nothing of it has been held against the entry but names, and that numbers fit
// their element types. What is wrong is thrown as a Problem.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/arguments.h"

namespace axon::tools {

using Arguments = std::vector<std::pair<std::string, std::string>>;  ///< NAME=VALUE each

struct WeightFile {
  std::string parameter, path;
};

struct GivenValues {
  std::map<std::string, Array> arrays;   ///< by the path of the input
  std::map<std::string, int64_t> sizes;  ///< by name
  std::vector<WeightFile> weights;
  std::string map;  ///< rules of a binding map, for files of which a part is named
};

/// NAME is a parameter, a part of one (state.h), or a size parameter; NAME and VALUE are as in run.cpp.
GivenValues read_values(const axon_entry*, const Arguments&);

}  // namespace axon::tools
