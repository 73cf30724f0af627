// See divisions.h.
#include "module/divisions.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/Support/CommandLine.h>

#include <mutex>
#include <vector>

#include "base/bug.h"

namespace axon::module {

void keep_divisions_conditional() {
  static std::once_flag once;
  std::call_once(once, [] {
    constexpr const char* name = "force-widen-divrem-via-safe-divisor";
    auto& options = llvm::cl::getRegisteredOptions();
    const auto option = options.find(name);
    if (option == options.end() || option->second->addOccurrence(0, name, "false"))
      base::bug("module::native", "this LLVM has no option for divisions in branches");
  });
}

namespace {

bool divides_by_positive(const llvm::Instruction& i, const llvm::SimplifyQuery& query) {
  if (!i.isIntDivRem()) return false;
  const llvm::Value* divisor = i.getOperand(1);
  const bool is_signed = i.getOpcode() == llvm::Instruction::SDiv || i.getOpcode() == llvm::Instruction::SRem;
  return is_signed ? llvm::isKnownPositive(divisor, query) : llvm::isKnownNonZero(divisor, query);
}

/// Loops inside of the loop come first: what leaves one may leave the next.
bool hoist_from(llvm::Loop& loop, const llvm::SimplifyQuery& query) {
  bool changed = false;
  for (llvm::Loop* inner : loop) changed |= hoist_from(*inner, query);
  llvm::BasicBlock* before = loop.getLoopPreheader();
  if (!before) return changed;
  std::vector<llvm::Instruction*> leaving;
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& i : *block)
      if (loop.hasLoopInvariantOperands(&i) && divides_by_positive(i, query)) leaving.push_back(&i);
  for (llvm::Instruction* i : leaving) i->moveBefore(before->getTerminator());
  return changed || !leaving.empty();
}

}  // namespace

llvm::PreservedAnalyses HoistDivisions::run(llvm::Function& function,
                                            llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  const llvm::SimplifyQuery query(function.getDataLayout());
  bool changed = false;
  for (llvm::Loop* loop : loops) changed |= hoist_from(*loop, query);
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace axon::module
