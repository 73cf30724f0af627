// The contraction kernels as machine code of every level, embedded at build time: one after the other a line
// `NAME BYTES` and so many bytes of an ELF object.
#pragma once

extern "C" {
extern const char axon_kernels_begin[];
extern const char axon_kernels_end[];
}
