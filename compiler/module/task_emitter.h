// One task as an LLVM function: (context, scratch, loop indices..., coordinates...). Stages in order, then
// the outputs. Each kind of stage has its file in tile/.
#pragma once
#include "module/interior.h"
#include "module/scalar.h"

namespace axon::module {

class TaskEmitter {
 public:
  /// `function` has the arguments named above, in the order of the type's loops and coordinates.
  TaskEmitter(llvm::Function* function, const Body& body, const target::Machine& level);
  void run();
  /// Instead of the task: asks for the first weights that it will read, if it streams any.
  void run_ahead();
  /// Of an order: the task, which sorts rows, and what stores keys of one row. Its arguments are those of the
  /// task, the row's indices, the first element, how many, and where.
  void run_order(llvm::Function* keys);
  void run_keys();

 private:
  using Overrides = std::vector<std::pair<Var, Span>>;  ///< ranges of binders that are walked in blocks

  llvm::Value* has_points();
  void emit_stage(const Stage&, const Overrides&);

  // tile/elementwise.cpp
  void emit_points(uint32_t local, bool widened);
  void emit_outputs();
  void fill(uint32_t local, const std::function<llvm::Value*()>& value);
  struct Nest {
    std::vector<Axis> axes;
    std::vector<Span> spans;
    std::vector<ScalarId> bodies;  ///< what to hoist out of the innermost loop
    bool widened = false;
    bool parallel = true;
    std::vector<Dim> stores;  ///< offsets of what the body writes
    /// What holds at the points of each axis, where something is known. Where an axis has no point it may
    /// contradict itself, so nothing outside of the loop is emitted by it.
    std::vector<std::vector<Fact>> facts = {};
  };
  void emit_nest(const Nest&, const std::function<void()>& body);
  /// One loop of a nest, the innermost one: `bodies` are emitted by body() once per iteration.
  struct Innermost {
    Axis axis;
    LoopKind kind;
    std::vector<ScalarId> bodies;
    bool widened;
    std::vector<Frame::Division> divisions;
  };
  void emit_innermost(const Innermost&, llvm::Value* low, llvm::Value* end,
                      const std::function<void()>& body);
  std::pair<llvm::Value*, llvm::Value*> interior_of(const Interior&, Var, llvm::Value* low, llvm::Value* end);
  /// The axis along which the accesses run best becomes innermost.
  void order_axes(Nest&) const;
  /// What moves the accesses farthest becomes outermost.
  void order_by_distance(Nest&) const;
  int stride_score(Var, const std::vector<ScalarId>& bodies, const std::vector<Dim>& stores) const;
  ScalarEmitter::Address local_element(uint32_t local);
  Dim local_offset(uint32_t local) const;

  // tile/reduce.cpp
  void emit_reduction(uint32_t local, const Overrides&, bool accumulate);
  void emit_argmax(uint32_t local);
  struct Argmax {
    Elem elem;
    llvm::AllocaInst* values;        ///< of the block at hand
    llvm::AllocaInst *best, *where;  ///< so far
  };
  void argmax_of_block(const Argmax&, const Axis& binder, const Span& block, ScalarId body);
  void reduce_by_rows(uint32_t local, const Nest& binders, bool accumulate);
  void reduce_by_columns(uint32_t local, const Nest& binders, size_t column, bool accumulate);

  // tile/narrow.cpp
  bool data_bounds_depend_on(Var axis, const graph::Scalar& reduce) const;
  bool is_known(const std::vector<Var>&, const Nest&, size_t binder) const;
  llvm::Value* bound_of(const graph::BinderRange::Data&);
  llvm::Value* data_bound(const std::vector<graph::BinderRange::Data>&, const Dim& extent,
                          llvm::Intrinsic::ID combine);
  void with_narrowed(Nest&, size_t binder, const graph::BinderRange&,
                     const std::function<void(bool complete)>& then);
  void with_narrowed(const graph::Scalar& reduce, Nest nest,
                     const std::function<void(const Nest&, ScalarId folded)>& emit);
  void emit_without_clamps(const Nest&, const std::function<void()>& body);

  // tile/order.cpp
  llvm::Value* one_bit_key(const Typed& element, int64_t greater, bool descending);

  // tile/scatter.cpp
  void emit_scatter(uint32_t local, const task::Scatter&, const Overrides&);
  void find_elements(uint32_t local, const task::Scatter&, size_t next);
  void combine_elements(uint32_t local, const std::vector<uint32_t>& axes);
  Nest nest_of(uint32_t local, const std::vector<uint32_t>& axes) const;

  // tile/contract.cpp
  void emit_contract(uint32_t local, const ContractPlan&, const Overrides&);
  void stage_left(const ContractPlan&, uint32_t region);
  void stage_along(const ContractPlan&, const std::vector<Axis>& axes, size_t next, uint32_t region);
  llvm::Value* staged_element(const ContractPlan&);
  void call_kernels(uint32_t local, const ContractPlan&, bool accumulate);
  void call_kernel(uint32_t local, const ContractPlan&, bool accumulate, llvm::Value* rows_before);
  llvm::Value* left_pointer(const ContractPlan&);
  std::vector<Dim> right_index(const ContractPlan&);
  Span span_of(const Axis&, uint32_t local, const Overrides&) const;

  // tile/online.cpp
  void emit_online(const OnlinePlan&);
  std::pair<llvm::Value*, llvm::Value*> row_range(const graph::BinderRange&, llvm::Value* low,
                                                  llvm::Value* end);
  std::pair<llvm::Value*, llvm::Value*> emit_key_range(const OnlinePlan&);
  void emit_scores(const OnlinePlan&, const Span& keys);
  void emit_online_block(const OnlinePlan&, const Overrides&);
  void normalise_rows(const OnlinePlan&, const Span& keys);
  void finish_online(const OnlinePlan&);

  struct Range {
    Axis axis;
    llvm::Value* low;
    llvm::Value* end;
  };

  Frame f_;
  const Body& body_;
  const Graph& g_;
  ScalarEmitter s_;
  unsigned first_free_argument_ = 2;    ///< of the function: behind those that every function of the task has
  std::map<Var, Range> kernel_ranges_;  ///< of the contraction being emitted
};

}  // namespace axon::module
