// See references.h.
#include "query/references.h"

#include <algorithm>

#include "core/modules.h"
#include "query/workspace.h"
#include "source/files.h"

namespace axon::query {

using session::Session;

namespace {

/// Which files may mention something.
struct Wanted {
  std::string word;      ///< that they have; empty: they may mention it without, as `x + y` does `add`
  bool library = false;  ///< those of the library, too
};

Wanted wanted_of(const Session& session, const core::DeclKey& key) {
  const bool library = session.documents().is_library(core::file_of_module(key.module));
  return {library ? "" : key.name, library};
}

bool has(std::string_view text, const Wanted& wanted) {
  return wanted.word.empty() || has_word(text, wanted.word);
}

/// Those of the files, and of all that are loaded, which may mention it and are not as they were checked.
std::vector<std::string> unchecked(const Session& session, const Wanted& wanted,
                                   const std::vector<std::string>& files) {
  std::vector<std::string> out;
  for (const std::string& path : session.documents().paths()) {
    if (session.is_checked(path) || (!wanted.library && session.documents().is_library(path))) continue;
    const source::FileId file = session.documents().find(path)->text().source;
    if (has(session.sources()[file].text(), wanted)) out.push_back(path);
  }
  for (const std::string& path : files) {
    if (session.documents().find(path)) continue;
    const auto text = source::read_bytes(path);
    if (text && has(*text, wanted)) out.push_back(path);
  }
  return out;
}

/// In which files a name is looked for; nothing where it is seen in its own declaration alone.
std::optional<Wanted> wanted_of(const Session& session, const Mention& mention) {
  if (!is_seen_outside(mention.meaning.kind)) return std::nullopt;
  if (mention.meaning.declared) return wanted_of(session, *mention.meaning.declared);
  return Wanted{std::string(session.sources().text(mention.span)), false};
}

/// What a field is, the types decide that a check finds.
void check_names(Session& session, Kind kind, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (!session.documents().read(file)) continue;
    if (kind == Kind::field)
      session.check(file);
    else
      session.check_changed(file);
  }
}

}  // namespace

bool references_are_known(const Session& session, const std::string& path, uint32_t offset,
                          const std::vector<std::string>& files) {
  if (!session.is_checked(path)) return false;
  const auto mention = mention_at(session, path, offset);
  const auto wanted = mention ? wanted_of(session, *mention) : std::nullopt;
  return !wanted || unchecked(session, *wanted, files).empty();
}

std::vector<Mention> references(Session& session, const std::string& path, uint32_t offset,
                                const std::vector<std::string>& files) {
  if (!session.is_checked(path)) session.check_changed(path);
  const auto mention = mention_at(session, path, offset);
  if (!mention) return {};
  if (const auto wanted = wanted_of(session, *mention))
    check_names(session, mention->meaning.kind, unchecked(session, *wanted, files));
  // other files may say that fields are one
  const Mention now = mention_at(session, path, offset).value_or(*mention);
  const auto wanted = wanted_of(session, now);
  if (!wanted) return mentions_beside(session, path, offset, now.meaning);
  std::vector<std::string> all = session.documents().paths();
  std::erase_if(all, [&](const std::string& file) {
    return !has(session.sources()[session.documents().find(file)->text().source].text(), *wanted);
  });
  return mentions_of(session, now.meaning, all);
}

bool mentions_are_known(const Session& session, const core::DeclKey& key,
                        const std::vector<std::string>& files) {
  return unchecked(session, wanted_of(session, key), files).empty();
}

void check_mentions(Session& session, const core::DeclKey& key, const std::vector<std::string>& files) {
  check_names(session, Kind::value, unchecked(session, wanted_of(session, key), files));
}

}  // namespace axon::query
