// Diagnostics for people.
//
//   error[E0312]: inner dimensions of `@` differ
//     --> examples/mlp.axn:7:12
//      |
//    5 |   fun layer (x : f32[b, d]) (w : f32[h, d]) : f32[b, h] =
//      |                  ---------      --------- `w` is [h, d]
//      |                  `x` is [b, d]
//    7 |     x @ w
//      |       ^ needs  d = h
//      |
//      = known: nothing relates `d` and `h` (both free in the signature)
//   help: transpose the right operand                                  [safe]
//      |     x @ transpose w
//
// Columns are counted in display width. A line that is very long is shown only around its marks. The same
// diagnostics give the same bytes; colours only add escape sequences.
#include "source/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace axon::source {
namespace {

constexpr uint32_t widest_line = 140;  // shown columns of one source line
constexpr size_t body_width = 80;
constexpr size_t tag_column = 67;   // where [safe] and [maybe] stand
constexpr uint32_t silent_gap = 3;  // lines left out without `...`

enum class Style : uint8_t { error, warning, secondary, frame, strong, help };

/// A label on one line, in display columns from 0.
struct Mark {
  uint32_t begin, end;
  bool primary;
  std::string text;
};

/// What is shown of one file.
struct Snippet {
  FileId file;
  std::map<uint32_t, std::vector<Mark>> lines;  // by line number
};

std::string spaces(size_t count) { return std::string(count, ' '); }

std::string tabs_to_spaces(std::string_view text) {
  std::string result(text);
  std::replace(result.begin(), result.end(), '\t', ' ');
  return result;
}

/// The bytes of `text` in display columns [begin, end).
std::string_view columns(std::string_view text, uint32_t begin, uint32_t end) {
  auto offset_of = [&](uint32_t column) {
    size_t at = 0;
    uint32_t width = 0;
    while (at < text.size()) {
      size_t next = at + 1;
      while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80) ++next;
      width += display_width(text.substr(at, next - at));
      if (width > column) break;
      at = next;
    }
    return at;
  };
  size_t first = offset_of(begin);
  return text.substr(first, offset_of(end) - first);
}

class Renderer {
 public:
  Renderer(const Diagnostic& diagnostic, const SourceManager& sources, bool color)
      : d_(diagnostic), sources_(sources), color_(color) {}

  std::string run() {
    collect();
    header();
    for (const Snippet& s : snippets_) snippet(s, &s == &snippets_.front());
    paragraph(d_.body);
    for (const Note& note : d_.notes)
      out_ += fmt::format("{}{} {}: {}\n", spaces(gutter_), paint(Style::frame, "="),
                          paint(Style::strong, note.kind), note.text);
    for (const Help& help : d_.helps) show(help);
    return std::move(out_);
  }

 private:
  std::string paint(Style style, std::string_view text) const {
    static constexpr const char* codes[] = {"1;31", "1;33", "1;34", "1;34", "1", "1;36"};
    if (!color_ || text.empty()) return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<int>(style)], text);
  }
  Style severity_style() const { return d_.severity == Severity::error ? Style::error : Style::warning; }

  void collect() {
    uint32_t last_line = 1;
    auto add = [&](const Label& label, bool primary) {
      if (!label.span.valid()) return;
      const SourceFile& file = sources_[label.span.file];
      auto found = std::find_if(snippets_.begin(), snippets_.end(),
                                [&](const Snippet& s) { return s.file == label.span.file; });
      if (found == snippets_.end()) found = snippets_.insert(found, Snippet{label.span.file, {}});
      Position begin = file.position(label.span.begin), end = file.position(label.span.end);
      uint32_t end_of_line = display_width(file.line(begin.line));
      uint32_t last = end.line == begin.line ? end.column - 1 : end_of_line;
      found->lines[begin.line].push_back(
          {begin.column - 1, std::max(last, begin.column), primary, label.text});
      last_line = std::max(last_line, begin.line);
    };
    add(d_.primary, true);
    for (const Label& label : d_.secondary) add(label, false);
    gutter_ = fmt::formatted_size("{}", last_line) + 2;
  }

  void header() {
    std::string_view word = d_.severity == Severity::error ? "error" : "warning";
    out_ += paint(severity_style(), fmt::format("{}[{}]", word, code_name(d_.code)));
    out_ += paint(Style::strong, fmt::format(": {}", d_.headline())) + "\n";
  }

  void bar(std::string_view text = {}) {
    out_ += spaces(gutter_) + paint(Style::frame, "|");
    if (!text.empty()) out_ += fmt::format(" {}", text);
    out_ += '\n';
  }

  void snippet(const Snippet& s, bool first) {
    const SourceFile& file = sources_[s.file];
    bool has_primary = s.file == d_.primary.span.file;
    Position at{s.lines.begin()->first, s.lines.begin()->second.front().begin + 1};
    if (has_primary) at = file.position(d_.primary.span.begin);
    out_ += spaces(gutter_ - 1) + paint(Style::frame, first ? "-->" : ":::");
    out_ += fmt::format(" {}:{}:{}\n", file.name(), at.line, at.column);
    bar();
    uint32_t previous = 0;
    for (const auto& [number, marks] : s.lines) {
      if (previous != 0 && number > previous + silent_gap) out_ += paint(Style::frame, "...") + "\n";
      line(file, number, marks);
      previous = number;
    }
    bar();
  }

  void line(const SourceFile& file, uint32_t number, std::vector<Mark> marks) {
    std::string text = tabs_to_spaces(file.line(number));
    std::stable_sort(marks.begin(), marks.end(),
                     [](const Mark& a, const Mark& b) { return a.begin < b.begin; });
    clip(text, marks);
    out_ += paint(Style::frame, fmt::format("{:>{}} |", number, gutter_ - 1));
    if (!text.empty()) out_ += fmt::format(" {}", text);
    out_ += '\n';
    mark_rows(marks);
  }

  /// Keeps the window of a long line that begins a little before the first mark.
  static void clip(std::string& text, std::vector<Mark>& marks) {
    uint32_t width = display_width(text);
    if (width <= widest_line) return;
    uint32_t begin = marks.front().begin > widest_line / 2 ? marks.front().begin - widest_line / 4 : 0;
    uint32_t end = std::min(width, begin + widest_line);
    std::string shown(columns(text, begin, end));
    uint32_t shift = begin == 0 ? 0 : 3;
    text = (shift == 0 ? "" : "...") + shown + (end < width ? "..." : "");
    for (Mark& mark : marks) {
      mark.begin = std::min(std::max(mark.begin, begin), end) - begin + shift;
      mark.end = std::max(std::min(std::max(mark.end, begin), end) - begin + shift, mark.begin + 1);
    }
  }

  /// The underlines, the text of the last mark beside its underline, the other texts below theirs, right to
  /// left.
  void mark_rows(const std::vector<Mark>& marks) {
    std::vector<Style> styles;
    std::string row;
    auto draw = [&](const Mark& mark) {
      row.resize(std::max<size_t>(row.size(), mark.end), ' ');
      styles.resize(row.size(), Style::secondary);
      for (uint32_t i = mark.begin; i < mark.end; ++i) {
        row[i] = mark.primary ? '^' : '-';
        styles[i] = mark.primary ? severity_style() : Style::secondary;
      }
    };
    for (const Mark& mark : marks)
      if (!mark.primary) draw(mark);
    for (const Mark& mark : marks)
      if (mark.primary) draw(mark);
    const Mark& last = marks.back();
    bool beside = last.end == row.size() && !last.text.empty();
    std::string painted = paint_row(row, styles);
    if (beside) painted += " " + paint(last.primary ? severity_style() : Style::secondary, last.text);
    bar(painted);
    for (size_t i = marks.size() - (beside ? 1 : 0); i-- > 0;)
      if (!marks[i].text.empty()) text_below(marks, i);
  }

  void text_below(const std::vector<Mark>& marks, size_t index) {
    std::string row;
    for (size_t i = 0; i < index; ++i) {  // those further left are still to come
      if (marks[i].text.empty() || marks[i].begin < row.size() || marks[i].begin == marks[index].begin)
        continue;
      row += spaces(marks[i].begin - row.size()) + "|";
    }
    row += spaces(marks[index].begin - std::min<size_t>(row.size(), marks[index].begin));
    bar(row + paint(marks[index].primary ? severity_style() : Style::secondary, marks[index].text));
  }

  std::string paint_row(const std::string& row, const std::vector<Style>& styles) const {
    std::string result;
    for (size_t begin = 0; begin < row.size();) {
      size_t end = begin;
      while (end < row.size() && row[end] == row[begin] && styles[end] == styles[begin]) ++end;
      std::string run = row.substr(begin, end - begin);
      result += row[begin] == ' ' ? run : paint(styles[begin], run);
      begin = end;
    }
    return result;
  }

  /// Sentences, wrapped; a line that starts with a space is laid out by its author and kept.
  void paragraph(std::string_view text) {
    while (!text.empty()) {
      size_t end = std::min(text.find('\n'), text.size());
      std::string_view rest = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (rest.empty()) out_ += '\n';
      while (!rest.empty()) {
        size_t cut = rest.size();
        if (display_width(rest) > body_width && rest[0] != ' ') {
          cut = columns(rest, 0, body_width).size();
          size_t blank = rest.rfind(' ', cut);
          if (blank != std::string_view::npos && blank != 0) cut = blank;
        }
        out_ += fmt::format("{}{}\n", spaces(gutter_), rest.substr(0, cut));
        rest.remove_prefix(std::min(rest.find_first_not_of(' ', cut), rest.size()));
      }
    }
  }

  void show(const Help& help) {
    out_ += paint(Style::help, "help") + ": " + help.text;
    if (!help.edit) {
      out_ += '\n';
      return;
    }
    size_t width = 6 + display_width(help.text);
    out_ += spaces(width < tag_column ? tag_column - width : 1);
    out_ += help.edit->applicability == Applicability::safe ? "[safe]\n" : "[maybe]\n";
    if (help.edit->span.valid()) edited_lines(*help.edit);
  }

  void edited_lines(const Edit& edit) {
    const SourceFile& file = sources_[edit.span.file];
    uint32_t first = file.line_begin(file.line_of(edit.span.begin));
    uint32_t last_line = file.line_of(edit.span.end);
    uint32_t end = file.line_begin(last_line) + static_cast<uint32_t>(file.line(last_line).size());
    end = std::max(end, edit.span.end);
    std::string text(file.text().substr(first, edit.span.begin - first));
    text += edit.replacement;
    text += file.text().substr(edit.span.end, end - edit.span.end);
    for (size_t at = 0; at <= text.size();) {
      size_t stop = std::min(text.find('\n', at), text.size());
      std::string shown = tabs_to_spaces(std::string_view(text).substr(at, stop - at));
      if (display_width(shown) > widest_line) shown = std::string(columns(shown, 0, widest_line)) + "...";
      bar(shown);
      at = stop + 1;
    }
  }

  const Diagnostic& d_;
  const SourceManager& sources_;
  bool color_;
  std::string out_;
  std::vector<Snippet> snippets_;
  size_t gutter_ = 3;
};

/// The first `max_errors` in order, each through `render`; then how many more there are.
template <class Render>
std::string render_all(const Diagnostics& diagnostics, const RenderOptions& options,
                       std::string_view separator, Render render) {
  std::string out;
  size_t shown = 0, left = diagnostics.dropped();
  for (const Diagnostic& d : diagnostics.sorted()) {
    if (options.max_errors != 0 && shown >= options.max_errors) {
      ++left;
      continue;
    }
    if (shown++ != 0) out += separator;
    out += render(d);
  }
  if (left != 0) out += fmt::format("{}... and {} more\n", separator, left);
  return out;
}

}  // namespace

std::string render_human(const Diagnostic& diagnostic, const SourceManager& sources,
                         const RenderOptions& options) {
  return Renderer(diagnostic, sources, options.color).run();
}

std::string render_human(const Diagnostics& diagnostics, const SourceManager& sources,
                         const RenderOptions& options) {
  return render_all(diagnostics, options, "\n",
                    [&](const Diagnostic& d) { return render_human(d, sources, options); });
}

namespace {

/// `file:line:col: `; nothing without a place.
std::string prefix(Span at, const SourceManager& sources) {
  const std::string place = sources.describe(at);
  return place.empty() ? "" : place + ": ";
}

/// The lines of a text, each behind the same words, so that every line of the output stands by itself.
std::string each_line(const std::string& before, std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += before + tabs_to_spaces(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  for (char c : text) out += c == '\n' ? "\\n" : std::string(1, c);
  return out;
}

/// What a help says, and of an edit what is written instead of what: `w` -> `transpose w`.
std::string short_help(const Help& help, Span at, const SourceManager& sources) {
  if (!help.edit || !help.edit->span.valid()) return each_line(prefix(at, sources) + "help: ", help.text);
  const Edit& edit = *help.edit;
  const char* kind = edit.applicability == Applicability::safe ? "safe" : "maybe";
  const std::string replaced = one_line(sources.text(edit.span)), by = one_line(edit.replacement);
  const std::string change = replaced.empty() ? fmt::format("insert `{}`", by)
                             : by.empty()     ? fmt::format("remove `{}`", replaced)
                                              : fmt::format("`{}` -> `{}`", replaced, by);
  return fmt::format("{}help: {}: {} [{}]\n", prefix(edit.span, sources), help.text, change, kind);
}

}  // namespace

std::string render_short(const Diagnostics& diagnostics, const SourceManager& sources,
                         const RenderOptions& options) {
  return render_all(diagnostics, options, "", [&](const Diagnostic& d) {
    const std::string at = prefix(d.primary.span, sources);
    std::string out =
        fmt::format("{}{}[{}]: {}{}{}\n", at, d.severity == Severity::error ? "error" : "warning",
                    code_name(d.code), d.headline(), d.primary.text.empty() ? "" : ": ", d.primary.text);
    for (const Label& label : d.secondary)
      if (!label.text.empty()) out += each_line(prefix(label.span, sources) + "note: ", label.text);
    out += each_line(at + "note: ", d.body);
    for (const Note& note : d.notes) out += each_line(at + note.kind + ": ", note.text);
    for (const Help& help : d.helps) out += short_help(help, d.primary.span, sources);
    return out;
  });
}

}  // namespace axon::source
