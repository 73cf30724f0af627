// Edits that were drafted are tried in the session, which they leave as it was.
#include "session/try_edits.h"

#include <gtest/gtest.h>

#include "support.h"

namespace axon::session {
namespace {

constexpr const char* file = "edited.axn";

/// The edits that are offered for the errors of the text, one per line: the text that each gives.
std::string offered(Session& session, const std::string& text) {
  session.documents().open(file, text);
  source::Diagnostics found = session.check_with_drafts(file);
  const source::FileId whole = session.documents().find(file)->text().source;
  try_edits(session, file, whole, found);
  std::string out;
  for (const source::Diagnostic& d : found.sorted())
    for (const source::Help& help : d.helps) {
      EXPECT_EQ(help.trial, 0) << help.text;
      if (help.edit) out += std::to_string(help.edit->span.begin) + " " + help.edit->replacement + "\n";
    }
  return out;
}

const std::string error = "fun project (x : f32[n, d]) (w : f32[m, d]) = x @ w\nfun user x w = project x w\n";

TEST(TryEdits, OffersWhatRepairs) {
  Session session(library(), {});
  EXPECT_EQ(offered(session, error), "50 transpose w\n");
  EXPECT_EQ(offered(session, "fun f (x : f32[3]) (y : f32[4]) = x + y\n"), "");
}

TEST(TryEdits, AreOfferedForFilesOfAnyName) {
  for (const char* name : {"<stdin>", "notes.txt", "a.b"}) {
    source::SourceManager sources;
    source::Diagnostics found;
    const source::FileId id = sources.add(name, error, found);
    Session session(library(), {});
    session.documents().open(name, error);
    found = session.check_with_drafts(name);
    found.revise([&](source::Diagnostic& d) {
      d.primary.span.file = id;
      for (source::Help& help : d.helps)
        if (help.edit) help.edit->span.file = id;
    });
    try_edits(name, error, library(), {}, id, found);
    ASSERT_EQ(found.error_count(), 1u) << name;
    EXPECT_EQ(found.in_order_of_report()[0].helps.size(), 1u) << name;
  }
}

TEST(TryEdits, LeaveTheSessionAsItWas) {
  Session session(library(), {});
  offered(session, error);
  const std::string before = answer(session, file);
  EXPECT_EQ(session.checked(), 0u);
  offered(session, error);
  EXPECT_EQ(answer(session, file), before);
  EXPECT_EQ(session.checked(), 0u);
  session.documents().open(file, error + "fun more x = x\n");
  session.check(file);
  EXPECT_EQ(session.checked(), 1u);
}

TEST(TryEdits, DoNotDependOnTheLengthOfTheFile) {
  std::string padding;
  for (int i = 0; i < 4000; ++i) padding += "fun padding" + std::to_string(i) + " x = x + 1.0\n";
  Session session(library(), {});
  EXPECT_EQ(offered(session, error + padding), offered(session, error));
}

}  // namespace
}  // namespace axon::session
