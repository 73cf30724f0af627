// See place.h.
#include "emulator/place.h"

#include <fmt/format.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>

namespace axon::emulator {

namespace {
constexpr const char* number_metadata = "axon.number";
}

void number_instructions(llvm::Function& function) {
  llvm::LLVMContext& context = function.getContext();
  uint32_t number = 0;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    ++number;
    if (!instruction.mayReadOrWriteMemory() || instruction.getDebugLoc()) continue;
    auto* value = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), number);
    instruction.setMetadata(number_metadata,
                            llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(value)));
  }
}

std::string place_of(const llvm::Instruction& instruction) {
  const std::string function = llvm::demangle(std::string_view(instruction.getFunction()->getName()));
  if (const llvm::DILocation* location = instruction.getDebugLoc().get())
    return fmt::format("{}:{} in {}", location->getFilename().str(), location->getLine(), function);
  const llvm::MDNode* node = instruction.getMetadata(number_metadata);
  if (node == nullptr) return function;
  const auto* number = llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(0));
  return fmt::format("{} #{} in {}", instruction.getOpcodeName(), number->getZExtValue(), function);
}

}  // namespace axon::emulator
