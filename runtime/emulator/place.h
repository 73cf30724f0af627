// Where an instruction stands, for messages: its line, or its number in the function where there is no line.
#pragma once
#include <llvm/IR/Instruction.h>

#include <string>

namespace axon::emulator {

std::string place_of(const llvm::Instruction&, size_t number);

}  // namespace axon::emulator
