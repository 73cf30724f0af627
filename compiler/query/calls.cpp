// See calls.h.
#include "query/calls.h"

#include <algorithm>
#include <map>

#include "core/modules.h"

namespace axon::query {

namespace stx = axon::syntax;
using core::DeclKey;
using session::Entry;
using session::Session;
using source::Span;

namespace {

Callable callable_of(const Session& session, const Entry& entry) {
  const stx::Decl& d = *entry.decl;
  Callable out{entry.key, d.name.text, d.name.span, session.sources().in_whole(d.span), false};
  if (const auto* test = stx::as<stx::TestDecl>(d)) out.name = test->title;
  out.function = stx::as<stx::FunDecl>(d) || stx::as<stx::SignatureDecl>(d);
  out.name_span = d.name.span.valid() ? session.sources().in_whole(d.name.span) : out.whole;
  return out;
}

/// The declarations of files, each file looked at once.
class Known {
 public:
  explicit Known(const Session& session) : session_(session) {}

  /// Of one that a `val` states the type of, the other one.
  const Callable* find(const DeclKey& key) {
    const Callable* out = nullptr;
    for (const Callable& one : in_file(core::file_of_module(key.module)))
      if (one.key.name == key.name) out = &one;
    return out;
  }
  const Callable* around(Span place) {
    for (const Callable& one : in_file(session_.sources()[place.file].name()))
      if (one.whole.begin <= place.begin && place.end <= one.whole.end) return find(one.key);
    return nullptr;
  }

 private:
  const std::vector<Callable>& in_file(const std::string& path) {
    const auto [at, is_new] = by_file_.try_emplace(path);
    if (is_new)
      for (const Entry& entry : session_.declarations(path))
        if (entry.key.space == DeclKey::Space::values) at->second.push_back(callable_of(session_, entry));
    return at->second;
  }

  const Session& session_;
  std::map<std::string, std::vector<Callable>> by_file_;
};

bool is_operator(const Session& session, const Mention& m) {
  const char first = session.sources().text(m.span)[0];
  return first != '_' && !(first >= 'a' && first <= 'z') && !(first >= 'A' && first <= 'Z');
}

bool is_call(const Session& session, const Mention& m) {
  return m.meaning.kind == Kind::value && !m.binds && !is_operator(session, m);
}

/// Where there is nothing for what is called yet, it is added.
void add_call(std::vector<Calls>& all, const Callable* other, Span place) {
  if (!other) return;
  auto known =
      std::find_if(all.begin(), all.end(), [&](const Calls& c) { return c.other.key == other->key; });
  if (known == all.end()) known = all.insert(all.end(), {*other, {}});
  known->places.push_back(place);
}

}  // namespace

std::optional<Callable> callable(const Session& session, const DeclKey& key) {
  const auto entry = session.find(key);
  if (!entry || key.space != DeclKey::Space::values) return std::nullopt;
  return callable_of(session, *entry);
}

std::optional<Callable> callable_at(const Session& session, const std::string& path, uint32_t offset) {
  const auto mention = mention_at(session, path, offset);
  if (!mention || mention->meaning.kind != Kind::value) return std::nullopt;
  return callable(session, *mention->meaning.declared);
}

std::vector<Calls> callers(const Session& session, const DeclKey& key) {
  std::vector<Calls> out;
  Known known(session);
  for (const Mention& m : mentions_of(session, {Kind::value, std::make_shared<const DeclKey>(key), {}}))
    if (is_call(session, m)) add_call(out, known.around(m.span), m.span);
  return out;
}

std::vector<Calls> callees(const Session& session, const DeclKey& key) {
  std::vector<Calls> out;
  Known known(session);
  const Callable* const own = known.find(key);
  if (!own) return out;
  for (const Mention& m : mentions(session, core::file_of_module(key.module)))
    if (own->whole.begin <= m.span.begin && m.span.end <= own->whole.end && is_call(session, m))
      add_call(out, known.find(*m.meaning.declared), m.span);
  return out;
}

}  // namespace axon::query
