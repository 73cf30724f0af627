// What every declaration of the files beside this one must come to. A case is a declaration under comments:
//
//   --: 't[..a, n] -> 't[..a]        its type, in the words of `etcc check --types`; names do not matter
//   --! E0310 x + y                  its only error: the code, and a text that the mark touches
//   --~ needs d = e                  with an error: what its message must contain
//   --? k <= n, n % 2 == 0           exactly what is left to ask for, in its `where`; `none`
//   --@ size d = x.shape[2] / (2)    of an entry: a line of its closed forms and checks
//
// A case is checked alone: of its file it sees only the declarations that no such comment precedes. Cases
// listed in known.txt are expected to fail, and one that passes must leave the list. The obligations of an
// entry must also be among the checks that it makes when it is called.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "../sanitized.h"
#include "core/harness.h"
#include "known.h"
#include "type_text.h"

namespace axon::corpus {
namespace {

const std::string here = AXON_SOURCE_DIR "/tests/shapes/";

struct Expectation {
  char kind;
  std::string text;
};

struct Case {
  std::string file, name;
  size_t first_line = 0;  ///< of its declaration, from 0
  std::vector<Expectation> expectations;
  std::string program;  ///< the file with every other case blanked, so that lines keep their numbers
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// Whether a text has the line, but for the place in the source that it may end with.
bool has_line(const std::string& text, const std::string& line) {
  const std::vector<std::string> all = lines_of(text);
  return std::any_of(all.begin(), all.end(), [&](const std::string& one) {
    return one == "  " + line || one.starts_with("  " + line + " (");
  });
}

bool is_expectation(const std::string& line) {
  return line.size() > 3 && line.starts_with("--") && std::string(":!~?@").find(line[2]) != std::string::npos;
}

/// The word after `fun`, `entry`, `val` or `type`.
std::string declared_name(const std::string& line) {
  const size_t begin = line.find_first_not_of(' ', line.find(' '));
  size_t end = begin;
  while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_'))
    ++end;
  return begin == std::string::npos ? "" : line.substr(begin, end - begin);
}

std::vector<Case> cases_of(const std::string& path) {
  const std::vector<std::string> lines = lines_of(core::read(path));
  std::vector<Case> out;
  std::vector<int> owner(lines.size(), -1);  // the case that a line belongs to
  for (size_t i = 0; i < lines.size();) {
    if (!is_expectation(lines[i])) {
      ++i;
      continue;
    }
    Case c;
    c.file = std::filesystem::path(path).filename().string();
    for (; i < lines.size() && is_expectation(lines[i]); ++i) {
      const std::string text = lines[i].substr(lines[i].find_first_not_of(' ', 3));
      const char kind = lines[i][2];
      if (kind == ':' && !c.expectations.empty() && c.expectations.back().kind == ':') {
        c.expectations.back().text += " " + text;
      } else {
        c.expectations.push_back({kind, text});
      }
    }
    c.first_line = i;
    if (i < lines.size()) c.name = declared_name(lines[i]);
    for (bool first = true; i < lines.size() && (first || lines[i].starts_with(" ")); ++i, first = false)
      owner[i] = static_cast<int>(out.size());
    out.push_back(std::move(c));
  }
  for (size_t k = 0; k < out.size(); ++k)
    for (size_t i = 0; i < lines.size(); ++i)
      out[k].program += (owner[i] < 0 || owner[i] == static_cast<int>(k) ? lines[i] : "") + "\n";
  return out;
}

std::string program_without_cases(const std::string& path) {
  std::string out;
  bool inside = false, after = false;
  for (const std::string& line : lines_of(core::read(path))) {
    if (is_expectation(line)) {
      after = true;
    } else {
      inside = after || (inside && line.starts_with(" "));
      after = false;
    }
    out += (inside ? "" : line) + "\n";
  }
  return out;
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> out;
    for (const std::string& path : core::files_in(here, ".axn"))
      for (Case& c : cases_of(path)) out.push_back(std::move(c));
    return out;
  }();
  return cases;
}

// ---- One case

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

std::string check_error(const Case& c, const core::Checked& checked, const std::string& text) {
  const auto all = checked.diagnostics->sorted();
  if (all.size() != 1) return fmt::format("{} errors, not one\n{}", all.size(), checked.errors());
  const source::Diagnostic& d = all[0];
  const std::string code = first_word(text);
  if (source::code_name(d.code) != code) return fmt::format("not {}\n{}", code, checked.errors());
  const std::string marked = text.size() > code.size() + 1 ? text.substr(code.size() + 1) : "";
  if (marked.empty()) return "the case does not say which text is marked";
  // the program keeps the case's lines in place, so offsets in it are offsets of the source
  for (size_t at = c.program.find(marked); at != std::string::npos; at = c.program.find(marked, at + 1)) {
    const bool outside = c.program.rfind('\n', at) == std::string::npos;
    const auto line = static_cast<size_t>(
        std::count(c.program.begin(), c.program.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    if (outside || line < c.first_line) continue;
    if (d.primary.span.begin < at + marked.size() &&
        at < std::max(d.primary.span.end, d.primary.span.begin + 1))
      return "";
  }
  return fmt::format("`{}` is not what is marked\n{}", marked, checked.errors());
}

/// What an entry checks when it is called must give all that its type asks for.
std::string check_entry(const core::Global& g) {
  if (!g.entry_sizes) return "";
  std::vector<shape::Fact> made;
  for (const core::SizeCheck& check : g.entry_sizes->checks) made.push_back(check.fact);
  for (const core::ClosedForm& form : g.entry_sizes->forms)
    made.push_back(shape::at_least(shape::Dim(form.size), 0));
  for (const auto& [name, v] : g.entry_sizes->given) made.push_back(shape::at_least(shape::Dim(v), 0));
  for (const shape::Fact& f : g.scheme.where)
    if (shape::prove(made, f).verdict != shape::Verdict::proved)
      return fmt::format("nothing checks `{}` when the entry is called", f.str());
  return "";
}

/// Empty when the case comes out as stated.
std::string run(const Case& c) {
  const core::Checked checked = core::check_text(c.program);
  const bool wants_error = std::any_of(c.expectations.begin(), c.expectations.end(),
                                       [](const Expectation& e) { return e.kind == '!'; });
  if (!wants_error && checked.diagnostics->has_errors()) return "an error\n" + checked.errors();
  const core::GlobalId id = checked.program.find(c.name);
  if (!id.valid()) return "nothing is declared";
  const core::Global& g = checked.program.globals[id];
  for (const Expectation& e : c.expectations) {
    std::string problem;
    switch (e.kind) {
      case ':':
        problem = compare_types(e.text, checked.type_of(c.name));
        if (!problem.empty())
          problem += fmt::format("\nexpected {}\nfound    {}", e.text, checked.type_of(c.name));
        break;
      case '?': {
        TypeText type = read_type(checked.type_of(c.name));
        const auto facts = e.text == "none" ? std::vector<shape::Fact>{} : read_facts(e.text, type);
        problem = type.problem.empty() ? compare_facts(facts, type.facts, type.names) : type.problem;
        if (!problem.empty()) problem += "\nfound    " + checked.type_of(c.name);
        break;
      }
      case '!':
        problem = check_error(c, checked, e.text);
        break;
      case '~':
        if (checked.errors().find(e.text) == std::string::npos)
          problem = fmt::format("`{}` is not said\n{}", e.text, checked.errors());
        break;
      case '@':
        if (!has_line(core::print_core(checked.program), e.text))
          problem = fmt::format("no line `{}`\n{}", e.text, core::print_core(checked.program));
        break;
    }
    if (!problem.empty()) return problem;
  }
  return wants_error ? "" : check_entry(g);
}

// ---- The tests

std::string test_name(const testing::TestParamInfo<Case>& info) {
  return std::filesystem::path(info.param.file).stem().string() + "_" + info.param.name;
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.file << ":" << c.first_line + 1; }

class Corpus : public testing::TestWithParam<Case> {};

TEST_P(Corpus, ComesOutAsStated) {
  const Case& c = GetParam();
  expect_as_known(c.file, c.name, c.first_line + 1, run(c));
}

INSTANTIATE_TEST_SUITE_P(Cases, Corpus, testing::ValuesIn(sampled(all_cases())), test_name);

class CorpusFile : public testing::TestWithParam<std::string> {};

TEST_P(CorpusFile, IsReadable) {
  const core::Checked checked = core::check_text(program_without_cases(GetParam()));
  EXPECT_EQ(checked.errors(), "") << "the declarations that every case sees";
  EXPECT_GE(cases_of(GetParam()).size(), 12u);
}

INSTANTIATE_TEST_SUITE_P(Files, CorpusFile, testing::ValuesIn(core::files_in(here, ".axn")),
                         [](const auto& info) { return std::filesystem::path(info.param).stem().string(); });

TEST(CorpusLists, NameOnlyCasesThatExist) {
  for (const auto& [name, reason] : known_failures()) {
    const bool there = name.starts_with("bombs_test.cpp:") ||
                       std::any_of(all_cases().begin(), all_cases().end(),
                                   [&](const Case& c) { return c.file + ":" + c.name == name; });
    EXPECT_TRUE(there) << name;
    EXPECT_NE(reason, "") << name << " needs a reason";
  }
  EXPECT_GE(all_cases().size(), 320u);
}

/// The comparison itself must tell types apart, or nothing above says anything.
TEST(CorpusComparison, TellsTypesApart) {
  EXPECT_EQ(compare_types("'t[..a, m] -> 't[m + n]", "'u[..b, x] -> 'u[y + x]"), "");
  EXPECT_EQ(compare_types("f32[n]   where k <= n, 1 <= n", "f32[p]   where 0 < p, q < p + 1"), "");
  EXPECT_EQ(compare_types("bool[n] -> ?k <= n. i64[k]", "bool[a] -> ?b <= a. i64[b]"), "");
  EXPECT_EQ(compare_types("'t[..a] -> 't[..b] -> 't[..(a|b)]", "'t[..x] -> 't[..y] -> 't[..(x|y)]"), "");
  EXPECT_NE(compare_types("f32[m] -> f32[n]", "f32[m] -> f32[m]"), "");
  EXPECT_NE(compare_types("f32[m] -> f32[m]", "f32[m] -> f32[n]"), "");
  EXPECT_NE(compare_types("f32[n - 1]", "f32[n]"), "");
  EXPECT_NE(compare_types("f32[n]   where k <= n", "f32[n]"), "");
  EXPECT_NE(compare_types("f32[n]", "f32[n]   where 1 <= n"), "");
  EXPECT_NE(compare_types("'t[..a] -> 't[..b] -> 't[..(a|b)]", "'t[..a] -> 't[..b] -> 't[..a]"), "");
  EXPECT_NE(compare_types("'t[..a] -> 't[..b]   where ..b into [..a]", "'t[..a] -> 't[..b]"), "");
  EXPECT_NE(compare_types("f32[n] -> ?k. i64[k]", "f32[n] -> ?k <= n. i64[k]"), "");
  EXPECT_NE(compare_types("{a : f32[n], ..r}", "{a : f32[n]}"), "");
  EXPECT_NE(compare_types("f32[n]", "f64[n]"), "");
}

}  // namespace
}  // namespace axon::corpus
