// Divisions in loops that the vectoriser of LLVM 19 gets wrong.
//
// Where a division stands in a branch and is the same for all lanes, the vectoriser may compute it under the
// condition of the first lane alone, and uses it in the others: an address that was never computed. It does
// so where it means to divide all lanes by a safe divisor and then finds that one lane is enough.
#pragma once
#include <llvm/IR/PassManager.h>

namespace axon::module {

/// Makes the vectoriser keep divisions in branches under the condition of each lane. Of this process, once.
void keep_divisions_conditional();

/// Moves divisions out of loops that do not change them, from branches too, where their divisor is known to
/// be positive: emitted code never divides by anything else, and no such division traps. Runs before the
/// vectoriser, which then sees no division but those that differ from lane to lane.
struct HoistDivisions : llvm::PassInfoMixin<HoistDivisions> {
  llvm::PreservedAnalyses run(llvm::Function&, llvm::FunctionAnalysisManager&);
};

}  // namespace axon::module
