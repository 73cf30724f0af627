// See whole.h.
#include "session/whole.h"

#include <set>

#include "core/elaborate.h"
#include "syntax/parse.h"

namespace axon::session {

std::unique_ptr<Whole> whole_program(Session& session, const std::string& path) {
  const Document* const document = session.documents().find(path);
  if (!document) return nullptr;
  auto out = std::make_unique<Whole>();
  const shape::UseArena use(out->arena);
  source::Diagnostics found;
  out->file = syntax::parse(session.sources()[document->text().source], found);
  out->program = core::elaborate(
      out->file, session.sources(),
      [&](const std::string& module) { return session.documents().load(module); }, found, session.options());
  return found.has_errors() ? nullptr : std::move(out);
}

std::string texts_of(const Session& session, const core::DeclKey& key) {
  std::string out;
  std::set<source::FileId> texts;
  std::set<core::DeclKey> seen = {key};
  std::vector<core::DeclKey> todo = {key};
  while (!todo.empty()) {
    const auto record = session.records().find(todo.back());
    todo.pop_back();
    if (record == session.records().end()) continue;
    for (const auto& [part, revision] : record->second.texts)
      if (texts.insert(part).second) out += session.sources()[part].text();
    for (const auto& [used, print] : record->second.uses)
      if (seen.insert(used).second) todo.push_back(used);
  }
  return out;
}

}  // namespace axon::session
