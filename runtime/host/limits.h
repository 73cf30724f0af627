// The limits on bundles. Each has its own message; hitting one is an error, never a crash or a hang.
#pragma once
#include <cstddef>
#include <cstdint>

#include "device/abi.h"

namespace axon::host::limits {

constexpr uint64_t bundle_bytes = uint64_t{1} << 31;
constexpr uint32_t sections = 16;
constexpr uint64_t manifest_bytes = 64u << 20;
constexpr int manifest_depth = 16;
constexpr uint64_t list = 1u << 20;  ///< items in any one list of the manifest
constexpr uint64_t sizes = 64;       ///< per entry: sets of sizes are one 64-bit word
constexpr uint64_t rank = 16;
constexpr uint64_t dim_text = 65'536;  ///< bytes of one dimension
constexpr uint32_t dim_depth = 64;     ///< nesting, and operands in flight
constexpr uint32_t power = 8;          ///< of a size in an axis
constexpr uint64_t digits = 64;        ///< of the placement of a weight
constexpr uint64_t multiple = 4096;    ///< of positions that an axis of a weight is rounded up to
constexpr uint64_t tensor_bytes = uint64_t{1} << 60;
constexpr uint64_t extent = uint64_t{1} << 48;
constexpr uint32_t workers = AXON_MOST_WORKERS;
constexpr int64_t first_room = 4096;             ///< for a size that the data decides and nothing bounds
constexpr int64_t least_room = 1;                ///< where that is too much
constexpr size_t traced_runs = size_t{1} << 24;  ///< of a worker
constexpr uint32_t iterations =
    1u << 29;  ///< of one launch: epochs are compared as 32-bit signed differences

}  // namespace axon::host::limits
