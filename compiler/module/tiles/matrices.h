// Instructions of a warp on matrices: ldmatrix and mma.
//
// In: copies from shared memory into operands, and products of these. Out: their code, with the registers
// that layouts say. Invariant: what an instruction gives a thread is what the tile's layout says that it has;
// a copy that no instruction makes is left to others.
#pragma once
#include "module/tiles/sweep.h"

namespace axon::module::tiles {

class Matrices {
 public:
  Matrices(Context& context, Registers& registers, Accesses& accesses)
      : c_(context), registers_(registers), accesses_(accesses) {}

  /// Emits the copy by instructions that load four 8 x 8 matrices; false, and nothing, where it is no such
  /// one.
  bool load(const tile::Op&, const tile::Copy&);
  void multiply(const tile::Gemm&);

 private:
  /// Where a register's 8 x 8 matrix begins in the source, by axis, in the first thread.
  struct Source {
    std::vector<Dim> start;
    bool is_turned = false;  ///< a thread has two rows of it, not two columns
  };
  std::optional<Source> source_of(const tile::Copy&, int64_t number);
  std::optional<std::vector<Source>> sources_of(const tile::Copy&);
  void load_four(const tile::Copy&, const std::vector<Source>&, int64_t first);
  static Substitution zeros_of(const std::vector<Var>& labels);
  Value* operand(TileId, int64_t element);

  Context& c_;
  Registers& registers_;
  Accesses& accesses_;
};

}  // namespace axon::module::tiles
