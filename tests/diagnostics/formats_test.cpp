// Every form of a diagnostic says the same: all that one of them has, the others have.
//
// In: the programs with errors of the tests and of the explain pages. What is compared: headlines, labels and
// their places, bodies, notes, helps and edits.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "../sanitized.h"
#include "source/explain.h"
#include "support.h"

namespace axon::source {
namespace {

std::string without_blanks(std::string_view text) {
  std::string out;
  for (char c : text)
    if (!std::isspace(static_cast<unsigned char>(c))) out += c;
  return out;
}

/// Every sentence of a diagnostic but what its edits write.
std::vector<std::string> sentences(const Diagnostic& d) {
  std::vector<std::string> out{std::string(code_name(d.code)), std::string(d.headline()), d.primary.text,
                               d.body};
  for (const Label& label : d.secondary) out.push_back(label.text);
  for (const Note& note : d.notes) out.insert(out.end(), {note.kind, note.text});
  for (const Help& help : d.helps) out.push_back(help.text);
  return out;
}

void expect_said(const std::string& form, const std::string& output, const std::string& sentence) {
  EXPECT_NE(without_blanks(output).find(without_blanks(sentence)), std::string::npos)
      << form << " lacks: " << sentence << "\n"
      << output;
}

void compare_short(const Diagnostic& d, const Diagnostics& one, const SourceManager& sources) {
  const std::string text = render_short(one, sources);
  for (const std::string& line : lines_of(text))
    if (d.primary.span.valid()) {
      EXPECT_NE(line.find(": "), std::string::npos) << text;
      EXPECT_TRUE(line.starts_with(sources[d.primary.span.file].name()) ||
                  line.find(".axn:") != std::string::npos)
          << line;
    }
  std::vector<Label> labels = d.secondary;
  labels.push_back(d.primary);
  for (const Label& label : labels) {
    if (label.text.empty()) continue;
    EXPECT_NE(text.find(sources.describe(label.span)), std::string::npos) << text;
  }
  for (const Help& help : d.helps) {
    if (!help.edit) continue;
    EXPECT_NE(text.find(help.edit->applicability == Applicability::safe ? "[safe]" : "[maybe]"),
              std::string::npos);
    EXPECT_NE(text.find(sources.describe(help.edit->span)), std::string::npos) << text;
    for (const std::string& line : lines_of(help.edit->replacement)) expect_said("short", text, line);
  }
}

void compare_json(const Diagnostic& d, const Diagnostics& one, const SourceManager& sources) {
  const auto all = nlohmann::json::parse(render_json(one, sources));
  ASSERT_EQ(all.size(), 1u);
  const auto& json = all[0];
  const auto place = [&](const nlohmann::json& span) {
    if (span.is_null()) return std::string();
    return span["file"].get<std::string>() + ":" + std::to_string(span["line"].get<int>()) + ":" +
           std::to_string(span["column"].get<int>());
  };
  const auto words = [](const nlohmann::json& j) { return j.get<std::string>(); };
  std::vector<std::string> said{words(json["code"]), words(json["message"]), words(json["primary"]["text"]),
                                words(json["body"])};
  EXPECT_EQ(place(json["primary"]["span"]), sources.describe(d.primary.span));
  ASSERT_EQ(json["secondary"].size(), d.secondary.size());
  for (size_t i = 0; i < d.secondary.size(); ++i) {
    said.push_back(words(json["secondary"][i]["text"]));
    EXPECT_EQ(place(json["secondary"][i]["span"]), sources.describe(d.secondary[i].span));
  }
  for (const auto& note : json["notes"]) said.insert(said.end(), {words(note["kind"]), words(note["text"])});
  ASSERT_EQ(json["helps"].size(), d.helps.size());
  for (size_t i = 0; i < d.helps.size(); ++i) {
    said.push_back(words(json["helps"][i]["text"]));
    ASSERT_EQ(json["helps"][i].contains("edit"), d.helps[i].edit.has_value());
    if (!d.helps[i].edit) continue;
    const auto& edit = json["helps"][i]["edit"];
    EXPECT_EQ(words(edit["replacement"]), d.helps[i].edit->replacement);
    EXPECT_EQ(words(edit["applicability"]) == "safe", d.helps[i].edit->applicability == Applicability::safe);
    EXPECT_EQ(place(edit["span"]), sources.describe(d.helps[i].edit->span));
  }
  EXPECT_EQ(said, sentences(d));
}

size_t compare_forms(const Checked& checked) {
  const auto all = checked.diagnostics->sorted();
  for (const Diagnostic& d : all) {
    Diagnostics one;
    one.report(d);
    const std::string human = render_human(one, *checked.sources),
                      brief = render_short(one, *checked.sources);
    for (const std::string& sentence : sentences(d)) {
      expect_said("human", human, sentence);
      for (const std::string& line : lines_of(sentence)) expect_said("short", brief, line);
    }
    compare_short(d, one, *checked.sources);
    compare_json(d, one, *checked.sources);
  }
  return all.size();
}

TEST(Formats, LoseNothingOfPrograms) {
  size_t seen = 0;
  for (const char* folder : {"tests/diagnostics/recovery", "tests/core/errors"})
    for (const auto& path :
         sampled(files_in(std::filesystem::path(AXON_TEST_DIR) / "../.." / folder, ".axn")))
      seen += compare_forms(check_file(path.string()));
  EXPECT_GT(seen, sampled_floor(300u));
}

TEST(Formats, LoseNothingOfPages) {
  size_t seen = 0;
  for (Code code : all_codes()) {
    const std::string page(explanation(code));
    const std::string begin = "```axn bad\n";
    for (size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
      const size_t from = at + begin.size();
      seen += compare_forms(check(page.substr(from, page.find("```", from) - from)));
    }
  }
  EXPECT_GT(seen, 50u);
}

TEST(Formats, SayHowManyAreLeftOut) {
  Checked c = check("val a = 1\n");
  for (size_t i = 0; i < limits::diagnostics_kept + 3; ++i)
    c.diagnostics->report(warning(Code::E0218, {c.file, 4, 5}, "number " + std::to_string(i)));
  EXPECT_TRUE(render_human(*c.diagnostics, *c.sources, {.max_errors = 0}).ends_with("... and 3 more\n"));
  EXPECT_TRUE(render_short(*c.diagnostics, *c.sources, {.max_errors = 0}).ends_with("... and 3 more\n"));
  const auto all = nlohmann::json::parse(render_json(*c.diagnostics, *c.sources));
  EXPECT_EQ(all.back()["message"].get<std::string>(), "... and 3 more");
  EXPECT_TRUE(all.back()["code"].is_null());
}

}  // namespace
}  // namespace axon::source
