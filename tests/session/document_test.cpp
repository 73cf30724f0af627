// Texts that are edited: parts that have not changed keep their ids and revisions.
#include "session/document.h"

#include <gtest/gtest.h>

namespace axon::session {
namespace {

using source::FileId;

struct State {
  std::vector<FileId> ids;
  std::vector<uint64_t> revisions;
};

State state(const Document& document) {
  State out;
  for (const syntax::File* part : document.text().parts) {
    out.ids.push_back(part->source);
    out.revisions.push_back(document.revision(part->source));
  }
  return out;
}

TEST(Document, PartsStayWhileOthersChange) {
  source::SourceManager sources;
  Document document(sources, "a.axn", "fun f x = x\nfun g x = f x\nfun h x = g x\n");
  const State before = state(document);
  ASSERT_EQ(before.ids.size(), 3u);

  document.set_text("fun f x = x\nfun g x =\n  f (x + 1)\nfun h x = g x\n");
  const State edited = state(document);
  EXPECT_EQ(edited.ids, before.ids);
  EXPECT_EQ(edited.revisions[0], before.revisions[0]);
  EXPECT_NE(edited.revisions[1], before.revisions[1]);
  EXPECT_EQ(edited.revisions[2], before.revisions[2]);
  EXPECT_EQ(sources.describe(document.text().parts[2]->decls[0].name.span), "a.axn:4:5");

  document.set_text("fun h x = g x\nval k = 1\nfun f x = x\nfun g x =\n  f (x + 1)\n");
  const State moved = state(document);
  ASSERT_EQ(moved.ids.size(), 4u);
  EXPECT_EQ(moved.ids[3], edited.ids[1]);
  EXPECT_EQ(moved.revisions[3], edited.revisions[1]);
}

TEST(Document, IdsOfPartsThatGoAreUsedAgain) {
  source::SourceManager sources;
  Document document(sources, "a.axn", "");
  document.set_text("fun f x = x\n");
  const size_t files = sources.size();
  for (int i = 0; i < 100; ++i) {
    document.set_text("fun f x = x\nfun g x = " + std::to_string(i) + "\n");
    document.set_text("fun f x = x\n");
  }
  EXPECT_LE(sources.size(), files + 1);
}

TEST(Document, EditedPartsKeepTheirIdsWhateverWentBefore) {
  source::SourceManager sources;
  Document document(sources, "a.axn", "fun e x = x\nfun f x = x\nfun g x = x\n");
  document.set_text("fun f x = x\nfun g x = x\n");
  const State before = state(document);
  document.set_text("fun f x = x + 1\nfun g x = x + 1\n");
  EXPECT_EQ(state(document).ids, before.ids);
}

TEST(Document, TellsWhatIsWrongWithItsBytesAndParts) {
  source::SourceManager sources;
  Document document(sources, "a.axn", "fun f x = (x\nfun g y = \xff\nfun h z = z z z +\n");
  std::string codes;
  for (const source::Diagnostic& d : document.reports())
    codes += std::string(code_name(d.code)) + " " + sources.describe(d.primary.span) + "\n";
  EXPECT_EQ(codes, "E0004 a.axn:2:11\nE0211 a.axn:1:11\nE0210 a.axn:2:11\nE0210 a.axn:3:17\n");
}

}  // namespace
}  // namespace axon::session
