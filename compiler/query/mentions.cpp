// See mentions.h.
#include "query/mentions.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/modules.h"
#include "query/imports.h"
#include "query/workspace.h"

namespace axon::query {

namespace stx = axon::syntax;
using core::Use;
using session::Session;
using source::Span;

namespace {

/// Places in types that are of one field: each leads to the first of them in the order of files.
class Fields {
 public:
  explicit Fields(const Session& session) {
    for (const std::string& path : session.documents().paths())
      for (session::Entry& entry : session.declarations(path))
        if (has_fields(entry.record)) add(session, reading_of(session, std::move(entry)));
  }

  Span first_of(Span place) {
    const Key known = root(key_of(place));
    return {source::FileId{std::get<0>(known)}, std::get<1>(known), std::get<2>(known)};
  }

  /// All places of the same field, in order.
  std::vector<Span> all_of(Span place) {
    const Key known = root(key_of(place));
    std::set<Key> same{known};
    for (const auto& [key, next] : above_)
      if (root(next) == known) same.insert(key);
    std::vector<Span> out;
    for (const auto& [file, begin, end] : same) out.push_back({source::FileId{file}, begin, end});
    return out;
  }

 private:
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;
  static bool has_fields(const session::Record* record) {
    for (; record; record = record->last_good.get())
      if (!record->same_fields.empty()) return true;
    return false;
  }
  void add(const Session& session, const Reading& reading) {
    for (const Layer& layer : reading.layers)
      for (const auto& [a, b] : layer.record().same_fields) {
        const auto x = now(session, layer, a), y = now(session, layer, b);
        if (x && y) join(*x, *y);
      }
  }
  static Key key_of(Span whole) { return {whole.file.index, whole.begin, whole.end}; }
  /// In the whole file; nothing for a place in a text that is no longer there.
  static std::optional<Span> now(const Session& session, const Layer& layer, Span span) {
    if (span.file == layer.part()) return layer.now(span);
    if (!session.documents().find(span.file)) return std::nullopt;
    return session.sources().in_whole(span);
  }
  Key root(Key key) {
    for (auto next = above_.find(key); next != above_.end(); next = above_.find(key)) key = next->second;
    return key;
  }
  void join(Span a, Span b) {
    const Key x = root(key_of(a)), y = root(key_of(b));
    if (x != y) above_[std::max(x, y)] = std::min(x, y);
  }

  std::map<Key, Key> above_;
};

/// Collects the names of declarations of one file.
class Collector {
 public:
  /// `fields`: those of the session, once they are needed.
  Collector(const Session& session, const std::string& path, std::vector<Reading> readings,
            std::optional<Fields>& fields)
      : session_(session),
        document_(*session.documents().find(path)),
        readings_(std::move(readings)),
        fields_(fields) {}

  std::vector<Mention> run() {
    for (const stx::File* part : document_.text().parts)
      for (const stx::Decl& d : part->decls) add_unrecorded(d);
    size_t most = found_.size();
    for (const Reading& r : readings_)
      for (const Layer& layer : r.layers) most += 1 + layer.record().mentions.size();
    found_.reserve(most);
    const stx::File* part = nullptr;
    for (const Reading& r : readings_) {
      if (std::exchange(part, r.entry.part) != r.entry.part) first_of_part_ = found_.size();
      add_declared(r);
      for (const Layer& layer : r.layers) add_layer(layer);
    }
    const auto is_before = [](const Mention& a, const Mention& b) { return a.span.begin < b.span.begin; };
    if (!std::is_sorted(found_.begin(), found_.end(), is_before))
      std::sort(found_.begin(), found_.end(), is_before);
    return std::move(found_);
  }

 private:
  /// What is nearest to the text that stands there now wins.
  void add(Mention mention) {
    const Span span = mention.span;
    if (span.size() == 0) return;
    const auto first = found_.begin() + static_cast<long>(first_of_part_);
    auto next = found_.end();  // where most belong: they come in order
    if (next != first && std::prev(next)->span.end > span.begin)
      next = std::lower_bound(first, next, span.begin,
                              [](const Mention& m, uint32_t begin) { return m.span.begin < begin; });
    if (next != found_.end() && next->span.begin < span.end) return;
    if (next != first && std::prev(next)->span.end > span.begin) return;
    found_.insert(next, std::move(mention));
  }

  /// Names of imports and of meshes with their axes.
  void add_unrecorded(const stx::Decl& d) {
    const auto bind = [&](Kind kind, const stx::Name& name) {
      if (!name.span.valid()) return;
      const Span span = session_.sources().in_whole(name.span);
      add({span, {kind, nullptr, span}, true});
      (kind == Kind::module ? modules_ : axes_).emplace(name.text, span);
    };
    if (const auto* import = stx::as<stx::ImportDecl>(d)) {
      bind(Kind::module, d.name);
      // `import a.b as c`: the last name of the path is that of the module as well
      if (!import->path.empty() && d.name.span.valid() && import->path.back().span != d.name.span)
        add({session_.sources().in_whole(import->path.back().span),
             {Kind::module, nullptr, session_.sources().in_whole(d.name.span)},
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
    add({session_.sources().in_whole(d.name.span),
         {kind, std::make_shared<const core::DeclKey>(r.entry.key), {}},
         true});
  }

  void add_layer(const Layer& layer) {
    for (const Use& use : layer.record().mentions) {
      const auto span = layer.now(use.span);
      if (!span) continue;
      if (auto meaning = meaning_of(use, *span, layer)) {
        const bool binds = meaning->binding.valid() && (meaning->binding == *span || binds_field(use));
        const Span field = use.kind == Kind::field ? now(use.binding, layer).value_or(Span{}) : Span{};
        add({*span, std::move(*meaning), binds, field});
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
        if (const auto binding = now(use.binding, layer))
          return Meaning{use.kind, nullptr, fields_->first_of(*binding)};
        return std::nullopt;
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
    return Meaning{use.kind, nullptr, *binding};
  }

  std::optional<Meaning> named_in_file(Kind kind, Span span, const std::map<std::string, Span>& known) const {
    const auto found = known.find(std::string(session_.sources().text(span)));
    if (found == known.end()) return std::nullopt;
    return Meaning{kind, nullptr, found->second};
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
  std::optional<Fields>& fields_;
  std::map<std::string, Span> modules_, axes_;
  std::vector<Mention> found_;
  size_t first_of_part_ = 0;  ///< which is looked at
};

}  // namespace

bool operator==(const Meaning& a, const Meaning& b) {
  if (a.kind != b.kind || a.binding != b.binding || !a.declared != !b.declared) return false;
  if (a.declared == b.declared || *a.declared == *b.declared) return true;
  return a.declared->space == b.declared->space && a.declared->name == b.declared->name &&
         core::file_of_module(a.declared->module) == core::file_of_module(b.declared->module);
}

bool is_seen_outside(Kind kind) {
  return kind == Kind::value || kind == Kind::type || kind == Kind::layout || kind == Kind::module ||
         kind == Kind::mesh || kind == Kind::field;
}

std::vector<Mention> mentions(const Session& session, const std::string& path) {
  if (!session.documents().find(path)) return {};
  std::optional<Fields> fields;
  return Collector(session, path, readings(session, path), fields).run();
}

std::vector<Mention> mentions_in(const Session& session, const std::string& path, uint32_t begin,
                                 uint32_t end) {
  if (!session.documents().find(path)) return {};
  std::optional<Fields> fields;
  return Collector(session, path, readings_in(session, path, begin, end), fields).run();
}

std::optional<Mention> mention_at(const Session& session, const std::string& path, uint32_t offset) {
  if (!session.documents().find(path)) return std::nullopt;
  std::optional<Mention> out;
  std::optional<Fields> fields;
  for (Mention& m : Collector(session, path, readings_at(session, path, offset), fields).run())
    if (m.span.begin <= offset && offset <= m.span.end && (!out || out->span.end == offset))
      out = std::move(m);
  return out;
}

std::vector<Mention> mentions_of(const Session& session, const Meaning& meaning,
                                 const std::vector<std::string>& paths) {
  std::vector<Mention> out;
  std::optional<Fields> fields;
  for (const std::string& path : paths)
    for (Mention& m : Collector(session, path, readings(session, path), fields).run())
      if (m.meaning == meaning) out.push_back(std::move(m));
  return out;
}

std::vector<Mention> mentions_beside(const Session& session, const std::string& path, uint32_t offset,
                                     const Meaning& meaning) {
  std::vector<Reading> readings;
  for (const Reading& here : readings_at(session, path, offset))
    for (session::Entry& entry : session.declarations(path))
      if (entry.key == here.entry.key) readings.push_back(reading_of(session, std::move(entry)));
  std::optional<Fields> fields;
  std::vector<Mention> out = Collector(session, path, std::move(readings), fields).run();
  std::erase_if(out, [&](const Mention& m) { return m.meaning != meaning; });
  return out;
}

std::vector<Mention> mentions_of(const Session& session, const Meaning& meaning) {
  return mentions_of(session, meaning, session.documents().paths());
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
  // where no type declares the field, it is where it is read first
  std::optional<Span> first;
  for (const Mention& m : mentions(session, session.sources()[meaning.binding.file].name())) {
    if (m.meaning != meaning) continue;
    if (m.binds) return m.span;
    if (!first) first = m.span;
  }
  return first;
}

/// Whether the place is in the declaration of a type.
static bool is_in_type(const Session& session, Span place) {
  const session::Document* const document = place.valid() ? session.documents().find(place.file) : nullptr;
  if (!document) return false;
  for (const stx::File* part : document->text().parts)
    for (const stx::Decl& d : part->decls)
      if (const Span whole = session.sources().in_whole(d.span);
          stx::as<stx::TypeDecl>(d) && whole.begin <= place.begin && place.end <= whole.end)
        return true;
  return false;
}

/// The file, and what it imports.
static std::vector<std::string> files_seen_by(const Session& session, const std::string& path) {
  std::vector<std::string> out{path};
  for (size_t i = 0; i < out.size(); ++i)
    for (const Import& import : imports(session, std::string(out[i])))
      if (session.documents().find(import.file) &&
          std::find(out.begin(), out.end(), import.file) == out.end())
        out.push_back(import.file);
  return out;
}

std::optional<Span> definition(const Session& session, const Mention& mention) {
  if (mention.meaning.kind != Kind::field) return definition(session, mention.meaning);
  const std::string name(session.sources().text(mention.span));
  const auto name_at = [&](Span place) {
    place.end = place.begin + static_cast<uint32_t>(name.size());
    return place;
  };
  if (is_in_type(session, mention.field)) return name_at(mention.field);
  const std::vector<Span> same = Fields(session).all_of(mention.meaning.binding);
  std::optional<Span> bound;  // where no type declares it
  for (const std::string& path : files_seen_by(session, session.sources()[mention.span.file].name())) {
    const source::FileId file = session.documents().find(path)->text().source;
    for (const Span place : same)
      if (place.file == file && is_in_type(session, place)) return name_at(place);
    if (!has_word(session.sources()[file].text(), name)) continue;
    for (const Mention& m : mentions(session, path)) {
      if (m.meaning != mention.meaning || !m.binds) continue;
      if (is_in_type(session, m.span)) return m.span;
      if (!bound) bound = m.span;
    }
  }
  return bound ? bound : definition(session, mention.meaning);
}

}  // namespace axon::query
