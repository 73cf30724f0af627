// See complete.h. First what is bound, declared or known of a record is collected, then each is tried in the
// hole, the likeliest first, so that a limit of the work leaves out those that hardly anybody means.
#include "query/complete.h"

#include <algorithm>
#include <set>

#include "base/elem.h"
#include "core/modules.h"
#include "query/hole_text.h"
#include "query/modules_on_disk.h"
#include "query/reading.h"
#include "query/tokens.h"
#include "query/typed.h"
#include "session/hole.h"
#include "source/files.h"

namespace axon::query {

namespace stx = axon::syntax;
using Place = Cursor::Place;
using session::Hole;
using session::Session;
using source::Span;

namespace {

constexpr size_t most = 100;               // that are shown
constexpr size_t most_tried = 200;         // in the hole
constexpr size_t most_that_fit = 50;       // until no more are tried, which come behind these
constexpr size_t most_types = 30;          // that are shown at once; of the others on demand
constexpr double does_not_fit = -100;      // below all that do, and whose names match as well
constexpr double fits_as_it_is = 3;        // and need not be called
constexpr double begins_declaration = 20;  // above all that goes on with the one before
constexpr double of_each_letter = 200;     // a name that matches better is meant, whether it fits or not

/// How well a name matches what was typed of it: 2 for a prefix, below 0 where it does not.
int match(const std::string& name, const std::string& typed) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (name.starts_with(typed)) return 2;
  size_t at = 0, first = std::string::npos;
  for (size_t i = 0; i < name.size() && at < typed.size(); ++i)
    if (lower(name[i]) == lower(typed[at])) {
      if (at++ == 0) first = i;
    }
  if (at < typed.size()) return -1;
  return first == 0 ? 1 : 0;
}

/// What was found out of a declaration when it was read without errors, or else last.
const session::Record* record_of(const Session& session, const core::DeclKey& key) {
  const auto found = session.records().find(key);
  if (found == session.records().end()) return nullptr;
  const session::Record& now = found->second;
  return now.good || !now.last_good ? &now : now.last_good.get();
}

class Completing {
 public:
  Completing(const Session& session, const std::string& path, uint32_t offset, ContextCounts& counts)
      : session_(session),
        path_(path),
        text_(session.sources()[session.documents().find(path)->text().source].text()),
        cursor_(cursor_at(text_, std::min<uint32_t>(offset, static_cast<uint32_t>(text_.size())))),
        counts_(counts),
        identity_(session.documents().identity(path)) {
    out_.begin = cursor_.begin;
    out_.end = cursor_.end;
  }

  Completions run() {
    counts_.update(session_);
    look_into_hole();
    if (!collected_) collect();
    rank();
    for (size_t i = 0; i < out_.items.size(); ++i) {
      Completion& c = out_.items[i];
      if (!c.declared) continue;
      if (c.kind == Kind::function && !is_function(session_, *c.declared)) c.kind = Kind::value;
      if (i < most_types) c.type = type_of_declared(session_, *c.declared);
    }
    return std::move(out_);
  }

 private:
  using Kind = Completion::Kind;

  /// Something to offer, and how it is tried in the hole.
  struct Candidate {
    Completion item;
    std::optional<core::LocalId> local;
    std::optional<core::TypeId> value;
    bool integer = false;
  };

  void collect() {
    candidates_.clear();
    seen_.clear();
    switch (cursor_.place) {
      case Place::nothing:
        break;
      case Place::expression:
        expression();
        break;
      case Place::member:
        member();
        break;
      case Place::type:
        types();
        break;
      case Place::size:
        sizes();
        break;
      case Place::element:
        elements();
        break;
      case Place::element_class:
        for (const char* word : {"num", "float", "int"}) add(Kind::keyword, word, 0);
        break;
      case Place::layout:
        layouts();
        break;
      case Place::mesh_axis:
        mesh_axes();
        break;
      case Place::field:
        fields();
        break;
      case Place::axis:
        axes();
        break;
      case Place::import_name:
        modules(cursor_.directory, true);
        break;
      case Place::import_file:
        modules(cursor_.directory, false);
        break;
      case Place::import_alias:
        words({"as"});
        break;
      case Place::declaration:
        declarations(0);
        break;
    }
    if (cursor_.where_may_follow) words({"where"});
    if (cursor_.at_line_begin) declarations(cursor_.is_complete_before ? begins_declaration : -4);
    for (Candidate& c : candidates_) c.item.score += usual(c.item.name);
    collected_ = true;
  }

  /// Null where it does not match what was typed, or is there already.
  Candidate* add(Kind kind, const std::string& name, double bonus) {
    const int matched = match(name, cursor_.prefix);
    if (matched < 0 || !seen_.insert(name).second) return nullptr;
    Candidate one;
    one.item.kind = kind;
    one.item.name = name;
    one.item.score = of_each_letter * matched + bonus;
    candidates_.push_back(std::move(one));
    return &candidates_.back();
  }

  void words(std::initializer_list<const char*> all) {
    for (const char* word : all) add(Kind::keyword, word, -4);
  }
  void declarations(double bonus) {
    for (const char* word : {"fun", "entry", "val", "type", "import", "private", "test", "layout", "mesh"})
      add(Kind::keyword, word, bonus);
  }

  // ---- The hole

  /// Where the text is replaced by one name for the inference around it: the word, with the module before it,
  /// or the record whose fields are written.
  std::pair<uint32_t, uint32_t> hole() {
    if (cursor_.place == Place::member && !module_before_point().empty())
      return {operand_begin(), cursor_.end};
    return cursor_.record.value_or(std::pair(cursor_.begin, cursor_.end));
  }

  void look_into_hole() {
    const bool in_expression = cursor_.place == Place::expression || cursor_.place == Place::field ||
                               (cursor_.place == Place::member && !cursor_.in_type);
    if (!in_expression) return;
    const auto [begin, end] = hole();
    const uint32_t start = cursor_.part_begin;
    const auto& parts = session_.documents().find(path_)->text().parts;
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const stx::File* one) {
      return session_.sources()[one->source].piece().begin == start;
    });
    if (part == parts.end()) return;
    const std::string_view text = text_.substr(start, cursor_.part_end - start);
    for (std::string& one : texts_with_hole(text, begin - start, end - start)) {
      const auto size = static_cast<uint32_t>(name_of_hole.size());
      bool read = false;
      session::with_hole(session_, path_, (*part)->source, std::move(one), begin - start, size,
                         [&](Hole& hole) {
                           if (hole.kind() == Hole::Kind::none) return;
                           read = true;
                           hole_ = &hole;
                           collect();
                           try_all();
                         });
      hole_ = nullptr;
      if (read) return;
    }
  }

  void try_all() {
    if ((*hole_)[hole_->wanted()].kind == core::Type::Kind::var) return;  // anything fits
    std::vector<Candidate*> order;
    for (Candidate& c : candidates_) order.push_back(&c);
    std::stable_sort(order.begin(), order.end(),
                     [](const Candidate* a, const Candidate* b) { return a->item.score > b->item.score; });
    if (order.size() > most_tried) order.resize(most_tried);
    size_t fitting = 0;
    for (auto one = order.begin(); one != order.end() && fitting < most_that_fit; ++one) {
      const Hole::Fit fit = try_one(**one);
      const bool doubted = (*one)->local && is_wanted_by_default();
      if (fit == Hole::Fit::no && !doubted) (*one)->item.score += does_not_fit;
      if (fit == Hole::Fit::whole) (*one)->item.score += fits_as_it_is;
      fitting += fit == Hole::Fit::whole || fit == Hole::Fit::called;
    }
  }
  /// What is wanted may be what inference takes where nothing is known: as many axes as are indexed, and of a
  /// local definition any type that its parameters may have. What stands there decides that.
  bool is_wanted_by_default() const { return cursor_.in_definition || cursor_.after == "["; }
  Hole::Fit try_one(const Candidate& c) {
    if (c.integer) return hole_->fit_integer();
    if (c.local) return hole_->fit(*c.local);
    if (c.value) return hole_->fit(*c.value);
    return c.item.declared ? hole_->fit(*c.item.declared) : Hole::Fit::open;
  }

  // ---- Expressions

  void expression() {
    locals();
    own_declarations();
    for (const core::DeclKey& key : session_.prelude()) declared(key, 0);
    element_types(Kind::function, -1);
    imports(0.5);
    words({"let", "in", "if", "then", "else", "for", "fn", "with", "true", "false"});
    modules_to_import();
  }

  /// The innermost first: what is bound last is nearest.
  void locals() {
    size_t depth = 0;
    for (auto name = cursor_.names.rbegin(); name != cursor_.names.rend(); ++name, ++depth) {
      const double near =
          2.5 - 0.05 * static_cast<double>(depth) + (name->used ? 0 : 1.5) - (name->size ? 1.5 : 0);
      Candidate* const one = add(name->size ? Kind::size : Kind::local, name->name, near);
      if (!one) continue;
      one->integer = name->size;
      if (!name->size && hole_) one->local = hole_->local(name->at - cursor_.part_begin, name->name.size());
      one->item.type = name->size ? "i64" : one->local ? hole_->print(hole_->type_of(*one->local)) : "";
      if (one->item.type.empty()) one->item.type = type_read_last(*name);
    }
  }

  std::string type_read_last(const BoundName& name) const {
    std::string out;
    each_reading(name, [&](Typed& typed, core::LocalId id) {
      const core::Local& l = typed.program().locals[id];
      if (out.empty() && l.kind == core::Local::Kind::index) out = "i64";
      if (out.empty() && l.kind == core::Local::Kind::value && typed.is_known(l.type))
        out = typed.type(l.type);
    });
    return out;
  }

  /// What the name was when its declaration was read last, and last without errors.
  void each_reading(const BoundName& name, const std::function<void(Typed&, core::LocalId)>& look) const {
    for (const Reading& r : readings_at(session_, path_, cursor_.begin))
      for (const Layer& layer : r.layers) {
        const auto begin = layer.then(name.at);
        if (!begin || !layer.record().checked) continue;
        Typed typed(layer.record());
        const Span at{layer.part(), *begin, *begin + static_cast<uint32_t>(name.name.size())};
        if (const core::LocalId id = typed.bound_at(at); id.valid()) look(typed, id);
      }
  }

  void own_declarations() {
    for (const session::Entry& e : session_.declarations(path_))
      if (e.key.space == core::DeclKey::Space::values && !stx::as<stx::TestDecl>(*e.decl) && !is_here(e))
        declared(e.key, 1);
  }
  /// A declaration does not use itself.
  bool is_here(const session::Entry& e) const {
    const Span whole = session_.sources()[e.part->source].piece();
    return whole.begin <= cursor_.begin && cursor_.begin < whole.end;
  }

  Candidate* declared(const core::DeclKey& key, double bonus) {
    const bool is_type = key.space == core::DeclKey::Space::types;
    Candidate* const one = add(is_type ? Kind::type : Kind::function, key.name, bonus);
    if (one) one->item.declared = key;
    return one;
  }

  // ---- Modules

  void imports(double bonus) {
    for (const stx::File* part : session_.documents().find(path_)->text().parts)
      for (const stx::Decl& d : part->decls)
        if (stx::as<stx::ImportDecl>(d)) add(Kind::module, d.name.text, bonus);
  }

  /// Those of the library that the file does not import, with the import.
  void modules_to_import() {
    for (const std::string& name : library_modules(session_))
      if (Candidate* const one = add(Kind::module, name, -6)) one->item.import = import_of(name);
  }

  /// Behind the last import, or before the first declaration and its comments.
  ImportEdit import_of(const std::string& module) const {
    const std::string end = text_.find("\r\n") == text_.npos ? "\n" : "\r\n";
    std::optional<uint32_t> behind, before;
    for (const stx::File* part : session_.documents().find(path_)->text().parts)
      for (const stx::Decl& d : part->decls) {
        const Span at = session_.sources().in_whole(d.span);
        if (stx::as<stx::ImportDecl>(d)) behind = at.end;
        if (!before) before = at.begin;
      }
    if (behind) return {*behind, end + "import " + module};
    uint32_t at = before.value_or(0);
    for (;;) {  // lines of comments
      at = at == 0 ? 0 : static_cast<uint32_t>(text_.rfind('\n', at - 1) + 1);
      const size_t line = at < 2 ? 0 : text_.rfind('\n', at - 2) + 1;
      if (at == 0 || !text_.substr(line).starts_with("--")) break;
      at = static_cast<uint32_t>(line);
    }
    return {at, "import " + module + end + end};
  }

  void modules(const std::string& below, bool library) {
    for (const OnDisk& one : on_disk(session_, path_, below, library))
      add(Kind::module, one.directory && !library ? one.name + "/" : one.name, one.directory ? -1 : 0);
  }

  // ---- Behind a point

  uint32_t operand_begin() const {
    uint32_t begin = cursor_.operand;
    while (begin > 0 && is_letter(text_[begin - 1])) --begin;
    return begin;
  }
  std::string operand() const {
    const uint32_t begin = operand_begin();
    return std::string(text_.substr(begin, cursor_.operand - begin));
  }
  const BoundName* bound(const std::string& name) const { return bound_in(cursor_.names, name); }
  /// The module whose names may follow: an import, or one of the library; empty where there is none.
  const std::string& module_before_point() {
    if (module_) return *module_;
    const std::string name = operand();
    module_ = name.empty() || bound(name) ? "" : session_.imported(path_, name);
    if (module_->empty() && !bound(name)) module_ = library_module(session_, name).file;
    return *module_;
  }

  void member() {
    if (const std::string file = module_before_point(); !file.empty()) return module_members(file);
    if (cursor_.in_type) return;
    const bool closed = hole_ && fields_of(hole_->record());
    if (closed) return;
    if (const BoundName* const name = bound(operand()))
      each_reading(
          *name, [&](Typed& typed, core::LocalId id) { add_fields(typed, typed.program().locals[id].type); });
    fields_read_last();
    fields_in_use();
  }

  void module_members(const std::string& file) {
    const auto space = cursor_.in_type ? core::DeclKey::Space::types : core::DeclKey::Space::values;
    if (!session_.imported(path_, operand()).empty()) {
      for (const session::Entry& e : session_.declarations(file))
        if (e.key.space == space && !e.decl->is_private && !stx::as<stx::TestDecl>(*e.decl))
          declared(e.key, 0);
      return;
    }
    for (const core::DeclKey& key : library_module(session_, operand()).keys) {
      if (key.space != space) continue;
      if (Candidate* const one = declared(key, 0)) one->item.import = import_of(operand());
    }
  }

  /// A field is likelier where the declaration does not read it of the same value yet.
  double field_bonus(const std::string& field, size_t number) const {
    const std::string_view part = text_.substr(cursor_.part_begin, cursor_.part_end - cursor_.part_begin);
    const std::string read = operand() + "." + field;
    for (size_t at = part.find(read); at != part.npos; at = part.find(read, at + 1)) {
      const size_t end = at + read.size();
      const bool whole =
          (at == 0 || !is_letter(part[at - 1])) && (end == part.size() || !is_letter(part[end]));
      if (whole && cursor_.part_begin + end != cursor_.end) return 4;
    }
    return 20 - 0.2 * static_cast<double>(std::min<size_t>(number, 10));
  }
  /// Those of a type that the hole shows; whether there are no others.
  bool fields_of(core::TypeId type) {
    if (!type.valid()) return false;
    const core::Type record = (*hole_)[type];
    if (record.kind == core::Type::Kind::stack) return fields_of(record.items[0]);
    if (record.kind != core::Type::Kind::record) return false;
    for (size_t i = 0; i < record.fields.size(); ++i) {
      const std::string& field = record.fields[i];
      if (std::find(cursor_.fields.begin(), cursor_.fields.end(), field) != cursor_.fields.end()) continue;
      Candidate* const one = add(Kind::field, field, field_bonus(field, i));
      if (!one) continue;
      one->item.type = hole_->print(record.items[i]);
      if (hole_->kind() != Hole::Kind::value) one->value = record.items[i];
    }
    return !record.row.valid();
  }
  /// The fields of the record that ends before the point, as it was typed last.
  void fields_read_last() {
    for (const Reading& r : readings_at(session_, path_, operand_begin()))
      for (const Layer& layer : r.layers) {
        const auto from = layer.then(operand_begin()), to = layer.then(cursor_.operand);
        if (!from || !to || !layer.record().checked) continue;
        Typed typed(layer.record());
        const core::ExprId best = typed.innermost({layer.part(), *to > *from ? *to - 1 : *from, *to});
        if (best.valid()) add_fields(typed, typed.program().exprs[best].type);
      }
  }
  void add_fields(Typed& typed, core::TypeId id) {
    if (!id.valid()) return;
    const core::Type& t = typed.program().types.types[id];
    if (t.kind == core::Type::Kind::stack) return add_fields(typed, t.items[0]);
    for (size_t i = 0; i < t.fields.size(); ++i) {
      if (t.fields[i] == cursor_.prefix) continue;  // it may be known from here alone
      if (Candidate* const one = add(Kind::field, t.fields[i], field_bonus(t.fields[i], i)))
        one->item.type = typed.type(t.items[i]);
    }
  }

  /// Of a record that is written, or behind `with`.
  void fields() {
    const bool closed = hole_ && fields_of(cursor_.record ? hole_->wanted() : hole_->record());
    if (!closed) fields_in_use();
  }

  /// Names that are fields somewhere in the file.
  void fields_in_use() {
    for (const session::Entry& e : session_.declarations(path_)) {
      const session::Record* const record = e.record;
      if (!record || !record->checked) continue;
      for (const core::Type& t : record->checked->program.types.types)
        for (const std::string& field : t.fields)
          if (field != cursor_.prefix) add(Kind::field, field, 1);
    }
  }

  // ---- Types

  /// Each is also the function that converts to it.
  void element_types(Kind kind, double bonus) {
    for (const base::Elem e : base::all_elems) add(kind, std::string(base::elem_name(e)), bonus);
  }

  void types() {
    for (const session::Entry& e : session_.declarations(path_))
      if (e.key.space == core::DeclKey::Space::types) declared(e.key, 2);
    element_types(Kind::type, 0);
    add(Kind::type, "Stack", 0);
    imports(-1);
    words({"weights", "where"});
    modules_to_import();
  }

  /// What may be an integer.
  bool can_be_size(const BoundName& name) const {
    if (name.size || name.annotation == BoundName::Annotation::integer) return true;
    if (name.annotation == BoundName::Annotation::other) return false;
    const std::string type = type_read_last(name);
    const bool open = type.empty() || (type[0] == '\'' && type.find('[') == type.npos);
    return open || is_integer(type);
  }
  void sizes() {
    size_t depth = 0;
    bool any = false;
    for (auto name = cursor_.names.rbegin(); name != cursor_.names.rend(); ++name, ++depth) {
      if (!can_be_size(*name)) continue;
      any = true;
      add(Kind::size, name->name,
          (name->size ? 2.0 : 0.5) + (name->used ? 0 : 0.5) - 0.05 * static_cast<double>(depth));
    }
    for (const char* name : {"min", "max", "cdiv"}) add(Kind::function, name, -2);
    if (!any)
      for (const char* name : {"n", "m", "d", "k"}) add(Kind::size, name, 0);
  }

  void elements() {
    for (const std::string& name : cursor_.elements) add(Kind::type, name, 20);
    for (const char* name : {"t", "u", "i"}) add(Kind::type, name, 0);
  }

  void layouts() {
    for (const session::Entry& e : session_.declarations(path_))
      if (e.key.space == core::DeclKey::Space::layouts && !is_here(e)) add(Kind::value, e.key.name, 1);
    for (const char* name : {"S", "R"}) add(Kind::keyword, name, 0);
    for (const BoundName& name : cursor_.names)
      if (name.size) add(Kind::size, name.name, 0);
  }

  void mesh_axes() {
    for (const stx::File* part : session_.documents().find(path_)->text().parts)
      for (const stx::Decl& d : part->decls)
        if (const auto* mesh = stx::as<stx::MeshDecl>(d))
          for (const stx::FieldValue& axis : mesh->fields) add(Kind::axis, axis.name.text, 0);
  }

  void axes() {
    for (const std::string& axis : cursor_.axes) add(Kind::axis, axis, 2);
    for (const BoundName& name : cursor_.names)
      if (name.size) add(Kind::size, name.name, 1);
  }

  // ---- Order

  double usual(const std::string& name) const {
    return counts_.weight(name, {cursor_.before_that, cursor_.before, cursor_.after, cursor_.after_that},
                          identity_) -
           0.01 * static_cast<double>(name.size());
  }

  void rank() {
    for (Candidate& c : candidates_) out_.items.push_back(std::move(c.item));
    std::stable_sort(out_.items.begin(), out_.items.end(), [](const Completion& a, const Completion& b) {
      return a.score != b.score ? a.score > b.score : a.name < b.name;
    });
    out_.all = out_.items.size() <= most;
    if (out_.all) return;
    const auto cut = std::stable_partition(
        out_.items.begin() + most, out_.items.end(),
        [](const Completion& c) { return c.kind == Kind::local || c.kind == Kind::size; });
    out_.items.erase(cut, out_.items.end());  // never what is bound around the place
  }

  const Session& session_;
  const std::string& path_;
  const std::string_view text_;
  const Cursor cursor_;
  ContextCounts& counts_;
  const std::string identity_;
  Hole* hole_ = nullptr;               ///< while it is looked at
  std::optional<std::string> module_;  ///< module_before_point()
  std::vector<Candidate> candidates_;
  std::set<std::string> seen_;
  bool collected_ = false;
  Completions out_;
};

}  // namespace

std::string type_of_declared(const Session& session, const core::DeclKey& key) {
  const session::Record* const record = record_of(session, key);
  return record && record->checked ? Typed(*record).declared() : "";
}

Completions complete(const Session& session, const std::string& path, uint32_t offset,
                     ContextCounts& counts) {
  if (!session.documents().find(path)) return {};
  return Completing(session, path, offset, counts).run();
}

}  // namespace axon::query
