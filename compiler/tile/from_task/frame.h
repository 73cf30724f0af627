// A tile program under construction: sizes, grid, tensors, tiles, loops. Only from_task.cpp and from_task/
// include this.
//
// In: a form, and how the task's domain is cut. Out: a program that operations are added to. Invariant: where
// an operation is added, all variables that it mentions are sizes, coordinates, indices of loops around it,
// or labels.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tile/from_task.h"
#include "tile/from_task/row_form.h"

namespace axon::tile {

struct Declined {
  std::string why;
};

/// How a program is to be made.
struct Choices {
  int64_t registers_per_tile = 4;  ///< vectors, or runs of a thread, that a block of elements takes, of rows
  bool keep_costly = false;        ///< in scratch, what a later statement computes again
  /// Rows are whole blocks, which the guard says.
  bool whole_blocks = false;
  /// Rows have one block, which the guard says. What several statements need of it stays in registers.
  bool one_block = false;
  /// Of several threads: so many have a row together, lanes of one warp, and all warps have rows at once. 0:
  /// all threads have one row together. Of one thread: 1 where as many rows as lanes are had at once.
  int64_t lanes_of_row = 0;
  int64_t rows_of_thread = 1;  ///< then: how many rows at once each thread has a part of
  bool rows_for_all = false;   ///< then: no fewer rows than warps, which the guard says
  int64_t most_of_row = 0;     ///< then: elements of a row at most, which the guard says; 0: any number
  /// Of one thread, where rows share what they load: so many are had at once. No fewer, which the guard says.
  int64_t rows_of_block = 0;
};

/// The task type that a program is made of.
struct Origin {
  const task::Program& program;
  task::TaskTypeId id;
  graph::Graph& graph;  ///< scalars are added
  const RowForm& form;
};

/// Along one axis: the elements first .. first + length, none of which are at or past `ends`.
struct Stretch {
  Dim first, length;
  std::vector<Dim> ends;                     ///< without any, it is whole blocks
  std::optional<Dim> blocks = std::nullopt;  ///< how many, where that is not the length divided, rounded up
  std::vector<Dim> starts = {};              ///< elements before these are left out
};

/// Of the iterations of a loop those from `first` on and before `end`, which the data says; invalid: all.
struct Counts {
  graph::ScalarId first, end;
};

/// The same as tiles.
struct CountUses {
  std::optional<Use> first, end;
};

/// What is computed for a whole block of elements, for rows at once, or for one point of the loops around.
struct BlockPlace {
  bool is_block = false;
  bool is_rows = false;  ///< a block whose elements are a number of each of the rows at once
  // Of a block:
  Var along;                  ///< the graph's variable
  Var label;                  ///< of its elements, or of the columns
  std::optional<Var> across;  ///< of rows and columns: the graph's variable that goes through rows
  Var row_label;
  Dim row_base;              ///< its first row
  Dim number;                ///< of the block
  Dim base;                  ///< its first element
  std::vector<Fact> bounds;  ///< what its elements satisfy, over the labels; none: all do

  std::vector<Var> labels() const {
    if (!is_block) return {};
    return across ? std::vector<Var>{row_label, label} : std::vector<Var>{label};
  }
  bool changes(const graph::Graph& g, graph::ScalarId id) const {
    return graph::depends_on(g, id, along) || (across && graph::depends_on(g, id, *across));
  }
};

class ProgramFrame {
 protected:
  using ScalarId = graph::ScalarId;
  using Body = std::vector<OpId>;

  ProgramFrame(const Origin&, const Machine&, const Choices&);

  Origin origin() const { return {p_, id_, g_, form_}; }
  /// What is a word of the text, or a size of the entry, names nothing else.
  void reserve_names();
  void declare_grid();
  /// Begins a program: names, the form's guard, the grid.
  void open();
  bool has_one_at_most(uint32_t axis) const;
  /// inside() in loops over the task's part of these axes of the domain, each of which carries the tiles.
  void over_axes(std::vector<uint32_t> axes, const std::function<void()>& inside,
                 const std::vector<TileId>& carries = {});
  /// inside() in loops over the binders, each of which carries the tiles.
  /// Of the first one the data may say which points count.
  void over_binders(std::vector<graph::Axis> binders, const std::vector<TileId>& carries,
                    const std::function<void()>& inside, const CountUses& = {});
  /// The program of these statements, behind all waits and before all notifications.
  MadeProgram close(const Body& statements, bool streams);
  /// As many lanes as the widest type has in a register, so that an element is in the same lane of every
  /// tile.
  void choose_lanes();
  void choose_rows();
  void choose_shared_rows();
  /// The same of several threads: each has a run of neighbouring elements, 16 bytes of the narrowest type
  /// that memory has of them, and in a block a few of these.
  void choose_runs();
  void gather_sizes();
  std::string name_for(const std::string& wish);
  TileId tile(const std::string& name, Elem, bool is_block);
  /// By what its elements differ in: of a block, of rows at once, or one number.
  TileId tile(const std::string& name, Elem, const std::vector<Var>& labels);
  /// In scratch memory of its own.
  TileId scratch(const std::string& name, Elem, std::vector<int64_t> shape);
  LayoutId one_for(Elem);
  LayoutId layout(const std::string& name, std::vector<layout::Iter> shards,
                  std::vector<layout::Iter> replicas = {});
  bool has_threads() const { return out_.machine.threads() > 1; }
  /// Bytes of scratch that are near enough to be gone through again and again.
  int64_t near_scratch() const {
    constexpr int64_t of_a_cpu = int64_t{256} * 1024;
    return has_threads() ? out_.machine.scratch : std::min(out_.machine.scratch, of_a_cpu);
  }
  bool has_rows_at_once() const { return choices_.lanes_of_row > 0 || choices_.rows_of_block > 0; }
  std::vector<Var> labels_of_block() const {
    return has_rows_at_once() ? std::vector<Var>{row_label_, label_} : std::vector<Var>{label_};
  }
  /// Of a number that a statement leaves of each row.
  std::vector<Var> labels_of_rows() const {
    return has_rows_at_once() ? std::vector<Var>{row_label_} : std::vector<Var>{};
  }
  /// The axis whose rows are had at once.
  uint32_t axis_of_rows() const { return form_.rows.back(); }
  Stretch stretch_of(uint32_t axis);
  Stretch stretch_of_rows();
  Stretch joined_stretch();
  /// Where the program is for whole blocks: the guard says that the extent is.
  bool is_whole(const Dim& extent);
  /// Where the program is for rows of one block: the guard says that this one is.
  bool is_one_block(const Dim& extent);
  void emit(Op op) { body_->push_back(out_.ops.add(std::move(op))); }
  /// Runs `inside` with a body of its own, the loop's.
  template <class Inside>
  void loop(Var index, const Dim& extent, std::vector<TileId> carries, const Inside& inside,
            const CountUses& counts = {}) {
    Loop made{index, extent, std::move(carries), {}, std::nullopt, counts.first, counts.end};
    Body* const outer = body_;
    body_ = &made.body;
    ones_.emplace_back();
    loops_.emplace_back(index, extent);
    inside();
    loops_.pop_back();
    ones_.pop_back();
    body_ = outer;
    emit(std::move(made));
  }
  /// From here on the graph's variable runs below the extent.
  void add_range(Var v, const Dim& extent) {
    around_.push_back(shape::at_least(Dim(v), Dim(0)));
    around_.push_back(shape::less(Dim(v), extent));
  }

  Dim placed(const Dim&, const BlockPlace&) const;
  Fact placed(const Fact&, const BlockPlace&) const;
  std::vector<Dim> index_of(graph::Value, const std::vector<Dim>& index, const BlockPlace&) const;
  /// Does the cast make a number of a narrower type? Only a copy does.
  bool narrows_there(ScalarId cast) const;

  const task::Program& p_;
  const task::TaskTypeId id_;
  const task::TaskType& type_;
  graph::Graph& g_;
  const graph::Node& node_;
  const RowForm& form_;
  const Choices choices_;

  /// Of sizes: what checks say before any task runs, of the indices of stores.
  std::vector<Fact> stores_in_range_;
  MadeProgram made_;
  Program& out_;
  int64_t lanes_ = 1, block_ = 1;
  std::vector<int64_t> block_shape_;  ///< empty: one axis of a block, or two where rows are turned
  int64_t rows_at_once_ = 1;
  int64_t runs_ = 1;  ///< that a thread of several has of a block, or of its part of a row
  LayoutId blocks_, turned_, row_layout_, column_layout_;
  std::map<int64_t, LayoutId> ones_of_;  ///< by lanes
  std::set<std::string> names_;
  bool uses_whole_blocks_ = false, guards_blocks_ = false, uses_one_block_ = false;
  const Var label_, row_label_;
  shape::Substitution at_;                     ///< indices of the graph, as the loops around give them
  std::vector<Fact> around_;                   ///< what holds of the graph's indices there
  std::vector<std::pair<Var, Dim>> loops_;     ///< those around: index and extent
  Body* body_ = nullptr;                       ///< where operations go
  Body* before_ = nullptr;                     ///< of a block: what is computed before its loop
  std::vector<std::map<ScalarId, Use>> ones_;  ///< values at the points of the loops around, by depth
};

/// An index without a table.
inline Index at(const Dim& d) { return {std::nullopt, d}; }
bool is_same(const Fact&, const Fact&);
void add_once(const Fact&, std::vector<Fact>& to);
/// Parts of maps.
Expr of_tile(const Use&, Elem);
Expr of_number(const Number&, Elem);
Expr applied(Pointwise, Elem, std::vector<uint32_t> args);
/// Is it a check of the data, or is a part of it one?
bool has_checks(const graph::Graph&, graph::ScalarId);
/// Does a value of one type, made one of the other, lose what the type cannot hold?
bool narrows(Elem from, Elem to);
/// Of what a statement of the form loads and the outputs are stored as.
int64_t narrowest_in_memory(const Origin&);
/// Of the widest type that a block has elements of; `least` where all are narrower.
int64_t widest_in_blocks(const Origin&, int64_t least = 4);
/// How many registers tiles take where most of them are in use.
int64_t registers_of(const Program&);
/// Where a map is the last to read a tile of the form of its result, the result gets that tile.
void reuse_tiles(Program&);
/// Asks for the next row while one is computed (next_rows.cpp).
void prefetch_next_rows(Program&);

}  // namespace axon::tile
