// Scalar expressions as LLVM values, at the current point of a task's loops.
//
// Every index variable of the expression is bound in the frame. Values are memoised per block scope, so
// shared subexpressions are emitted once; whatever does not depend on the innermost variable is left for LLVM
// to hoist. Arms of `select`, and the right side of `and` and `or`, that read memory run only when they are
// taken: an index may be in range only then.
#pragma once
#include "module/arithmetic.h"

namespace axon::module {

class ScalarEmitter {
 public:
  ScalarEmitter(Frame& frame, const Body& body)
      : f_(frame), arithmetic_(frame), body_(body), g_(*body.graph), scopes_(1) {}

  /// `widened`: inside a reduction arithmetic on narrow floats is done in the type they accumulate in.
  Typed emit(ScalarId, bool widened);
  /// The value in the type that `elem` is computed in.
  llvm::Value* emit_as(ScalarId, Elem elem, bool widened);
  /// Quotients and remainders in the indices of an expression.
  void collect_divisions(ScalarId, std::vector<Frame::Division>&) const;
  static void collect_divisions(const Dim&, std::vector<Frame::Division>&);
  /// Emits now what does not depend on `inner` and is sure to be needed: called just before a loop over
  /// `inner`.
  void hoist(ScalarId, Var inner, bool widened);
  /// From here to assume_nothing(), `id` is emitted as `other`, which has the same value.
  void assume_equal(ScalarId id, ScalarId other) { equal_[id] = other; }
  void assume_nothing() { equal_.clear(); }
  /// Until the end of body() the condition has this value wherever a choice asks for it.
  void deciding(ScalarId condition, bool value, const std::function<void()>& body);
  std::vector<ScalarId> decided() const;
  /// Forgets what was computed: call when a loop variable changes.
  void enter() { scopes_.emplace_back(); }
  void leave() { scopes_.pop_back(); }

  llvm::Type* type_of(Elem computed) { return arithmetic_.type_of(computed); }
  llvm::Value* converted(Typed from, Elem to) { return arithmetic_.converted(from, to); }
  /// What a reduction of numbers of type `of` begins with, as a number of type `computed`: the result of a
  /// reduction of none.
  llvm::Value* monoid_unit(graph::Monoid, Elem of, Elem computed);
  llvm::Value* combine(graph::Monoid, Elem computed, llvm::Value* so_far, llvm::Value* next);

  // ---- tensors ----
  struct Address {
    llvm::Value* pointer;
    Elem storage;
    uint32_t region;
  };
  Address buffer_address(graph::Value target, const std::vector<Dim>& index);
  Address scratch_address(uint32_t local, const std::vector<Dim>& index);
  llvm::Value* load_from(const Address&);
  void store_to(const Address&, llvm::Value* computed);
  llvm::Value* scratch_base(uint32_t local);
  uint32_t scratch_region(uint32_t local) const;

  Typed call(graph::Op op, Elem computed, std::vector<llvm::Value*> args);

 private:
  Typed compute(ScalarId, bool widened);
  Typed emit_load(const graph::Scalar&, bool widened);
  Typed emit_bounded(const graph::Scalar&, bool widened);
  Typed emit_require(const graph::Scalar&);
  Typed emit_cast(const graph::Scalar&, bool widened);
  Typed emit_select(const graph::Scalar&, bool widened);
  Typed emit_logic(const graph::Scalar&, bool widened);
  Typed emit_compare(const graph::Scalar&, bool widened);
  Typed emit_arithmetic(const graph::Scalar&, Elem, bool widened);
  bool must_be_lazy(ScalarId) const;
  bool always_in_range(ScalarId load) const;
  llvm::Value* merged(llvm::Value* condition, Elem, const std::function<llvm::Value*()>& yes,
                      const std::function<llvm::Value*()>& no);
  llvm::Value* element_pointer(llvm::Value* base, Elem storage, llvm::Value* offset);

  Frame& f_;
  Arithmetic arithmetic_;
  const Body& body_;
  const Graph& g_;
  std::vector<std::map<std::pair<ScalarId, bool>, Typed>> scopes_;
  std::map<ScalarId, ScalarId> equal_;
  std::map<ScalarId, bool> decided_;  ///< conditions of choices
  mutable std::map<ScalarId, bool> in_range_;
};

}  // namespace axon::module
