#include "fork_join.h"

#include <algorithm>

#include "level.h"

namespace axon::bench {

namespace {

const DecoderLoops& loops() {
  return level() == 4 ? v4::decoder_loops : level() == 3 ? v3::decoder_loops : v2::decoder_loops;
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
  const DecoderLoops& run = loops();
  std::fill(x_.begin(), x_.end(), 0.5f);
  const size_t cache = size(s_.positions * s_.heads * s_.head);
  const float* at = weights_;
  for (int64_t l = 0; l < s_.layers; ++l, at += layer_weights(s_))
    layer(at, &keys_[size(l) * cache], &values_[size(l) * cache], position);
  run.normalise(x_.data(), x_.data(), at, s_.width);
  run.multiply(logits_.data(), at + s_.width, x_.data(), s_.vocabulary, s_.width, threads_);
}

void ForkJoin::layer(const float* w, float* keys, float* values, int64_t position) {
  const DecoderLoops& run = loops();
  const int64_t d = s_.width, f = s_.hidden;
  const int64_t nq = s_.heads * s_.groups * s_.head, nk = s_.heads * s_.head;
  const auto next = [&](int64_t count) {
    const float* const here = w;
    w += count;
    return here;
  };
  run.normalise(y_.data(), x_.data(), next(d), d);
  run.multiply(q_.data(), next(d * nq), y_.data(), nq, d, threads_);
  run.multiply(k_.data(), next(d * nk), y_.data(), nk, d, threads_);
  run.multiply(v_.data(), next(d * nk), y_.data(), nk, d, threads_);
  run.rotate(q_.data(), nq, s_.head, position);
  run.rotate(k_.data(), nk, s_.head, position);
  std::copy(k_.begin(), k_.end(), keys + position * nk);
  std::copy(v_.begin(), v_.end(), values + position * nk);
  attend(keys, values, position);
  run.multiply(y_.data(), next(d * nq), a_.data(), d, nq, threads_);
  for (int64_t i = 0; i < d; ++i) x_[size(i)] += y_[size(i)];
  run.normalise(y_.data(), x_.data(), next(d), d);
  run.multiply(gate_.data(), next(d * f), y_.data(), f, d, threads_);
  run.multiply(up_.data(), next(d * f), y_.data(), f, d, threads_);
  run.gate(gate_.data(), up_.data(), f);
  run.multiply(y_.data(), next(d * f), gate_.data(), d, f, threads_);
  for (int64_t i = 0; i < d; ++i) x_[size(i)] += y_[size(i)];
}

void ForkJoin::attend(const float* keys, const float* values, int64_t position) {
  loops().attend(a_.data(), scores_.data(), q_.data(), keys, values,
                 {s_.heads, s_.groups, s_.head, s_.positions, position}, threads_);
}

}  // namespace axon::bench
