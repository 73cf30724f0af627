// Every edit that is offered for an error takes it away, and brings no other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "../sanitized.h"
#include "session/try_edits.h"
#include "support.h"

namespace axon::session {
namespace {

using Errors = std::multiset<std::string>;

Errors errors_of(const source::Diagnostics& found) {
  Errors out;
  for (const source::Diagnostic& d : found.in_order_of_report())
    if (d.severity == source::Severity::error)
      out.insert(std::string(code_name(d.code)) + " " + std::string(d.headline()));
  return out;
}

/// What is wrong after an edit that was not wrong before.
std::string joined(const Errors& before, const Errors& after) {
  std::string out;
  for (const std::string& error : after)
    if (after.count(error) > before.count(error)) out += error + "\n";
  return out;
}

/// What is said of the file itself.
Errors errors_in(const Session& session, const std::string& path, const source::Diagnostics& found) {
  Errors out;
  const source::FileId file = session.documents().find(path)->text().source;
  for (const source::Diagnostic& d : found.in_order_of_report())
    if (d.severity == source::Severity::error && d.primary.span.file == file)
      out.insert(fmt::format("{} {} {}", d.primary.span.begin, code_name(d.code), d.headline()));
  return out;
}

/// The text with every name of a declaration in turn spelled otherwise, every number another one, and every
/// line left out.
std::vector<std::string> edits_of(const std::string& text) {
  std::vector<std::string> out;
  const auto put = [&](size_t at, size_t size, const std::string& by) {
    out.push_back(std::string(text).replace(at, size, by));
  };
  for (size_t at = 0; at < text.size(); ++at) {
    const bool begins = at == 0 || text[at - 1] == '\n';
    if (begins) put(at, std::min(text.find('\n', at), text.size()) - at, "");
    if (std::isdigit(static_cast<unsigned char>(text[at]))) put(at, 1, text[at] == '3' ? "4" : "3");
    if (text.compare(at, 1, ":") == 0) put(at, 1, ": f32[3] ->");
    if (text.compare(at, 4, "fun ") == 0) put(at, 4, "fun z");
    if (text.compare(at, 3, " = ") == 0) put(at, 3, " = sin ");
  }
  return out;
}

TEST(Repairs, ATrialOfAnEditSeesWhatIsWrongInTheFile) {
  Session session(library(), {});
  size_t edits = 0;
  for (const std::string& path : programs({"tests/core/types", "tests/core/errors"})) {
    const std::string text = read(path);
    if (text.size() > 800) continue;
    session.documents().open(path, text);
    session.check(path);
    for (const std::string& edited : sampled(edits_of(text))) {
      Errors whole, touched;
      session.with_text(path, edited,
                        [&](const source::Diagnostics& found) { whole = errors_in(session, path, found); });
      session.with_edited(
          path, edited, [&](const source::Diagnostics& found) { touched = errors_in(session, path, found); });
      ASSERT_EQ(whole, touched) << path << "\n" << edited;
      ++edits;
    }
    session.documents().close(path);
  }
  EXPECT_GT(edits, sampled_floor(1000u));
}

TEST(Repairs, BringNoNewError) {
  Session session(library(), {});
  size_t edits = 0;
  for (const std::string& path : programs({"tests/core/errors", "tests/diagnostics/suggest"})) {
    const std::string text = read(path);
    session.documents().open(path, text);
    source::Diagnostics found = session.check_with_drafts(path);
    Errors before;  // as a trial says them
    session.with_text(path, text, [&](const source::Diagnostics& now) { before = errors_of(now); });
    try_edits(session, path, session.documents().find(path)->text().source, found);
    for (const source::Diagnostic& d : found.in_order_of_report())
      for (const source::Help& help : d.helps) {
        if (!help.edit) continue;
        ++edits;
        std::string edited = text;
        edited.replace(help.edit->span.begin, help.edit->span.size(), help.edit->replacement);
        session.with_text(path, edited, [&](const source::Diagnostics& now) {
          const Errors after = errors_of(now);
          EXPECT_EQ(joined(before, after), "")
              << session.sources().describe(d.primary.span) << ": " << d.headline() << "\n"
              << help.text << ": " << help.edit->replacement;
          EXPECT_LT(after.size(), before.size()) << session.sources().describe(d.primary.span);
        });
      }
    session.documents().close(path);
  }
  EXPECT_GT(edits, 100u);
}

}  // namespace
}  // namespace axon::session
