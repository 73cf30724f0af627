// Suggestions: suggest/*.axn render as the texts beside them; a safe edit takes its error away and brings no
// other; what is offered with a trial is never offered without.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "../sanitized.h"
#include "support.h"

namespace axon::source {
namespace {

const std::filesystem::path suggest_folder = std::filesystem::path(AXON_TEST_DIR) / "suggest";

std::string name_of(const testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.stem().string();
}

class Suggest : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Suggest, IsRendered) {
  std::filesystem::path golden = GetParam();
  golden.replace_extension(".txt");
  const std::string shown = check(read(GetParam()), GetParam().filename()).human();
  if (std::getenv("AXON_BLESS")) std::ofstream(golden, std::ios::binary) << shown;
  EXPECT_EQ(read(golden), shown) << "AXON_BLESS=1 accepts";
}

/// The text in which only the declaration on `line` keeps its errors: other lines with errors are blank.
std::string alone(const std::string& text, uint32_t line, const std::set<uint32_t>& broken) {
  std::string out;
  uint32_t number = 0;
  for (const std::string& each : lines_of(text)) {
    const bool blank = ++number != line && broken.count(number) != 0;
    out += (blank ? std::string(each.size(), ' ') : each) + "\n";
  }
  return out;
}

TEST_P(Suggest, SafeEditsRepair) {
  const std::string text = read(GetParam());
  const Checked before = check(text);
  auto line_of = [&](const Diagnostic& d) {
    return (*before.sources)[before.file].line_of(d.primary.span.begin);
  };
  std::set<uint32_t> broken;
  for (const Diagnostic& d : before.diagnostics->sorted()) broken.insert(line_of(d));
  size_t safe = 0;
  for (const Diagnostic& d : before.diagnostics->sorted())
    for (const Help& help : d.helps) {
      EXPECT_EQ(help.trial, 0) << help.text;
      if (!help.edit || help.edit->applicability != Applicability::safe) continue;
      ++safe;
      const Checked after = check(edited(alone(text, line_of(d), broken), *help.edit));
      EXPECT_EQ(after.human(), "") << d.headline() << "\n" << help.text;
    }
  EXPECT_GT(safe, 0u);
}

INSTANTIATE_TEST_SUITE_P(Files, Suggest, testing::ValuesIn(files_in(suggest_folder, ".axn")), name_of);

/// All edits of an error that are shown, as the line that they make.
std::vector<std::string> repairs(const std::string& text) {
  std::vector<std::string> lines;
  for (const Diagnostic& d : check(text).diagnostics->sorted())
    for (const Help& help : d.helps)
      if (help.edit) lines.push_back(edited(text, *help.edit));
  return lines;
}

TEST(Suggest, WhatRepairsNothingIsNotOffered) {
  EXPECT_EQ(repairs("fun f (x : f32[a, b]) (y : f32[3, d]) where b == 4 = x @ y\n"),
            std::vector<std::string>{});
  EXPECT_EQ(repairs("fun f (x : f32[a, b]) (y : f32[c, d]) : f32[b, c] = x @ y\n"),
            std::vector<std::string>{});
}

TEST(Suggest, AnEditThatBreaksAnotherPlaceIsNotOffered) {
  // the transposed product has another shape than the stated one; the written type can be changed
  EXPECT_EQ(repairs("fun f (x : f32[n, d]) (w : f32[h, d]) : f32[n, n] = x @ w\n"),
            std::vector<std::string>{"fun f (x : f32[n, d]) (w : f32[d, n]) : f32[n, n] = x @ w\n"});
}

/// Of two repairs, the one that changes a written type is safe; the one that computes fewer elements is not.
TEST(Suggest, WhatIsSafeIsThePropertyOfTheKindOfEdit) {
  const std::string text =
      "fun f (x : f32[n]) (w : f32[k]) : f32[n - k] where k <= n =\n"
      "  for (t < n - k + 1) => sum s => x[t + s] * w[s]\n";
  size_t shown = 0;
  for (const Diagnostic& d : check(text).diagnostics->sorted())
    for (const Help& help : d.helps) {
      ++shown;
      ASSERT_TRUE(help.edit);
      EXPECT_EQ(help.edit->applicability,
                help.text == "state what the body gives" ? Applicability::safe : Applicability::maybe)
          << help.text;
    }
  EXPECT_EQ(shown, 2u);
}

/// The helps of the first error: the words of each, and whether it is safe.
std::vector<std::pair<std::string, bool>> helps(const std::string& text) {
  std::vector<std::pair<std::string, bool>> out;
  const auto all = check(text).diagnostics->sorted();
  for (const Help& help : all.at(0).helps)
    out.emplace_back(help.text, help.edit && help.edit->applicability == Applicability::safe);
  return out;
}

/// What an entry takes is changed by a person; how its sizes are spelt, and what a function takes, is not.
TEST(Suggest, WhatChangesTheInputsOfAnEntryIsNotSafe) {
  using Helps = std::vector<std::pair<std::string, bool>>;
  const std::string type = "state what all else fits", relation = "state the relation";
  EXPECT_EQ(helps("entry f (x : f32[a, 4]) (y : f32[b, 4]) = x + y\n"), (Helps{{relation, false}}));
  EXPECT_EQ(helps("fun f (x : f32[a, 4]) (y : f32[b, 4]) = x + y\n"), (Helps{{relation, true}}));
  const std::string sum = "(x : f32[n, d]) (y : f32[n, d]) (z : f32[n, k]) = x + y + z\n";
  EXPECT_EQ(helps("entry f " + sum), (Helps{{type, false}}));
  EXPECT_EQ(helps("fun f " + sum), (Helps{{type, true}}));
  const std::string cols = "(x : f32[rows, cols]) (y : f32[rows, cols]) (z : f32[rows, colls])";
  EXPECT_EQ(helps("entry f " + cols + " = x + y + z\n"), (Helps{{type, true}}));
  EXPECT_EQ(helps("entry f " + cols + " (w : f32[colls]) = (x + y + z, w)\n"), (Helps{{type, false}}));
  EXPECT_EQ(helps("entry f " + cols + " where colls >= 1 = x + y + z\n"), (Helps{{relation, false}}));
  EXPECT_EQ(helps("type W[d, f] = { w : f32[d, f], b : f32[f] }\n"
                  "entry f (x : f32[n, d]) (p : W[d, f]) = x @ transpose p.w + p.b\n"),
            (Helps{{"take the right operand as it is", false}, {type, false}}));
}

TEST(Clash, TheSetIsMarkedAndIrreducible) {
  // `b` has nothing to do with it; both `transpose` and the product have
  const Checked c = check(
      "fun h (x : f32[n, d]) (y : f32[m, d]) =\n"
      "  let z = x @ transpose y in\n"
      "  let b = x * 2.0 in\n"
      "  let u = z + x in\n"
      "  sum u + sum b\n");
  ASSERT_EQ(c.diagnostics->error_count(), 1u) << c.human();
  const Diagnostic d = c.diagnostics->sorted()[0];
  std::set<std::string> together;
  for (const Label& label : d.secondary)
    if (label.text.starts_with("together with ")) together.insert(label.text);
  EXPECT_EQ(together, (std::set<std::string>{"together with argument 1 of `transpose`",
                                             "together with the right operand of `@`"}));
  for (const Label& label : d.secondary)
    EXPECT_NE((*c.sources)[c.file].line_of(label.span.begin), 3u) << label.text;
}

TEST(Clash, TheTreeIsPutBack) {
  // types that other declarations see must be those of the first inference
  const Checked c = check(
      "fun f (x : f32[n, d]) (y : f32[m, e]) : f32[n, m] = x @ y\n"
      "fun g (x : f32[3, 4]) (y : f32[5, 6]) : f32[3, 5] = f x y\n");
  EXPECT_EQ(c.diagnostics->error_count(), 1u) << c.human();
}

TEST(Messages, ShowNoNameOfTheSolver) {
  // sizes without a name get letters; what the solver calls its variables and verdicts is not shown
  for (const auto& folder_name : {"suggest", "recovery"})
    for (const auto& file : sampled(files_in(std::filesystem::path(AXON_TEST_DIR) / folder_name, ".axn"))) {
      const Checked c = check(read(file));
      for (const Diagnostic& d : c.diagnostics->sorted()) {
        std::string text(d.headline());
        text += "\n" + d.primary.text + "\n" + d.body;
        for (const Label& label : d.secondary) text += "\n" + label.text;
        for (const Note& note : d.notes) text += "\n" + note.text;
        for (const char* internal : {"k!", "z3", "Z3", "rigid", "unsat", "(declare", "(assert", "too large"})
          EXPECT_EQ(text.find(internal), std::string::npos) << internal << " in\n" << text;
      }
    }
}

}  // namespace
}  // namespace axon::source
