// The syntax tree and the token stream as stable text: `--emit=ast`, `--emit=tokens`, golden tests.
#pragma once
#include <string>

#include "source/diagnostic.h"
#include "syntax/ast.h"

namespace axon::syntax {

/// One S-expression per declaration, children indented; short ones on one line.
std::string print(const File& file);

/// One token per line: `line:column  kind  text`.
std::string print_tokens(const source::SourceFile& file, source::Diagnostics& diagnostics);

}  // namespace axon::syntax
