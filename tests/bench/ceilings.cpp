#include "ceilings.h"

#include <utility>

namespace axon::bench {

typedef float V __attribute__((vector_size(64), aligned(4)));

namespace {

void keep(const V& value) { asm volatile("" : : "m"(value)); }

template <size_t... i>
void multiply_adds_in(int64_t rounds, std::index_sequence<i...>) {
  V sums[] = {(V{} + static_cast<float>(i))...};
  const V factor = V{} + 0.5f;
  for (int64_t round = 0; round < rounds; ++round) ((sums[i] = sums[i] * factor + factor), ...);
  (keep(sums[i]), ...);
}

template <size_t... i>
void read_in(const float* from, size_t count, std::index_sequence<i...>) {
  V sums[sizeof...(i)] = {};
  constexpr size_t step = 16 * sizeof...(i);
  for (size_t at = 0; at + step <= count; at += step)
    ((sums[i] += *reinterpret_cast<const V*>(from + at + 16 * i)), ...);
  (keep(sums[i]), ...);
}

}  // namespace

void multiply_adds(int64_t rounds) { multiply_adds_in(rounds, std::make_index_sequence<16>()); }
void read_all(const float* from, size_t count) { read_in(from, count, std::make_index_sequence<8>()); }

}  // namespace axon::bench
