// The prepared parameter object: every weight of a bundle in the placement that its kernels want, made once
// by bind().
//
// A weight that is row-major, whose bytes in the file are already right and aligned, is used where the file
// is mapped; all others are copied: converted, transposed, stacked, packed. Nothing is read before every
// field, element type and axis was compared with the program, and all misfits are told at once.
//
// The files may lack weights of some entries, as long as they have all of one: an entry of which some are not
// there is refused when it is asked for.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/bundle.h"
#include "host/memory.h"
#include "host/weights/binding.h"

namespace axon::host {

struct Parameters {
  struct Prepared {
    const void* data = nullptr;
    std::vector<int64_t> shape;  ///< the parameter's own, before packing
    std::string absent;          ///< why it is not there, where it is not
  };
  std::shared_ptr<const Bundle> bundle;
  std::vector<Prepared> weights;                      ///< parallel to Manifest::weights
  std::map<std::string, std::string> metadata;        ///< of the files
  std::map<std::string, int64_t> sizes;               ///< the numbers in it
  std::vector<std::shared_ptr<weights::File>> files;  ///< whose mappings are used
  Memory memory;
  uint64_t copied_bytes = 0;
};

/// `map`: the text of a binding map, maybe empty. For a bundle without code nothing but shapes is prepared.
Result<std::shared_ptr<Parameters>> bind_parameters(std::shared_ptr<const Bundle>, weights::TensorFile,
                                                    std::string_view map);
struct WeightFile {
  std::string path;
  std::string parameter;  ///< whose tensors it has; empty: their names say so
};
/// Refuses an entry of whose weights some are not there.
Status check_complete(const Parameters&, const Entry&);
/// Refuses files for a parameter that holds no weights.
Status check_parameters(const Bundle&, const std::vector<WeightFile>&);
/// Several files as one. A name may stand in one of them only, unless they say of which parameter they are.
Result<weights::TensorFile> open_weight_files(const std::vector<WeightFile>&);

/// The shape of an entry's input, from the shapes of the weights and their metadata alone.
Result<std::vector<int64_t>> input_shape(const Parameters&, const Entry&, const Port& input);

struct GivenSize {
  std::string name;
  int64_t value = 0;
};
/// The shape of an entry's input and where it lies, one number per axis each, from given sizes and, where
/// there are any, from the weights. What is given must not contradict them.
Status input_layout(const Entry&, const Port& input, const Parameters*, const std::vector<GivenSize>&,
                    int64_t* shape, int64_t* strides);

}  // namespace axon::host
