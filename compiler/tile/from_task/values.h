// The values of scalar expressions as tiles. Only from_task/ includes this.
//
// In: a scalar, and where it is wanted: for a block of elements, or for one point of the loops around. Out: a
// tile that has it, of the type that it is computed in. Invariant: a value that does not change along a block
// is computed once, before the block's loop; loads, values of narrower types and values that are kept have
// tiles of their own; all else is part of the map that needs it.
#pragma once
#include "tile/from_task/value_places.h"

namespace axon::tile {

inline constexpr size_t most_exprs = 800;  ///< of a map

class ValueMaker : protected ValuePlaces {
 protected:
  using ValuePlaces::ValuePlaces;
  virtual ~ValueMaker() = default;

  Use value(ScalarId, const BlockPlace&);
  /// As if a choice had these facts: a load that they keep inside of its axis has 0 elsewhere.
  Use value_where(const std::vector<Fact>&, ScalarId, const BlockPlace&);
  /// What the store of an output takes: it narrows by itself.
  Use stored_value(ScalarId, const BlockPlace&);
  uint32_t expr(Map&, std::map<ScalarId, uint32_t>& known, ScalarId, const BlockPlace&);
  uint32_t converted(Map&, uint32_t from, Elem to);
  /// Where a tensor's elements lie that a load reads in a place, whose indices are affine or numbers that are
  /// had before (`index_numbers_`). Throws Declined.
  Access access_to(ScalarId load, const BlockPlace&);
  /// Values of a block are those of one statement, or of all that have the same block and nothing else.
  void begin_statement(const BlockPlace&);
  void forget_block() { block_at_hand_.reset(); }
  /// What a statement has kept, later ones may read.
  void end_statement();
  /// What a load of a reduction's result has at an index.
  virtual Use result_at(ScalarId, const BlockPlace&);
  /// A reduction that is part of an expression.
  virtual Use reduced_there(ScalarId, const BlockPlace&);
  /// Values of the block at hand that are computed already.
  struct Remembered {
    std::map<ScalarId, Use> in_block, checked;
  };
  Remembered remembered() const { return {in_block_, checked_}; }
  void forget_all_but(const Remembered& those) {
    in_block_ = those.in_block;
    checked_ = those.checked;
  }

  /// Where a block's loop, and the reductions around, have elements: what is checked before, is there.
  std::vector<Fact> before_facts_;
  std::map<ScalarId, TileId> kept_;  ///< costly values in scratch
  std::map<ScalarId, Use> index_numbers_;
  std::vector<Fact> check_facts_;  ///< where what is being emitted is checked

 private:
  Use value_before(ScalarId, const BlockPlace&);
  Use of_rows(ScalarId);
  Use of_columns(ScalarId, const BlockPlace&);
  Use of_point(ScalarId, const BlockPlace&);
  Use computed(ScalarId, const BlockPlace&);
  LayoutId fewest_lanes(const Map&) const;
  Use kept(ScalarId, const BlockPlace&);
  Use loaded(ScalarId load, const BlockPlace&);
  std::optional<Access> access_by_domain(ScalarId load, const BlockPlace&);
  Use copied_from(const Access&, const BlockPlace&, std::optional<Number> fill = {});
  /// Where a load's element lies: the indices that the data decides are tiles. `any` gets a variable of each.
  /// `may_leave`: indices that may leave their axes are tiles, too.
  std::vector<Dim> affine_indices(const graph::Scalar& load, bool may_leave, std::vector<Fact>& any) const;
  void index_by_tiles(Access&, const graph::Scalar& load, bool may_leave, const BlockPlace&);
  bool is_by_tile(const graph::Scalar& load, size_t axis, bool may_leave) const;
  // ---- checks (checks.cpp) ----
  /// The value, which is checked where the conditions around have let it be evaluated.
  Use bounded(ScalarId, const BlockPlace&);
  void require(ScalarId, const BlockPlace&);
  /// The value of the last expression is true, or a condition around keeps the check from being evaluated.
  Use truth(Map holds, const BlockPlace&);
  void check(Check, const BlockPlace&);
  uint32_t argument(Map&, std::map<ScalarId, uint32_t>& known, const graph::Scalar&, size_t arg,
                    const BlockPlace&);
  bool is_turned(ScalarId load, const BlockPlace&) const;
  Use narrowed(ScalarId cast, const BlockPlace&);
  uint32_t operand(Map&, const Use&);
  uint32_t choice(Map&, std::map<ScalarId, uint32_t>& known, const graph::Scalar&, const BlockPlace&);
  bool has_tile(ScalarId, const BlockPlace&) const;
  std::optional<Expr> leaf(ScalarId, const BlockPlace&) const;
  std::optional<Access> access_to_box(ScalarId load, bool may_leave, const BlockPlace&);

  std::map<ScalarId, Use> checked_;  ///< numbers with checks, before the block of the statement at hand
  std::map<ScalarId, Use> in_block_;
  std::optional<BlockPlace> block_at_hand_;
  std::set<ScalarId> written_, written_here_;  ///< kept by an earlier statement; by the one at hand
  std::optional<ScalarId> computing_;          ///< what the map at hand computes
};

}  // namespace axon::tile
