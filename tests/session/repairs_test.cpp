// Every edit that is offered for an error takes it away, and brings no other.
#include <gtest/gtest.h>

#include <set>

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
