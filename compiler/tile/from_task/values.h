// The values of scalar expressions as tiles. Only from_task/ includes this.
//
// In: a scalar, and where it is wanted: for a block of elements, or for one point of the loops around. Out: a
// tile that has it, of the type that it is computed in. Invariant: a value that does not change along a block
// is computed once, before the block's loop; loads, values of narrower types and values that are kept have
// tiles of their own; all else is part of the map that needs it.
#pragma once
#include "tile/from_task/frame.h"

namespace axon::tile {

inline constexpr size_t most_exprs = 800;  ///< of a map

class ValueMaker : protected ProgramFrame {
 protected:
  using ProgramFrame::ProgramFrame;
  virtual ~ValueMaker() = default;

  Use value(ScalarId, const BlockPlace&);
  /// As if a choice had these facts: a load that they keep inside of its axis has 0 elsewhere.
  Use value_where(const std::vector<Fact>&, ScalarId, const BlockPlace&);
  /// What the store of an output takes: it narrows by itself.
  Use stored_value(ScalarId, const BlockPlace&);
  uint32_t expr(Map&, std::map<ScalarId, uint32_t>& known, ScalarId, const BlockPlace&);
  uint32_t converted(Map&, uint32_t from, Elem to);
  /// The tensor of an access: each box of a buffer that is used is one.
  TensorId tensor_for(task::BufferId, const std::vector<Dim>& index, const BlockPlace&, bool write);
  /// Where a tensor's elements lie that a load reads in a place, whose indices are affine or numbers that are
  /// had before (`index_numbers_`). Throws Declined.
  Access access_to(ScalarId load, const BlockPlace&);
  /// Where the element of an output lies that is stored in a place.
  Access access_to_output(uint32_t output, const BlockPlace&);
  /// Values of a block are those of one statement, or of all that have the same block and nothing else.
  void begin_statement(const BlockPlace&);
  void forget_block() { block_at_hand_.reset(); }
  /// Is it a check, or is a part of it one?
  bool has_checks(ScalarId) const;
  /// Is every index of the load inside of its axis where the facts hold, over variables of the graph?
  bool in_range(ScalarId load, const std::vector<Fact>& facts) const;
  /// What a statement has kept, later ones may read.
  void end_statement();
  /// What a load of a reduction's result has at an index.
  virtual Use result_at(ScalarId, const BlockPlace&);
  /// A reduction that is part of an expression.
  virtual Use reduced_there(ScalarId, const BlockPlace&);
  /// Does a choice decide whether what is being emitted is evaluated?
  bool is_conditional() const { return !arms_.empty() || !conditions_.empty(); }
  /// Can all that it loads be read at every point of the loops around?
  bool can_be_read(ScalarId id) const { return can_be_read(id, around_, true); }
  /// The same where these variables have no values.
  bool loads_stand_before(ScalarId, const std::vector<Var>& inside, bool has_results) const;
  /// Values of the block at hand that are computed already.
  struct Remembered {
    std::map<ScalarId, Use> in_block, checked;
  };
  Remembered remembered() const { return {in_block_, checked_}; }
  void forget_all_but(const Remembered& those) {
    in_block_ = those.in_block;
    checked_ = those.checked;
  }

  /// What is had of the rows at once, whose loop is around.
  BlockPlace place_of_rows() const;
  /// What all of them have of the block.
  BlockPlace columns_of(const BlockPlace&) const;

  std::vector<TileId> results_;  ///< of the reductions: numbers, of rows at once, or blocks
  Stretch at_once_;              ///< of which rows are had at once
  Dim row_base_;                 ///< the first of these
  /// Where a block's loop, and the reductions around, have elements: what is checked before, is there.
  std::vector<Fact> before_facts_;
  bool may_check_before_ = true;     ///< do facts say where that is?
  std::map<ScalarId, TileId> kept_;  ///< costly values in scratch
  std::map<ScalarId, Use> index_numbers_;
  /// What of the conditions of choices decides that what is being emitted is evaluated, and with which value.
  /// Only where it has checks.
  std::vector<std::pair<ScalarId, bool>> conditions_;
  std::vector<Fact> check_facts_;  ///< where what is being emitted is checked
  std::vector<Var> binders_;       ///< of the reductions around, which each lane has for itself

 private:
  Use value_before(ScalarId, const BlockPlace&);
  Use of_rows(ScalarId);
  Use of_columns(ScalarId, const BlockPlace&);
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
  bool is_on_axis(const Dim& index, const Dim& extent, const std::vector<Fact>&) const;
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
  bool is_number(uint32_t result) const { return out_.tiles[results_[result]].shape.empty(); }
  size_t written_size(ScalarId) const;
  bool is_large(ScalarId) const;
  bool has_tile(ScalarId, const BlockPlace&) const;
  std::optional<Expr> leaf(ScalarId, const BlockPlace&) const;
  bool is_outside_of_blocks(ScalarId, const BlockPlace&) const;
  bool is_of_rows(ScalarId, const BlockPlace&) const;
  bool is_of_columns(ScalarId, const BlockPlace&) const;
  bool is_of_point(ScalarId, const BlockPlace&) const;
  bool can_be_read(ScalarId, const std::vector<Fact>&, bool has_results) const;
  bool can_stand_before(ScalarId, const std::vector<Var>& inside, bool has_results) const;
  std::vector<uint32_t> boxes_of(task::BufferId, bool write) const;
  /// What is known where the place has elements.
  std::vector<Fact> facts_at(const BlockPlace&) const;
  /// Is it to be looked whether a box holds the element, since the verifier may not show it?
  bool is_hard(task::BufferId, const std::vector<Dim>& index) const;
  /// A box that holds the element wherever the place's bounds do.
  std::optional<uint32_t> box_around(task::BufferId, const std::vector<Dim>& index, const BlockPlace&,
                                     bool write) const;
  std::optional<Access> unmerged(uint32_t output, const BlockPlace&);
  std::optional<Access> unsplit(uint32_t output, const BlockPlace&);
  std::vector<bool> may_leave_axes(const std::vector<Dim>& at, const std::vector<Dim>& shape) const;
  std::optional<Access> updated(const graph::Scalar& load, const BlockPlace&);
  std::optional<Access> unmerged(const graph::Scalar& load, const BlockPlace&);
  std::optional<Access> access_to_box(ScalarId load, bool may_leave, const BlockPlace&);
  TensorId box_alone(uint32_t access, const std::vector<bool>& begins_there);
  TensorId add_tensor(task::BufferId, Tensor);
  TensorId own_tensor(uint32_t access, Tensor);
  bool is_of_sizes(const Dim&) const;
  Box box_of(uint32_t access) const;
  bool may_widen(task::BufferId) const;
  bool may_ask_for_all(task::BufferId) const;
  bool has_slots(task::BufferId) const;
  TensorId widened(uint32_t access);
  void check_box(TensorId, task::BufferId, const std::vector<Dim>& index, const BlockPlace&);
  TensorId declare(uint32_t access);
  bool reads_before_stores(task::BufferId) const;
  bool is_updated(task::BufferId) const;

  std::map<uint32_t, TensorId> tensors_;   ///< by access of the type
  std::map<uint32_t, TensorId> unmerged_;  ///< the same of those that have the domain's axes
  std::map<std::pair<uint32_t, std::vector<bool>>, TensorId> boxes_alone_;
  std::vector<Fact> arms_;  ///< of the graph's indices, what holds by the choices whose arm is being emitted
  std::map<ScalarId, Use> checked_;  ///< numbers with checks, before the block of the statement at hand
  mutable std::map<ScalarId, bool> has_checks_;
  mutable std::map<ScalarId, size_t> written_sizes_;
  std::map<ScalarId, Use> in_block_;
  std::optional<BlockPlace> block_at_hand_;
  std::set<ScalarId> written_, written_here_;  ///< kept by an earlier statement; by the one at hand
  std::optional<ScalarId> computing_;          ///< what the map at hand computes
};

}  // namespace axon::tile
