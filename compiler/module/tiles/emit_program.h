// Native code of a tile program: explicit vectors, and no loop for LLVM's vectoriser to look at.
//
// In: a program of one thread, at a point of a function where its sizes and coordinates have values. Out: the
// operations of one task. Invariant: what the code computes is what tile::interpret() does, bit for bit where
// no elementary function occurs; no byte outside of the bounds is touched.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "module/frame.h"
#include "tile/tile.h"

namespace axon::module {

struct ProgramMemory {
  std::vector<llvm::Value*> tensors;  ///< base pointer of each tensor of the program
  std::vector<uint32_t> regions;      ///< for Frame::mark, of each tensor
  llvm::Value* scratch = nullptr;     ///< private memory of the worker, 64-byte aligned
  uint32_t scratch_region = UINT32_MAX;
  /// Emits, in the function of a frame, what notes a check that has failed, by its number, with what it
  /// shows. `notes`: a pointer that it needs.
  std::function<void(Frame&, llvm::Value* notes, uint32_t check, llvm::Value* found, llvm::Value* wanted)>
      check_failed = nullptr;
  llvm::Value* notes = nullptr;
};

/// Emits the operations of the program's one task at the frame's insertion point. The frame has values for
/// all of the program's sizes and coordinates. Waits and notifications are the kernel's: nothing is emitted
/// for them.
void emit_program(Frame&, const tile::Program&, const ProgramMemory&);

/// A function without a result that is visible outside; on a GPU, one that is launched.
llvm::Function* declare_kernel(llvm::Module&, const std::string& name, const std::vector<llvm::Type*>& params,
                               const target::Machine&);

/// Why there is no code for the program; nullopt where there is.
std::optional<std::string> why_not_emitted(const tile::Program&);

/// A module with a function of the program's name, (tensors, sizes, coordinates, scratch): pointers to arrays
/// of pointers, of i64 and of i64, in the program's order. It runs the task of those coordinates. Of a
/// program with checks there is a fifth argument, a pointer to three i64, the first of which is 0 until a
/// check fails: then they are its number plus one, and what it shows.
void emit_task_function(llvm::Module&, const tile::Program&, const target::Machine&);

enum class TaskForm : uint8_t { llvm, assembly, object };
/// That function as optimised LLVM text, as assembly, or as an object that a linker takes.
std::optional<std::string> emit_task(const tile::Program&, const target::Machine&, TaskForm,
                                     std::string& error);

}  // namespace axon::module
