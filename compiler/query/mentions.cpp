// See mentions.h.
#include "query/mentions.h"

#include <algorithm>
#include <map>

#include "core/modules.h"

namespace axon::query {

namespace stx = axon::syntax;
using core::Use;
using session::Session;
using source::Span;

namespace {

/// Places in types that are of one field: each leads to the first of them in the order of files.
class Fields {
 public:
  explicit Fields(const Session& session) : sources_(session.sources()) {
    for (const auto& [key, record] : session.records())
      for (const auto& [a, b] : record.same_fields) join(a, b);
  }

  Span first_of(Span place) {
    const Key known = root(key_of(place));
    return {source::FileId{std::get<0>(known)}, std::get<1>(known), std::get<2>(known)};
  }

 private:
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;
  Key key_of(Span span) const {
    const Span whole = sources_.in_whole(span);
    return {whole.file.index, whole.begin, whole.end};
  }
  Key root(Key key) {
    for (auto next = above_.find(key); next != above_.end(); next = above_.find(key)) key = next->second;
    return key;
  }
  void join(Span a, Span b) {
    const Key x = root(key_of(a)), y = root(key_of(b));
    if (x != y) above_[std::max(x, y)] = std::min(x, y);
  }

  const source::SourceManager& sources_;
  std::map<Key, Key> above_;
};

/// Collects the names of declarations of one file.
class Collector {
 public:
  Collector(const Session& session, const std::string& path, std::vector<Reading> readings)
      : session_(session), document_(*session.documents().find(path)), readings_(std::move(readings)) {}

  std::vector<Mention> run() {
    for (const stx::File* part : document_.text().parts)
      for (const stx::Decl& d : part->decls) add_unrecorded(d);
    for (const Reading& r : readings_) {
      add_declared(r);
      for (const Layer& layer : r.layers) add_layer(layer);
    }
    std::vector<Mention> out;
    for (auto& [begin, mention] : found_) out.push_back(std::move(mention));
    return out;
  }

 private:
  /// What is nearest to the text that stands there now wins.
  void add(Mention mention) {
    const Span span = mention.span;
    if (span.size() == 0) return;
    const auto next = found_.lower_bound(span.begin);
    if (next != found_.end() && next->second.span.begin < span.end) return;
    if (next != found_.begin() && std::prev(next)->second.span.end > span.begin) return;
    found_.emplace(span.begin, std::move(mention));
  }

  /// Names of imports and of meshes with their axes.
  void add_unrecorded(const stx::Decl& d) {
    const auto bind = [&](Kind kind, const stx::Name& name) {
      if (!name.span.valid()) return;
      const Span span = session_.sources().in_whole(name.span);
      add({span, {kind, std::nullopt, span}, true});
      (kind == Kind::module ? modules_ : axes_).emplace(name.text, span);
    };
    if (const auto* import = stx::as<stx::ImportDecl>(d)) {
      bind(Kind::module, d.name);
      // `import a.b as c`: the last name of the path is that of the module as well
      if (!import->path.empty() && d.name.span.valid() && import->path.back().span != d.name.span)
        add({session_.sources().in_whole(import->path.back().span),
             {Kind::module, std::nullopt, session_.sources().in_whole(d.name.span)},
             false});
    }
    if (const auto* mesh = stx::as<stx::MeshDecl>(d))
      for (const stx::FieldValue& axis : mesh->fields) bind(Kind::mesh, axis.name);
  }

  void add_declared(const Reading& r) {
    const stx::Decl& d = *r.entry.decl;
    if (stx::as<stx::TestDecl>(d) || !d.name.span.valid()) return;
    const Kind kind = r.entry.key.space == core::DeclKey::Space::values  ? Kind::value
                      : r.entry.key.space == core::DeclKey::Space::types ? Kind::type
                                                                         : Kind::layout;
    add({session_.sources().in_whole(d.name.span), {kind, r.entry.key, {}}, true});
  }

  void add_layer(const Layer& layer) {
    for (const Use& use : layer.record().mentions) {
      const auto span = layer.now(use.span);
      if (!span) continue;
      if (auto meaning = meaning_of(use, *span, layer)) {
        const bool binds = meaning->binding.valid() && (meaning->binding == *span || binds_field(use));
        add({*span, std::move(*meaning), binds});
      }
    }
  }

  /// `w : t` of a type, and `w = e` of a record.
  static bool binds_field(const Use& use) {
    return use.kind == Kind::field && use.binding.file == use.span.file &&
           use.binding.begin == use.span.begin;
  }

  std::optional<Meaning> meaning_of(const Use& use, Span span, const Layer& layer) {
    switch (use.kind) {
      case Kind::value:
      case Kind::type:
      case Kind::layout:
        return Meaning{use.kind, layer.record().named[use.declared.index], {}};
      case Kind::module:
        return named_in_file(use.kind, span, modules_);
      case Kind::mesh:
        return named_in_file(use.kind, span, axes_);
      case Kind::field:
        if (!fields_) fields_.emplace(session_);
        return Meaning{use.kind, std::nullopt, fields_->first_of(use.binding)};
      case Kind::local:
      case Kind::index:
      case Kind::axes:
      case Kind::size:
      case Kind::shape:
      case Kind::element:
      case Kind::row:
      case Kind::axis:
        break;
    }
    const auto binding = now(use.binding, layer);
    if (!binding) return std::nullopt;
    return Meaning{use.kind, std::nullopt, *binding};
  }

  std::optional<Meaning> named_in_file(Kind kind, Span span, const std::map<std::string, Span>& known) const {
    const auto found = known.find(std::string(session_.sources().text(span)));
    if (found == known.end()) return std::nullopt;
    return Meaning{kind, std::nullopt, found->second};
  }

  /// In the part of the declaration, or in that of the `val` that states its type.
  std::optional<Span> now(Span span, const Layer& layer) const {
    if (span.file == layer.part()) return layer.now(span);
    for (const Reading& r : readings_)
      for (const Layer& other : r.layers)
        if (&other.record() == &layer.record() && other.part() == span.file) return other.now(span);
    if (document_.revision(span.file) == 0) return std::nullopt;
    return session_.sources().in_whole(span);
  }

  const Session& session_;
  const session::Document& document_;
  const std::vector<Reading> readings_;
  std::optional<Fields> fields_;
  std::map<std::string, Span> modules_, axes_;
  std::map<uint32_t, Mention> found_;
};

}  // namespace

std::vector<Mention> mentions(const Session& session, const std::string& path) {
  if (!session.documents().find(path)) return {};
  return Collector(session, path, readings(session, path)).run();
}

std::optional<Mention> mention_at(const Session& session, const std::string& path, uint32_t offset) {
  if (!session.documents().find(path)) return std::nullopt;
  std::optional<Mention> out;
  for (Mention& m : Collector(session, path, readings_at(session, path, offset)).run())
    if (m.span.begin <= offset && offset <= m.span.end && (!out || out->span.end == offset))
      out = std::move(m);
  return out;
}

std::vector<Mention> mentions_of(const Session& session, const Meaning& meaning) {
  std::vector<Mention> out;
  for (const std::string& path : session.documents().paths())
    for (Mention& m : mentions(session, path))
      if (m.meaning == meaning) out.push_back(std::move(m));
  return out;
}

/// The beginning of the file that an import stands for; the import where that is not loaded.
static Span file_of(const Session& session, const Meaning& meaning) {
  const source::SourceManager& sources = session.sources();
  const std::string file =
      session.imported(sources[meaning.binding.file].name(), std::string(sources.text(meaning.binding)));
  const session::Document* const document = file.empty() ? nullptr : session.documents().find(file);
  return document ? Span{document->text().source, 0, 0} : meaning.binding;
}

std::optional<Span> definition(const Session& session, const Meaning& meaning) {
  if (meaning.declared) {
    const auto entry = session.find(*meaning.declared);
    if (!entry || !entry->decl->name.span.valid()) return std::nullopt;
    return session.sources().in_whole(entry->decl->name.span);
  }
  if (meaning.kind == Kind::module) return file_of(session, meaning);
  if (meaning.kind != Kind::field) return meaning.binding;
  const std::string path = session.sources()[meaning.binding.file].name();
  for (const Mention& m : mentions(session, path))
    if (m.binds && m.meaning == meaning) return m.span;
  return std::nullopt;
}

}  // namespace axon::query
