// See examples.h.
#include "tools/examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "syntax/examples.h"

namespace axon::tools {

std::vector<Example> find_examples(const syntax::File& tree, const source::SourceFile& file) {
  std::vector<Example> all;
  bool open = false;  // do the lines now read belong to the last example?
  uint32_t line = 0;
  for (const syntax::Comment& comment : tree.comments) {
    const source::Span said = syntax::said_by(comment, file);
    const std::string_view text = file.text().substr(said.begin, said.size());
    const auto example = syntax::example_in(comment, file);
    const uint32_t here = file.line_of(comment.span.begin);
    open = open && comment.is_doc && here == line + 1 && !text.empty() && !example;
    line = here;
    if (open) {
      std::string& expected = all.back().expected;
      expected += (expected.empty() ? "" : "\n") + std::string(text);
    } else if (example) {
      all.push_back({*example, {}, {}, {}, 0, 0});
      open = true;
    }
  }
  for (const syntax::Decl& decl : tree.decls)
    if (const auto* test = syntax::as<syntax::TestDecl>(decl))
      all.push_back({tree[test->body].span, test->title, {}, {}, 0, 0});
  std::stable_sort(all.begin(), all.end(),
                   [](const Example& a, const Example& b) { return a.span.begin < b.span.begin; });
  for (Example& example : all) example.entry = fmt::format("example_{}", &example - all.data());
  return all;
}

std::string with_examples(std::string scope, const source::SourceFile& file, std::vector<Example>& examples) {
  if (!scope.empty() && !scope.ends_with('\n')) scope += '\n';
  for (Example& example : examples) {
    example.made = static_cast<uint32_t>(scope.size());
    scope += fmt::format("entry {} = ", example.entry);
    example.begin = static_cast<uint32_t>(scope.size());
    scope += file.text().substr(example.span.begin, example.span.size());
    scope += '\n';
  }
  return scope;
}

const Example* example_at(const std::vector<Example>& examples, uint32_t offset) {
  const Example* found = nullptr;
  for (const Example& example : examples)
    if (offset >= example.made) found = &example;
  return found;
}

std::vector<source::Repetition> repetitions(const std::vector<Example>& examples) {
  std::vector<source::Repetition> all;
  for (const Example& example : examples) all.push_back({example.made, example.begin, example.span});
  return all;
}

source::Diagnostic shown_at_first(source::Diagnostic diagnostic, const source::SourceManager& sources) {
  const auto move = [&](source::Span& span) { span = sources.original(span); };
  move(diagnostic.primary.span);
  for (source::Label& label : diagnostic.secondary) move(label.span);
  for (source::Help& help : diagnostic.helps)
    if (help.edit) move(help.edit->span);
  return diagnostic;
}

// ---- comparing ----

namespace {

/// A piece of printed text: a number, a word, or one other character.
struct Piece {
  std::string text;
  std::optional<double> number;
};

std::vector<Piece> pieces(const std::string& text) {
  std::vector<Piece> all;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    double number = 0;
    const auto [after, failed] = std::from_chars(at, end, number);
    const bool is_word = std::isalpha(static_cast<unsigned char>(*at)) || *at == '_';
    if (std::isspace(static_cast<unsigned char>(*at))) {
      ++at;
    } else if (failed == std::errc{} && !is_word) {
      all.push_back({std::string(at, after), number});
      at = after;
    } else {
      const char* from = at++;
      while (is_word && at != end && (std::isalnum(static_cast<unsigned char>(*at)) || *at == '_')) ++at;
      const std::string word(from, at);
      all.push_back({word, word == "nan"   ? std::optional(NAN)
                           : word == "inf" ? std::optional(INFINITY)
                                           : std::nullopt});
    }
  }
  return all;
}

/// Half a unit of the last decimal that is written, none for an integer.
double half_last_digit(const std::string& text) {
  const size_t point = text.find('.');
  if (point == std::string::npos) return 0;
  const size_t exponent = text.find_first_of("eE");
  const size_t digits = (exponent == std::string::npos ? text.size() : exponent) - point - 1;
  const double scale =
      exponent == std::string::npos ? 1 : std::pow(10.0, std::atof(text.c_str() + exponent + 1));
  return 0.5 * std::pow(10.0, -static_cast<double>(digits)) * scale;
}

/// An integer of at most 64 bits, of which a double would lose some.
std::optional<int64_t> as_integer(const std::string& text) {
  int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool agree(const Piece& found, const Piece& expected) {
  if (!found.number || !expected.number) return found.text == expected.text;
  const auto m = as_integer(found.text), n = as_integer(expected.text);
  if (m && n) return *m == *n;
  const double a = *found.number, b = *expected.number;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  constexpr double few_units = 8 * 0x1p-24;
  const bool is_integer =
      found.text.find_first_of(".eE") == std::string::npos && half_last_digit(expected.text) == 0;
  const double allowed =
      is_integer ? 0 : half_last_digit(expected.text) * (1 + 1e-9) + few_units * std::max(1.0, std::fabs(b));
  return std::fabs(a - b) <= allowed;
}

}  // namespace

bool agrees(const std::string& found, const std::string& expected) {
  const auto a = pieces(found), b = pieces(expected);
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!agree(a[i], b[i])) return false;
  return true;
}

}  // namespace axon::tools
