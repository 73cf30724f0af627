// Which tensors fit which weights of a program: names and types by the weights folder, axes by the entries'
// own equations.
//
// In: what a program says of its weights, a table of tensors, a binding map. Out: a source for each weight,
// or all that does not fit, at once. Nothing is read but the table, and of the manifest only weights, sizes
// and inputs.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/manifest.h"
#include "host/weights/binding.h"

namespace axon::host {

struct WeightFit {
  std::vector<std::string> names;  ///< of the weights, in files and in the map
  weights::Binding binding;        ///< its sources are in the order of the weights
  std::vector<std::string> misfits;
};
/// A failure (E0708) where the map cannot be read.
Result<WeightFit> fit_weights(const Manifest&, const weights::TensorTable&, std::string_view map);

/// The numbers in the metadata of files.
std::map<std::string, int64_t> sizes_in(const weights::TensorTable&);

/// "the weights do not fit the program", and these lines.
Failure list_misfits(const char* code, const std::vector<std::string>& lines);

}  // namespace axon::host
