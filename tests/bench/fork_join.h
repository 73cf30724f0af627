// The rival: decoding as a plain C program does it. One loop per operation, the rows of every matrix shared
// out among OpenMP threads, which join after each; fast-math; weights stored [out][in] one after the other.
// Only its time counts: it reads any memory of the right length as weights.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace axon::bench {

/// A Llama-style decoder: query heads share key-value heads in groups.
struct DecoderShape {
  int64_t layers, width, hidden, heads, groups, head, vocabulary, positions;
};

class ForkJoin {
 public:
  ForkJoin(const DecoderShape&, const float* weights, int threads);
  static size_t weights_read(const DecoderShape&);  ///< floats per token
  void decode(int64_t position);

 private:
  void layer(const float* weights, float* keys, float* values, int64_t position);
  void attend(const float* keys, const float* values, int64_t position);

  const DecoderShape s_;
  const float* weights_;
  const int threads_;
  std::vector<float> x_, y_, q_, k_, v_, a_, gate_, up_, logits_, keys_, values_, scores_;
};

}  // namespace axon::bench
