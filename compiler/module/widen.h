// Device functions on vectors: the same bits in every lane.
//
// In: a function of numbers that the device library has. Out: `<name>.x<lanes>`, whose arguments and result
// are vectors of them. Emission declares it, since device code is not there yet; once that is linked, its
// body is the scalar one, instruction by instruction on all lanes. Branches become choices between the values
// of both sides. Where a side may not be computed for nothing (loops, calls, divisions of integers), the
// scalar function is called for one lane after the other.
#pragma once
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace axon::module {

/// The declaration of a device function on `lanes` lanes, and that of the function itself, which the linker
/// then takes along. The types are those of one lane: integers and floats.
llvm::Function* widened(llvm::Module&, const std::string& name, llvm::Type* result,
                        const std::vector<llvm::Type*>& params, unsigned lanes);

/// Gives every function that widened() has declared its body; each is inlined wherever it is called. The
/// module has the scalar ones.
void define_widened(llvm::Module&);

}  // namespace axon::module
