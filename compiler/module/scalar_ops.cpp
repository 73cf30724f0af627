// Tensors' elements, and the operators as the expressions of the graph use them: their numerics are those of
// module/arithmetic.h.
#include <limits>

#include "base/bug.h"
#include "module/scalar.h"

namespace axon::module {

using base::Pointwise;
using graph::Monoid;
using graph::Op;
using graph::Scalar;
using llvm::Value;

namespace {

/// Of an operator that is not structural.
Pointwise pointwise_operator(Op op) {
  const auto found = graph::pointwise_of(op);
  if (!found) base::bug("module::ScalarEmitter", std::string("`") + graph::op_name(op) + "` is no operator");
  return *found;
}

}  // namespace

Value* ScalarEmitter::load_from(const Address& at) {
  auto* load = f_.b.CreateAlignedLoad(arithmetic_.stored_type(at.storage), at.pointer,
                                      llvm::Align(static_cast<uint64_t>(base::elem_bytes(at.storage))));
  f_.mark(load, at.region);
  return arithmetic_.from_stored(load, at.storage);
}

void ScalarEmitter::store_to(const Address& at, Value* computed) {
  auto* store = f_.b.CreateAlignedStore(arithmetic_.to_stored(computed, at.storage), at.pointer,
                                        llvm::Align(static_cast<uint64_t>(base::elem_bytes(at.storage))));
  f_.mark(store, at.region);
}

Typed ScalarEmitter::emit_cast(const Scalar& s, bool widened) {
  const Elem elem = computed_as(s.elem);
  const Typed from = emit(s.args[0], widened);
  const Elem source = g_.scalars[s.args[0]].elem;
  if (!base::is_narrow(s.elem) || source == s.elem) return {converted(from, elem), elem};
  return {arithmetic_.cast(converted(from, computed_as(source)), source, s.elem), elem};
}

// ---- arithmetic ----

Typed ScalarEmitter::call(Op op, Elem elem, std::vector<Value*> args) {
  return {arithmetic_.apply(pointwise_operator(op), elem, args), elem};
}

Typed ScalarEmitter::emit_arithmetic(const Scalar& s, Elem elem, bool widened) {
  std::vector<Value*> args;
  for (ScalarId arg : s.args) args.push_back(emit_as(arg, elem, widened));
  Value* value = arithmetic_.apply(pointwise_operator(s.op), elem, args);
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction && widened && s.op == Op::mul && base::is_float(elem))
    instruction->setHasAllowContract(true);  // a factor of a reduction's term
  return {value, elem};
}

// ---- monoids ----

Value* ScalarEmitter::monoid_unit(Monoid monoid, Elem of, Elem computed) {
  llvm::Type* type = type_of(computed);
  const bool least = monoid == Monoid::max || monoid == Monoid::argmax;
  if (base::is_float(computed)) {
    if (least || monoid == Monoid::min) return llvm::ConstantFP::getInfinity(type, least);
    return llvm::ConstantFP::get(type, monoid == Monoid::prod ? 1.0 : 0.0);
  }
  const unsigned width = type->getIntegerBitWidth();
  const unsigned bits = std::min(width, static_cast<unsigned>(8 * base::elem_bytes(of)));
  const bool is_unsigned = !base::is_signed(of);
  const auto end = [&](const llvm::APInt& value) {
    return llvm::ConstantInt::get(type, is_unsigned ? value.zext(width) : value.sext(width));
  };
  if (least) return end(is_unsigned ? llvm::APInt::getZero(bits) : llvm::APInt::getSignedMinValue(bits));
  if (monoid == Monoid::min)
    return end(is_unsigned ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getSignedMaxValue(bits));
  return llvm::ConstantInt::get(type, monoid == Monoid::prod || monoid == Monoid::all ? 1 : 0);
}

Value* ScalarEmitter::combine(Monoid monoid, Elem elem, Value* so_far, Value* next) {
  llvm::FastMathFlags reduction;  // the order of a reduction is free; NaN and infinity are not
  reduction.setAllowReassoc();
  reduction.setAllowContract();
  reduction.setNoSignedZeros();
  const auto op = graph::operator_of(monoid);
  if (!op) base::bug("module::ScalarEmitter", "argmax has no binary form");
  return arithmetic_.combined(*op, elem, so_far, next, reduction);
}

}  // namespace axon::module
