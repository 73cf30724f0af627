// The device pieces as LLVM bitcode, embedded at build time: of CPUs (event, memory, math, convert, contract,
// order) and of GPUs (gpu, math, convert).
#pragma once

extern "C" {
extern const char axon_device_bitcode_begin[];
extern const char axon_device_bitcode_end[];
extern const char axon_device_gpu_bitcode_begin[];
extern const char axon_device_gpu_bitcode_end[];
}
