// Divisions in loops that the vectoriser of LLVM 19 gets wrong.
//
// Where a division stands in a branch and has the same operands in all lanes, the vectoriser computes it
// once, under the condition of the first lane alone, and uses it in the others: an address that was never
// computed.
#pragma once
#include <llvm/IR/PassManager.h>

namespace axon::module {

/// Moves divisions out of loops that do not change their operands, from branches too; one that a branch
/// guards then divides by 1 where it would trap. Runs before the vectoriser, which afterwards sees no
/// division but those that differ from lane to lane.
struct HoistDivisions : llvm::PassInfoMixin<HoistDivisions> {
  llvm::PreservedAnalyses run(llvm::Function&, llvm::FunctionAnalysisManager&);
};

}  // namespace axon::module
