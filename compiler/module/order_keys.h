// Keys of an order as numbers that the device compares (runtime/device/order.h).
//
// In: elements as they are computed, one or a vector of them. Out: unsigned numbers of 64 bits whose order is
// that of the elements, in their upper bits_of_key() bits. Invariant: NaNs come last, and in a descending
// order first; -0 and +0 have one key.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "base/elem.h"

namespace axon::module {

int64_t bits_of_key(base::Elem computed);
llvm::Value* key_of(llvm::IRBuilderBase&, base::Elem computed, llvm::Value* element, bool descending);

}  // namespace axon::module
