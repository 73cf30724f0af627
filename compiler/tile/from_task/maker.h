// One tile program under construction. Only from_task.cpp and from_task/ include this.
//
// In: a form, and how the task's domain is cut. Out: tensors, tiles, operations. Invariant: where an
// operation is added, all variables that it mentions are sizes, coordinates, indices of loops around it, or
// labels.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tile/from_task.h"
#include "tile/from_task/row_form.h"

namespace axon::tile {

/// How many registers tiles take where most of them are in use.
int64_t registers_of(const Program&);

/// Where a map is the last to read a tile of the form of its result, the result gets that tile.
void reuse_tiles(Program&);

struct Declined {
  std::string why;
};

/// How a program is to be made.
struct Choices {
  int64_t registers_per_tile = 4;  ///< vectors that a block of elements takes
  bool keep_costly = false;        ///< in scratch, what a later statement computes again
};

class ProgramMaker {
 public:
  ProgramMaker(const task::Program&, task::TaskTypeId, graph::Graph&, const RowForm&, const Machine&,
               const Choices&);
  /// Throws Declined.
  MadeProgram run();
  /// Is something kept in scratch?
  bool keeps() const { return !kept_.empty(); }

 private:
  using ScalarId = graph::ScalarId;

  /// Along one axis: the elements first .. first + length, none of which are at or past `ends`.
  struct Stretch {
    Dim first, length;
    std::vector<Dim> ends;
  };
  /// What is computed for a whole block of elements, or for one point of the loops around.
  struct Place {
    bool is_block = false;
    // Of a block:
    Var along;  ///< the graph's variable
    Var label;  ///< of its elements, or of the columns
    std::optional<Var>
        across;  ///< of a block of rows and columns: the graph's variable that goes through rows
    Var row_label;
    Dim row_base;              ///< its first row
    Dim number;                ///< of the block
    Dim base;                  ///< its first element
    std::vector<Fact> bounds;  ///< what its elements satisfy, over the label; none: all do
    std::vector<Var> labels() const {
      if (!is_block) return {};
      return across ? std::vector<Var>{row_label, label} : std::vector<Var>{label};
    }
    bool depends(const graph::Graph& g, graph::ScalarId id) const {
      return graph::depends_on(g, id, along) || (across && graph::depends_on(g, id, *across));
    }
  };
  using Body = std::vector<OpId>;

  // ---- the frame: maker.cpp ----
  void declare_grid();
  void choose_lanes();
  std::string name_for(const std::string& wish);
  TileId tile(const std::string& name, Elem, bool is_block);
  LayoutId one_for(Elem);
  OpId add(Op);
  void emit(Op op) { body_->push_back(add(std::move(op))); }
  Stretch stretch_of(uint32_t axis) const;
  /// Runs `inside` with a body of its own, the loop's.
  template <class Inside>
  void loop(Var index, const Dim& extent, std::vector<TileId> carries, const Inside& inside);
  void gather_sizes();

  // ---- statements: statements.cpp ----
  void level(size_t rows_around);
  void reduce(uint32_t number);
  void over_binders(const RowReduction&, size_t next, TileId sum);
  void reduce_blocks(const RowReduction&, TileId sum);
  void fold(const RowReduction&, TileId sum, const Place&);
  void store_outputs();
  void store_squares();
  void store(uint32_t output, const Place&);
  bool has_constant_steps(const Dim& index, const Place&) const;
  template <class Inside>
  void blocks(Var along, const Stretch&, std::vector<TileId> carries, const Inside& inside);
  void plan_kept();
  void keep_shared(ScalarId, Var along, const std::set<ScalarId>& later);
  Dim extent_along(Var) const;

  // ---- values: values.cpp ----
  /// The tile of a value at that place, of the type that it is computed in.
  Use value(ScalarId, const Place&);
  uint32_t expr(Map&, std::map<ScalarId, uint32_t>& known, ScalarId, const Place&);
  uint32_t operand(Map&, const Use&);
  uint32_t converted(Map&, uint32_t from, Elem to);
  uint32_t choice(Map&, std::map<ScalarId, uint32_t>& known, const graph::Scalar&, const Place&);
  Use value_before(ScalarId);
  Use computed(ScalarId, const Place&);
  LayoutId fewest_lanes(const Map&) const;
  Use kept(ScalarId, const Place&);
  Use loaded(ScalarId load, const Place&);
  bool is_turned(ScalarId load, const Place&) const;
  Use narrowed(ScalarId cast, const Place&);
  Use stored_value(ScalarId, const Place&);
  bool narrows_there(ScalarId cast) const;
  bool is_outside_of_blocks(ScalarId, const Place&) const;
  bool in_range(ScalarId load, const std::vector<Fact>& facts) const;
  Dim placed(const Dim&, const Place&) const;
  Fact placed(const Fact&, const Place&) const;
  std::vector<Dim> index_of(graph::Value, const std::vector<Dim>& index, const Place&) const;

  // ---- tensors: tensors.cpp ----
  std::vector<uint32_t> boxes_of(task::BufferId, bool write) const;
  /// A box that holds the element wherever the place's bounds do.
  std::optional<uint32_t> box_around(task::BufferId, const std::vector<Dim>& index, const Place&,
                                     bool write) const;
  TensorId tensor_for(task::BufferId, const std::vector<Dim>& index, const Place&, bool write);
  TensorId declare(const task::Access&);
  bool is_in_box(const std::vector<Dim>& index, const std::vector<Fact>& facts, const task::Access&) const;

  const task::Program& p_;
  const task::TaskTypeId id_;
  const task::TaskType& type_;
  graph::Graph& g_;
  const graph::Node& node_;
  const RowForm& form_;
  const Choices choices_;

  MadeProgram made_;
  Program& out_;
  int64_t lanes_ = 1, block_ = 1;
  LayoutId blocks_, turned_;
  bool streams_ = false;                 ///< a store goes past the caches
  std::map<int64_t, LayoutId> ones_of_;  ///< by lanes
  std::set<std::string> names_;
  const Var label_, row_label_;
  std::map<uint32_t, TensorId> tensors_;  ///< by access of the type
  shape::Substitution at_;                ///< indices of the graph, as the loops around give them
  std::vector<Fact> around_;              ///< what holds of the graph's indices there
  std::vector<Fact> loops_;               ///< what holds of the indices of the loops around
  std::vector<Fact> arms_;  ///< of the graph's indices, what holds by the choices whose arm is being emitted
  Body* body_ = nullptr;    ///< where operations go
  Body* before_ = nullptr;  ///< of a block: what is computed before its loop
  std::vector<std::map<ScalarId, Use>> ones_;  ///< values at the points of the loops around, by depth
  std::map<ScalarId, Use> in_block_;
  std::vector<TileId> results_;      ///< of the reductions
  std::map<ScalarId, TileId> kept_;  ///< costly values in scratch
  std::set<Var> kept_along_;
  std::set<ScalarId> written_, written_here_;  ///< by an earlier statement; by the one at hand
  std::optional<ScalarId> computing_;          ///< what the map at hand computes
};

}  // namespace axon::tile
