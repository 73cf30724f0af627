// See signature.h.
#include "query/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/elem.h"
#include "query/application.h"
#include "query/cursor.h"
#include "query/declared_types.h"
#include "query/hover.h"
#include "query/reading.h"
#include "query/typed.h"

namespace axon::query {

namespace stx = axon::syntax;
using core::DeclKey;
using core::ExprId;
using core::LocalId;
using core::Type;
using core::TypeId;
using session::Entry;
using session::Session;
using source::Span;

namespace {

/// Whether brackets hold one thing: `(k : i64)` and `('t -> 't)`, and not `(f32, f32)`.
bool is_in_brackets(std::string_view type) {
  if (!type.starts_with("(") || type == "()") return false;
  int depth = 0;
  for (size_t i = 0; i < type.size(); ++i) {
    if (type[i] == '(' || type[i] == '[' || type[i] == '{') ++depth;
    if (type[i] == ')' || type[i] == ']' || type[i] == '}') --depth;
    if (depth == 1 && type[i] == ',') return false;
    if (depth == 0 && i + 1 < type.size()) return false;
  }
  return true;
}

/// `x : f32[n]`; an integer that the type names keeps that name.
std::string parameter_text(const std::string& name, std::string_view type) {
  if (name == "()") return name;
  if (is_in_brackets(type)) type = type.substr(1, type.size() - 2);
  const size_t colon = type.find(" : ");
  const bool named = colon != type.npos && type.substr(0, colon).find_first_of(" ([{") == type.npos;
  return named ? std::string(type) : fmt::format("{} : {}", name, type);
}

std::string pattern_text(const core::Program& program, const core::Pattern& pattern) {
  switch (pattern.kind) {
    case core::Pattern::Kind::name:
      return program.locals[pattern.local].name;
    case core::Pattern::Kind::wildcard:
      return "_";
    case core::Pattern::Kind::unit:
      return "()";
    case core::Pattern::Kind::tuple:
      break;
  }
  std::string out;
  for (const core::Pattern& item : pattern.items)
    out += (out.empty() ? "" : ", ") + pattern_text(program, item);
  return "(" + out + ")";
}

std::vector<std::string> pattern_texts(const core::Program& program,
                                       const std::vector<core::Pattern>& patterns) {
  std::vector<std::string> out;
  for (const core::Pattern& p : patterns) out.push_back(pattern_text(program, p));
  return out;
}

std::string size_text(const stx::SizeParam& size) {
  const char* const before = size.kind == stx::SizeParamKind::shape     ? ".."
                             : size.kind == stx::SizeParamKind::element ? "'"
                                                                        : "";
  return before + size.name.text;
}

/// Adds text to a label, and remembers where its parameters are.
class Label {
 public:
  explicit Label(std::string name) { out_.label = std::move(name); }
  void add(std::string_view text) { out_.label += text; }
  void add_parameter(std::string_view text) {
    const auto begin = static_cast<uint32_t>(out_.label.size());
    out_.label += text;
    out_.parameters.emplace_back(begin, static_cast<uint32_t>(out_.label.size()));
  }
  void add_sizes(const std::vector<stx::SizeParam>& sizes) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      add(i == 0 ? "[" : ", ");
      add_parameter(size_text(sizes[i]));
    }
    if (!sizes.empty()) add("]");
  }
  Signature take(size_t active, std::string documentation) {
    out_.active = active;
    out_.documentation = std::move(documentation);
    return std::move(out_);
  }

 private:
  Signature out_;
};

/// What is applied.
struct Callee {
  std::string name;
  std::string type;                ///< empty where none is known
  std::vector<std::string> names;  ///< of parameters, as far as they have some
  std::vector<stx::SizeParam> sizes;
  std::string documentation;
  const session::Record* record = nullptr;  ///< that its type is in
  TypeId of;
};

class Signing {
 public:
  Signing(const Session& session, const std::string& path, uint32_t offset)
      : session_(session),
        sources_(session.sources()),
        path_(path),
        file_(session.documents().find(path)->text().source),
        text_(sources_[file_].text()),
        applications_(applications_at(text_, offset)) {
    if (!applications_.empty()) names_ = cursor_at(text_, offset).names;
  }

  std::vector<Signature> run() {
    for (size_t i = 0; i < applications_.size(); ++i) {
      std::vector<Signature> found =
          applications_[i].kind == Application::Kind::record ? records(i) : calls(applications_[i]);
      if (!found.empty()) return found;
    }
    return {};
  }

 private:
  // ---- Functions

  std::vector<Signature> calls(Application a) const {
    const bool sizes = a.kind == Application::Kind::sizes;
    if (!sizes) flatten(a);
    const auto callee = callee_of(a.head);
    if (!callee) return {};
    if (sizes && a.argument >= callee->sizes.size()) return {};
    const TypeText type = parts_of_type(callee->type);
    const bool known = !callee->type.empty();
    const size_t count = known ? type.parameters.size() : callee->names.size();
    if (count == 0 || (!sizes && a.argument + (a.piped ? 1 : 0) >= count)) return {};
    Label label(callee->name);
    label.add_sizes(callee->sizes);
    for (size_t i = 0; i < count; ++i) {
      const std::string name = i < callee->names.size() ? callee->names[i] : "_";
      const bool bracketed = known && name != "()";
      label.add(bracketed ? " (" : " ");
      label.add_parameter(known ? parameter_text(name, type.parameters[i]) : name);
      if (bracketed) label.add(")");
    }
    if (known) label.add(" : " + type.result);
    if (!type.where.empty()) label.add(" where " + type.where);
    return {label.take(a.argument + (sizes ? 0 : callee->sizes.size()), callee->documentation)};
  }

  /// `(f x) y` is `f x y`.
  static void flatten(Application& a) {
    while (!a.head.inside.empty()) {
      a.argument += a.head.inside.size() - 1;
      a.head = Operand(a.head.inside[0]);
    }
  }

  /// Nothing where it is not known what stands there.
  std::optional<Callee> callee_of(const Operand& head) const {
    if (head.path.empty()) return expression(head);
    const std::string& first = head.path[0];
    if (const BoundName* const bound = bound_in(names_, first)) {
      auto out = local(*bound, head.path);
      return out ? out : expression(head);
    }
    if (const std::string file = session_.imported(path_, first); !file.empty())
      return head.path.size() < 2 ? std::nullopt : declared(file, head.path[1], head.path, 2);
    if (auto out = declared(path_, first, head.path, 1)) return out;
    for (const DeclKey& key : session_.prelude())
      if (key.name == first) return of_library(key, head.path);
    return head.path.size() == 1 ? conversion(first) : std::nullopt;
  }

  static std::string joined(const std::vector<std::string>& path) {
    return fmt::format("{}", fmt::join(path, "."));
  }

  /// Of a value, or of a field of it: the names of the path from there on.
  void set_type(Callee& out, const session::Record& record, TypeId id, const std::string& type,
                const std::vector<std::string>& path, size_t from) const {
    Typed typed(record);
    const core::Program& p = typed.program();
    for (; from < path.size() && id.valid(); ++from) {
      const Type& t = p.types.types[id];
      const auto field = std::find(t.fields.begin(), t.fields.end(), path[from]);
      id = field == t.fields.end() ? TypeId{} : t.items[static_cast<size_t>(field - t.fields.begin())];
      if (from + 1 == path.size() && typed.is_known(id)) out.type = typed.type(id);
      out.names.clear();
      out.sizes.clear();
    }
    if (path.size() == from && out.type.empty()) out.type = type;
    out.record = &record;
    out.of = id;
  }

  std::optional<Callee> declared(const std::string& file, const std::string& name,
                                 const std::vector<std::string>& path, size_t from) const {
    std::optional<Callee> out;
    for (const Entry& e : session_.declarations(file)) {
      if (e.key.space != DeclKey::Space::values || e.key.name != name || stx::as<stx::TestDecl>(*e.decl))
        continue;
      if (e.decl->is_private && file != path_) continue;
      if (!out) out = Callee{joined(path), "", {}, {}, documentation(session_, e.key), nullptr, {}};
      if (const auto* f = stx::as<stx::FunDecl>(*e.decl)) read_head(*f, *e.part, *out);
      for (const session::Record* r = e.record; r && out->type.empty(); r = r->last_good.get()) {
        if (!r->checked) continue;
        Typed typed(*r);
        const std::string type = typed.declared();
        if (type.empty()) continue;
        if (!typed.global().params.empty())
          out->names = pattern_texts(typed.program(), typed.global().params);
        set_type(*out, *r, typed.global().scheme.type, type, path, from);
      }
    }
    return out;
  }

  /// What the text of a function says of it: the only thing that is known of one that was never right.
  void read_head(const stx::FunDecl& f, const stx::File& part, Callee& out) const {
    out.sizes = f.sizes;
    out.names.clear();
    for (const stx::PatternId p : f.params) {
      const Span pattern = part[p].span;
      const Span whole = part[p].type.valid() ? source::join(pattern, part[part[p].type].span) : pattern;
      const std::string text = one_line(sources_.text(whole));
      out.names.push_back(part[p].type.valid() ? "(" + text + ")" : text);
    }
  }

  std::optional<Callee> of_library(const DeclKey& key, const std::vector<std::string>& path) const {
    const auto entry = session_.find(key);
    if (!entry) return std::nullopt;
    const std::string file = sources_[sources_[entry->part->source].piece().file].name();
    return declared(file, key.name, path, 1);
  }

  /// `f32 x`: the name of an element type converts to it.
  std::optional<Callee> conversion(const std::string& name) const {
    if (!base::elem_from_name(name)) return std::nullopt;
    Callee out;
    out.name = name;
    out.type = fmt::format("'t[..a] -> {}[..a]", name);
    for (const DeclKey& key : session_.prelude())
      if (key.name == "cast") out.documentation = documentation(session_, key);
    return out;
  }

  /// What a name is bound to in the same declaration.
  std::optional<Callee> local(const BoundName& bound, const std::vector<std::string>& path) const {
    for (const Reading& r : readings_at(session_, path_, bound.at))
      for (const Layer& layer : r.layers) {
        const auto at =
            layer.then(Span{file_, bound.at, bound.at + static_cast<uint32_t>(bound.name.size())});
        if (!at || !layer.record().checked) continue;
        Typed typed(layer.record());
        const LocalId id = typed.bound_at(*at);
        if (!id.valid()) continue;
        const core::Local& l = typed.program().locals[id];
        if (l.kind != core::Local::Kind::value || !typed.is_known(l.type)) continue;
        Callee out;
        out.name = joined(path);
        out.names = parameters_of(typed.program(), id);
        set_type(out, layer.record(), l.type,
                 l.scheme.type.valid() ? typed.type(l.scheme) : typed.type(l.type), path, 1);
        return out;
      }
    return std::nullopt;
  }

  /// Of a function that `let` binds.
  static std::vector<std::string> parameters_of(const core::Program& p, LocalId id) {
    for (const core::Expr& e : p.exprs)
      if (e.kind == core::Expr::Kind::let && !e.params.empty() && e.params[0].local == id &&
          e.params[0].kind == core::Pattern::Kind::name)
        return pattern_texts(p, p.exprs[e.args[0]].params);
    return {};
  }

  /// Any other expression that was checked.
  std::optional<Callee> expression(const Operand& head) const {
    for (const Reading& r : readings_at(session_, path_, head.begin))
      for (const Layer& layer : r.layers)
        for (const uint32_t bracket : {0U, 1U}) {
          const auto at = layer.then(Span{file_, head.begin + bracket, head.end - bracket});
          if (!at || !layer.record().checked) continue;
          Typed typed(layer.record());
          const ExprId id = typed.at(*at);
          if (!id.valid()) continue;
          const core::Expr& e = typed.program().exprs[id];
          Callee out;
          out.name = one_line(text_.substr(head.begin, head.end - head.begin));
          out.type = typed.type(e.type);
          if (e.kind == core::Expr::Kind::lambda) out.names = pattern_texts(typed.program(), e.params);
          out.record = &layer.record();
          out.of = e.type;
          return out;
        }
    return std::nullopt;
  }

  // ---- Records

  std::vector<Signature> records(size_t which) const {
    const Application& a = applications_[which];
    std::vector<Signature> out;
    if (const auto key = expected(which)) add_record(out, a, *key, "");
    if (!out.empty() || a.set.empty()) return out;
    add_records_of(out, a, path_, "");
    for (const stx::File* part : session_.documents().find(path_)->text().parts)
      for (const stx::Decl& d : part->decls)
        if (stx::as<stx::ImportDecl>(d))
          if (const std::string file = session_.imported(path_, d.name.text); !file.empty())
            add_records_of(out, a, file, d.name.text + ".");
    return out;
  }

  void add_records_of(std::vector<Signature>& out, const Application& a, const std::string& file,
                      const std::string& module) const {
    for (const Entry& e : session_.declarations(file))
      if (e.key.space == DeclKey::Space::types && (module.empty() || !e.decl->is_private))
        add_record(out, a, e.key, module);
  }

  /// The declared type of the parameter that the record is given to.
  std::optional<DeclKey> expected(size_t which) const {
    if (!applications_[which].is_argument || which + 1 == applications_.size()) return std::nullopt;
    Application call = applications_[which + 1];
    flatten(call);
    const auto callee = callee_of(call.head);
    if (!callee || !callee->record || !callee->of.valid()) return std::nullopt;
    const core::Program& p = callee->record->checked->program;
    const Type* t = &p.types.types[callee->of];
    size_t i = call.argument;
    for (; t->kind == Type::Kind::function && i + 1 >= t->items.size(); t = &p.types.types[t->items.back()])
      i -= t->items.size() - 1;
    if (t->kind != Type::Kind::function) return std::nullopt;
    return declared_type(session_, p, t->items[i]);
  }

  /// A declared type of a record that has all fields that are set; one that is expected is shown without
  /// them.
  void add_record(std::vector<Signature>& out, const Application& a, const DeclKey& key,
                  const std::string& module) const {
    const auto entry = session_.find(key);
    const auto* const type = entry ? stx::as<stx::TypeDecl>(*entry->decl) : nullptr;
    const auto* const record = type ? stx::as<stx::RecordType>((*entry->part)[type->type]) : nullptr;
    if (!record) return;
    const auto index_of = [&](const std::string& name) {
      const auto field = std::find_if(record->fields.begin(), record->fields.end(),
                                      [&](const stx::TypeField& f) { return f.name.text == name; });
      return static_cast<size_t>(field - record->fields.begin());
    };
    const size_t none = record->fields.size();
    if (std::any_of(a.set.begin(), a.set.end(),
                    [&](const std::string& name) { return index_of(name) == none; }))
      return;
    size_t active = a.field.empty() ? none : index_of(a.field);
    for (size_t i = 0; i < none && active == none; ++i) {
      const std::string& name = record->fields[i].name.text;
      if (std::find(a.set.begin(), a.set.end(), name) == a.set.end() && name.starts_with(a.field)) active = i;
    }
    if (active == none) return;
    Label label(module + key.name);
    for (size_t i = 0; i < type->params.size(); ++i)
      label.add((i == 0 ? "[" : ", ") + size_text(type->params[i]));
    label.add(type->params.empty() ? " = {" : "] = {");
    for (const stx::TypeField& field : record->fields) {
      if (&field != record->fields.data()) label.add(", ");
      const Span type_span = (*entry->part)[field.type].span;
      label.add_parameter(one_line(sources_.text(source::join(field.name.span, type_span))));
    }
    label.add("}");
    out.push_back(label.take(active, documentation(session_, key)));
  }

  const Session& session_;
  const source::SourceManager& sources_;
  const std::string& path_;
  const source::FileId file_;
  const std::string_view text_;
  const std::vector<Application> applications_;
  std::vector<BoundName> names_;
};

}  // namespace

std::vector<Signature> signatures(const Session& session, const std::string& path, uint32_t offset) {
  if (!session.documents().find(path)) return {};
  return Signing(session, path, offset).run();
}

}  // namespace axon::query
