// The limits on weight files. Each has its own message and test; hitting one is an error, never a crash or a
// hang.
#pragma once
#include <cstdint>

namespace axon::weights::limits {

constexpr uint64_t rank = 16;
constexpr uint64_t extent = uint64_t{1} << 48;
constexpr uint64_t elements = uint64_t{1} << 56;
constexpr uint64_t tensor_bytes = uint64_t{1} << 60;

constexpr uint64_t safetensors_header = 100'000'000;  ///< the cap of the reference implementation
constexpr uint64_t index_file = 100'000'000;
constexpr uint64_t shards = 10'000;
constexpr uint64_t npy_header = 65'536;

constexpr uint64_t zip_members = 1'000'000;
constexpr uint64_t zip_ratio = 100;       ///< unpacked bytes per byte of archive ...
constexpr uint64_t zip_free = 64u << 20;  ///< ... once an archive unpacks to more than this

constexpr uint64_t map_line = 65'536;      ///< bytes in one line of a binding map
constexpr uint64_t map_errors = 20;        ///< shown before a map is given up
constexpr uint64_t map_indices = 4;        ///< stacked axes in one rule
constexpr uint64_t map_parts = 64;         ///< parameters that share a tensor, or tensors that are joined
constexpr uint64_t map_stars = 1000;       ///< rules with `*`, each of which is tried on every parameter
constexpr uint64_t map_segments = 65'536;  ///< pieces of one tensor's axis

constexpr uint64_t gguf_name = 65'535;  ///< bytes in a name or a key
constexpr uint64_t gguf_alignment = 1u << 20;

}  // namespace axon::weights::limits
