#include "fork_join.h"

#include <omp.h>

#include <algorithm>
#include <cmath>

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
  const float by = 1.0f / std::sqrt(sum / static_cast<float>(n) + 1e-5f);
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] * by * scale[i];
}

/// Rotates adjacent pairs of every head.
void rotate(float* x, int64_t n, int64_t head, int64_t position) {
  for (int64_t i = 0; i < n; i += 2) {
    const float angle = static_cast<float>(position) *
                        std::pow(10000.0f, -static_cast<float>(i % head) / static_cast<float>(head));
    const float c = std::cos(angle), s = std::sin(angle), a = x[i], b = x[i + 1];
    x[i] = a * c - b * s;
    x[i + 1] = a * s + b * c;
  }
}

size_t size(int64_t n) { return static_cast<size_t>(n); }

int64_t layer_weights(const DecoderShape& s) {
  const int64_t queries = s.heads * s.groups * s.head, keys = s.heads * s.head;
  return 2 * s.width + 2 * s.width * queries + 2 * s.width * keys + 3 * s.width * s.hidden;
}

}  // namespace

size_t ForkJoin::weights_read(const DecoderShape& s) {
  return size(s.layers * layer_weights(s) + s.width + s.width * s.vocabulary);
}

ForkJoin::ForkJoin(const DecoderShape& s, const float* weights, int threads)
    : s_(s),
      weights_(weights),
      threads_(threads),
      x_(size(s.width), 0.5f),
      y_(size(s.width)),
      q_(size(s.heads * s.groups * s.head)),
      k_(size(s.heads * s.head)),
      v_(size(s.heads * s.head)),
      a_(size(s.heads * s.groups * s.head)),
      gate_(size(s.hidden)),
      up_(size(s.hidden)),
      logits_(size(s.vocabulary)),
      keys_(size(s.layers * s.positions * s.heads * s.head)),
      values_(keys_.size()),
      scores_(size(s.heads * s.groups * s.positions)) {}

void ForkJoin::decode(int64_t position) {
  std::fill(x_.begin(), x_.end(), 0.5f);
  const size_t cache = size(s_.positions * s_.heads * s_.head);
  const float* at = weights_;
  for (int64_t l = 0; l < s_.layers; ++l, at += layer_weights(s_))
    layer(at, &keys_[size(l) * cache], &values_[size(l) * cache], position);
  normalise(x_.data(), x_.data(), at, s_.width);
  multiply(logits_.data(), at + s_.width, x_.data(), s_.vocabulary, s_.width, threads_);
}

void ForkJoin::layer(const float* w, float* keys, float* values, int64_t position) {
  const int64_t d = s_.width, f = s_.hidden;
  const int64_t nq = s_.heads * s_.groups * s_.head, nk = s_.heads * s_.head;
  const auto next = [&](int64_t count) {
    const float* const here = w;
    w += count;
    return here;
  };
  normalise(y_.data(), x_.data(), next(d), d);
  multiply(q_.data(), next(d * nq), y_.data(), nq, d, threads_);
  multiply(k_.data(), next(d * nk), y_.data(), nk, d, threads_);
  multiply(v_.data(), next(d * nk), y_.data(), nk, d, threads_);
  rotate(q_.data(), nq, s_.head, position);
  rotate(k_.data(), nk, s_.head, position);
  std::copy(k_.begin(), k_.end(), keys + position * nk);
  std::copy(v_.begin(), v_.end(), values + position * nk);
  attend(keys, values, position);
  multiply(y_.data(), next(d * nq), a_.data(), d, nq, threads_);
  for (int64_t i = 0; i < d; ++i) x_[size(i)] += y_[size(i)];
  normalise(y_.data(), x_.data(), next(d), d);
  multiply(gate_.data(), next(d * f), y_.data(), f, d, threads_);
  multiply(up_.data(), next(d * f), y_.data(), f, d, threads_);
  for (int64_t i = 0; i < f; ++i) gate_[size(i)] *= up_[size(i)] / (1.0f + std::exp(-gate_[size(i)]));
  multiply(y_.data(), next(d * f), gate_.data(), d, f, threads_);
  for (int64_t i = 0; i < d; ++i) x_[size(i)] += y_[size(i)];
}

void ForkJoin::attend(const float* keys, const float* values, int64_t position) {
  const int64_t nk = s_.heads * s_.head;
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (int64_t h = 0; h < s_.heads * s_.groups; ++h) {
    const float* const q = &q_[size(h * s_.head)];
    const int64_t offset = h / s_.groups * s_.head;
    float* const scores = &scores_[size(h * s_.positions)];
    float most = -1e30f, total = 0;
    for (int64_t t = 0; t <= position; ++t) {
      float sum = 0;
      for (int64_t i = 0; i < s_.head; ++i) sum += q[i] * keys[t * nk + offset + i];
      scores[t] = sum / std::sqrt(static_cast<float>(s_.head));
      most = std::max(most, scores[t]);
    }
    for (int64_t t = 0; t <= position; ++t) total += scores[t] = std::exp(scores[t] - most);
    float* const out = &a_[size(h * s_.head)];
    std::fill_n(out, s_.head, 0.0f);
    for (int64_t t = 0; t <= position; ++t)
      for (int64_t i = 0; i < s_.head; ++i) out[i] += scores[t] / total * values[t * nk + offset + i];
  }
}

}  // namespace axon::bench
