// What holds for every program, on all programs of the repository and on seeded variations of them:
//
//   the tree of the formatted text is the tree of the text
//   tokens (but parentheses) and comments come in the same order
//   formatting again changes nothing
//   how the text was laid out does not matter: other blanks and line breaks between tokens, same result
//   no line ends in blanks, no two empty lines follow each other, the text ends with one end of line, unless
//   it is but documentation of the file, which is told by an empty line behind it
#include <gtest/gtest.h>

#include <random>

#include "../sanitized.h"
#include "support.h"

namespace axon::format {
namespace {

bool consists_of_comments(const std::string& text) {
  const auto all = Text(text).sequence();
  return std::all_of(all.begin(), all.end(),
                     [](const std::string& one) { return one.empty() || one.starts_with("--"); });
}

void expect_laws(const std::string& text, const std::string& where) {
  Text before(text);
  Text after(before.formatted());
  ASSERT_TRUE(after.parses()) << where << "\n" << after.file().text();
  EXPECT_EQ(after.tree(), before.tree()) << where;
  EXPECT_EQ(after.sequence(), before.sequence()) << where;
  const std::string once(after.file().text());
  EXPECT_EQ(after.formatted(), once) << where;
  EXPECT_EQ(once.find(" \n"), std::string::npos) << where << "\n" << once;
  EXPECT_EQ(once.find("\n\n\n"), std::string::npos) << where << "\n" << once;
  const bool only_documented = text.find("--|") != text.npos && consists_of_comments(text);
  EXPECT_TRUE(once.empty() || only_documented || (once.ends_with("\n") && !once.ends_with("\n\n"))) << where;
}

/// The same tokens and comments with other white space. Kept is what has a meaning: which `[` and `-` are
/// glued to what, which comments stand behind something, and where there are empty lines.
class Respaced {
 public:
  Respaced(Text& text, uint32_t seed, bool with_comments)
      : text_(text.file().text()), random_(seed), adds_(with_comments) {
    source::Diagnostics ignored;
    stream_ = syntax::lex(text.file(), ignored);
  }

  std::string text() {
    size_t comment = 0;
    uint32_t end = 0;
    for (size_t i = 0; i < stream_.tokens.size(); ++i) {
      const syntax::Token& token = stream_.tokens[i];
      bool has_comment = false;
      for (; comment < stream_.comments.size() && stream_.comments[comment].span.begin < token.begin;
           ++comment) {
        const syntax::Comment& one = stream_.comments[comment];
        gap(end, one.span.begin, one.own_line || out_.empty() ? Gap::line : Gap::blanks);
        out_ += text_.substr(one.span.begin, one.span.size());
        end = one.span.end;
        has_comment = true;
      }
      gap(end, token.begin, has_comment ? Gap::line : between(i));
      if (adds_ && !has_comment && may_break(i) && random_() % 12 == 0) add_comment();
      out_ += text_.substr(token.begin, token.end - token.begin);
      end = token.end;
    }
    return out_;
  }

 private:
  enum class Gap { none, blanks, line, any };

  /// What may stand between token i and the one before it.
  Gap between(size_t i) const {
    if (i == 0) return Gap::blanks;
    const syntax::Token &left = stream_.tokens[i - 1], &right = stream_.tokens[i];
    if (right.kind == syntax::TokenKind::IDX) return Gap::none;
    if (right.kind == syntax::TokenKind::END) return Gap::line;
    if (opens_declaration(right.kind) && left.kind != syntax::TokenKind::PRIVATE) return Gap::line;
    if (left.kind == syntax::TokenKind::PREMINUS) return Gap::none;
    return Gap::any;
  }
  bool may_break(size_t i) const {
    return i > 0 && between(i) == Gap::any && stream_.tokens[i - 1].kind != syntax::TokenKind::PRIVATE;
  }

  void gap(uint32_t from, uint32_t to, Gap kind) {
    std::string_view old = text_.substr(from, to - from);
    if (std::count(old.begin(), old.end(), '\n') > 1) {
      out_ += old;
      return;
    }
    switch (kind) {
      case Gap::none:
        return;
      case Gap::blanks:
        out_.append(out_.empty() ? 0 : 1 + random_() % 4, ' ');
        return;
      case Gap::line:
        out_ += "\n" + std::string(random_() % 4, ' ');
        return;
      case Gap::any:
        out_ += random_() % 3 == 0 ? "\n" + std::string(1 + random_() % 6, ' ')
                                   : std::string(1 + random_() % 3, ' ');
    }
  }
  void add_comment() {
    const bool own_line = random_() % 2 == 0;
    const bool at_line_begin =
        out_.substr(out_.find_last_of('\n') + 1).find_first_not_of(' ') == std::string::npos;
    if (own_line && !at_line_begin) out_ += '\n';
    out_ += "-- note " + std::to_string(++notes_) + "\n  ";
  }

  std::string_view text_;
  syntax::TokenStream stream_;
  std::mt19937 random_;
  bool adds_;
  int notes_ = 0;
  std::string out_;
};

TEST(Laws, HoldForFilesOfDocumentation) {
  for (const char* text :
       {"--| doc\n\n", "--| doc\n\n\n\n", "\n--| doc\n--|\n\n", "--| doc\n", "--| doc", "--|\n\n", "--|\n",
        "--| doc\n\n-- comment\n\n", "-- comment\n--| doc\n\n", "-- comment\n\n", "--| doc\n-- comment\n\n"})
    expect_laws(text, text);
  Text documented("--| doc\n\n\n");
  EXPECT_EQ(documented.formatted(), "--| doc\n\n");
  Text comment("-- doc\n\n\n");
  EXPECT_EQ(comment.formatted(), "-- doc\n");
}

TEST(Laws, HoldForEveryProgram) {
  const auto all = programs();
  ASSERT_GE(all.size(), 20u);
  for (const fs::path& program : sampled(all)) expect_laws(read(program), program.string());
}

TEST(Laws, LayoutDoesNotMatter) {
  for (const fs::path& program : sampled(programs())) {
    Text text(read(program));
    const std::string formatted = text.formatted();
    for (uint32_t seed = 0; seed < 4; ++seed) {
      Text other(Respaced(text, seed, false).text());
      ASSERT_TRUE(other.parses()) << program << "\n" << other.file().text();
      EXPECT_EQ(other.formatted(), formatted) << program << " seed " << seed << "\n" << other.file().text();
    }
  }
}

TEST(Laws, HoldWithCommentsAnywhere) {
  for (const fs::path& program : sampled(programs())) {
    Text text(read(program));
    for (uint32_t seed = 0; seed < 4; ++seed) {
      const std::string commented = Respaced(text, seed, true).text();
      ASSERT_TRUE(Text(commented).parses()) << program << "\n" << commented;
      expect_laws(commented, program.string() + " seed " + std::to_string(seed));
    }
  }
}

TEST(Laws, ATextWithSyntaxErrorsIsRefused) {
  for (const char* broken :
       {"fun f x = x +", "fun f (x = x", "val a : ", "fun f = \"open", "fun f x = x $ 2", ")"}) {
    Text text(broken);
    EXPECT_EQ(format(text.file(), text.diagnostics), std::nullopt) << broken;
    EXPECT_TRUE(text.diagnostics.has_errors()) << broken;
  }
}

TEST(Laws, ProgramsOfTheLibraryAndTheExamplesAreFormatted) {
  for (const fs::path& program : programs()) {
    const fs::path path = fs::relative(program, AXON_SOURCE_DIR);
    if (*path.begin() == "tests") continue;
    Text text(read(program));
    EXPECT_EQ(text.formatted(), text.file().text()) << "etcc fmt " << path.string();
  }
}

}  // namespace
}  // namespace axon::format
