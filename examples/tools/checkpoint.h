// The llama2.c checkpoint format, and the same tensors under the names and layouts of this repository's
// model record.
//
// In: seven little-endian int32 (dim, hidden, layers, heads, key-value heads, vocabulary, sequence), then
// float32 tensors, each for all layers together, every matrix row-major [out][in]; a negative vocabulary
// announces a classifier of its own at the end. Out: tensors to write, every projection [in, out]. The file
// is not trusted: sizes must be positive, fit together and add up to the length of the file exactly.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "host/weights/tensor_file.h"

namespace axon::examples {

struct Shape {
  uint64_t dim = 0, hidden = 0, layers = 0, heads = 0, kv_heads = 0, vocabulary = 0, sequence = 0;
  bool own_classifier = false;  ///< otherwise the embedding is the classifier, too

  uint64_t head_size() const { return dim / heads; }
};

/// The seven numbers as the file has them.
weights::Result<Shape> shape_from_header(std::span<const int64_t, 7>);

/// Whether a classifier is written; `always` repeats the embedding when the file has none of its own.
enum class Classifier { always, never };

/// The checkpoint's tensors; they read from `file` when they are written.
weights::Result<std::vector<weights::OutTensor>> checkpoint_tensors(weights::Bytes file, Elem, Classifier,
                                                                    Shape& shape);
/// Random tensors of any shape: uniform with deviation 1 / sqrt(inputs), norms 1; a function of shape and
/// seed only.
std::vector<weights::OutTensor> random_tensors(const Shape&, Elem, Classifier, uint64_t seed);

/// What the shapes do not tell: h, k, s, eps, base.
std::map<std::string, std::string> model_metadata(const Shape&);

}  // namespace axon::examples
