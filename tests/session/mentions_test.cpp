// Each name that is written is in the table of uses, once, with what it stands for.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "../sanitized.h"
#include "base/elem.h"
#include "session/session.h"
#include "support.h"
#include "syntax/tokens.h"

namespace axon::session {
namespace {

using core::Use;

/// Words of the language that are no reserved words, and names of the machine.
bool is_built_in(const std::string& name) {
  static const std::set<std::string> others = {"Stack", "string",    "min",     "max",       "cdiv",   "num",
                                               "float", "int",       "reshape", "rearrange", "gpu",    "node",
                                               "block", "warpgroup", "warp",    "lane",      "thread", "m",
                                               "S",     "R",         "weights", "into",      "_"};
  return base::elem_from_name(name) || others.count(name);
}

/// Names in the part that are written as such, in order.
std::vector<source::Span> names_in(const source::SourceFile& part) {
  source::Diagnostics ignored;
  std::vector<source::Span> out;
  for (const syntax::Token& t : syntax::lex(part, ignored).tokens)
    if (t.kind == syntax::TokenKind::ID || t.kind == syntax::TokenKind::TYVAR)
      out.push_back({part.id(), t.begin, t.end});
  return out;
}

/// The use of a name that the declaration binds leads to a place where that name stands.
void expect_bound(const Session& session, const Use& use) {
  const auto& sources = session.sources();
  if (use.kind == Use::Kind::value || use.kind == Use::Kind::type || use.kind == Use::Kind::layout) {
    EXPECT_TRUE(use.declared.valid()) << sources.describe(use.span);
  } else if (use.kind == Use::Kind::field) {
    EXPECT_NE(sources.text(use.binding).find(sources.text(use.span)), std::string_view::npos)
        << sources.describe(use.span);
  } else if (use.kind != Use::Kind::module && use.kind != Use::Kind::mesh) {
    EXPECT_EQ(sources.text(use.binding), sources.text(use.span)) << sources.describe(use.span);
  }
}

TEST(Mentions, AreAllNamesThatAreWritten) {
  Session session(library(), {});
  for (const std::string& path : sampled(programs({"stdlib", "examples", "tests/core", "tests/shapes"}))) {
    session.documents().open(path, read(path));
    if (session.check(path).has_errors()) continue;
    std::map<uint32_t, std::multiset<std::pair<uint32_t, uint32_t>>> noted;
    std::set<source::FileId> parts;
    for (const Entry& entry : session.declarations(path)) {
      ASSERT_TRUE(entry.current) << path << ": " << entry.key.name;
      parts.insert(entry.part->source);
      noted[entry.part->source.index].insert({entry.decl->name.span.begin, entry.decl->name.span.end});
      if (syntax::as<syntax::SignatureDecl>(*entry.decl) && entry.record->own.size() > 1) continue;
      for (const Use& use : entry.record->mentions) {
        noted[use.span.file.index].insert({use.span.begin, use.span.end});
        expect_bound(session, use);
      }
    }
    for (source::FileId part : parts)
      for (source::Span name : names_in(session.sources()[part])) {
        const std::string text(session.sources().text(name));
        const uint32_t begin = name.begin + (text[0] == '\'' ? 1 : 0);
        const size_t times = noted[part.index].count({name.begin, name.end}) +
                             (begin != name.begin ? noted[part.index].count({begin, name.end}) : 0);
        if (times == 0 && is_built_in(text)) continue;
        EXPECT_EQ(times, 1u) << session.sources().describe(name) << ": " << text;
      }
    session.documents().close(path);
  }
}

}  // namespace
}  // namespace axon::session
