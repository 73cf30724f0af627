// Programs for the emulator: kernels that are compiled with the tests, and texts.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulator/emulator.h"

namespace axon::emulator {

/// kernels/NAME.cpp with -DBUG=bug; compiled once.
Program& compiled(const std::string& name, int bug = 0);

/// The kernel `k` of an LLVM text, which a target and the mark of a kernel are added to.
std::unique_ptr<Program> from_text(const std::string& text);

/// Memory of a launch under a name.
template <typename T>
Region region(std::string name, std::vector<T>& values, bool writable = true) {
  return {std::move(name), values.data(), values.size() * sizeof(T), writable};
}

/// Where values lie, which must live longer.
template <typename... T>
std::vector<const void*> arguments(const T&... values) {
  return {static_cast<const void*>(&values)...};
}

}  // namespace axon::emulator
