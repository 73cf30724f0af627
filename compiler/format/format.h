// The canonical text of a program. One style, no options: it depends on the tokens, the comments and the
// empty lines between declarations and between lets, and on nothing else of how the text was laid out.
//
// In: a source file. Out: its text in the style, or nothing when it has syntax errors (which are reported).
// The tokens stay the same but for parentheses: those that group nothing go, those that say how operators
// group stay as they were written. Comments keep their place between tokens.
#pragma once
#include <optional>
#include <string>

#include "source/diagnostic.h"

namespace axon::format {

inline constexpr uint32_t line_width = 100;

std::optional<std::string> format(const source::SourceFile& file, source::Diagnostics& diagnostics);

}  // namespace axon::format
