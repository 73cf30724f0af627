// See hooks.h: each goes to the engine that runs.
#include "emulator/hooks.h"

#include "emulator/engine.h"

using axon::emulator::Engine;

void axon_emulator_access(void* address, uint32_t site) {
  Engine& engine = Engine::current();
  engine.access(reinterpret_cast<uint64_t>(address), engine.site(site).bytes, site);
}

void axon_emulator_range(void* address, uint64_t bytes, uint32_t site) {
  Engine::current().access(reinterpret_cast<uint64_t>(address), bytes, site);
}

void axon_emulator_fence(uint32_t site) { Engine::current().fence(site); }

void axon_emulator_step() { Engine::current().step(); }

void* axon_emulator_shared() {
  Engine& engine = Engine::current();
  return engine.memory().window(engine.self().block);
}

void axon_emulator_primitive(uint64_t* values, uint32_t site) { Engine::current().primitive(values, site); }
