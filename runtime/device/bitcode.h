// The device pieces (event, memory, math, convert, contract, order) as LLVM bitcode, embedded at build time.
#pragma once

extern "C" {
extern const char axon_device_bitcode_begin[];
extern const char axon_device_bitcode_end[];
}
