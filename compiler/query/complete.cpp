// See complete.h.
#include "query/complete.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/elem.h"
#include "core/modules.h"
#include "query/context_counts.h"
#include "query/mentions.h"
#include "query/typed.h"
#include "source/files.h"

namespace axon::query {

namespace stx = axon::syntax;
using Place = Cursor::Place;
using session::Session;
using source::Span;

namespace {

constexpr size_t most = 200;  // that are offered

/// How well a name matches what was typed of it: more for a prefix; below 0 where it does not.
double match(const std::string& name, const std::string& typed) {
  if (typed.empty()) return 0;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (name.starts_with(typed)) return 3;
  size_t at = 0, first = std::string::npos;
  for (size_t i = 0; i < name.size() && at < typed.size(); ++i)
    if (lower(name[i]) == lower(typed[at])) {
      if (at++ == 0) first = i;
    }
  if (at < typed.size()) return -1;
  return first == 0 ? 1 : 0;
}

class Completing {
 public:
  Completing(const Session& session, const std::string& path, uint32_t offset)
      : session_(session),
        path_(path),
        text_(session.sources()[session.documents().find(path)->text().source].text()),
        cursor_(cursor_at(text_, std::min<uint32_t>(offset, static_cast<uint32_t>(text_.size())))),
        counts_(session),
        identity_(source::file_identity(path)) {
    out_.begin = cursor_.begin;
    out_.end = cursor_.end;
  }

  Completions run() {
    switch (cursor_.place) {
      case Place::nothing:
        return out_;
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
      case Place::field:
        fields_in_use();
        break;
      case Place::axis:
        axes();
        break;
      case Place::import_name:
        modules_on_disk();
        break;
      case Place::declaration:
        words({"fun", "entry", "val", "type", "import", "private", "test", "layout", "mesh"});
        break;
    }
    rank();
    return std::move(out_);
  }

 private:
  using Kind = Completion::Kind;

  void add(Kind kind, const std::string& name, double bonus, std::string type = {}) {
    const double matched = match(name, cursor_.prefix);
    if (matched < 0 || name == cursor_.prefix || !seen_.insert(name).second) return;
    out_.items.push_back({kind, name, std::move(type), std::nullopt, 4 * matched + bonus});
  }

  void words(std::initializer_list<const char*> all) {
    for (const char* word : all) add(Kind::keyword, word, -4);
  }

  // ---- Expressions

  void expression() {
    locals();
    own_declarations();
    for (const core::DeclKey& key : session_.prelude()) declared(key, 0);
    imports();
    words({"let", "in", "if", "then", "else", "for", "fn", "with", "true", "false"});
  }

  /// The innermost first: what is bound last is nearest.
  void locals() {
    const std::vector<Reading> here = readings_at(session_, path_, cursor_.begin);
    size_t depth = 0;
    for (auto name = cursor_.names.rbegin(); name != cursor_.names.rend(); ++name, ++depth) {
      const double near =
          2.5 - 0.05 * static_cast<double>(depth) + (name->used ? 0 : 1.5) - (name->size ? 1.5 : 0);
      add(name->size ? Kind::size : Kind::local, name->name, near, type_of_local(here, *name));
    }
  }

  static std::string type_of_local(const std::vector<Reading>& here, const BoundName& name) {
    if (name.size) return "i64";
    for (const Reading& r : here)
      for (const Layer& layer : r.layers) {
        const auto begin = layer.then(name.at);
        if (!begin || !layer.record().checked) continue;
        Typed typed(layer.record());
        const Span at{layer.part(), *begin, *begin + static_cast<uint32_t>(name.name.size())};
        const core::LocalId id = typed.bound_at(at);
        if (!id.valid()) continue;
        const core::Local& l = typed.program().locals[id];
        if (l.kind == core::Local::Kind::index) return "i64";
        if (l.kind == core::Local::Kind::value && typed.is_known(l.type)) return typed.type(l.type);
      }
    return "";
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

  void declared(const core::DeclKey& key, double bonus) {
    const auto found = session_.records().find(key);
    std::string type;
    bool function = true;
    for (const session::Record* r = found == session_.records().end() ? nullptr : &found->second;
         r && type.empty(); r = r->last_good.get())
      if (r->checked) {
        Typed typed(*r);
        type = typed.declared();
        function = type.find("->") != std::string::npos;
      }
    const size_t before = out_.items.size();
    add(function ? Kind::function : Kind::value, key.name, bonus, std::move(type));
    if (out_.items.size() > before) out_.items.back().declared = key;
  }

  void imports() {
    for (const stx::File* part : session_.documents().find(path_)->text().parts)
      for (const stx::Decl& d : part->decls)
        if (stx::as<stx::ImportDecl>(d)) add(Kind::module, d.name.text, 0.5);
  }

  // ---- Behind a point

  void member() {
    uint32_t begin = cursor_.operand;
    const auto letter = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); };
    while (begin > 0 && letter(text_[begin - 1])) --begin;
    const std::string name(text_.substr(begin, cursor_.operand - begin));
    const std::string file = session_.imported(path_, name);
    const bool is_local = std::any_of(cursor_.names.begin(), cursor_.names.end(),
                                      [&](const BoundName& b) { return b.name == name && !b.size; });
    if (!file.empty() && !is_local) {
      for (const session::Entry& e : session_.declarations(file))
        if (!e.decl->is_private && !stx::as<stx::TestDecl>(*e.decl)) declared(e.key, 0);
      return;
    }
    local_fields(name);
    record_fields(begin);
    fields_in_use();
  }

  /// The fields of a name that is bound here.
  void local_fields(const std::string& name) {
    const auto bound = std::find_if(cursor_.names.rbegin(), cursor_.names.rend(),
                                    [&](const BoundName& b) { return b.name == name && !b.size; });
    if (bound == cursor_.names.rend()) return;
    for (const Reading& r : readings_at(session_, path_, cursor_.begin))
      for (const Layer& layer : r.layers) {
        const auto begin = layer.then(bound->at);
        if (!begin || !layer.record().checked) continue;
        Typed typed(layer.record());
        const Span at{layer.part(), *begin, *begin + static_cast<uint32_t>(name.size())};
        const core::LocalId id = typed.bound_at(at);
        if (id.valid() && typed.program().locals[id].type.valid())
          add_fields(typed, typed.program().locals[id].type);
      }
  }

  /// The fields of the record that ends before the point, as it was typed last.
  void record_fields(uint32_t begin) {
    for (const Reading& r : readings_at(session_, path_, begin))
      for (const Layer& layer : r.layers) {
        const auto from = layer.then(begin), to = layer.then(cursor_.operand);
        if (!from || !to || !layer.record().checked) continue;
        Typed typed(layer.record());
        core::ExprId best = typed.innermost({layer.part(), *to > *from ? *to - 1 : *from, *to});
        if (best.valid()) add_fields(typed, typed.program().exprs[best].type);
      }
  }
  void add_fields(Typed& typed, core::TypeId id) {
    const core::Type& t = typed.program().types.types[id];
    if (t.kind == core::Type::Kind::stack) return add_fields(typed, t.items[0]);
    for (size_t i = 0; i < t.fields.size(); ++i)
      add(Kind::field, t.fields[i], 8 - 0.5 * static_cast<double>(i), typed.type(t.items[i]));
  }

  /// Names that are fields somewhere in the file and in what it imports.
  void fields_in_use() {
    for (const session::Entry& e : session_.declarations(path_)) {
      if (!e.record) continue;
      for (const session::Record* r = e.record; r; r = r->last_good.get()) {
        if (!r->checked) continue;
        const core::Program& p = r->checked->program;
        for (const core::Type& t : p.types.types)
          for (const std::string& field : t.fields) add(Kind::field, field, 1);
      }
    }
  }

  // ---- Types

  void types() {
    for (const session::Entry& e : session_.declarations(path_))
      if (e.key.space == core::DeclKey::Space::types) add(Kind::type, e.key.name, 2);
    for (const char* name :
         {"f32", "i64", "bool", "f16", "bf16", "f64", "i32", "i16", "i8", "u8", "f8e4m3", "f8e5m2"})
      add(Kind::type, name, 0);
    add(Kind::type, "Stack", 0);
    imports();
    words({"weights", "where"});
  }

  void sizes() {
    size_t depth = 0;
    for (auto name = cursor_.names.rbegin(); name != cursor_.names.rend(); ++name, ++depth)
      add(Kind::size, name->name,
          (name->size ? 2.0 : 0.5) + (name->used ? 0 : 0.5) - 0.05 * static_cast<double>(depth));
    for (const char* name : {"min", "max", "cdiv"}) add(Kind::function, name, -2);
    if (cursor_.names.empty())
      for (const char* name : {"n", "m", "d", "k"}) add(Kind::size, name, 0);
  }

  void elements() {
    for (const auto& word : {"t", "u", "i"}) add(Kind::type, word, 0);
    for (const auto& word : {"num", "float", "int"}) add(Kind::keyword, word, -1);
  }

  void axes() {
    for (const std::string& axis : cursor_.axes) add(Kind::axis, axis, 2);
    for (const BoundName& name : cursor_.names)
      if (name.size) add(Kind::size, name.name, 1);
  }

  // ---- Modules

  void modules_on_disk() {
    namespace fs = std::filesystem;
    std::vector<std::string> directories = session_.documents().library();
    const std::string beside = fs::path(path_).parent_path();
    directories.push_back(beside.empty() ? "." : beside);
    std::set<std::string> names;
    for (const std::string& directory : directories) {
      std::error_code ignored;
      for (const auto& entry : fs::directory_iterator(directory, ignored))
        if (entry.path().extension() == ".axn" && source::file_identity(entry.path()) != identity_)
          names.insert(entry.path().stem());
    }
    names.erase("prim");
    names.erase("prelude");
    for (const std::string& name : names) add(Kind::module, name, 0);
  }

  void rank() {
    for (Completion& c : out_.items) {
      c.score += counts_.weight(
          c.name, {cursor_.before_that, cursor_.before, cursor_.after, cursor_.after_that}, identity_);
      c.score -= 0.01 * static_cast<double>(c.name.size());
    }
    std::stable_sort(out_.items.begin(), out_.items.end(), [](const Completion& a, const Completion& b) {
      return a.score != b.score ? a.score > b.score : a.name < b.name;
    });
    if (out_.items.size() > most) out_.items.resize(most);
  }

  const Session& session_;
  const std::string& path_;
  const std::string_view text_;
  const Cursor cursor_;
  const ContextCounts counts_;
  const std::string identity_;
  Completions out_;
  std::set<std::string> seen_;
};

}  // namespace

Completions complete(const Session& session, const std::string& path, uint32_t offset) {
  if (!session.documents().find(path)) return {};
  return Completing(session, path, offset).run();
}

}  // namespace axon::query
