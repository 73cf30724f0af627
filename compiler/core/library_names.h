// The functions of the standard library that the compiler knows by name, besides the primitives (prims.def).
//
// Syntax stands for the first two. Messages about shapes recognise or write the others; what they write is
// tried first (session/try_edits.h), so a library without such a function costs a suggestion and nothing
// else. A test finds each name in the library.
#pragma once

namespace axon::core::library {

inline constexpr char matmul[] = "matmul";    ///< x @ y
inline constexpr char flatten[] = "flatten";  ///< the axes of a reduction over several binders, as one

inline constexpr char transpose[] = "transpose", keep[] = "keep", concat[] = "concat",
                      concat_last[] = "concat_last", dot[] = "dot", heads[] = "heads",
                      merge_heads[] = "merge_heads";

inline constexpr const char* names[] = {matmul,      flatten, transpose, keep,       concat,
                                        concat_last, dot,     heads,     merge_heads};

}  // namespace axon::core::library
