// Checkpoints as tensors to write (checkpoint.h).
#include "checkpoint.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace axon::examples {
namespace {

using weights::Error;
using weights::OutTensor;
using weights::Result;
using weights::Status;

constexpr uint64_t header_bytes = 7 * sizeof(int32_t);

/// One tensor of the file, in file order: `count` matrices [rows][columns] or, with rows 0, vectors of
/// `columns`.
struct Part {
  const char* name;  ///< ours; null when we have no use for it
  bool stacked;      ///< has the layer axis
  uint64_t rows, columns;
  bool transposed;  ///< a projection, [out][in] in the file
};

std::vector<Part> parts(const Shape& s) {
  const uint64_t all = s.dim, kv = s.kv_heads * s.head_size(), rope = s.head_size() / 2;
  std::vector<Part> out = {{"embed", false, s.vocabulary, s.dim, false},
                           {"layers.norm1", true, 0, s.dim, false},
                           {"layers.wq", true, all, s.dim, true},
                           {"layers.wk", true, kv, s.dim, true},
                           {"layers.wv", true, kv, s.dim, true},
                           {"layers.wo", true, s.dim, all, true},
                           {"layers.norm2", true, 0, s.dim, false},
                           {"layers.w1", true, s.hidden, s.dim, true},
                           {"layers.w2", true, s.dim, s.hidden, true},
                           {"layers.w3", true, s.hidden, s.dim, true},
                           {"norm", false, 0, s.dim, false},
                           {nullptr, false, s.sequence, rope, false},
                           {nullptr, false, s.sequence, rope, false}};
  if (s.own_classifier) out.push_back({"classifier", false, s.vocabulary, s.dim, false});
  return out;
}

/// Elements of a part, all layers together. The header's numbers have 31 bits, so three of them may overflow.
std::optional<uint64_t> elements(const Part& part, const Shape& shape) {
  const auto matrix = weights::checked_mul(part.rows ? part.rows : 1, part.columns);
  return matrix ? weights::checked_mul(*matrix, part.stacked ? shape.layers : 1) : std::nullopt;
}

/// Calls `value(i)` with the position in file order of every element of a range in our order, and stores the
/// results.
template <class Value>
Status fill_range(const Part& part, Elem dtype, uint64_t offset, uint8_t* out, uint64_t count,
                  const Value& value) {
  const uint64_t size = elem_bytes(dtype);
  const uint64_t matrix = (part.rows ? part.rows : 1) * part.columns;
  for (uint64_t i = offset / size; count > 0; ++i, out += size, count -= size) {
    uint64_t in_file = i;
    if (part.transposed) {
      const uint64_t within = i % matrix;
      in_file = i - within + within % part.rows * part.columns + within / part.rows;
    }
    const float element = value(in_file);
    weights::convert(Elem::f32, &element, dtype, out, 1);
  }
  return std::nullopt;
}

std::vector<uint64_t> our_shape(const Part& part, const Shape& shape) {
  std::vector<uint64_t> out;
  if (part.stacked) out.push_back(shape.layers);
  if (part.rows) out.push_back(part.transposed ? part.columns : part.rows);
  out.push_back(part.rows && part.transposed ? part.rows : part.columns);
  return out;
}

uint64_t mixed(uint64_t x) {  // the finaliser of splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

OutTensor random_tensor(const Part& part, const Shape& shape, Elem dtype, uint64_t seed) {
  const bool is_norm = part.rows == 0;
  const double half_width = std::sqrt(3.0 / static_cast<double>(part.columns));
  return {part.name, dtype, our_shape(part, shape), [=](uint64_t offset, uint8_t* out, uint64_t count) {
            return fill_range(part, dtype, offset, out, count, [=](uint64_t i) {
              if (is_norm) return 1.0f;
              const double unit = static_cast<double>(mixed(seed ^ i) >> 11) * 0x1p-53;
              return static_cast<float>((2 * unit - 1) * half_width);
            });
          }};
}

void settle_classifier(std::vector<OutTensor>& tensors, Classifier classifier) {
  const bool present = tensors.back().name == "classifier";
  if (classifier == Classifier::never && present) tensors.pop_back();
  if (classifier == Classifier::never || present) return;
  tensors.push_back(tensors.front());  // embed
  tensors.back().name = "classifier";
}

}  // namespace

Result<Shape> shape_from_header(std::span<const int64_t, 7> header) {
  constexpr std::array names = {"dim",        "hidden",  "layers", "heads", "key-value heads",
                                "vocabulary", "sequence"};
  constexpr size_t vocabulary = 5;
  constexpr int64_t largest = std::numeric_limits<int32_t>::max();
  for (size_t i = 0; i < header.size(); ++i) {
    const int64_t lowest = i == vocabulary ? -largest : 1;
    if (header[i] < lowest || header[i] > largest || header[i] == 0)
      return Error{weights::code::format, weights::text("not a checkpoint: ", names[i], " is ", header[i])};
  }
  const auto at = [&](size_t i) { return static_cast<uint64_t>(std::abs(header[i])); };
  const Shape shape{at(0), at(1), at(2), at(3), at(4), at(5), at(6), header[vocabulary] < 0};
  if (shape.dim % shape.heads != 0 || shape.head_size() % 2 != 0)
    return Error{weights::code::shape,
                 weights::text("dim ", shape.dim, " does not give ", shape.heads, " heads of an even size")};
  if (shape.heads % shape.kv_heads != 0)
    return Error{weights::code::shape, weights::text(shape.heads, " heads do not share ", shape.kv_heads,
                                                     " key-value heads evenly")};
  for (const Part& part : parts(shape)) {
    const auto count = elements(part, shape);
    if (!count || *count > (uint64_t{1} << 56))
      return Error{weights::code::shape, "not a checkpoint: its tensors have too many elements"};
  }
  return shape;
}

Result<std::vector<OutTensor>> checkpoint_tensors(weights::Bytes file, Elem dtype, Classifier classifier,
                                                  Shape& shape) {
  std::array<int64_t, 7> header{};
  for (size_t i = 0; i < header.size(); ++i) {
    const auto value = file.load<int32_t>(i * sizeof(int32_t));
    if (!value) return Error{weights::code::format, "not a checkpoint: shorter than its header"};
    header[i] = *value;
  }
  const auto read = shape_from_header(header);
  if (!read) return read.error();
  shape = *read;

  std::vector<OutTensor> out;
  uint64_t at = header_bytes;
  for (const Part& part : parts(shape)) {
    const uint64_t size = *elements(part, shape) * sizeof(float);
    const auto bytes = file.sub(at, size);
    if (!bytes)
      return Error{weights::code::range,
                   weights::text("the checkpoint ends within ", part.name ? part.name : "rope", ": it needs ",
                                 size, " bytes from ", at, ", the file has ", file.size())};
    at += size;
    if (!part.name) continue;
    out.push_back({part.name, dtype, our_shape(part, shape),
                   [part, dtype, data = *bytes](uint64_t offset, uint8_t* target, uint64_t count) {
                     return fill_range(part, dtype, offset, target, count,
                                       [&](uint64_t i) { return *data.load<float>(i * sizeof(float)); });
                   }});
  }
  if (at != file.size())
    return Error{weights::code::range,
                 weights::text("the checkpoint has ", file.size() - at, " bytes after its last tensor")};
  settle_classifier(out, classifier);
  return out;
}

std::vector<OutTensor> random_tensors(const Shape& shape, Elem dtype, Classifier classifier, uint64_t seed) {
  std::vector<OutTensor> out;
  for (const Part& part : parts(shape))
    if (part.name) out.push_back(random_tensor(part, shape, dtype, mixed(seed + out.size())));
  settle_classifier(out, classifier);
  return out;
}

std::map<std::string, std::string> model_metadata(const Shape& shape) {
  return {{"h", std::to_string(shape.kv_heads)},
          {"k", std::to_string(shape.head_size())},
          {"s", std::to_string(shape.sequence)},
          {"eps", "1e-5"},
          {"base", "10000"}};
}

}  // namespace axon::examples
