// See semantics.h: `mma` and `ldmatrix`, with the fragments that the PTX ISA documents.
#include <cmath>
#include <cstring>

#include "emulator/engine.h"
#include "emulator/floats.h"
#include "emulator/semantics.h"

namespace axon::emulator {

namespace {

constexpr uint32_t all_lanes = 0xffffffff;

float element(uint64_t word, uint32_t half, bool bf16) {
  const auto bits = static_cast<uint16_t>(word >> (16 * half));
  return bf16 ? from_bf16(bits) : from_f16(bits);
}

/// 16 x K by K x 8. Lane 4 g + t has of A the rows g and g + 8, of B and the accumulators the columns that
/// follow from t: two neighbours of 16 bits in each register, 8 columns of A or rows of B further in the next
/// ones.
template <uint32_t depth, bool bf16>
void multiply(const Lanes& lanes) {
  constexpr uint32_t a_registers = depth / 4, b_registers = depth / 8;
  float a[16][depth], b[depth][8];
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint64_t* values = lanes.values(lane);
    const uint32_t g = lane / 4, t = lane % 4;
    for (uint32_t r = 0; r < a_registers; ++r)
      for (uint32_t half = 0; half < 2; ++half)
        a[g + 8 * (r % 2)][2 * t + half + 8 * (r / 2)] = element(values[r], half, bf16);
    for (uint32_t r = 0; r < b_registers; ++r)
      for (uint32_t half = 0; half < 2; ++half)
        b[2 * t + half + 8 * r][g] = element(values[a_registers + r], half, bf16);
  }
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint64_t* values = lanes.values(lane);
    const uint32_t g = lane / 4, t = lane % 4;
    for (uint32_t r = 0; r < 4; ++r) {
      const uint32_t row = g + 8 * (r / 2), column = 2 * t + r % 2;
      double sum = to_float(values[a_registers + b_registers + r]);
      for (uint32_t k = 0; k < depth; ++k) sum += static_cast<double>(a[row][k]) * b[k][column];
      values[r] = to_word(static_cast<float>(sum));
    }
  }
}

/// Lanes 8 m to 8 m + 7 have the addresses of the rows of matrix m. Lane 4 g + t gets elements 2 t and 2 t +
/// 1 of row g, or, transposed, element g of rows 2 t and 2 t + 1.
void load(const Lanes& lanes) {
  const auto matrices = static_cast<uint32_t>(lanes.parameter % transposed);
  uint16_t rows[4][8][8];
  for (uint32_t row = 0; row < 8 * matrices; ++row)
    std::memcpy(rows[row / 8][row % 8], reinterpret_cast<const void*>(lanes.values(row)[0]),
                sizeof rows[0][0]);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t m = 0; m < matrices; ++m) {
      const uint32_t g = lane / 4, t = lane % 4;
      const bool turned = lanes.parameter >= transposed;
      const uint32_t low = turned ? rows[m][2 * t][g] : rows[m][g][2 * t];
      const uint32_t high = turned ? rows[m][2 * t + 1][g] : rows[m][g][2 * t + 1];
      lanes.values(lane)[m] = low | high << 16;
    }
}

}  // namespace

void multiply_tiles(const Call& call) {
  const Collectives::Finish finish[] = {multiply<16, true>, multiply<8, true>, multiply<16, false>};
  call.engine.collectives().meet(call.self, all_lanes, call.values, call.site, /*aligned=*/true,
                                 finish[call.parameter]);
}

void load_matrices(const Call& call) {
  constexpr uint64_t row_bytes = 16;
  const auto rows = static_cast<uint32_t>(8 * (call.parameter % transposed));
  if (call.engine.checks() && call.self.lane() < rows)
    call.engine.check(call.self, {.address = call.values[0],
                                  .bytes = row_bytes,
                                  .align = row_bytes,
                                  .site = call.site,
                                  .space = Touch::Space::shared});
  call.engine.collectives().meet(call.self, all_lanes, call.values, call.site, /*aligned=*/true, load);
}

}  // namespace axon::emulator
