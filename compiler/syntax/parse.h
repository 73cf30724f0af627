// From text to tree. parse() always gives a File: what could not be understood is an error node and a
// diagnostic.
#pragma once
#include "source/diagnostic.h"
#include "syntax/ast.h"

namespace axon::syntax {

File parse(const source::SourceFile& file, source::Diagnostics& diagnostics);

/// Whether nothing is wrong with the text but that it ends: more of it can make it right.
bool ends_early(const source::SourceFile& file);

}  // namespace axon::syntax
