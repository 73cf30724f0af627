// The tokens of a phrase.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "syntax/tokens.h"

namespace axon::repl {

/// The text has to live as long. Nothing is reported: that is the business of the check.
struct Lexed {
  source::SourceManager sources;
  source::Diagnostics ignored;
  source::FileId file;
  std::vector<syntax::Token> tokens;  ///< without END
  bool in_comment = false;            ///< documentation of what is still to come
  explicit Lexed(const std::string& text) : file(sources.add("repl", text, ignored)) {
    auto stream = syntax::lex(sources[file], ignored);
    for (const syntax::Token& t : stream.tokens)
      if (t.kind != syntax::TokenKind::END && !t.is_virtual) tokens.push_back(t);
    in_comment = tokens.empty() && text.find("--|") != std::string::npos;
  }
  std::string_view text(const syntax::Token& t) const {
    return sources[file].text().substr(t.begin, t.end - t.begin);
  }
};

}  // namespace axon::repl
