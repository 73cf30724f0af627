// See order_keys.h.
#include "module/order_keys.h"

#include <llvm/IR/DerivedTypes.h>

namespace axon::module {

using llvm::Value;

int64_t bits_of_key(base::Elem computed) {
  if (computed == base::Elem::boolean) return 1;
  return base::elem_bytes(computed) > 4 ? 64 : 32;
}

/// The bits of a positive float compare like an integer, and those of a negative one the other way round. A
/// descending order turns all bits.
Value* key_of(llvm::IRBuilderBase& b, base::Elem computed, Value* element, bool descending) {
  const auto width = static_cast<unsigned>(bits_of_key(computed));
  const auto of_bits = [&](unsigned bits) -> llvm::Type* {
    llvm::Type* const one = b.getIntNTy(bits);
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(element->getType());
    return vector ? llvm::FixedVectorType::get(one, vector->getNumElements()) : one;
  };
  llvm::Type* const word = of_bits(width);
  Value* const sign = llvm::ConstantInt::get(word, uint64_t{1} << (width - 1));
  Value* key = element;
  if (computed == base::Elem::boolean) {
    key = b.CreateICmpNE(key, llvm::Constant::getNullValue(key->getType()));
  } else if (base::is_float(computed)) {
    Value* const number = b.CreateFAdd(key, llvm::ConstantFP::get(key->getType(), 0.0));  // -0 becomes 0
    Value* const bits = b.CreateBitCast(number, word);
    key = b.CreateXor(bits, b.CreateOr(b.CreateAShr(bits, width - 1), sign));
    key = b.CreateSelect(b.CreateFCmpUNO(number, number), llvm::Constant::getAllOnesValue(word), key);
  } else if (base::is_signed(computed)) {
    key = b.CreateXor(b.CreateSExt(key, word), sign);
  } else {
    key = b.CreateZExt(key, word);
  }
  if (descending) key = b.CreateNot(key);
  return b.CreateShl(b.CreateZExt(key, of_bits(64)), 64 - width);
}

}  // namespace axon::module
