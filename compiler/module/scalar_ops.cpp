// Arithmetic, conversions, storage formats and monoids: the numerics of the language in LLVM's terms.
#include <limits>

#include "base/bug.h"
#include "module/scalar.h"

namespace axon::module {

using graph::Monoid;
using graph::Op;
using graph::Scalar;
using llvm::Value;
using llvm::Intrinsic::ID;

llvm::Type* ScalarEmitter::type_of(Elem computed) {
  switch (computed) {
    case Elem::f64:
      return f_.b.getDoubleTy();
    case Elem::f32:
      return f_.b.getFloatTy();
    case Elem::boolean:
      return f_.b.getInt1Ty();
    default:
      return f_.b.getIntNTy(static_cast<unsigned>(base::elem_bytes(computed)) * 8);
  }
}

// ---- conversions ----

Value* ScalarEmitter::converted(Typed from, Elem to) {
  if (from.elem == to) return from.value;
  llvm::Type* type = type_of(to);
  const bool from_signed = base::is_signed(from.elem);
  if (base::is_float(from.elem)) {
    if (base::is_float(to)) return f_.b.CreateFPCast(from.value, type);
    if (to == Elem::boolean)
      return f_.b.CreateFCmpUNE(from.value, llvm::ConstantFP::get(from.value->getType(), 0.0));
    const ID convert = base::is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return f_.b.CreateIntrinsic(convert, {type, from.value->getType()}, {from.value});
  }
  if (base::is_float(to))
    return from_signed ? f_.b.CreateSIToFP(from.value, type) : f_.b.CreateUIToFP(from.value, type);
  if (to == Elem::boolean)
    return f_.b.CreateICmpNE(from.value, llvm::ConstantInt::get(from.value->getType(), 0));
  return f_.b.CreateIntCast(from.value, type, from_signed);
}

namespace {

std::string conversion(const char* direction, Elem narrow) {
  return std::string("axon_") + direction + "_" + std::string(base::elem_name(narrow));
}

}  // namespace

Value* ScalarEmitter::load_from(const Address& at) {
  const bool native_half = at.storage == Elem::f16 && f_.level.half_conversions;
  llvm::Type* stored = native_half ? f_.b.getHalfTy()
                       : base::is_narrow(at.storage) || at.storage == Elem::boolean
                           ? f_.b.getIntNTy(static_cast<unsigned>(base::elem_bytes(at.storage)) * 8)
                           : type_of(at.storage);
  auto* load = f_.b.CreateAlignedLoad(stored, at.pointer,
                                      llvm::Align(static_cast<uint64_t>(base::elem_bytes(at.storage))));
  f_.mark(load, at.region);
  if (native_half) return f_.b.CreateFPExt(load, f_.b.getFloatTy());
  if (at.storage == Elem::boolean) return f_.b.CreateICmpNE(load, llvm::ConstantInt::get(stored, 0));
  if (!base::is_narrow(at.storage)) return load;
  return f_.b.CreateCall(f_.device(conversion("from", at.storage), f_.b.getFloatTy(), {stored}), {load});
}

void ScalarEmitter::store_to(const Address& at, Value* computed) {
  Value* value = computed;
  if (at.storage == Elem::f16 && f_.level.half_conversions) {
    value = f_.b.CreateFPTrunc(computed, f_.b.getHalfTy());
  } else if (base::is_narrow(at.storage)) {
    llvm::Type* bits = f_.b.getIntNTy(static_cast<unsigned>(base::elem_bytes(at.storage)) * 8);
    value = f_.b.CreateCall(f_.device(conversion("to", at.storage), bits, {f_.b.getFloatTy()}), {computed});
  } else if (at.storage == Elem::boolean) {
    value = f_.b.CreateZExt(computed, f_.b.getInt8Ty());
  }
  auto* store = f_.b.CreateAlignedStore(value, at.pointer,
                                        llvm::Align(static_cast<uint64_t>(base::elem_bytes(at.storage))));
  f_.mark(store, at.region);
}

/// The nearest value of a narrow format, as f32.
Value* ScalarEmitter::rounded(Value* value, Elem narrow) {
  llvm::Type* bits = f_.b.getIntNTy(static_cast<unsigned>(base::elem_bytes(narrow)) * 8);
  Value* stored = f_.b.CreateCall(f_.device(conversion("to", narrow), bits, {f_.b.getFloatTy()}), {value});
  return f_.b.CreateCall(f_.device(conversion("from", narrow), f_.b.getFloatTy(), {bits}), {stored});
}

Typed ScalarEmitter::emit_cast(const Scalar& s, bool widened) {
  const Elem elem = computed_as(s.elem);
  const Typed from = emit(s.args[0], widened);
  const Elem source = g_.scalars[s.args[0]].elem;
  if (!base::is_narrow(s.elem) || source == s.elem) return {converted(from, elem), elem};
  const bool fits = base::is_narrow(source) || source == Elem::f32 || base::elem_bytes(source) <= 2;
  if (fits) return {rounded(converted(from, elem), s.elem), elem};
  const bool whole = source == Elem::i64;
  llvm::Type* wide = whole ? f_.b.getInt64Ty() : f_.b.getDoubleTy();
  auto* to_odd = f_.device(whole ? "axon_to_odd_i64" : "axon_to_odd", f_.b.getFloatTy(), {wide});
  Value* exact = whole ? from.value : converted(from, Elem::f64);
  return {rounded(f_.b.CreateCall(to_odd, {exact}), s.elem), elem};
}

// ---- arithmetic ----

Typed ScalarEmitter::call(Op op, Elem elem, std::vector<Value*> args) {
  const std::string name = std::string("axon_") + graph::op_name(op) + (elem == Elem::f64 ? "_f64" : "_f32");
  llvm::Type* type = type_of(elem);
  return {f_.b.CreateCall(f_.device(name, type, std::vector<llvm::Type*>(args.size(), type)), args), elem};
}

Typed ScalarEmitter::emit_float(const Scalar& s, Elem elem, bool widened) {
  std::vector<Value*> a;
  for (ScalarId arg : s.args) a.push_back(emit_as(arg, elem, widened));
  auto& b = f_.b;
  switch (s.op) {
    case Op::add:
      return {b.CreateFAdd(a[0], a[1]), elem};
    case Op::sub:
      return {b.CreateFSub(a[0], a[1]), elem};
    case Op::mul: {
      auto* product = b.CreateFMul(a[0], a[1]);
      if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(product); instruction && widened)
        instruction->setHasAllowContract(true);  // a factor of a reduction's term
      return {product, elem};
    }
    case Op::div:
      return {b.CreateFDiv(a[0], a[1]), elem};
    case Op::neg:
      return {b.CreateFNeg(a[0]), elem};
    case Op::abs:
      return {b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a[0]), elem};
    case Op::sqrt:
      return {b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a[0]), elem};
    case Op::floor:
      return {b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, a[0]), elem};
    case Op::rsqrt: {
      Value* root = b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a[0]);
      return {b.CreateFDiv(llvm::ConstantFP::get(type_of(elem), 1.0), root), elem};
    }
    case Op::min:
      return {combine(Monoid::min, elem, a[0], a[1]), elem};
    case Op::max:
      return {combine(Monoid::max, elem, a[0], a[1]), elem};
    case Op::mod:
#define UNARY(name) case Op::name:
#define BINARY(name) case Op::name:
#include "device/functions.def"
      return call(s.op, elem, std::move(a));
#define ARITHMETIC(name, arity)
#define ROUNDING(name)
#define UNARY(name)
#define BINARY(name)
#define OP(name, word, arity) case Op::name:
#include "graph/ops.def"
      break;
  }
  base::bug("module::ScalarEmitter", std::string("floats under `") + graph::op_name(s.op) + "`");
}

/// Floor division or its remainder. A zero divisor gives 0: the language calls it an error, which a check
/// reports.
Value* ScalarEmitter::floor_divide(Elem elem, Value* x, Value* y, bool remainder) {
  auto& b = f_.b;
  llvm::Type* type = type_of(elem);
  Value* zero = llvm::ConstantInt::get(type, 0);
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* by_zero = b.CreateICmpEQ(y, zero);
  if (!base::is_signed(elem)) {
    Value* divisor = b.CreateSelect(by_zero, one, y);
    return b.CreateSelect(by_zero, zero, remainder ? b.CreateURem(x, divisor) : b.CreateUDiv(x, divisor));
  }
  // The least value divided by -1 would trap.
  Value* by_minus_one = b.CreateICmpEQ(y, llvm::ConstantInt::getSigned(type, -1));
  Value* divisor = b.CreateSelect(b.CreateOr(by_zero, by_minus_one), one, y);
  Value* rest = b.CreateSRem(x, divisor);
  Value* fix = b.CreateAnd(b.CreateICmpNE(rest, zero), b.CreateICmpSLT(b.CreateXor(rest, divisor), zero));
  if (remainder) return b.CreateAdd(rest, b.CreateSelect(fix, divisor, zero));
  Value* quotient = b.CreateSub(b.CreateSDiv(x, divisor), b.CreateZExt(fix, type));
  quotient = b.CreateSelect(by_minus_one, b.CreateNeg(x), quotient);
  return b.CreateSelect(by_zero, zero, quotient);
}

Typed ScalarEmitter::emit_integer(const Scalar& s, Elem elem, bool widened) {
  std::vector<Value*> a;
  for (ScalarId arg : s.args) a.push_back(emit_as(arg, elem, widened));
  auto& b = f_.b;
  const bool is_unsigned = !base::is_signed(elem);
  switch (s.op) {
    case Op::add:
      return {b.CreateAdd(a[0], a[1]), elem};
    case Op::sub:
      return {b.CreateSub(a[0], a[1]), elem};
    case Op::mul:
      return {b.CreateMul(a[0], a[1]), elem};
    case Op::div:
      return {floor_divide(elem, a[0], a[1], false), elem};
    case Op::mod:
      return {floor_divide(elem, a[0], a[1], true), elem};
    case Op::neg:
      return {b.CreateNeg(a[0]), elem};
    case Op::abs:
      return {is_unsigned ? a[0] : b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a[0], b.getFalse()), elem};
    case Op::min:
      return {combine(Monoid::min, elem, a[0], a[1]), elem};
    case Op::max:
      return {combine(Monoid::max, elem, a[0], a[1]), elem};
#define ARITHMETIC(name, arity)
#define OP(name, word, arity) case Op::name:
#include "graph/ops.def"
      break;
  }
  base::bug("module::ScalarEmitter", std::string("integers under `") + graph::op_name(s.op) + "`");
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
  auto& b = f_.b;
  const bool is_unsigned = !base::is_signed(elem);
  llvm::FastMathFlags reduction;  // the order of a reduction is free; NaN and infinity are not
  reduction.setAllowReassoc();
  reduction.setAllowContract();
  reduction.setNoSignedZeros();
  const auto flagged = [&](Value* v) {
    if (auto* i = llvm::dyn_cast<llvm::Instruction>(v)) i->setFastMathFlags(reduction);
    return v;
  };
  switch (monoid) {
    case Monoid::sum:
      return base::is_float(elem) ? flagged(b.CreateFAdd(so_far, next)) : b.CreateAdd(so_far, next);
    case Monoid::prod:
      return base::is_float(elem) ? flagged(b.CreateFMul(so_far, next)) : b.CreateMul(so_far, next);
    case Monoid::max:
    case Monoid::min: {
      const bool larger = monoid == Monoid::max;
      if (base::is_float(elem)) {
        llvm::FastMathFlags flags;
        flags.setNoSignedZeros();
        auto* call = b.CreateBinaryIntrinsic(larger ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum,
                                             so_far, next);
        if (auto* i = llvm::dyn_cast<llvm::Instruction>(call)) i->setFastMathFlags(flags);
        return call;
      }
      const ID id = is_unsigned ? (larger ? llvm::Intrinsic::umax : llvm::Intrinsic::umin)
                                : (larger ? llvm::Intrinsic::smax : llvm::Intrinsic::smin);
      return b.CreateBinaryIntrinsic(id, so_far, next);
    }
    case Monoid::all:
      return b.CreateAnd(so_far, next);
    case Monoid::any:
      return b.CreateOr(so_far, next);
    case Monoid::argmax:
      break;
  }
  base::bug("module::ScalarEmitter", "argmax has no binary form");
}

}  // namespace axon::module
