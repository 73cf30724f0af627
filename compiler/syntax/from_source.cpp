// parse(): one file to one tree. The work is in lexer.re, tokens.cpp (brackets), grammar.yy and builder.cpp.
#include "generated_grammar.h"
#include "syntax/parse.h"

namespace axon::syntax {

File parse(const source::SourceFile& file, source::Diagnostics& diagnostics) {
  Builder builder(file, diagnostics);
  // The parser's verdict does not matter: what it could not recover from is reported, the tree holds the
  // rest.
  Parser(builder).parse();
  return builder.take();
}

}  // namespace axon::syntax
