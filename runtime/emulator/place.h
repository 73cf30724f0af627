// Where an instruction stands, for messages: its line, or its number in the function where there is no line.
//
// Numbers are those of the module that came in, from 1: they are noted before anything is changed.
#pragma once
#include <llvm/IR/Instruction.h>

#include <string>

namespace axon::emulator {

void number_instructions(llvm::Function&);
std::string place_of(const llvm::Instruction&);

}  // namespace axon::emulator
