// What a kernel calls that is no code of its own: each a row of a table, with its meaning on fibers.
//
// In: the arguments, one 64-bit word each, scalars in the low bits. Out: the results in the same place. A
// primitive may block the thread, so that it returns much later. To add one: primitives_*.cpp has the
// function, the table its name.
#pragma once
#include <llvm/IR/Function.h>

#include <cstdint>
#include <string_view>

namespace axon::emulator {

class Engine;
struct Thread;

inline constexpr unsigned most_values = 16, any_number = ~0U;

struct Call {
  Engine& engine;
  Thread& self;
  uint64_t* values;
  uint32_t site;
  int parameter = 0;  ///< of the row: what a few names that share a function differ in
};

struct Primitive {
  std::string_view name;  ///< without the types of an overloaded intrinsic
  void (*run)(const Call&);
  bool pure = false;  ///< depends on nothing that another thread does
  int parameter = 0;
  unsigned arguments =
      any_number;  ///< of a function of the module itself, which an optimiser may have changed
};

/// Null where there is no row for the function's name.
const Primitive* find_primitive(std::string_view name);
const Primitive* find_primitive(const llvm::Function&);

}  // namespace axon::emulator
