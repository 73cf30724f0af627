// A file and its declarations in the style of printer.h.
//
//   fun name[sizes] (x : type) y : type where facts = body
//
// A declaration stands on one line when it fits. Else its body begins a line of its own, two columns in, and
// what does not fit of the head goes on four columns in.
#include "base/bug.h"
#include "format/format.h"
#include "format/printer.h"
#include "syntax/parse.h"
#include "syntax/print.h"

namespace axon::format {

using namespace syntax;

Doc FilePrinter::file() {
  Docs parts;
  for (const Decl& one : file_.decls)
    parts.insert(parts.end(), {at_.before(Blanks::kept), declaration(one), at_.behind(), d_.hard_line()});
  parts.push_back(at_.rest());
  return concat(std::move(parts));
}

Doc FilePrinter::declaration(const Decl& decl) {
  Docs parts;
  if (decl.is_private) parts.insert(parts.end(), {at_.token("private"), blank()});
  parts.push_back(std::visit([&](const auto& node) { return of(decl, node); }, decl.node));
  return d_.group(concat(std::move(parts)));
}

Doc FilePrinter::sizes(const std::vector<SizeParam>& sizes) {
  if (sizes.empty()) return d_.empty();
  const auto print = [&](const SizeParam& size) {
    if (size.kind == SizeParamKind::element) return at_.token("'" + size.name.text);
    Docs parts;
    if (size.kind == SizeParamKind::shape) parts.push_back(at_.token(".."));
    parts.push_back(name(size.name));
    return concat(std::move(parts));
  };
  return listed("[", sizes, print, "]");
}

Doc FilePrinter::definition(Doc head, ExprId body) {
  Docs parts{head, blank(), at_.token("=")};
  Docs below{d_.line(), at_.before(), exprs_.expr(body, low, true)};
  parts.push_back(d_.nest(2, concat(std::move(below))));
  return concat(std::move(parts));
}

Doc FilePrinter::of(const Decl& decl, const FunDecl& n) {
  Docs head{at_.token(n.is_entry ? "entry" : "fun"), blank(), name(decl.name), sizes(n.sizes)};
  head.push_back(packed(d_.empty(), n.params, [&](PatternId p) { return types_.pattern(p, false); }));
  head.push_back(types_.signature(n.result, n.where));
  return definition(d_.group(d_.nest(4, concat(std::move(head)))), n.body);
}

Doc FilePrinter::of(const Decl& decl, const ValueDecl& n) {
  Docs head{at_.token("val"), blank(), name(decl.name)};
  return definition(concat(std::move(head)), n.body);
}

Doc FilePrinter::of(const Decl& decl, const SignatureDecl& n) {
  Docs parts{
      at_.token(n.is_prim ? "prim" : "val"), blank(), name(decl.name), blank(), at_.token(":"), blank()};
  parts.push_back(types_.type(n.type));
  parts.push_back(d_.nest(2, types_.signature({}, n.where)));
  return concat(std::move(parts));
}

Doc FilePrinter::of(const Decl& decl, const TypeDecl& n) {
  Docs parts{at_.token("type"), blank(), name(decl.name), sizes(n.params), blank(), at_.token("=")};
  Docs below{d_.line(), at_.before(), types_.type(n.type)};
  parts.push_back(d_.nest(2, concat(std::move(below))));
  return concat(std::move(parts));
}

Doc FilePrinter::of(const Decl& decl, const LayoutDecl& n) {
  Docs parts{at_.token("layout"), blank(), name(decl.name), sizes(n.params), blank(), at_.token("=")};
  Docs below{d_.line(), at_.before(), types_.layout(n.layout)};
  parts.push_back(d_.nest(2, concat(std::move(below))));
  return concat(std::move(parts));
}

Doc FilePrinter::of(const Decl& decl, const MeshDecl& n) {
  Docs parts{at_.token("mesh"), blank(), name(decl.name),        blank(),
             at_.token("="),    blank(), exprs_.fields(n.fields)};
  return concat(std::move(parts));
}

Doc FilePrinter::of(const Decl& decl, const ImportDecl& n) {
  Docs parts{at_.token("import"), blank(), n.file ? at_.any() : path(n.path)};
  if (n.file || decl.name.span != n.path.back().span)
    parts.insert(parts.end(), {blank(), at_.token("as"), blank(), name(decl.name)});
  return concat(std::move(parts));
}

Doc FilePrinter::of(const Decl&, const TestDecl& n) {
  Docs head{at_.token("test"), blank(), at_.any()};
  return definition(concat(std::move(head)), n.body);
}

std::optional<std::string> format(const source::SourceFile& file, source::Diagnostics& diagnostics) {
  source::Diagnostics found;
  File tree = parse(file, found);
  if (found.has_errors()) {
    for (const source::Diagnostic& one : found.in_order_of_report()) diagnostics.report(one);
    return std::nullopt;
  }
  source::Diagnostics repeated;
  Documents documents;
  Cursor cursor(file, lex(file, repeated), documents);
  std::string text = documents.render(FilePrinter(tree, cursor, documents).file(), line_width);

  // The promise is checked each time: what is handed out is the program that was handed in.
  source::SourceManager sources;
  source::Diagnostics again;
  const source::FileId id = sources.add(file.name(), text, again);
  if (again.has_errors() || print(parse(sources[id], again)) != print(tree))
    base::bug("format", "the formatted text of " + file.name() + " is another program");
  return text;
}

}  // namespace axon::format
