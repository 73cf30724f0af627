// See hover.h.
#include "query/hover.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/modules.h"
#include "query/cursor.h"
#include "query/mentions.h"
#include "query/size_places.h"
#include "query/typed.h"

namespace axon::query {

namespace stx = axon::syntax;
using core::Expr;
using core::ExprId;
using core::Local;
using core::LocalId;
using session::Session;
using source::Span;

namespace {

constexpr size_t longest_shown = 48;  // columns of an expression that is repeated before its type

/// One line of what is written there, where it is short.
std::string written(const source::SourceManager& sources, Span span) {
  const std::string_view text = sources.text(span);
  const bool shown = source::display_width(text) <= longest_shown && text.find('\n') == text.npos;
  return shown ? std::string(text) : "";
}

/// Documentation as Markdown: an example with what it gives is a piece of code.
std::string markdown_of(const std::string& doc) {
  std::string out;
  bool code = false;
  size_t at = 0;
  while (at < doc.size()) {
    const size_t end = std::min(doc.find('\n', at), doc.size());
    const std::string_view line = std::string_view(doc).substr(at, end - at);
    const bool example = line.find_first_not_of(' ') != line.npos &&
                         line.substr(line.find_first_not_of(' ')).starts_with(">>>");
    if (example && !code) out += "```axon\n";
    if (code && line.find_first_not_of(' ') == line.npos) {
      out += "```\n";
      code = false;
    }
    code |= example;
    out.append(line) += '\n';
    at = end + 1;
  }
  if (code) out += "```\n";
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  return out;
}

class Hovering {
 public:
  Hovering(const Session& session, const std::string& path, uint32_t offset)
      : session_(session), sources_(session.sources()), path_(path), offset_(offset) {}

  std::optional<Hover> run() {
    if (!session_.documents().find(path_)) return std::nullopt;
    mention_ = mention_at(session_, path_, offset_);
    readings_ = readings_at(session_, path_, offset_);
    const bool behind = mention_ && mention_->span.end == offset_;
    if (behind)
      if (auto out = expression()) return out;
    if (mention_) {
      Hover out{mention_->span, "", ""};
      describe(out);
      if (!out.code.empty()) return out;
    }
    if (auto out = expression()) return out;
    return declaration();
  }

 private:
  void describe(Hover& out) {
    const Meaning& meaning = mention_->meaning;
    switch (meaning.kind) {
      case Kind::value:
        return value(out, *meaning.declared);
      case Kind::type:
      case Kind::layout:
        return type(out, *meaning.declared);
      case Kind::module:
        return module(out);
      case Kind::local:
      case Kind::index:
      case Kind::axes:
        return local(out, meaning.binding);
      case Kind::size:
      case Kind::shape:
      case Kind::element:
        return variable(out);
      case Kind::field:
        return field(out);
      case Kind::axis:
        return axis(out);
      case Kind::row:
        out.code = fmt::format("..{}", name());
        out.text = "The other fields of the record.";
        return;
      case Kind::mesh:
        out.code = name();
        out.text = "An axis of the mesh.";
        return;
    }
  }

  std::string name() const { return std::string(sources_.text(mention_->span)); }

  // ---- Declarations

  void value(Hover& out, const core::DeclKey& key) {
    const auto found = session_.records().find(key);
    if (found == session_.records().end()) return;
    for (const session::Record* r = &found->second; r; r = r->last_good.get()) {
      if (!r->checked) continue;
      Typed typed(*r);
      const std::string type = typed.declared();
      if (type.empty()) continue;
      name_shown_ = key.name;
      out.code = declaration_text(key.name, type);
      add_use(out, typed.declared());
      break;
    }
    add_documentation(out, key);
  }

  /// The type of the name where it is used, when the types around it say more than its declaration.
  void add_use(Hover& out, const std::string& declared) {
    if (mention_->binds) return;
    for (const Layer& layer : layers()) {
      Typed typed(layer.record());
      const auto part = layer.then(mention_->span);
      const ExprId use = part ? typed.at(*part) : ExprId{};
      if (!use.valid()) continue;
      const std::string here = typed.type(typed.program().exprs[use].type);
      const std::string plain = declared.substr(0, declared.find(" where "));
      const std::string at = fmt::format("{:<{}}", "here", source::display_width(name_shown_));
      if (here != plain.substr(0, plain.find_last_not_of(" \n") + 1))
        out.code += "\n" + declaration_text(at, here);
      return;
    }
  }

  void add_documentation(Hover& out, const core::DeclKey& key) const {
    out.text = documentation(session_, key);
    const std::string file = core::file_of_module(key.module);
    if (file == source_identity()) return;
    const size_t slash = file.rfind('/');
    out.text += fmt::format("{}*{}*", out.text.empty() ? "" : "\n\n",
                            file.substr(slash == std::string::npos ? 0 : slash + 1));
  }
  std::string source_identity() const {
    return readings_.empty() ? path_ : core::file_of_module(readings_[0].entry.key.module);
  }

  /// A type as it is declared.
  void type(Hover& out, const core::DeclKey& key) {
    const auto entry = session_.find(key);
    if (!entry) return;
    out.code = std::string(sources_.text(entry->decl->span));
    add_documentation(out, key);
  }

  /// The import, with the documentation of the file and what it declares.
  void module(Hover& out) {
    const Span binding = mention_->meaning.binding;
    for (const stx::File* part : session_.documents().find(path_)->text().parts)
      for (const stx::Decl& d : part->decls)
        if (d.name.span.valid() && sources_.in_whole(d.name.span) == binding)
          out.code = std::string(sources_.text(d.span));
    const std::string file = session_.imported(path_, std::string(sources_.text(binding)));
    const session::Document* const document = file.empty() ? nullptr : session_.documents().find(file);
    if (!document) return;
    std::string names;
    for (const stx::File* part : document->text().parts) {
      if (!part->doc.empty()) out.text = markdown_of(part->doc) + "\n\n";
      for (const stx::Decl& d : part->decls)
        if (!d.is_private && core::declared_name(d) && !stx::as<stx::TestDecl>(d)) {
          const std::string name = fmt::format("`{}`", d.name.text);
          if (names.find(name) != std::string::npos) continue;  // its type is stated, too
          names += (names.empty() ? "" : ", ") + name;
        }
    }
    out.text += names.empty() ? "It declares nothing." : fmt::format("Declares {}.", names);
  }

  // ---- Names inside of a declaration

  std::vector<Layer> layers() const {
    std::vector<Layer> out;
    for (const Reading& r : readings_)
      for (const Layer& layer : r.layers)
        if (layer.record().checked && layer.then(offset_)) out.push_back(layer);
    return out;
  }

  void local(Hover& out, Span binding) {
    for (const Layer& layer : layers()) {
      const auto part = layer.then(binding);
      Typed typed(layer.record());
      const LocalId id = part ? typed.bound_at(*part) : LocalId{};
      if (!id.valid()) continue;
      describe_local(out, typed, id);
      if (const core::Binder* const binder = binder_of(typed.program(), id); binder && binder->range)
        out.text = range_text(layer, typed.dim(*binder->range));
      if (!out.code.empty()) return;
    }
  }

  /// A size that inference calls so, or that the data decides, has no name in the declaration, and it may be
  /// called as the index is.
  std::string range_text(const Layer& layer, const std::string& size) const {
    const auto is_named = [&](const core::Use& use) {
      const auto now = use.kind == Kind::size ? layer.now(use.span) : std::nullopt;
      return now && sources_.text(*now) == size;
    };
    const auto& uses = layer.record().mentions;
    const bool name = std::all_of(size.begin(), size.end(), is_letter) && (size[0] < '0' || size[0] > '9');
    const bool unnamed = name && std::none_of(uses.begin(), uses.end(), is_named);
    return fmt::format("Runs from 0 up to, not including, the size {}`{}`.",
                       unnamed ? "that types call " : "", size);
  }

  static void describe_local(Hover& out, Typed& typed, LocalId id) {
    const Local& l = typed.program().locals[id];
    const core::Binder* const binder = binder_of(typed.program(), id);
    switch (l.kind) {
      case Local::Kind::value:
        if (!typed.is_known(l.type)) return;
        out.code =
            declaration_text(l.name, l.scheme.type.valid() ? typed.type(l.scheme) : typed.type(l.type));
        return;
      case Local::Kind::index:
        out.code = l.name + " : i64";
        return;
      case Local::Kind::rank: {
        std::string axes;
        for (const core::Shape& s : binder ? binder->joined : std::vector<core::Shape>{})
          axes += (axes.empty() ? "`" : ", `") + typed.shape(s) + "`";
        out.code = ".." + l.name;
        out.text = axes.empty() ? "Any number of axes." : fmt::format("Runs over the axes {}.", axes);
        return;
      }
    }
  }

  static const core::Binder* binder_of(const core::Program& program, LocalId id) {
    for (const Expr& e : program.exprs)
      for (const core::Binder& b : e.binders)
        if (b.local == id) return &b;
    return nullptr;
  }

  /// `n`, `..s`, `'t`: where arguments show it, and what is required of it.
  void variable(Hover& out) {
    std::string text = name();
    while (!text.empty() && (text[0] == '.' || text[0] == '\'')) text.erase(0, 1);
    for (const Layer& layer : layers()) {
      Typed typed(layer.record());
      const auto found = places_of_variable(typed, mention_->meaning.kind, text);
      if (!found) continue;
      out.code = found->code;
      out.text = found->text;
      return;
    }
    const char* const what = mention_->meaning.kind == Kind::size ? "a size" : "axes";
    out.code = text;
    out.text =
        mention_->meaning.kind == Kind::element ? "An element type." : fmt::format("Stands for {}.", what);
  }

  void field(Hover& out) {
    for (const Layer& layer : layers()) {
      const auto part = layer.then(mention_->span);
      if (!part) continue;
      Typed typed(layer.record());
      if (const core::TypeId type = type_of_field(typed, *part); type.valid()) {
        out.code = declaration_text(name(), typed.type(type));
        return;
      }
    }
    out.code = std::string(sources_.text(mention_->meaning.binding));
  }

  /// Of `x.w`, `x with w = e` and `{w = e}`.
  core::TypeId type_of_field(const Typed& typed, Span at) const {
    const core::Program& p = typed.program();
    core::TypeId out;
    uint32_t size = UINT32_MAX;
    for (const Expr& e : p.exprs) {
      if (e.span.file != at.file || at.begin < e.span.begin || e.span.end < at.end || e.span.size() > size)
        continue;
      core::TypeId type;
      if (e.kind == Expr::Kind::field && e.span.end == at.end && e.text == name()) type = e.type;
      if (e.kind == Expr::Kind::with_field && e.text == name()) type = p.exprs[e.args[1]].type;
      for (size_t i = 0; i < e.places.size() && e.kind == Expr::Kind::record; ++i)
        if (e.places[i] == at) type = p.exprs[e.args[i]].type;
      if (!typed.is_known(type)) continue;
      out = type;
      size = e.span.size();
    }
    return out;
  }

  /// A part of an axis in `rearrange`, with the size that it has.
  void axis(Hover& out) {
    for (const Layer& layer : layers()) {
      const auto part = layer.then(mention_->span);
      if (!part) continue;
      Typed typed(layer.record());
      const ExprId e = typed.innermost(*part);
      if (!e.valid()) continue;
      const shape::UseArena use(typed.arena());
      for (const auto& [v, dim] : typed.program().exprs[e].instantiation)
        if (shape::var_name(v) == name()) out.code = fmt::format("{} = {}", name(), typed.dim(dim));
      if (!out.code.empty()) return;
    }
    out.code = name();
  }

  // ---- Expressions

  std::optional<Hover> expression() {
    const std::string_view text = sources_[session_.documents().find(path_)->text().source].text();
    if (offset_ >= text.size() || std::string_view(" \t\r\n").find(text[offset_]) != std::string_view::npos)
      return std::nullopt;
    for (const Layer& layer : layers()) {
      Typed typed(layer.record());
      const auto part = layer.then(Span{readings_[0].whole.file, offset_, offset_ + 1});
      const ExprId id = part ? typed.innermost(*part) : ExprId{};
      if (!id.valid()) continue;
      const Expr& e = typed.program().exprs[id];
      const auto now = layer.now(e.span);
      if (!now) continue;
      const std::string shown = written(sources_, *now);
      return Hover{*now, declaration_text(shown.empty() ? "this" : shown, typed.type(e.type)), ""};
    }
    return std::nullopt;
  }

  /// Of the words around its name: what the whole declares.
  std::optional<Hover> declaration() {
    for (const Reading& r : readings_) {
      const Span whole = sources_.in_whole(r.entry.decl->span);
      if (offset_ < whole.begin || whole.end <= offset_ || !r.entry.decl->name.span.valid()) continue;
      const std::string_view text = sources_[whole.file].text();
      if (std::string_view(" \t\r\n").find(text[offset_]) != std::string_view::npos) continue;
      mention_ = Mention{sources_.in_whole(r.entry.decl->name.span), {}, true};
      Hover out{mention_->span, "", ""};
      if (r.entry.key.space == core::DeclKey::Space::values)
        value(out, r.entry.key);
      else
        type(out, r.entry.key);
      if (!out.code.empty()) return out;
    }
    return std::nullopt;
  }

  const Session& session_;
  const source::SourceManager& sources_;
  const std::string& path_;
  const uint32_t offset_;
  std::optional<Mention> mention_;
  std::vector<Reading> readings_;
  std::string name_shown_;
};

}  // namespace

std::string documentation(const Session& session, const core::DeclKey& key) {
  const auto entry = session.find(key);
  return entry ? markdown_of(entry->decl->doc) : "";
}

std::optional<Hover> hover(const Session& session, const std::string& path, uint32_t offset) {
  return Hovering(session, path, offset).run();
}

}  // namespace axon::query
