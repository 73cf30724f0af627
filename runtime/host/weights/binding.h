// Binding: which tensors of the weight files become which parameters of a program.
//
// A binding map is text beside the program, one rule per line; what is behind `--` is a comment:
//   embed        <- "model.embed tokens.weight"         -- quotes for unusual names, in them "" for a quote
//   layers.wq[l] <- model.layers.{l}.self_attn.q_proj.weight, transposed, as f32
// A parameter without a rule is the tensor of its own name.
//
// `[l]` puts a new first axis in front; `{l}` stands for 0, 1, 2, ... in the tensor's name, as far as the
// file goes; `[l, e]` stacks two axes.
//
// In a tensor's name `{{`, `}}` and `{*}` are characters of it, and `{0x0a}` is a byte.
//
// `*` in a parameter stands for any part of its path, dots included, and is put in the place of `*` in the
// tensor's name, so that one rule is one for many parameters:
//   layers.*[l] <- model.layers.{l}.*.weight, transposed
// A rule without `*` comes first, then the one that spells out most of the parameter, then the first.
// What `*` stands for is translated name by name, where a line says how:
//   words wq = self_attn.q_proj, wk = self_attn.k_proj
//
// Two more lines hold for the whole map: `prefix model.` puts that in front of every tensor's name that
// exists so in the file, and `all as f32` lets every parameter of that type be converted.
//
// What a rule does, in this order, with each tensor of a stack:
//   transposed   exchanges the last two axes. In a rule with `*`, what has fewer axes stays as it is.
//   axes A -> B  puts axes into another order, joins and divides them (axes.h), instead of `transposed`. In a
//                rule with `*`, what has another number of axes stays as it is.
//   summed       adds the tensors that stand, with ` + `, to the right: floats of one shape. The sum may be
//                split.
//   split AXIS   cuts the tensor into the parameters that stand, with commas, to the left:
//                  wq[l], wk[l] <- h.{l}.qk, split columns
//                The parts are as large as the parameters' shapes say, or as numbers say behind the axis:
//                `split columns 768 256`; `split columns 64 64 repeated` deals the axis out in turn.
//   joined AXIS  puts the tensors that stand, with ` + `, to the right behind one another; with numbers and
//                `repeated`, in turn.
//   as TYPE      allows a change between f64, f32, f16, bf16 and packed floats, which never happens unasked.
// AXIS is `rows` (the last but one), `columns` (the last) or `axis N`, of one tensor as the parameter has it,
// without the axes of the stack; of a vector, rows and columns are the same.
//
// bind_parameters() looks at the table only, never at data, and reports every misfit at once. load() then
// fills one parameter.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/weights/axes.h"
#include "host/weights/tensor_file.h"

namespace axon::weights {

/// A tensor's name as a part of a map: what means something else there is escaped, as `{{`, `}}`, `{*}` and
/// `{0x0a}`.
std::string map_name(std::string_view name);
/// A name of a map in quotes, if it needs them.
std::string quoted_name(std::string_view);

/// The right side of a rule: text between indices. `pieces` has one more item than `slots`; slots are
/// positions in Rule::indices, or `star`.
struct NamePattern {
  static constexpr uint32_t star = UINT32_MAX;
  std::vector<std::string> pieces;
  std::vector<uint32_t> slots;

  /// Of a pattern without `*`.
  std::string name(std::span<const uint64_t> values) const;
  /// The pattern behind a prefix, with this text in the place of each `*`.
  NamePattern filled(std::string_view prefix, std::string_view star_text) const;
};

/// Along which axis a tensor is split or tensors are joined, and in pieces of which sizes.
struct Cut {
  enum class Axis : uint8_t { rows, columns, numbered } axis = Axis::columns;
  uint32_t number = 0;          ///< of a numbered axis
  std::vector<uint64_t> sizes;  ///< one per parameter of a split, per tensor of a join; or none
  bool repeated = false;        ///< the sizes are those of one round
};

struct Rule {
  std::vector<std::string> fields;  ///< several: the tensor is split. All of them have a `*`, or none.
  std::vector<std::string> indices;
  std::vector<NamePattern> tensors;  ///< several: they are joined or summed
  bool transposed = false, summed = false;
  std::optional<AxesPattern> axes;
  std::optional<Elem> as;
  std::optional<Cut> split, joined;
  uint32_t line = 0;

  bool has_star() const { return fields[0].find('*') != std::string::npos; }
};

class BindingMap {
 public:
  /// Which of a rule's fields one is, and what `*` stands for there; `rule` is null where none is for it.
  struct Match {
    const Rule* rule = nullptr;
    uint32_t part = 0;
    std::string star;
  };
  Match find(std::string_view field) const;
  /// What may stand before the names of the tensors of a parameter, in the order in which they are looked
  /// for: the map's prefix, or nothing; then the same behind the parameter, where files are its own.
  std::vector<std::string> fronts(std::string_view parameter) const;
  /// The names of the tensors that a match means, behind a front, or the only one of a field without a rule.
  std::vector<NamePattern> names(const Match&, std::string_view field, std::string_view front) const;
  /// Adds a rule, or says which one has a field of it already.
  std::optional<std::string> add(Rule);

  const std::vector<Rule>& rules() const { return rules_; }
  std::string prefix;
  std::optional<Elem> as;
  std::map<std::string, std::string, std::less<>> words;

 private:
  using Place = std::pair<uint32_t, uint32_t>;  // rule, field of it
  std::vector<Rule> rules_;
  std::map<std::string, Place, std::less<>> places_;  ///< by field, `*` as it is written
  std::vector<Place> stars_;                          ///< of fields with a `*`
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
  uint32_t rank = 0;           ///< all axes, stacked ones included
  uint32_t stack = 0;          ///< how many leading axes come from stacking records
  std::string parameter = {};  ///< of an entry, which it is a part of; its own files have that before names
};

/// Whether a field has a rule of its own, or tensors of the name that it has by a rule with `*` or without
/// one.
bool is_named(const TensorTable&, const BindingMap&, std::string_view field, std::string_view parameter = "");

/// Elements [from, from + count) of a tensor's axis are [to, to + count) of the parameter's.
struct Segment {
  uint64_t from = 0, to = 0, count = 0;
};

/// Where a parameter comes from. `shape` is the parameter's, after all that its rule does.
struct Source {
  Field field;
  std::vector<uint32_t> tensors;  ///< positions in the table, in the order of the stack, joined ones in turn
  uint32_t joined = 1;            ///< how many make one element of the stack
  bool transposed = false;
  std::optional<AxesPattern> axes;
  bool reordered = false;  ///< by `axes`: the elements do not lie as in the file
  bool summed = false;     ///< those that make one element are added, and not put behind one another
  Elem file_dtype = Elem::f32;
  bool packed = false;  ///< in the file
  std::vector<uint64_t> shape;
  uint32_t stack = 0;  ///< leading axes of `shape` that are the stack's
  uint32_t axis = 0;   ///< of one element of the stack, which the segments cut
  std::vector<std::vector<Segment>>
      segments;  ///< of each joined tensor, or of all summands; none: whole ones

  /// Where the parameter's bytes lie as such in the bytes of its only tensor, which can then be mapped.
  std::optional<uint64_t> mapped_offset() const;
};

struct Binding {
  std::vector<std::optional<Source>>
      sources;  ///< one per field, in order; all of them when there are no misfits
  std::vector<Error> misfits;
  /// The misfits that say no more than that a field has no tensor: number of each, and of its field.
  std::map<size_t, uint32_t> absent;
};

/// A tensor that fields share: its extent along an axis of theirs.
struct Shared {
  std::vector<uint32_t> fields;  ///< positions among all fields
  uint32_t axis = 0;             ///< of their shapes
  uint64_t extent = 0;
};
/// How much of it each field has, or why that is open. So far, the fields that share nothing are bound.
using PartSizes = std::function<Result<std::vector<uint64_t>>(const Shared&, const Binding& so_far)>;
Result<std::vector<uint64_t>> equal_parts(const Shared&, const Binding&);

/// `others`: paths of parameters that the fields are not all of; a rule may be for one of these, too.
Binding bind_parameters(const TensorTable&, const BindingMap&, std::span<const Field>,
                        const PartSizes& = equal_parts, std::span<const std::string> others = {});

/// Fills `out`, which has exactly the bytes of the source's shape and the field's type, row-major.
Status load(const TensorFile&, const Source&, std::span<uint8_t> out);

}  // namespace axon::weights
