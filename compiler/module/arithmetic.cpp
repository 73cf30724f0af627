// See arithmetic.h.
#include "module/arithmetic.h"

#include <llvm/Analysis/VectorUtils.h>

#include "base/bug.h"
#include "module/widen.h"
#include "tile/pointwise.h"

namespace axon::module {

using base::Pointwise;
using llvm::Value;
using llvm::Intrinsic::ID;

namespace {

unsigned bits_of(Elem elem) { return static_cast<unsigned>(base::elem_bytes(elem)) * 8; }

std::string conversion(const char* direction, Elem narrow) {
  return std::string("axon_") + direction + "_" + std::string(base::elem_name(narrow));
}

/// How the device library calls the function of an operator.
std::string function_name(Pointwise op, Elem computed) {
  return std::string("axon_") + tile::op_name(op) + (computed == Elem::f64 ? "_f64" : "_f32");
}

}  // namespace

llvm::Type* Arithmetic::as_wide(const Value* value, llvm::Type* scalar) const {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector ? llvm::FixedVectorType::get(scalar, vector->getNumElements()) : scalar;
}

llvm::Type* Arithmetic::type_of(Elem computed, unsigned lanes) {
  llvm::Type* scalar = computed == Elem::f64       ? f_.b.getDoubleTy()
                       : computed == Elem::f32     ? f_.b.getFloatTy()
                       : computed == Elem::boolean ? f_.b.getInt1Ty()
                                                   : f_.b.getIntNTy(bits_of(computed));
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

Value* Arithmetic::constant(Elem computed, double real, int64_t integer, unsigned lanes) {
  llvm::Type* type = type_of(computed, lanes);
  if (base::is_float(computed)) return llvm::ConstantFP::get(type, real);
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(integer), true);
}

// ---- conversions ----

Value* Arithmetic::converted(Typed from, Elem to) {
  if (from.elem == to) return from.value;
  llvm::Type* type = as_wide(from.value, type_of(to));
  const bool from_signed = base::is_signed(from.elem);
  if (base::is_float(from.elem)) {
    if (base::is_float(to)) return f_.b.CreateFPCast(from.value, type);
    if (to == Elem::boolean)
      return f_.b.CreateFCmpUNE(from.value, llvm::ConstantFP::get(from.value->getType(), 0.0));
    if (type->isVectorTy() && !f_.level.is_gpu()) return saturated(from.value, to);
    const ID convert = base::is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return f_.b.CreateIntrinsic(convert, {type, from.value->getType()}, {from.value});
  }
  if (base::is_float(to))
    return from_signed ? f_.b.CreateSIToFP(from.value, type) : f_.b.CreateUIToFP(from.value, type);
  if (to == Elem::boolean)
    return f_.b.CreateICmpNE(from.value, llvm::ConstantInt::get(from.value->getType(), 0));
  return f_.b.CreateIntCast(from.value, type, from_signed);
}

/// Of vectors: LLVM would make integers of one element after the other. Of a NaN it is 0.
Value* Arithmetic::saturated(Value* value, Elem to) {
  const auto range = base::range_of_integers(to);
  const Elem converted_to = base::elem_bytes(to) < 4 ? Elem::i32 : to;
  llvm::Type *const type = as_wide(value, type_of(to)), *const wide = as_wide(value, type_of(converted_to));
  const auto real = [&](double number) { return llvm::ConstantFP::get(value->getType(), number); };
  const auto integer = [&](int64_t number) {
    return llvm::ConstantInt::get(type, static_cast<uint64_t>(number), true);
  };
  Value* const low = f_.b.CreateFCmpOLT(value, real(static_cast<double>(range.least)));
  // Of 64 bits the greatest is no float, and is rounded to one more.
  const double end = static_cast<double>(range.greatest) + 1;
  Value* const high = f_.b.CreateFCmpOGE(value, real(end));
  Value* const none = f_.b.CreateFCmpUNO(value, value);
  Value* const outside = f_.b.CreateOr(f_.b.CreateOr(low, high), none);
  Value* const inside = f_.b.CreateSelect(outside, real(0), value);
  Value* made =
      base::is_signed(converted_to) ? f_.b.CreateFPToSI(inside, wide) : f_.b.CreateFPToUI(inside, wide);
  made = f_.b.CreateTrunc(made, type);
  made = f_.b.CreateSelect(low, integer(range.least), made);
  return f_.b.CreateSelect(high, integer(range.greatest), made);
}

/// The nearest value of a narrow format, as f32.
Value* Arithmetic::rounded(Value* value, Elem narrow) {
  if (converted_by_instruction(narrow)) return from_stored(to_stored(value, narrow), narrow);
  Value* stored = call(conversion("to", narrow), f_.b.getIntNTy(bits_of(narrow)), {value});
  return call(conversion("from", narrow), f_.b.getFloatTy(), {stored});
}

Value* Arithmetic::cast(Value* value, Elem from, Elem to) {
  Value* const made = cast_to_store(value, from, to);
  return base::is_narrow(to) && from != to ? rounded(made, to) : made;
}

Value* Arithmetic::cast_to_store(Value* value, Elem from, Elem to) {
  const Typed typed{value, computed_as(from)};
  if (!base::is_narrow(to) || from == to) return converted(typed, computed_as(to));
  const bool fits = base::is_narrow(from) || from == Elem::f32 || base::elem_bytes(from) <= 2;
  if (fits) return converted(typed, Elem::f32);
  const bool whole = from == Elem::i64;
  Value* exact = whole ? value : converted(typed, Elem::f64);
  return call(whole ? "axon_to_odd_i64" : "axon_to_odd", f_.b.getFloatTy(), {exact});
}

// ---- storage ----

/// LLVM's type of a narrow float that the machine widens and rounds itself; null of others.
llvm::Type* Arithmetic::converted_by_instruction(Elem storage) {
  if (storage == Elem::f16 && f_.level.half_conversions) return f_.b.getHalfTy();
  if (storage == Elem::bf16 && f_.level.is_gpu()) return f_.b.getBFloatTy();
  return nullptr;
}

llvm::Type* Arithmetic::stored_type(Elem storage, unsigned lanes) {
  llvm::Type* const converted = converted_by_instruction(storage);
  llvm::Type* scalar = converted ? converted
                       : base::is_narrow(storage) || storage == Elem::boolean
                           ? f_.b.getIntNTy(bits_of(storage))
                           : type_of(storage);
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

Value* Arithmetic::from_stored(Value* stored, Elem storage) {
  if (converted_by_instruction(storage)) return f_.b.CreateFPExt(stored, as_wide(stored, f_.b.getFloatTy()));
  if (storage == Elem::boolean)
    return f_.b.CreateICmpNE(stored, llvm::ConstantInt::get(stored->getType(), 0));
  if (!base::is_narrow(storage)) return stored;
  return call(conversion("from", storage), f_.b.getFloatTy(), {stored});
}

Value* Arithmetic::to_stored(Value* computed, Elem storage) {
  if (llvm::Type* const type = converted_by_instruction(storage))
    return f_.b.CreateFPTrunc(computed, as_wide(computed, type));
  if (storage == Elem::boolean) return f_.b.CreateZExt(computed, as_wide(computed, f_.b.getInt8Ty()));
  if (!base::is_narrow(storage)) return computed;
  return call(conversion("to", storage), f_.b.getIntNTy(bits_of(storage)), {computed});
}

// ---- operators ----

/// A vector is no register there: each lane is a call of its own.
Value* Arithmetic::called_on_each(const std::string& name, llvm::Type* result,
                                  const std::vector<Value*>& args, unsigned lanes) {
  Value* all = llvm::PoisonValue::get(llvm::FixedVectorType::get(result, lanes));
  for (unsigned l = 0; l < lanes; ++l) {
    std::vector<Value*> of_lane;
    for (Value* arg : args) of_lane.push_back(f_.b.CreateExtractElement(arg, l));
    all = f_.b.CreateInsertElement(all, call(name, result, of_lane), l);
  }
  return all;
}

/// Of a device function: on vectors it is computed in all lanes at once.
Value* Arithmetic::call(const std::string& name, llvm::Type* result, const std::vector<Value*>& args) {
  std::vector<llvm::Type*> types;
  for (Value* arg : args) types.push_back(arg->getType()->getScalarType());
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(args.at(0)->getType());
  if (vector && f_.level.is_gpu()) return called_on_each(name, result, args, vector->getNumElements());
  llvm::Function* function =
      vector ? module::widened(*f_.function->getParent(), name, result, types, vector->getNumElements())
             : f_.device(name, result, types);
  return f_.b.CreateCall(function, args);
}

Value* Arithmetic::apply(Pointwise op, Elem elem, const std::vector<Value*>& args) {
  switch (op) {
    case Pointwise::and_:
      return f_.b.CreateAnd(args[0], args[1]);
    case Pointwise::or_:
      return f_.b.CreateOr(args[0], args[1]);
    case Pointwise::not_:
      return f_.b.CreateNot(args[0]);
    case Pointwise::select:
      return f_.b.CreateSelect(args[0], args[1], args[2]);
    case Pointwise::eq:
    case Pointwise::ne:
    case Pointwise::lt:
    case Pointwise::le:
      return compared(op, elem, args[0], args[1]);
#define COMPARISON(name)
#define LOGIC(name, word, arity)
#define CHOICE(name)
#define OP(name, word, arity) case Pointwise::name:
#include "base/ops.def"
      break;
  }
  return base::is_float(elem) ? of_floats(op, elem, args) : of_integers(op, elem, args);
}

Value* Arithmetic::of_floats(Pointwise op, Elem elem, const std::vector<Value*>& a) {
  auto& b = f_.b;
  switch (op) {
    case Pointwise::add:
      return b.CreateFAdd(a[0], a[1]);
    case Pointwise::sub:
      return b.CreateFSub(a[0], a[1]);
    case Pointwise::mul:
      return b.CreateFMul(a[0], a[1]);
    case Pointwise::div:
      return quotient(elem, a[0], a[1]);
    case Pointwise::neg:
      return b.CreateFNeg(a[0]);
    case Pointwise::abs:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a[0]);
    case Pointwise::sqrt:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a[0]);
    case Pointwise::floor:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, a[0]);
    case Pointwise::rsqrt:
      return b.CreateFDiv(llvm::ConstantFP::get(a[0]->getType(), 1.0),
                          b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a[0]));
    case Pointwise::min:
    case Pointwise::max:
      return extremum(op == Pointwise::max, elem, a[0], a[1]);
    case Pointwise::mod:
#define UNARY(name, length) case Pointwise::name:
#define BINARY(name, length) case Pointwise::name:
#include "device/functions.def"
      return call(function_name(op, elem), type_of(elem), a);
#define ARITHMETIC(name, arity)
#define ROUNDING(name)
#define UNARY(name, length)
#define BINARY(name, length)
#define OP(name, word, arity) case Pointwise::name:
#include "base/ops.def"
      break;
  }
  base::bug("module::Arithmetic", "floats under an operator that takes none");
}

/// Vectors of 512 bits take ten cycles and more for a division, so that many quotients by one number are
/// products with its reciprocal, which one step of Newton's method rounds as the division would: q + r * (x -
/// q * y) is the quotient, correctly rounded, where r is 1 / y and nothing leaves the normal range (Markstein
/// 1990, "Computation of elementary functions on the IBM RISC System/6000 processor"). Elsewhere it is
/// divided.
Value* Arithmetic::quotient(Elem elem, Value* x, Value* y) {
  auto& b = f_.b;
  constexpr int wide_vector = 64;
  Value* const one = llvm::isa<llvm::Constant>(y) ? nullptr : llvm::getSplatValue(y);
  if (!one || elem != Elem::f32 || f_.level.vector_bytes < wide_vector) return b.CreateFDiv(x, y);
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  // Of exponents from -40 to 40 quotients, their remainders and the reciprocal are normal numbers.
  constexpr uint32_t sign = 0x80000000, least = (127U - 40) << 23, most = (127U + 40) << 23;
  const auto is_usual = [&](Value* bits) {
    llvm::Type* type = bits->getType();
    return b.CreateICmpULT(b.CreateSub(bits, llvm::ConstantInt::get(type, least)),
                           llvm::ConstantInt::get(type, most - least));
  };
  llvm::Type* const ints = x->getType()->getWithNewType(b.getInt32Ty());
  Value* const reciprocal = b.CreateFDiv(llvm::ConstantFP::get(one->getType(), 1.0), one);
  Value* const may =
      is_usual(b.CreateBitCast(one, b.getInt32Ty()));  // a positive divisor keeps the sign of 0
  const auto count = llvm::cast<llvm::VectorType>(x->getType())->getElementCount();
  Value* const r = b.CreateVectorSplat(count, reciprocal);
  Value* const near = b.CreateFMul(x, r);
  const auto fma = [&](Value* p, Value* q, Value* sum) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {p, q, sum});
  };
  Value* const rest = fma(near, y, b.CreateFNeg(x));
  Value* const rounded = fma(b.CreateFNeg(rest), r, near);
  Value* const magnitude =
      b.CreateAnd(b.CreateBitCast(x, ints), llvm::ConstantInt::get(ints, static_cast<uint32_t>(~sign)));
  Value* const usual =
      b.CreateOr(is_usual(magnitude), b.CreateICmpEQ(magnitude, llvm::Constant::getNullValue(ints)));
  Value* const is_rounded = b.CreateAnd(may, b.CreateAndReduce(usual));
  llvm::BasicBlock* const from = b.GetInsertBlock();
  Value* divided = nullptr;
  llvm::BasicBlock* inside = nullptr;
  f_.when(b.CreateNot(is_rounded), [&] {
    divided = b.CreateFDiv(x, y);
    inside = b.GetInsertBlock();
  });
  llvm::PHINode* const out = b.CreatePHI(x->getType(), 2);
  out->addIncoming(rounded, from);
  out->addIncoming(divided, inside);
  return out;
}

/// Floor division or its remainder. A zero divisor gives 0: the language calls it an error, which a check
/// reports.
Value* Arithmetic::floor_divide(Elem elem, Value* x, Value* y, bool remainder) {
  auto& b = f_.b;
  llvm::Type* type = x->getType();
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

Value* Arithmetic::of_integers(Pointwise op, Elem elem, const std::vector<Value*>& a) {
  auto& b = f_.b;
  switch (op) {
    case Pointwise::add:
      return b.CreateAdd(a[0], a[1]);
    case Pointwise::sub:
      return b.CreateSub(a[0], a[1]);
    case Pointwise::mul:
      return b.CreateMul(a[0], a[1]);
    case Pointwise::div:
      return floor_divide(elem, a[0], a[1], false);
    case Pointwise::mod:
      return floor_divide(elem, a[0], a[1], true);
    case Pointwise::neg:
      return b.CreateNeg(a[0]);
    case Pointwise::abs:
      return base::is_signed(elem) ? b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a[0], b.getFalse()) : a[0];
    case Pointwise::min:
    case Pointwise::max:
      return extremum(op == Pointwise::max, elem, a[0], a[1]);
#define ARITHMETIC(name, arity)
#define OP(name, word, arity) case Pointwise::name:
#include "base/ops.def"
      break;
  }
  base::bug("module::Arithmetic", "integers under an operator that takes none");
}

Value* Arithmetic::compared(Pointwise op, Elem elem, Value* x, Value* y) {
  const bool is_unsigned = !base::is_signed(elem);
  using P = llvm::CmpInst::Predicate;
  P predicate;
  if (base::is_float(elem))
    predicate = op == Pointwise::eq   ? P::FCMP_OEQ
                : op == Pointwise::ne ? P::FCMP_UNE
                : op == Pointwise::lt ? P::FCMP_OLT
                                      : P::FCMP_OLE;
  else if (op == Pointwise::eq || op == Pointwise::ne)
    predicate = op == Pointwise::eq ? P::ICMP_EQ : P::ICMP_NE;
  else if (op == Pointwise::lt)
    predicate = is_unsigned ? P::ICMP_ULT : P::ICMP_SLT;
  else
    predicate = is_unsigned ? P::ICMP_ULE : P::ICMP_SLE;
  return f_.b.CreateCmp(predicate, x, y);
}

Value* Arithmetic::extremum(bool larger, Elem elem, Value* x, Value* y) {
  if (base::is_float(elem)) {
    auto* call =
        f_.b.CreateBinaryIntrinsic(larger ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, x, y);
    llvm::FastMathFlags flags;
    flags.setNoSignedZeros();
    if (auto* i = llvm::dyn_cast<llvm::Instruction>(call)) i->setFastMathFlags(flags);
    return call;
  }
  const bool is_unsigned = !base::is_signed(elem);
  const ID id = is_unsigned ? (larger ? llvm::Intrinsic::umax : llvm::Intrinsic::umin)
                            : (larger ? llvm::Intrinsic::smax : llvm::Intrinsic::smin);
  return f_.b.CreateBinaryIntrinsic(id, x, y);
}

Value* Arithmetic::combined(Pointwise monoid, Elem elem, Value* a, Value* b, llvm::FastMathFlags flags) {
  Value* value = apply(monoid, elem, {a, b});
  const bool rounds = base::is_float(elem) && (monoid == Pointwise::add || monoid == Pointwise::mul);
  if (auto* i = llvm::dyn_cast<llvm::Instruction>(value); i && rounds) i->setFastMathFlags(flags);
  return value;
}

Value* Arithmetic::multiply_add(Elem elem, Value* a, Value* b, Value* sum) {
  if (!base::is_float(elem)) return f_.b.CreateAdd(f_.b.CreateMul(a, b), sum);
  const bool has_fma = f_.level.vector_bytes >= 32;
  if (!has_fma) return f_.b.CreateFAdd(f_.b.CreateFMul(a, b), sum);
  return f_.b.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, sum});
}

}  // namespace axon::module
