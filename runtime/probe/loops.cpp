// See loops.h. AXON_PROBE_LEVEL: v2, v3 or v4, the level that this is compiled for.
#include "probe/loops.h"

#include <utility>

namespace axon::probe {

namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64, accumulators = 16;
#elif defined(__AVX__)
constexpr int vector_bytes = 32, accumulators = 12;  // of 16 registers
#else
constexpr int vector_bytes = 16, accumulators = 12;
#endif
constexpr size_t lanes = vector_bytes / sizeof(float);
typedef float V __attribute__((vector_size(vector_bytes), aligned(4)));

void keep(const V& value) { asm volatile("" : : "m"(value)); }

template <size_t... i>
void multiply_adds_in(int64_t rounds, std::index_sequence<i...>) {
  V sums[] = {(V{} + static_cast<float>(i))...};
  const V factor = V{} + 0.5f;
  for (int64_t round = 0; round < rounds; ++round) ((sums[i] = sums[i] * factor + factor), ...);
  (keep(sums[i]), ...);
}

/// From `places` places at once, each its part of the whole.
template <size_t places, size_t... i>
void read_in(const float* from, size_t count, std::index_sequence<i...>) {
  V sums[places][sizeof...(i)] = {};
  constexpr size_t step = lanes * sizeof...(i);
  const size_t part = count / places;
  for (size_t at = 0; at + step <= part; at += step)
    for (size_t place = 0; place < places; ++place)
      ((sums[place][i] += *reinterpret_cast<const V*>(from + place * part + at + lanes * i)), ...);
  for (size_t place = 0; place < places; ++place) (keep(sums[place][i]), ...);
}

void multiply_adds(int64_t rounds) { multiply_adds_in(rounds, std::make_index_sequence<accumulators>()); }
void read_all(const float* from, size_t count) { read_in<1>(from, count, std::make_index_sequence<8>()); }
void read_both(const float* from, size_t count) { read_in<2>(from, count, std::make_index_sequence<4>()); }

}  // namespace

const Loops AXON_PROBE_LEVEL::loops = {
    static_cast<int64_t>(lanes) * accumulators, multiply_adds, {read_all, read_both}};

}  // namespace axon::probe
