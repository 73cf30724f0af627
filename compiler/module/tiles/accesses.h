// Elements of tensors and of tiles, read and written a vector at a time.
//
// In: an access, and what labels are in each lane. Out: values in the type that the element type is computed
// in. Lanes next to each other are one access, equal ones a broadcast, all others are scalars. Invariant:
// what a mask leaves out is not touched: another address takes its place, a masked access, or accesses of
// halves, quarters, ... of the vector.
#pragma once
#include "module/tiles/registers.h"

namespace axon::module::tiles {

class Accesses {
 public:
  Accesses(Context& context, Registers& registers) : c_(context), registers_(registers) {}

  Elem elem_of(const tile::Access&) const;
  /// Of a tile, in the type that its elements are computed in.
  Value* read(const tile::Use&, const Lanes&);
  /// The elements where the facts hold; others are undefined. `good`: where index tiles have indices of the
  /// axes; elsewhere there is some number.
  struct Found {
    Value* value;
    Mask inside;
    Mask good = {};
  };
  /// `any_outside`: elements outside of the bounds may have any value.
  Found read(const tile::Access&, const std::vector<Fact>&, const Lanes&, bool any_outside = false);
  /// The values where the masks hold, else the fill.
  Value* filled(const Found&, const std::optional<tile::Number>& fill, Elem, unsigned lanes);

  /// Where lanes lie in memory.
  struct Spot {
    Elem elem = Elem::f32;
    Value* base = nullptr;
    uint32_t region = 0;
    std::vector<Dim> offsets;  ///< in elements, of each lane
    Mask inside;
    std::optional<layout::Swizzle> swizzle = std::nullopt;  ///< of the offsets
    bool is_scratch = false;
  };
  Spot spot(const tile::Access&, const std::vector<Fact>&, const Lanes&, bool any_outside = false);
  /// The same spot where no quotient in its offsets changes from lane to lane, and what must not be negative
  /// for that (quotients.h); nullopt where there are none. Elsewhere a loop goes through the lanes: divisions
  /// of each would be long code, which is seldom run.
  struct Run {
    Spot spot;
    std::vector<Dim> conditions;
    Var lane;
    std::optional<Dim> offset;  ///< in a lane, where they go through neighbouring indices
  };
  std::optional<Run> run_of(const tile::Access&, const Spot&, const Lanes&);
  /// write() of a spot, by a loop where the run has the lanes' offset.
  void write_by_lane(const Run&, const Spot&, Value* computed);
  /// Of the first lane.
  Value* address(const Spot& at) { return pointer(at, at.offsets[0]); }
  /// Asks for all lines, where the elements are read soon but not next.
  void prefetch(const tile::Prefetch&);
  /// Of what goes along a product: the lines of one step of the depth.
  void prefetch_step(const tile::Prefetch&, const Dim& step);
  void write(const Spot&, Value* computed, bool past_caches = false);
  Value* read(const Spot&);
  /// Are all lanes next to each other, in order?
  static bool are_next(const Spot&);
  /// Whether the address lets a whole vector be stored past the caches; null where it never does.
  Value* is_aligned(const Spot&);

 private:
  using Indices = std::vector<std::vector<Dim>>;  ///< of each lane
  void prefetch_line(Value* address);
  void prefetch_lines(const tile::Prefetch&, const Substitution& known);
  Found read_tile(TileId, const Indices&, const Lanes&);
  Lanes in_place(const tile::Access&, const Lanes&) const;
  /// What each lane reads, or stores: elements of `inside` may be touched. Of an index tile, `good` says
  /// which lanes have an index of the axis; others have the first one, where there is one.
  Indices indices(const tile::Access&, const Lanes&, Mask& inside, Mask& good);
  /// Where tables say another index for each lane: all lanes' places are computed together. nullopt
  /// elsewhere.
  std::optional<Found> gathered(const tile::Access&, const std::vector<Fact>&, const Lanes&);
  Value* from_table(const tile::Index&, const Dim& extent, const Lanes&, Mask& good);
  Value* load_each(const Spot&, Value* offsets);
  /// The same where they are likely to be neighbours: then one load takes them.
  Value* load_run_or_each(const Spot&, Value* offsets);
  Dim from_table(const tile::Use&, const Dim& dim, const Dim& extent, const Lanes&, Value*& good);
  Spot spot_at(tile::TensorId, TileId, const Indices&);
  Value* pointer(const Spot&, const Dim& offset);
  Value* load(const Spot&);
  Value* load_in_run(const tile::Access&, const Spot&, const Lanes&);
  void each_lane(const Run&, const Spot&, Value* elsewhere,
                 const std::function<void(Value* place, Value* lane)>& body);
  bool can_reverse(const Spot&, const std::vector<int64_t>& steps) const;
  Spot reversed(const Spot&);
  Value* load_stepped(const Spot&, int64_t step);
  Value* load_where(Value* condition, const Spot&, Value* p, llvm::Type*, llvm::Align);
  Value* load_one(const Spot&, const Dim& offset, Value* condition);
  void store_one(const Spot&, const Dim& offset, Value* stored, Value* condition);
  /// Of the lanes before `end` those that are stored, or read, in halves, quarters, ...
  void store_first(const Spot&, Value* stored, Value* end);
  Value* load_first(const Spot&, Value* end);
  Value* part(const Spot&, Value* begin);
  Value* end_of(const Spot&);
  bool has_masked(const Spot&) const;
  bool are_together(const Spot&) const;
  llvm::Align align_of(const Spot&) const;
  Value* read_elsewhere();
  Value* written_elsewhere();

  Context& c_;
  Registers& registers_;
  struct Place {
    std::vector<Var> index;
    Dim offset;
  };
  std::map<uint64_t, Place> places_;  ///< of tensors and scratch tiles
  llvm::AllocaInst* written_elsewhere_ = nullptr;
};

}  // namespace axon::module::tiles
