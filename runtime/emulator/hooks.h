// What compiled code calls; `site` is the number of an entry of Retargeted::sites. A hook may run other
// threads before it returns, and does not return to a thread that must not go on.
#pragma once
#include <cstdint>

extern "C" {
/// Before an access of the site's size.
void axon_emulator_access(void* address, uint32_t site);
/// Before an access of so many bytes.
void axon_emulator_range(void* address, uint64_t bytes, uint32_t site);
void axon_emulator_fence(uint32_t site);
/// Before a jump back.
void axon_emulator_step();
/// Of the thread's block.
void* axon_emulator_shared();
/// Arguments in, results out.
void axon_emulator_primitive(uint64_t* values, uint32_t site);
}
