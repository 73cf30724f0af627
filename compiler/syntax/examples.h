// Examples in documentation: lines `--| >>> e`, which `etcc test` runs.
//
// In: a file with its comments. Out: where a comment says something, and where its program is. Invariant:
// both are stretches of the comment.
#pragma once
#include <optional>

#include "syntax/ast.h"

namespace axon::syntax {

/// What a documentation comment says: behind the sign and one blank, without blanks at its end.
source::Span said_by(const Comment& comment, const source::SourceFile& file);
/// The expression of an example; nothing where the comment is none.
std::optional<source::Span> example_in(const Comment& comment, const source::SourceFile& file);

}  // namespace axon::syntax
