// What one task of a type does, as a list of stages over tiles in scratch memory. No LLVM here.
//
// In: a task type and its node. Out: the node's bodies with every reduction pulled into a local of its own,
// the box of each local that a task needs, where it lies in scratch memory, and the stages that fill them in
// order:
//
//   points     a loop nest, one body evaluated per point
//   reduction  the same with loops over binders inside
//   scatter    loops over the binders alone, each point of which finds the elements that it counts for
//   contract   a matrix product by the device's kernels (contract_plan.h)
//   online     key blocks: scores, their running maximum and sum, weighted sums of values
//
// and last the outputs, one loop nest over the task's tile; an order is its output alone, made by
// tile/order.cpp. Invariant: a local's box covers every read of it, clamped to its domain; strides and
// offsets in scratch memory depend on sizes alone.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "graph/binder_range.h"
#include "module/module.h"
#include "target/machine.h"
#include "task/scatter.h"

namespace axon::module {

using graph::Axis;
using graph::Elem;
using graph::Graph;
using graph::ScalarId;
using shape::Dim;
using shape::Fact;
using shape::Var;

/// Columns of a weight stored as panels, and what the columns of contractions' results are padded to.
inline const int64_t panel_width = target::x86_64().panel_columns;

/// The range of a variable inside one task: [low, end) over sizes, loop indices, coordinates and block
/// starts. `bound` >= end - low, over sizes.
struct Span {
  Dim low, end, bound;
};

/// Where a local's box lies in scratch memory.
struct ScratchTensor {
  Elem elem = Elem::f32;  ///< narrow floats are kept as f32
  std::vector<Span> box;
  std::vector<Dim> stride;  ///< in elements, per axis
  Dim offset;               ///< in bytes, of the box's first element
};

/// A contraction as the kernels want it: C[row, column] += sum over depth of left * right, inside loops over
/// `outer`. The depth is the axes of `depths` as one, the last of them innermost.
struct ContractPlan {
  ScalarId left;   ///< product of the factors on the left
  ScalarId right;  ///< the load on the right
  Elem accumulator = Elem::f32;
  std::optional<Axis> row;    ///< absent: a single row
  bool runs = false;          ///< the data decides for each row where the right operand begins
  std::optional<Axis> group;  ///< another axis of rows, a short one: one kernel call for all of it
  Axis column;
  std::vector<Axis> depths;
  std::vector<Axis> outer_left;   ///< looped over before the left operand is staged
  std::vector<Axis> outer_right;  ///< columns that do not run together: looped over after
  bool accumulate = false;        ///< the result was set before; add to it
  bool direct_left = false;       ///< the left operand is read where it lies
  bool turned = false;            ///< else: staged as [group][depth][row], or as [group][row][depth]
  Dim left_offset;                ///< where
  Dim left_row_stride, left_depth_stride, left_group_stride;
  std::optional<layout::PanelAxes> panel;  ///< of a right operand that is stored as panels
};

struct OnlinePlan;

struct Stage {
  enum class Kind : uint8_t { points, reduction, scatter, contract, online } kind = Kind::points;
  uint32_t local = 0;  ///< the local it fills (online: its scores)
  std::optional<task::Scatter> scatter;
  std::optional<ContractPlan> contract;
  std::shared_ptr<OnlinePlan> online;
};

/// maximum, sum and weighted values of one online reduction; all are locals. See the note in graph.h.
/// `rescale` is what a block multiplies the sums so far by.
struct OnlinePlan {
  ScalarId online;
  std::vector<Axis> outer;  ///< binders but the last
  Axis key;                 ///< the last binder, walked in blocks
  int64_t block = 0;
  graph::BinderRange range;  ///< the keys that can count
  Var block_start, key_end;  ///< a block is block_start .. min(block_start + block, key_end)
  Var row_low, row_end;      ///< the part of a block that counts for one row
  uint32_t scores = 0, maximum = 0, sum = 0, rescale = 0;
  std::vector<uint32_t> values;  ///< the weighted sums
  std::vector<Axis> rows;        ///< axes of the score but the key
  std::vector<Stage> before;     ///< inside the block, before the scores: locals that follow the key
  std::vector<Stage> after;      ///< inside the block: weighted sums of the values
};

struct Body {
  const task::Program* program = nullptr;
  const task::TaskType* type = nullptr;
  std::shared_ptr<Graph> graph;  ///< a copy that the rewriting adds scalars to
  std::vector<Axis> domain;
  std::vector<Span> spans;           ///< of the domain
  std::vector<graph::Local> locals;  ///< the node's, and those made for reductions
  std::vector<ScratchTensor> scratch;
  std::vector<graph::Output> outputs;
  std::vector<Stage> stages;
  Dim scratch_bytes;
};

/// `graph` is a copy of the program's graph, shared by the bodies of one variant.
Body make_body(const task::Program&, const task::TaskType&, std::shared_ptr<Graph> graph, const EmitOptions&);

using base::computed_as;

/// The number of the element in the buffer. Where the buffer is not row-major, every index is affine.
Dim offset_of(const task::Buffer&, const std::vector<Dim>& index);

/// The numbers of steps that a task of the type needs to know: extents of loops with a condition that its
/// boxes mention. They come after the coordinates of its function.
std::vector<Var> steps_read(const task::Program&, const task::TaskType&);

}  // namespace axon::module
