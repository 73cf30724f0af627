// parse(): one file to one tree. The work is in lexer.re, tokens.cpp (brackets), grammar.yy and builder.cpp.
#include "generated_grammar.h"
#include "syntax/parse.h"

namespace axon::syntax {

File parse(const source::SourceFile& file, source::Diagnostics& diagnostics) {
  const size_t before = diagnostics.in_order_of_report().size();
  Builder builder(file, diagnostics);
  // The parser's verdict does not matter: what it could not recover from is reported, the tree holds the
  // rest.
  Parser(builder).parse();
  File out = builder.take();
  const auto& all = diagnostics.in_order_of_report();
  for (size_t i = before; i < all.size(); ++i)
    if (all[i].severity == source::Severity::error) out.errors.push_back(all[i].primary.span);
  return out;
}

bool ends_early(const source::SourceFile& file) {
  source::Diagnostics ignored;
  Builder builder(file, ignored);
  Parser(builder).parse();
  return builder.ended_early();
}

}  // namespace axon::syntax
