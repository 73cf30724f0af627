// See level.h. AXON_BENCH_LEVEL: v2, v3 or v4, the level that this is compiled for.
#include <math.h>
#include <omp.h>

#include "level.h"

namespace axon::bench {

namespace {

/// out[rows] = w[rows][columns] x[columns]
void multiply(float* out, const float* w, const float* x, int64_t rows, int64_t columns, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < rows; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < columns; ++j) sum += w[i * columns + j] * x[j];
    out[i] = sum;
  }
}

void normalise(float* out, const float* x, const float* scale, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] * x[i];
  const float by = 1.0f / sqrtf(sum / static_cast<float>(n) + 1e-5f);
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] * by * scale[i];
}

/// Rotates adjacent pairs of every head.
void rotate(float* x, int64_t n, int64_t head, int64_t position) {
  for (int64_t i = 0; i < n; i += 2) {
    const float angle = static_cast<float>(position) *
                        powf(10000.0f, -static_cast<float>(i % head) / static_cast<float>(head));
    const float c = cosf(angle), s = sinf(angle), a = x[i], b = x[i + 1];
    x[i] = a * c - b * s;
    x[i + 1] = a * s + b * c;
  }
}

void gate(float* gate, const float* up, int64_t n) {
  for (int64_t i = 0; i < n; ++i) gate[i] *= up[i] / (1.0f + expf(-gate[i]));
}

void attend(float* out_of_all, float* scores_of_all, const float* queries, const float* keys,
            const float* values, const Attention& a, int threads) {
  const int64_t nk = a.heads * a.head;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t h = 0; h < a.heads * a.groups; ++h) {
    const float* const q = queries + h * a.head;
    const int64_t offset = h / a.groups * a.head;
    float* const scores = scores_of_all + h * a.positions;
    float most = -1e30f, total = 0;
    for (int64_t t = 0; t <= a.position; ++t) {
      float sum = 0;
      for (int64_t i = 0; i < a.head; ++i) sum += q[i] * keys[t * nk + offset + i];
      scores[t] = sum / sqrtf(static_cast<float>(a.head));
      most = scores[t] > most ? scores[t] : most;
    }
    for (int64_t t = 0; t <= a.position; ++t) total += scores[t] = expf(scores[t] - most);
    float* const out = out_of_all + h * a.head;
    for (int64_t i = 0; i < a.head; ++i) out[i] = 0;
    for (int64_t t = 0; t <= a.position; ++t)
      for (int64_t i = 0; i < a.head; ++i) out[i] += scores[t] / total * values[t * nk + offset + i];
  }
}

}  // namespace

const DecoderLoops AXON_BENCH_LEVEL::decoder_loops = {multiply, normalise, rotate, gate, attend};

}  // namespace axon::bench
