// A text, formatted; and what the laws speak of: its tree, and its tokens and comments in order.
#pragma once
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "format/format.h"
#include "source/render.h"
#include "syntax/parse.h"
#include "syntax/print.h"
#include "syntax/tokens.h"

namespace axon::format {

namespace fs = std::filesystem;

inline std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct Text {
  explicit Text(std::string text) : id(sources.add("test.axn", std::move(text), diagnostics)) {}
  const source::SourceFile& file() const { return sources[id]; }

  /// "" when it has syntax errors.
  std::string formatted() { return format(file(), diagnostics).value_or(""); }
  bool parses() {
    source::Diagnostics found;
    syntax::parse(file(), found);
    return !found.has_errors() && !diagnostics.has_errors();
  }
  std::string tree() {
    source::Diagnostics ignored;
    return syntax::print(syntax::parse(file(), ignored));
  }
  /// Every token that is no parenthesis and every comment, in order. Comments lose blanks at their end.
  std::vector<std::string> sequence() {
    source::Diagnostics ignored;
    syntax::TokenStream stream = syntax::lex(file(), ignored);
    std::vector<std::pair<uint32_t, std::string>> all;
    for (const syntax::Token& token : stream.tokens)
      if (token.kind != syntax::TokenKind::LPAREN && token.kind != syntax::TokenKind::RPAREN)
        all.emplace_back(token.begin, file().text().substr(token.begin, token.end - token.begin));
    for (const syntax::Comment& comment : stream.comments) {
      std::string text(file().text().substr(comment.span.begin, comment.span.size()));
      text.erase(text.find_last_not_of(" \t\r\f") + 1);
      all.emplace_back(comment.span.begin, std::move(text));
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> texts;
    for (auto& [at, text] : all) texts.push_back(std::move(text));
    return texts;
  }

  source::Diagnostics diagnostics;
  source::SourceManager sources;
  source::FileId id;
};

/// Every .axn file of the repository that parses, but not those that a build made.
inline std::vector<fs::path> programs() {
  std::vector<fs::path> found;
  for (const char* folder : {"stdlib", "examples", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(AXON_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".axn" && Text(read(entry.path())).parses())
        found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace axon::format
