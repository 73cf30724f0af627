#include "mutate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "source/diagnostic.h"
#include "source/span.h"
#include "syntax/parse.h"
#include "syntax/tokens.h"

namespace axon::mutation {

namespace {

/// A piece of a text: bytes [begin, end).
struct Piece {
  uint32_t begin = 0, end = 0;
};

/// What a text is made of, as far as it can be understood.
struct Parts {
  std::vector<std::pair<syntax::TokenKind, Piece>> tokens;
  std::vector<Piece> expressions, types, declarations;
};

Parts parts_of(const Program& program) {
  source::SourceManager sources;
  source::Diagnostics diagnostics;
  const source::FileId id = sources.add(program.name, program.text, diagnostics);
  Parts parts;
  if (!id.valid()) return parts;
  for (const syntax::Token& t : syntax::lex(sources[id], diagnostics).tokens)
    if (t.end > t.begin && t.end <= program.text.size()) parts.tokens.push_back({t.kind, {t.begin, t.end}});
  const syntax::File file = syntax::parse(sources[id], diagnostics);
  const auto add = [&](std::vector<Piece>& pieces, const source::Span& span) {
    const bool here = span.file == id && span.end <= program.text.size();  // a line feed may be added
    if (here && span.end > span.begin) pieces.push_back({span.begin, span.end});
  };
  for (const syntax::Expr& e : file.exprs) add(parts.expressions, e.span);
  for (const syntax::Type& t : file.types) add(parts.types, t.span);
  for (const syntax::Decl& d : file.decls) add(parts.declarations, d.span);
  return parts;
}

class Mutator {
 public:
  Mutator(const std::vector<Program>& programs, uint64_t seed)
      : programs_(programs), random_(seed * 6364136223846793005u + 1442695040888963407u) {}

  Program run() {
    Program made = any(programs_);
    if (below(3) > 0)  // mostly one that can be run
      for (int tries = 0; tries < 20 && made.text.find("entry ") == std::string::npos; ++tries)
        made = any(programs_);
    for (size_t left = 1 + below(5) / 3; left > 0; --left) made.text = changed(made);
    return made;
  }

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }
  template <class T>
  const T& any(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  static std::string text_of(const Program& p, Piece piece) {
    return p.text.substr(piece.begin, piece.end - piece.begin);
  }
  static std::string with(const Program& p, Piece piece, const std::string& text) {
    return p.text.substr(0, piece.begin) + text + p.text.substr(piece.end);
  }

  std::string changed(const Program& p) {
    const Parts parts = parts_of(p);
    if (parts.tokens.empty()) return p.text + " 0";
    if (below(2) == 0 || parts.expressions.empty()) return changed_token(p, parts);
    return changed_tree(p, parts);
  }

  std::string changed_token(const Program& p, const Parts& parts) {
    const size_t at = below(parts.tokens.size());
    const auto& [kind, piece] = parts.tokens[at];
    switch (below(7)) {
      case 0:
        return with(p, piece, "");
      case 1:
        return with(p, piece, text_of(p, piece) + " " + text_of(p, piece));
      case 2: {  // with its neighbour
        if (at + 1 == parts.tokens.size()) return with(p, piece, "");
        const Piece next = parts.tokens[at + 1].second;
        return with(p, {piece.begin, next.end},
                    text_of(p, next) + p.text.substr(piece.end, next.begin - piece.end) + text_of(p, piece));
      }
      case 3:
        return with(p, piece, text_of(p, any(parts.tokens).second));
      case 4: {  // of another program
        const Program& other = any(programs_);
        const Parts theirs = parts_of(other);
        return theirs.tokens.empty() ? p.text : with(p, piece, text_of(other, any(theirs.tokens).second));
      }
      default:
        return with(p, piece, alike(p, parts, kind, piece));
    }
  }

  /// Another token of the same kind, of this text; of a number or an operator also one that is nowhere in it.
  std::string alike(const Program& p, const Parts& parts, syntax::TokenKind kind, Piece piece) {
    static const std::vector<std::string> numbers = {"0", "1", "2", "3", "7", "64", "65", "0.5", "1.0"};
    static const std::vector<std::vector<std::string>> classes = {
        {"+", "-", "*", "/", "%", "@"},
        {"<", "<=", ">", ">=", "==", "!="},
        {"&&", "||"},
        {"f32", "f64", "f16", "bf16", "i64", "i32", "i8", "u8", "bool"},
        {"sum", "maximum", "minimum", "prod", "mean", "argmax", "any", "all"},
        {"fold", "scan", "iterate", "while"},
        {"fun", "entry", "val"}};
    const std::string text = text_of(p, piece);
    if (!text.empty() && text[0] >= '0' && text[0] <= '9' && below(2)) return any(numbers);
    for (const auto& words : classes)
      if (std::find(words.begin(), words.end(), text) != words.end()) return any(words);
    std::vector<Piece> same;
    for (const auto& [k, other] : parts.tokens)
      if (k == kind) same.push_back(other);
    return text_of(p, any(same));
  }

  std::string changed_tree(const Program& p, const Parts& parts) {
    const Piece at = any(parts.expressions);
    const std::string here = text_of(p, at), other = text_of(p, any(parts.expressions));
    switch (below(9)) {
      case 0:
      case 1:
        return with(p, at, "(" + other + ")");
      case 2:
        return with(p, at, fmt::format(fmt::runtime(any(wrappers())), here, other));
      case 3:
        return with(p, at, any(leaves()));
      case 4:
        if (parts.types.size() < 2) return p.text;
        return with(p, any(parts.types), text_of(p, any(parts.types)));
      case 5:  // a type stated, or left out
        if (parts.types.empty()) return p.text;
        return with(p, at, fmt::format("({} :> {})", here, text_of(p, any(parts.types))));
      case 6: {  // an expression of another program
        const Program& program = any(programs_);
        const Parts theirs = parts_of(program);
        if (theirs.expressions.empty()) return p.text;
        return with(p, at, "(" + text_of(program, any(theirs.expressions)) + ")");
      }
      case 7: {  // a declaration twice, or not at all
        if (parts.declarations.empty()) return p.text;
        const Piece declaration = any(parts.declarations);
        return below(2) ? with(p, declaration, "") : p.text + "\n" + text_of(p, declaration) + "\n";
      }
      default:
        return with(p, at, fmt::format(fmt::runtime(any(wrappers())), here, other));
    }
  }

  /// Around an expression {0}, with another one of the program, {1}.
  static const std::vector<std::string>& wrappers() {
    static const std::vector<std::string> all = {"({0})[0]",
                                                 "({0})[1:]",
                                                 "({0})[.., 0]",
                                                 "({0})[-1]",
                                                 "({0} + {1})",
                                                 "({0} * {1})",
                                                 "({0} {1})",
                                                 "({0}, {1})",
                                                 "[{0}, {1}]",
                                                 "(let q = {0} in q)",
                                                 "(let q = {1} in {0})",
                                                 "(fn q => {0})",
                                                 "(for q => {0})",
                                                 "(for (q < 3) => {0})",
                                                 "(for q => ({0})[q])",
                                                 "(sum q => ({0})[q])",
                                                 "(sum ({0}))",
                                                 "(softmax ({0}))",
                                                 "(transpose ({0}))",
                                                 "(if true then {0} else {1})",
                                                 "(if 0 < dim ({0}) 0 then {0} else {1})",
                                                 "(({0}) with [0] = {1})",
                                                 "(({0}) with [0 : 1] = ({0})[0 : 1])",
                                                 "(({0}) :> [3, ..])",
                                                 "(({0}) :> [.., _])",
                                                 "(iterate 2 (fn q => {1}) ({0}))",
                                                 "(fold (fn q r => {0}) ({1}) ({0}))",
                                                 "(scan (fn q r => (q, {0})) ({1}) ({0}))",
                                                 "(concat ({0}) ({1}))",
                                                 "(({0}) |> ({1}))",
                                                 "(debug \"q\" ({0}))",
                                                 "({0})[nonzero (({1}) > 0)]",
                                                 "(i64 ({0}))",
                                                 "(f32 ({0}))",
                                                 "(-({0}))"};
    return all;
  }
  static const std::vector<std::string>& leaves() {
    static const std::vector<std::string> all = {"0",    "1",           "2",          "3",         "0.5",
                                                 "()",   "[]",          "[1.0, 2.0]", "true",      "sum",
                                                 "iota", "(fn q => q)", "(1, 2.0)",   "{a = 1.0}", "-1"};
    return all;
  }

  const std::vector<Program>& programs_;
  std::mt19937_64 random_;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// The programs between ```axn and ``` of a document.
void add_lessons(const std::filesystem::path& path, std::vector<Program>& found) {
  const std::string text = read_file(path), open = "\n```axn";
  size_t at = 0;
  for (int n = 1; (at = text.find(open, at)) != std::string::npos; ++n) {
    const size_t begin = text.find('\n', at + 1) + 1, end = text.find("\n```", begin);
    if (end == std::string::npos) return;
    found.push_back({fmt::format("{}.{}.axn", path.string(), n), text.substr(begin, end + 1 - begin)});
    at = end;
  }
}

}  // namespace

std::vector<Program> programs_of(const std::string& root) {
  std::vector<Program> found;
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"examples", "stdlib", "tests", "docs", "compiler/source/explain"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root + "/" + folder))
      if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) {
    if (path.extension() == ".md") add_lessons(path, found);
    if (path.extension() == ".axn") found.push_back({path.string(), read_file(path)});
  }
  std::erase_if(found, [](const Program& p) { return p.text.size() > 20'000; });
  return found;
}

Program mutant(const std::vector<Program>& programs, uint64_t seed) { return Mutator(programs, seed).run(); }

}  // namespace axon::mutation
