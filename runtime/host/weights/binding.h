// Binding: which tensors of the weight files become which parameters of a program.
//
// A binding map is text beside the program, one rule per line:
//   embed        <- "model.embed tokens.weight"         -- quotes for unusual names
//   layers.wq[l] <- model.layers.{l}.self_attn.q_proj.weight, transposed, as f32
// A parameter without a rule is the tensor of its own name. `[l]` puts a new first axis in front; `{l}`
// stands for 0, 1, 2, ... in the tensor's name, as far as the file goes; `[l, e]` stacks two axes.
// `transposed` exchanges the last two axes of the file's tensor, `as` allows a change between f64, f32, f16
// and bf16, which never happens unasked.
//
// bind_parameters() looks at the table only, never at data, and reports every misfit at once. load() then
// fills one parameter.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/weights/tensor_file.h"

namespace axon::weights {

/// The right side of a rule: text between indices. `pieces` has one more item than `slots`; slots are
/// positions in Rule::indices.
struct NamePattern {
  std::vector<std::string> pieces;
  std::vector<uint32_t> slots;

  std::string name(std::span<const uint64_t> values) const;
};

struct Rule {
  std::string field;
  std::vector<std::string> indices;
  NamePattern tensor;
  bool transposed = false;
  std::optional<Elem> as;
  uint32_t line = 0;
};

struct BindingMap {
  std::vector<Rule> rules;

  const Rule* find(std::string_view field) const;
};

struct ParsedMap {
  BindingMap map;
  std::vector<Error> errors;  ///< each names its line; the map is only good when there are none
};
ParsedMap parse_binding_map(std::string_view text);

/// A parameter that a program expects.
struct Field {
  std::string path;
  Elem dtype = Elem::f32;
  uint32_t rank = 0;   ///< all axes, stacked ones included
  uint32_t stack = 0;  ///< how many leading axes come from stacking records
};

/// Where a parameter comes from. `shape` is the parameter's, after transposition and stacking.
struct Source {
  Field field;
  std::vector<uint32_t> tensors;  ///< positions in the table, in the order of the stack
  bool transposed = false;
  Elem file_dtype = Elem::f32;
  std::vector<uint64_t> shape;

  /// The bytes of the file are the parameter's bytes: it can be mapped.
  bool identity() const { return tensors.size() == 1 && !transposed && file_dtype == field.dtype; }
};

struct Binding {
  std::vector<Source> sources;  ///< one per field, in order, when there are no misfits
  std::vector<Error> misfits;
};
Binding bind_parameters(const TensorTable&, const BindingMap&, std::span<const Field>);

/// Fills `out`, which has exactly the bytes of the source's shape and the field's type, row-major.
Status load(const TensorFile&, const Source&, std::span<uint8_t> out);

}  // namespace axon::weights
