// Text of documentation and of programs as HTML; see pages.h.
//
// Documentation is plain text with few habits: an empty line ends a paragraph, `- ` begins an item of a list,
// two blanks begin a line that stays as it is, back-ticks hold code, and `>>> e` with the lines under it is
// an example.
#include <algorithm>

#include "syntax/tokens.h"
#include "tools/doc/pages.h"

namespace axon::tools {

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

namespace {

std::string_view token_class(syntax::TokenKind kind) {
  using syntax::TokenKind;
  if (syntax::is_keyword(kind)) return "k";
  if (kind == TokenKind::NUM) return "n";
  if (kind == TokenKind::STR) return "s";
  return kind == TokenKind::TYVAR ? "v" : "";
}

/// A line of documentation with its back-ticked code.
std::string line_html(std::string_view line) {
  std::string out;
  bool code = false;
  const bool balanced = std::count(line.begin(), line.end(), '`') % 2 == 0;
  size_t from = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '`' || !balanced) continue;
    out += escaped(line.substr(from, i - from)) + (code ? "</code>" : "<code>");
    code = !code;
    from = i + 1;
  }
  return out + escaped(line.substr(from));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  return lines;
}

/// The blocks of a documentation text, opened and closed as its lines come.
class Blocks {
 public:
  void add(const std::string& line) {
    if (line.starts_with(">>> ")) {
      open("<pre class=\"example\"><code>", "</code></pre>", block_ == Block::example);
      block_ = Block::example;
      return text("<span class=\"c\">&gt;&gt;&gt; </span>" + source_html(line.substr(4)));
    }
    if (line.empty()) return close();
    if (block_ == Block::example) return text(escaped(line));
    if (block_ == Block::list && !line.starts_with("- "))
      return text(line_html(line.substr(line.find_first_not_of(' '))));
    if (line.starts_with("  ")) {
      open("<pre><code>", "</code></pre>", block_ == Block::verbatim);
      block_ = Block::verbatim;
      return text(escaped(line));
    }
    if (line.starts_with("- ")) {
      if (block_ == Block::list)
        out_ += "</li>\n<li>" + line_html(line.substr(2));
      else
        open("<ul><li>", "</li></ul>", false), out_ += line_html(line.substr(2));
      block_ = Block::list;
      return;
    }
    open("<p>", "</p>", block_ == Block::paragraph);
    block_ = Block::paragraph;
    text(line_html(line));
  }

  std::string take() {
    close();
    return std::move(out_);
  }

 private:
  enum class Block : uint8_t { none, paragraph, list, verbatim, example };

  void open(const char* begin, const char* end, bool goes_on) {
    if (goes_on) return;
    close();
    out_ += begin;
    end_ = end;
    fresh_ = true;
  }
  void close() {
    if (block_ != Block::none) out_ += std::string(end_) + "\n";
    block_ = Block::none;
  }
  void text(const std::string& html) {
    if (!fresh_) out_ += "\n";
    fresh_ = false;
    out_ += html;
  }

  Block block_ = Block::none;
  const char* end_ = "";
  bool fresh_ = false;
  std::string out_;
};

}  // namespace

std::string doc_html(const std::string& doc) {
  Blocks blocks;
  for (const std::string& line : lines_of(doc)) blocks.add(line);
  return blocks.take();
}

std::string source_html(const std::string& source) {
  source::Diagnostics ignored;
  source::SourceManager sources;
  const source::SourceFile& file = sources[sources.add("", source, ignored)];
  const syntax::TokenStream stream = syntax::lex(file, ignored);
  std::string out;
  uint32_t done = 0;
  const auto piece = [&](uint32_t begin, uint32_t end, std::string_view kind) {
    out += escaped(file.text().substr(done, begin - done));
    const std::string text = escaped(file.text().substr(begin, end - begin));
    out += kind.empty() ? text : "<span class=\"" + std::string(kind) + "\">" + text + "</span>";
    done = end;
  };
  size_t comment = 0;
  for (const syntax::Token& token : stream.tokens) {
    for (; comment < stream.comments.size() && stream.comments[comment].span.begin < token.begin; ++comment)
      piece(stream.comments[comment].span.begin, stream.comments[comment].span.end, "c");
    if (token.kind == syntax::TokenKind::END) break;  // it has no text
    piece(token.begin, token.end, token_class(token.kind));
  }
  return out + escaped(file.text().substr(done));
}

std::string summary(const std::string& doc) {
  std::string text;
  for (const std::string& line : lines_of(doc)) {
    if (line.empty() || line.starts_with(">>> ") || line.starts_with("- ")) break;
    text += (text.empty() ? "" : " ") + line;
  }
  const size_t stop = text.find(". ");
  return stop == std::string::npos ? text : text.substr(0, stop + 1);
}

}  // namespace axon::tools
