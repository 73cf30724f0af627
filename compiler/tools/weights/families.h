// Parameters that may be parts of one tensor: their names differ in one word, which may tell what they are.
//
// A recurrent layer has its gates in one tensor, an attention its queries, keys and values. The frameworks
// that write checkpoints agree on the order; a program may have its parameters in any.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace axon::tools {

struct OpenName {
  size_t parameter;
  std::string name;
  uint32_t rank;
};

/// An order in which parts usually lie.
struct UsualOrder {
  std::vector<size_t> members;  ///< parameters, in the order of a file
  std::vector<std::vector<std::string>>
      words;             ///< that each may have in its name, and a tensor of its own, too
  bool gates = false;    ///< of a recurrent layer
  bool has_sum = false;  ///< two biases of such a layer are only ever added, so that one may be their sum
};

struct Family {
  std::vector<size_t> members;      ///< parameters, as the program has them
  std::optional<UsualOrder> order;  ///< of some or all of them
};

/// Names that differ in the last word of what stands behind the last dot, or before it.
std::vector<Family> families_of(const std::vector<OpenName>&);

/// Does PyTorch write a recurrent layer's tensors under such a name? Its gates are then known to lie in the
/// usual order.
bool is_recurrent_of_pytorch(std::string_view tensor);

/// The name of the tensor that is added to one of a recurrent layer: `bias_hh` for `bias_ih`, and the other
/// way round. Empty where there is none.
std::string added_to(const std::string& tensor);

}  // namespace axon::tools
