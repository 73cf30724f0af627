// Operands of instructions as layouts: what a tile has to be a tiling of for an instruction to take it.
//
// In: names, `mma.m16n8k16.acc`, by instruction and operand. Out: the shape of the operand and where each
// element is. `lane` and `warp` (in a warpgroup) count threads, `m` 32-bit registers or, of tiles in shared
// memory, elements, and `v` the lanes of a vector, or the halves of a register. Invariant: the numbers are
// those of the PTX ISA's tables, which the tests state by its formulas per lane; all are below 1,024, so
// atoms belong to every arena of sizes (shape/arena.h).
//
// Operands a and b of mma and wgmma have 16-bit elements, accumulators 32-bit ones. Rows come before columns;
// of b, which is k x n, k comes first.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/elem.h"
#include "layout/layout.h"
#include "layout/swizzle.h"
#include "layout/tile.h"

namespace axon::layout {

struct Atom {
  std::string name;
  Shaped operand;
};

/// mma.m16n8k16 and m16n8k8: a, b, acc. wgmma.m64n{8..256}k16: a (from registers), acc. ldmatrix and stmatrix
/// .x{1,2,4}, also .trans: `registers` of x matrices of 8 x 8, and `rows`, the lane that gives the address of
/// each of their rows, of which the 8 elements lie in one piece. vector.{128,256,512}.{f64,f32,f16,bf16,i8}.
const std::vector<Atom>& atoms();
/// nullopt where none is called so.
const Atom* find_atom(std::string_view name);

/// rows x (vectors * lanes) elements in vectors of so many bits, one register each: a tiling of the atom.
Shaped register_tile(int64_t bits, base::Elem, int64_t rows, int64_t vectors);

/// Eight rows of 32, 64 or 128 bytes in shared memory as wgmma and TMA read and write them.
Swizzled swizzled_rows(int64_t row_bytes, int64_t element_bytes);

}  // namespace axon::layout
