// Run while the compiler is built: the contraction kernels of every level, compiled once for all programs.
//   compile_kernels OUTPUT
#include <fstream>

#include "module/kernels/kernels.h"
#include "module/module.h"

// This program has none yet.
extern "C" {
const char axon_kernels_begin[1] = {};
const char axon_kernels_end[1] = {};
}

int main(int, char** arguments) {
  std::ofstream out(arguments[1], std::ios::binary);
  for (const axon::target::Machine& level : axon::target::machines())
    for (const auto& [name, object] : axon::module::emit_kernels(level))
      out << name << ' ' << object.size() << '\n' << object;
  out.close();
  return out ? 0 : 1;
}
