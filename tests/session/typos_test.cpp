// Typos: in whatever declaration one is planted, no other one reports an error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "../sanitized.h"
#include "session/session.h"
#include "support.h"
#include "syntax/parse.h"
#include "syntax/tokens.h"

namespace axon::session {
namespace {

struct Typo {
  std::string what, text;
};

/// A declaration of a text: where it stands, and its tokens.
struct Place {
  std::string name;
  uint32_t begin = 0, end = 0;
  std::vector<syntax::Token> tokens;
};

std::vector<Place> places(const std::string& text) {
  source::SourceManager sources;
  source::Diagnostics found;
  const source::SourceFile& file = sources[sources.add("typo.axn", text, found)];
  const syntax::File parsed = syntax::parse(file, found);
  std::vector<Place> out;
  for (const syntax::Decl& d : parsed.decls) out.push_back({d.name.text, d.span.begin, d.span.end, {}});
  for (const syntax::Token& t : syntax::lex(file, found).tokens)
    for (Place& place : out)
      if (t.begin >= place.begin && t.end <= place.end && t.begin < t.end) place.tokens.push_back(t);
  return out;
}

/// Of each kind, in the middle of the declaration and at its ends; none in its keyword and its name. One of three
/// in turn, by the declaration's number: of three declarations each kind is at each place. AXON_ALL_TYPOS=1: all.
std::vector<Typo> typos(const std::string& text, const Place& place, size_t number) {
  std::vector<Typo> out;
  const auto& tokens = place.tokens;
  static const size_t turns = std::getenv("AXON_ALL_TYPOS") ? 1 : 3;
  size_t turn = number;
  const auto put = [&](const char* what, size_t begin, size_t end, const std::string& with) {
    if (turn++ % turns != 0) return;
    std::string now = text;
    now.replace(begin, end - begin, with);
    out.push_back({fmt::format("{} at {} of `{}`", what, begin, place.name), std::move(now)});
  };
  size_t first = 0;  // behind the name
  while (first < tokens.size() &&
         text.substr(tokens[first].begin, tokens[first].end - tokens[first].begin) != place.name)
    ++first;
  if (++first >= tokens.size()) return out;
  const size_t count = tokens.size() - first;
  for (const size_t i : {first, first + count / 3, first + count / 2, tokens.size() - 1}) {
    const syntax::Token& t = tokens[i];
    put("a token left out", t.begin, t.end, " ");
    put("an open bracket", t.begin, t.begin, "(");
    put("a line that ends", t.begin, place.end, "\n");
    put("a name that is no name", t.begin, t.end, " nonesuch ");
    put("a name more", t.end, t.end, " nonesuch");
    put("an operator more", t.end, t.end, " + ");
  }
  for (const syntax::TokenKind kind : {syntax::TokenKind::ID, syntax::TokenKind::LPAREN,
                                       syntax::TokenKind::RPAREN, syntax::TokenKind::RBRACKET}) {
    const auto is_it = [&](const syntax::Token& t) { return t.kind == kind; };
    const auto t = std::find_if(tokens.begin() + static_cast<long>(first + count / 3), tokens.end(), is_it);
    if (t == tokens.end()) continue;
    if (kind == syntax::TokenKind::ID)
      put("a misspelt name", t->end, t->end, "x");
    else
      put("a bracket left out", t->begin, t->end, "");
  }
  return out;
}

/// Errors of the text that stand inside of the declaration, and those elsewhere, as text.
std::pair<size_t, std::string> errors(Session& session, const std::string& path, uint32_t begin,
                                      uint32_t end) {
  const source::Diagnostics found = session.check(path);
  std::pair<size_t, std::string> out;
  const source::FileId file = session.documents().find(path)->text().source;
  for (const source::Diagnostic& d : found.sorted()) {
    if (d.severity != source::Severity::error) continue;
    const source::Span at = d.primary.span;
    if (at.file == file && begin <= at.begin && at.begin <= end)
      ++out.first;
    else
      out.second +=
          fmt::format("{} {} {}\n", session.sources().describe(at), code_name(d.code), d.headline());
  }
  return out;
}

class Typos : public ::testing::TestWithParam<const char*> {};

TEST_P(Typos, AreErrorsOfTheirDeclarationOnly) {
  Session session(library(), {});
  size_t planted = 0, wrong = 0;
  for (const std::string& path : sampled(programs({GetParam()}))) {
    const std::string text = read(path);
    session.documents().open(path, text);
    ASSERT_EQ(errors(session, path, 0, 0).second, "") << path;
    const std::vector<Place> all = places(text);
    for (size_t i = 0; i < all.size(); i += one_of) {
      for (const Typo& typo : typos(text, all[i], i)) {
        session.documents().open(path, typo.text);
        const size_t behind = text.size() - (i + 1 < all.size() ? all[i + 1].begin : text.size());
        const auto [here, elsewhere] =
            errors(session, path, all[i].begin, static_cast<uint32_t>(typo.text.size() - behind));
        ++planted;
        wrong += here != 0;
        if (here != 0) {
          EXPECT_EQ(elsewhere, "") << path << ": " << typo.what;
        }
      }
      session.documents().open(path, text);
    }
    EXPECT_EQ(errors(session, path, 0, 0).second, "") << path;
    session.documents().close(path);
  }
  EXPECT_GT(wrong, planted / 2);
}

INSTANTIATE_TEST_SUITE_P(Session, Typos, ::testing::Values("stdlib", "examples"));

}  // namespace
}  // namespace axon::session
