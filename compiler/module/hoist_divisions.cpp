// See hoist_divisions.h.
#include "module/hoist_divisions.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstrTypes.h>

#include <vector>

namespace axon::module {

namespace {

/// The divisor, or 1 where the division would trap. What is poison where nobody divides stays harmless.
llvm::Value* safe_divisor(llvm::BinaryOperator& division, llvm::IRBuilder<>& b) {
  llvm::Value* divisor = division.getOperand(1);
  llvm::Type* type = divisor->getType();
  llvm::Constant* one = llvm::ConstantInt::get(type, 1);
  if (llvm::isa<llvm::ConstantInt>(divisor)) return divisor;
  divisor = b.CreateFreeze(divisor);
  llvm::Value* traps = b.CreateICmpEQ(divisor, llvm::ConstantInt::getNullValue(type));
  const auto op = division.getOpcode();
  if (op == llvm::Instruction::SDiv || op == llvm::Instruction::SRem) {
    llvm::Value* dividend = b.CreateFreeze(division.getOperand(0));
    division.setOperand(0, dividend);
    const auto least = llvm::APInt::getSignedMinValue(type->getIntegerBitWidth());
    llvm::Value* overflows = b.CreateAnd(b.CreateICmpEQ(dividend, llvm::ConstantInt::get(type, least)),
                                         b.CreateICmpEQ(divisor, llvm::ConstantInt::getAllOnesValue(type)));
    traps = b.CreateOr(traps, overflows);
  }
  return b.CreateSelect(traps, one, divisor);
}

/// Moves the division, and what it divides where that is computed in the loop.
bool hoist(llvm::Loop& loop, llvm::BinaryOperator& division, llvm::Instruction* before) {
  bool moved = false;
  for (llvm::Value* operand : division.operands())
    if (!loop.makeLoopInvariant(operand, moved, before)) return moved;
  if (!llvm::isSafeToSpeculativelyExecute(&division)) {
    llvm::IRBuilder<> b(before);
    division.setOperand(1, safe_divisor(division, b));
  }
  division.moveBefore(before);
  return true;
}

/// Loops inside of the loop come first: what leaves one may leave the next. In program order, since a
/// division may divide what another one gives.
bool hoist_from(llvm::Loop& loop, llvm::LoopInfo& loops) {
  bool changed = false;
  for (llvm::Loop* inner : loop) changed |= hoist_from(*inner, loops);
  llvm::BasicBlock* before = loop.getLoopPreheader();
  if (!before) return changed;
  llvm::LoopBlocksRPO blocks(&loop);
  blocks.perform(&loops);
  std::vector<llvm::BinaryOperator*> divisions;
  for (llvm::BasicBlock* block : blocks)
    for (llvm::Instruction& i : *block)
      if (i.isIntDivRem() && i.getType()->isIntegerTy())
        divisions.push_back(llvm::cast<llvm::BinaryOperator>(&i));
  for (llvm::BinaryOperator* division : divisions) changed |= hoist(loop, *division, before->getTerminator());
  return changed;
}

}  // namespace

llvm::PreservedAnalyses HoistDivisions::run(llvm::Function& function,
                                            llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  bool changed = false;
  for (llvm::Loop* loop : loops) changed |= hoist_from(*loop, loops);
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace axon::module
