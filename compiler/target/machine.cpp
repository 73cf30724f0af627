// See machine.h.
#include "target/machine.h"

namespace axon::target {

const Class& x86_64() {
  static const Class all[] = {
#define CLASS(name, panel_columns) {#name, panel_columns},
#include "device/machines.def"
  };
  return all[0];
}

const std::vector<Machine>& machines() {
  static const std::vector<Machine> all = {
#define MACHINE(suffix, name, vector_bytes, registers, halves, rows, streams, bytes_ahead) \
  {name, #suffix, vector_bytes, registers, halves},
#include "device/machines.def"
  };
  return all;
}

std::optional<Machine> find_machine(std::string_view name) {
  for (const Machine& machine : machines())
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

}  // namespace axon::target
