// See machine.h.
#include "target/machine.h"

#include <cstdlib>
#include <string_view>

namespace axon::target {

namespace {

const Class classes[] = {
#define CLASS(name, panel_columns, points, line, row, rows, columns, whole_rows, reduced, runs, targets) \
  {#name, panel_columns, points, line, row, rows, columns, whole_rows, reduced, runs, targets},
#include "device/machines.def"
};

}  // namespace

const Class& x86_64() { return classes[0]; }
const Class& nvidia() { return classes[1]; }
const Class& class_of(const Machine& machine) { return machine.is_gpu() ? nvidia() : x86_64(); }

const std::vector<Machine>& machines() {
  static const std::vector<Machine> all = {
#define MACHINE(suffix, name, vector_bytes, registers, halves, ...) \
  {name, #suffix, vector_bytes, registers, halves, 0, 1, 1, 0},
#include "device/machines.def"
  };
  return all;
}

const std::vector<Machine>& gpus() {
  constexpr int bytes_at_once = 16;
  static const std::vector<Machine> all = {
#define GPU(name, ptx, lanes, warps, registers, scratch) \
  {name, name, bytes_at_once, registers, true, ptx, lanes, warps, scratch},
#include "device/machines.def"
  };
  return all;
}

std::optional<Machine> find_machine(std::string_view name) {
  for (const auto* all : {&machines(), &gpus()})
    for (const Machine& machine : *all)
      if (machine.name == name) return machine;
  return std::nullopt;
}

const Machine& native_machine() {
  size_t best = 0, number = 0;
#define MACHINE(suffix, name, ...)                 \
  if (__builtin_cpu_supports(name)) best = number; \
  ++number;
#include "device/machines.def"
  return machines()[best];
}

const Machine& loaded_machine() {
  const char* const forced = std::getenv("AXON_LEVEL");
  for (const Machine& machine : machines()) {
    if (forced && machine.name == std::string_view(forced)) return machine;
    if (&machine == &native_machine()) break;
  }
  return native_machine();
}

}  // namespace axon::target
