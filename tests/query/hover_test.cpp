// What hover says: of files token by token beside them, and of declarations what `check --types` prints.
#include "query/hover.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../sanitized.h"
#include "core/modules.h"
#include "session/support.h"
#include "syntax/tokens.h"

namespace axon::query {
namespace {

namespace fs = std::filesystem;

/// Of each token of the file: its place and text, then what is said; said once where tokens in a row get the
/// same.
std::string hovers(const session::Session& session, const std::string& path) {
  const source::SourceFile& whole = session.sources()[session.documents().find(path)->text().source];
  source::Diagnostics ignored;
  std::string out, before;
  for (const syntax::Token& t : syntax::lex(whole, ignored).tokens) {
    if (t.begin == t.end) continue;
    const auto found = hover(session, path, t.begin);
    std::string said = found ? found->code + (found->text.empty() ? "" : "\n\n" + found->text) : "-";
    const source::Position at = whole.position(t.begin);
    out += fmt::format("{}:{} {}\n", at.line, at.column, whole.text().substr(t.begin, t.end - t.begin));
    if (said == before) continue;
    before = said;
    for (size_t i = 0; i <= said.size();) {
      const size_t end = std::min(said.find('\n', i), said.size());
      out += "    " + said.substr(i, end - i) + "\n";
      i = end + 1;
    }
  }
  return out;
}

TEST(Hover, OfFiles) {
  for (const auto& entry : fs::directory_iterator(fs::path(AXON_SOURCE_DIR) / "tests/query/hover")) {
    if (entry.path().extension() != ".axn") continue;
    session::Session session(session::library(), {});
    const std::string path = entry.path();
    session.documents().open(path, session::read(path));
    session.check(path);
    const std::string shown = hovers(session, path);
    fs::path golden = entry.path();
    golden.replace_extension(".txt");
    if (std::getenv("AXON_BLESS")) std::ofstream(golden, std::ios::binary) << shown;
    EXPECT_EQ(session::read(golden), shown) << "AXON_BLESS=1 accepts";
  }
}

/// Without blanks.
std::string squeezed(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '\n') out += c;
  return out;
}

TEST(Hover, SaysOfDeclarationsWhatCheckPrints) {
  for (const std::string& path : sampled(session::programs({"stdlib", "examples", "tests/core/types"}))) {
    session::Session session(session::library(), {});
    session.documents().open(path, session::read(path));
    if (session.check(path).has_errors()) continue;
    const std::string types = squeezed(session.types(path));
    for (const session::Entry& e : session.declarations(path)) {
      if (e.key.space != core::DeclKey::Space::values || !e.decl->name.span.valid()) continue;
      if (syntax::as<syntax::TestDecl>(*e.decl)) continue;
      const auto found = hover(session, path, session.sources().in_whole(e.decl->name.span).begin);
      ASSERT_TRUE(found) << path << ": " << e.key.name;
      EXPECT_NE(types.find(squeezed(found->code)), std::string::npos) << found->code;
    }
  }
}

class Hovering : public ::testing::Test {
 protected:
  void set(const std::string& text) {
    text_ = text;
    session_.documents().open(path, text);
    session_.check(path);
  }
  std::string at(const std::string& word) {
    const auto found = hover(session_, path, static_cast<uint32_t>(text_.find(word)));
    return found ? found->code : "-";
  }
  static constexpr const char* path = "/nowhere/a.axn";
  session::Session session_{session::library(), {}};
  std::string text_;
};

TEST_F(Hovering, OfABrokenTextIsWhatWasKnown) {
  set("fun f (x : f32[n, d]) (w : f32[d, o]) = let y = x @ w in y + 1.0\nfun g x = f x (transpose x)\n");
  EXPECT_EQ(at("f x ("),
            "f : f32[n, d] -> f32[d, o] -> f32[n, o]\nhere : f32[m, n] -> f32[n, m] -> f32[m, m]");
  EXPECT_EQ(at("y = x"), "y : f32[n, o]");
  set("fun f (x : f32[n, d]) (w : f32[d, o]) = let y = x @ w in y + \nfun g x = f x (transpose x)\n");
  EXPECT_EQ(at("y = x"), "y : f32[n, o]");
  EXPECT_EQ(at("@"),
            "matmul : 't[..a, m, k] -> 't[..b, k, n] -> 't[..(a|b), m, n]   where 't : num\n"
            "here   : f32[n, d] -> f32[d, o] -> f32[n, o]");
}

TEST_F(Hovering, OfAnIndexSaysWhetherItsSizeHasAName) {
  session::Session session(session::library(), {});
  const std::string text =
      "fun f (x : f32[n]) = for i => x[i]\nfun g c = let m = nonzero c in for i => m[i]\n";
  session.documents().open("/nowhere/i.axn", text);
  session.check("/nowhere/i.axn");
  const auto said = [&](const char* at) {
    return hover(session, "/nowhere/i.axn", static_cast<uint32_t>(text.find(at)))->text;
  };
  EXPECT_EQ(said("i => x"), "Runs from 0 up to, not including, the size `n`.");
  EXPECT_EQ(said("i => m"), "Runs from 0 up to, not including, the size that types call `k`.");
}

TEST_F(Hovering, OfNothingSaysNothing) {
  set("-- a comment\n\nfun f x = x -- x\n");
  EXPECT_EQ(at("comment"), "-");
  EXPECT_EQ(at("\nfun"), "-");
  EXPECT_EQ(at("-- x"), "-");
  EXPECT_FALSE(hover(session_, path, 10'000));
  EXPECT_FALSE(hover(session_, "/nowhere/else.axn", 0));
}

}  // namespace
}  // namespace axon::query
