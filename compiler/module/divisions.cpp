// See divisions.h.
#include "module/divisions.h"

#include <llvm/Analysis/LoopInfo.h>
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

/// Loops inside of the loop come first: what leaves one may leave the next.
bool hoist_from(llvm::Loop& loop) {
  bool changed = false;
  for (llvm::Loop* inner : loop) changed |= hoist_from(*inner);
  llvm::BasicBlock* before = loop.getLoopPreheader();
  if (!before) return changed;
  std::vector<llvm::BinaryOperator*> leaving;
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& i : *block)
      if (i.isIntDivRem() && i.getType()->isIntegerTy() && loop.hasLoopInvariantOperands(&i))
        leaving.push_back(llvm::cast<llvm::BinaryOperator>(&i));
  for (llvm::BinaryOperator* division : leaving) {
    if (!llvm::isSafeToSpeculativelyExecute(division)) {
      llvm::IRBuilder<> b(before->getTerminator());
      division->setOperand(1, safe_divisor(*division, b));
    }
    division->moveBefore(before->getTerminator());
  }
  return changed || !leaving.empty();
}

}  // namespace

llvm::PreservedAnalyses HoistDivisions::run(llvm::Function& function,
                                            llvm::FunctionAnalysisManager& analyses) {
  bool changed = false;
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function)) changed |= hoist_from(*loop);
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace axon::module
