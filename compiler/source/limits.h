// Limits of the front end. Each has its own diagnostic code, named beside it; tests hit every one.
#pragma once
#include <cstddef>
#include <cstdint>

namespace axon::source::limits {

inline constexpr size_t file_bytes = 16u << 20;            ///< E0001
inline constexpr size_t line_bytes = 64u << 10;            ///< E0002
inline constexpr size_t tokens = 4'000'000;                ///< E0202
inline constexpr int nesting = 256;                        ///< E0201: open brackets
inline constexpr int tree_height = 500;                    ///< E0201: nodes from a declaration down to a leaf
inline constexpr size_t parser_stack = 4096;               ///< E0201: symbols that wait for their right side
inline constexpr size_t syntax_errors = 100;               ///< E0203: then parsing of the file stops
inline constexpr size_t identifier_bytes = 255;            ///< E0104
inline constexpr size_t number_digits = 64;                ///< E0105
inline constexpr size_t string_bytes = 1u << 20;           ///< E0106
inline constexpr size_t rank = 16;                         ///< E0501: axes of a tensor
inline constexpr int64_t extent = int64_t{1} << 48;        ///< E0502: the longest axis
inline constexpr int64_t elements = int64_t{1} << 56;      ///< E0503: of one tensor
inline constexpr int64_t tensor_bytes = int64_t{1} << 60;  ///< of one tensor; follows from `elements`
static_assert(tensor_bytes / 8 >= elements);               // no element type is wider than 8 bytes
inline constexpr size_t diagnostics_shown = 20;            ///< rendered by default; the rest is counted
inline constexpr size_t diagnostics_kept = 1000;           ///< kept in a sink; the rest is counted

}  // namespace axon::source::limits
