// The operations of a tile program, one function each.
//
// In: an operation, where loops around it and views that it reads are known. Out: its code. Invariant: an
// operation has read all of its operands in registers before it writes any; in scratch memory each element is
// read before it is written, and why_not_emitted() has refused what would need more.
#pragma once
#include "module/tiles/matrices.h"
#include "module/tiles/products.h"

namespace axon::module::tiles {

class Operations {
 public:
  explicit Operations(Context& context)
      : c_(context),
        registers_(context),
        accesses_(context, registers_),
        matrices_(context, registers_, accesses_),
        products_(context, registers_, accesses_) {}

  void emit(const tile::Op&);
  /// Of a tile in registers that has one axis, or is a number: all of them, as they are computed.
  Value* elements(TileId);
  /// Of which iterations the data lets the loop be: not negative, as i64; null where it does not say.
  Iterations iterations_of(const tile::Loop&);
  /// One element of a tile that the operations make, where all axes of their tiles have one label: the value
  /// of that in one lane. Null where an operation is not about single elements, and then nothing is emitted.
  Value* element_of(const std::vector<tile::OpId>&, TileId, const Dim& label);
  /// Maps and stores of tiles with one layout: all of them for one register, then for the next one.
  void emit_by_register(const std::vector<tile::OpId>&);

 private:
  void emit(const tile::Op&, const tile::Copy&);
  void emit(const tile::Op&, const tile::Store&);
  void emit(const tile::Op&, const tile::View&);
  void emit(const tile::Op&, const tile::Prefetch& prefetch) {
    prefetch.along ? c_.ahead.push_back(&prefetch) : accesses_.prefetch(prefetch);
  }
  void emit(const tile::Op&, const tile::Map&);
  void emit(const tile::Op& op, const tile::Gemm& gemm) {
    gemm.by.empty() ? products_.emit(op, gemm) : matrices_.multiply(gemm);
  }
  void emit(const tile::Op&, const tile::Reduce&);
  void emit(const tile::Op&, const tile::Scan&);
  void emit(const tile::Op&, const tile::Check&);
  void emit(const tile::Op&, const tile::Scatter&);
  void combine(const tile::Scatter&, const Accesses::Spot&, Value* terms);
  void emit(const tile::Op&, const tile::Fence&);
  void emit(const tile::Op&, const tile::Barrier&) { c_.threads.barrier(); }
  template <class Other>
  void emit(const tile::Op&, const Other&) {}  ///< the kernel's, or of several threads

  void sweep(const tile::Op&, const tile::Use& over, bool once, const Sweep::Body&);
  /// Writes the tile: registers when all of them are known.
  void assign(const tile::Op&, const tile::Use& to, const std::function<Value*(const Lanes&)>& value);
  void store(const tile::Access&, const std::vector<std::pair<Accesses::Spot, Value*>>&, bool streaming);
  Value* writes_much(tile::TensorId);
  Value* holds(const tile::Check&, const Lanes&);
  void note_first(const tile::Check&, Value* failed, const Lanes&);
  Value* shown(const tile::Index&, const Lanes&);
  static bool is_of_elements(const tile::Program&, const tile::Op&);
  Value* value_of(const tile::Expr&, const tile::Map&, const std::vector<Value*>& args, const Lanes&);
  std::vector<Value*> numbers_of(const tile::Map&);
  std::vector<Value*> values_of(const tile::Map&, const std::vector<Lanes>&);
  std::vector<Value*> together(base::Pointwise, Elem, const std::vector<std::vector<Value*>>& args);

  // ---- reductions ----
  Value* reduced(const tile::Op&, const tile::Reduce&, const Lanes&);
  Value* in_registers(const tile::Reduce&, const Lanes&, const std::vector<Var>& summed);
  Value* in_threads(const tile::Reduce&, const Lanes&, const std::vector<Var>& summed);
  /// The elements of `from` that are summed where labels have these values, by holder, in order.
  using Parts = std::map<int64_t, std::vector<int64_t>>;
  Parts parts_of(const tile::Reduce&, Substitution labels, const std::vector<Var>& summed);
  Value* in_order(const tile::Op&, const tile::Reduce&, const Lanes&, const std::vector<Var>& summed);
  Value* in_any_order(const tile::Op&, const tile::Reduce&, const Lanes& one, const std::vector<Var>& summed);
  Value* folded(const tile::Reduce&, Value* parts);
  /// Several vectors, each as folded() does it: a vector of what is left of each.
  Value* folded(const tile::Reduce&, const std::vector<Value*>& all);
  Value* folded_together(const tile::Reduce&, std::vector<Value*> all);
  Value* combined(const tile::Reduce&, Value* a, Value* b);
  Value* neutral(base::Pointwise monoid, Elem in, unsigned lanes);
  Value* read_as(const tile::Use&, Elem in, const Lanes&);
  /// Each lane with all before it.
  Value* scanned(const tile::Scan&, Value* vector);

  Context& c_;
  Registers registers_;
  std::optional<int64_t> only_;  ///< the register that is gone through now
  Accesses accesses_;
  Matrices matrices_;
  Products products_;
};

/// Labels of operands that the result lacks, in order.
std::vector<Var> summed_labels(const tile::Use& result, const std::vector<const tile::Use*>& operands);
/// body() for all values of the labels in row-major order, the last fastest: loops, and the innermost ones
/// unrolled `most` times at most. Those that are `pinned` are numbers.
void each_in_order(Context&, const std::vector<Var>& labels, const std::map<Var, int64_t>& extents,
                   const std::set<Var>& pinned, const std::vector<Fact>& bounds, int64_t most,
                   const std::function<void(const Substitution&)>& body, LoopKind kind = LoopKind::plain);

}  // namespace axon::module::tiles
