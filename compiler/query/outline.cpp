// See outline.h.
#include "query/outline.h"

#include <algorithm>

#include "syntax/children.h"

namespace axon::query {

using source::Span;
namespace stx = axon::syntax;

namespace {

void add_sizes(const std::vector<stx::SizeParam>& sizes, Symbol& out) {
  for (const stx::SizeParam& size : sizes)
    out.parts.push_back({Symbol::Kind::size, size.name.text, size.name.span, size.name.span, {}});
}

void add_fields(const stx::File& file, stx::TypeId type, Symbol& out) {
  const auto* record = stx::as<stx::RecordType>(file[type]);
  if (!record) return;
  for (const stx::TypeField& field : record->fields) {
    const Span whole =
        field.type.valid() ? source::join(field.name.span, file[field.type].span) : field.name.span;
    out.parts.push_back({Symbol::Kind::field, field.name.text, field.name.span, whole, {}});
    if (field.type.valid()) add_fields(file, field.type, out.parts.back());
  }
}

Symbol symbol_of(const stx::File& file, const stx::Decl& d) {
  Symbol out{Symbol::Kind::value, d.name.text, d.name.span, d.span, {}};
  std::visit(stx::Overloaded{[&](const stx::FunDecl& f) {
                               out.kind = f.is_entry ? Symbol::Kind::entry : Symbol::Kind::function;
                               add_sizes(f.sizes, out);
                             },
                             [&](const stx::ValueDecl&) {},
                             [&](const stx::SignatureDecl& s) {
                               if (s.is_prim) out.kind = Symbol::Kind::primitive;
                             },
                             [&](const stx::TypeDecl& t) {
                               out.kind = Symbol::Kind::type;
                               add_sizes(t.params, out);
                               add_fields(file, t.type, out);
                             },
                             [&](const stx::LayoutDecl& l) {
                               out.kind = Symbol::Kind::layout;
                               add_sizes(l.params, out);
                             },
                             [&](const stx::MeshDecl&) { out.kind = Symbol::Kind::mesh; },
                             [&](const stx::ImportDecl&) { out.kind = Symbol::Kind::module; },
                             [&](const stx::TestDecl& t) {
                               out.kind = Symbol::Kind::test;
                               out.name = t.title;
                             },
                             [&](const stx::ErrorDecl&) {}},
             d.node);
  if (!out.name_span.valid()) out.name_span = d.span;
  return out;
}

void place(const source::SourceManager& sources, Symbol& symbol) {
  symbol.name_span = sources.in_whole(symbol.name_span);
  symbol.whole = sources.in_whole(symbol.whole);
  for (Symbol& part : symbol.parts) place(sources, part);
}

/// Collects the span of each node that holds the offset, the outermost first.
class Path {
 public:
  Path(const stx::File& file, uint32_t offset, std::vector<Span>& out)
      : file_(file), offset_(offset), out_(out) {}

  template <class Tag>
  void operator()(base::Id<Tag> id) {
    add(file_[id]);
  }
  template <class Node>
  void add(const Node& node) {
    if (node.span.begin > offset_ || offset_ > node.span.end) return;
    out_.push_back(node.span);
    if constexpr (std::is_same_v<Node, stx::Expr>)
      if (const auto* lets = stx::as<stx::LetExpr>(node))
        for (const stx::Let& let : lets->lets)
          if (let.span.begin <= offset_ && offset_ <= let.span.end) out_.push_back(let.span);
    stx::for_each_child(node, *this);
  }

 private:
  const stx::File& file_;
  uint32_t offset_;
  std::vector<Span>& out_;
};

/// The letters around the place.
Span word_at(const source::SourceFile& file, uint32_t offset) {
  const auto is_letter = [&](uint32_t at) {
    const char c = file.text()[at];
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  Span out{file.id(), std::min(offset, file.size()), std::min(offset, file.size())};
  while (out.begin > 0 && is_letter(out.begin - 1)) --out.begin;
  while (out.end < file.size() && is_letter(out.end)) ++out.end;
  return out;
}

const session::Document* document_of(const session::Session& session, const std::string& path) {
  return session.documents().find(path);
}

}  // namespace

std::vector<Symbol> symbols(const session::Session& session, const std::string& path) {
  std::vector<Symbol> out;
  const session::Document* const document = document_of(session, path);
  if (!document) return out;
  for (const stx::File* part : document->text().parts)
    for (const stx::Decl& d : part->decls) {
      Symbol symbol = symbol_of(*part, d);
      if (symbol.name.empty()) continue;
      place(session.sources(), symbol);
      out.push_back(std::move(symbol));
    }
  return out;
}

std::vector<Fold> folds(const session::Session& session, const std::string& path) {
  std::vector<Fold> out;
  const session::Document* const document = document_of(session, path);
  if (!document) return out;
  const source::SourceManager& sources = session.sources();
  const source::SourceFile& whole = sources[document->text().source];
  const auto add = [&](Span span, bool comment) {
    span = sources.in_whole(span);
    if (whole.line_of(span.begin) < whole.line_of(span.end)) out.push_back({span, comment});
  };
  for (const stx::File* part : document->text().parts) {
    Span run;
    for (const stx::Comment& c : part->comments) {
      if (!c.own_line) continue;
      const source::SourceFile& text = sources[part->source];
      const bool follows = run.valid() && text.line_of(c.span.begin) == text.line_of(run.end) + 1;
      if (run.valid() && !follows) add(run, true);
      run = follows ? source::join(run, c.span) : c.span;
    }
    if (run.valid()) add(run, true);
    for (const stx::Decl& d : part->decls) add(d.span, false);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Fold& a, const Fold& b) { return a.span.begin < b.span.begin; });
  return out;
}

std::vector<Span> enclosing(const session::Session& session, const std::string& path, uint32_t offset) {
  std::vector<Span> out;
  const session::Document* const document = document_of(session, path);
  if (!document) return out;
  const source::SourceManager& sources = session.sources();
  const source::FileId whole = document->text().source;
  out.push_back({whole, 0, sources[whole].size()});
  for (const stx::File* part : document->text().parts) {
    const Span piece = sources[part->source].piece();
    if (offset < piece.begin || piece.end < offset) continue;
    std::vector<Span> path_to;
    Path walk(*part, offset - piece.begin, path_to);
    for (const stx::Decl& d : part->decls) walk.add(d);
    for (const Span span : path_to)
      if (const Span at = sources.in_whole(span);
          at != out.back() && out.back().begin <= at.begin && at.end <= out.back().end)
        out.push_back(at);
  }
  const Span word = word_at(sources[whole], offset);
  if (word.size() != 0 && word != out.back()) out.push_back(word);
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace axon::query
