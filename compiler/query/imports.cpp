// See imports.h.
#include "query/imports.h"

namespace axon::query {

namespace stx = axon::syntax;
using session::Session;
using source::Span;

namespace {

/// `a.b`, or the file without its quotes.
Span path_of(const Session& session, const stx::Decl& d, const stx::ImportDecl& import) {
  if (!import.file && !import.path.empty())
    return session.sources().in_whole(source::join(import.path.front().span, import.path.back().span));
  const Span whole = session.sources().in_whole(d.span);
  const std::string_view text = session.sources().text(whole);
  const size_t begin = text.find('"'), end = text.find('"', begin + 1);
  if (end == text.npos) return whole;
  return {whole.file, whole.begin + static_cast<uint32_t>(begin) + 1,
          whole.begin + static_cast<uint32_t>(end)};
}

}  // namespace

std::vector<Import> imports(const Session& session, const std::string& path) {
  std::vector<Import> out;
  const session::Document* const document = session.documents().find(path);
  if (!document) return out;
  for (const stx::File* part : document->text().parts)
    for (const stx::Decl& d : part->decls)
      if (const auto* import = stx::as<stx::ImportDecl>(d))
        out.push_back({path_of(session, d, *import), session.imported(path, d.name.text)});
  return out;
}

std::optional<Span> imported_at(const Session& session, const std::string& path, uint32_t offset) {
  for (const Import& import : imports(session, path)) {
    if (offset < import.span.begin || import.span.end < offset || import.file.empty()) continue;
    if (const session::Document* const document = session.documents().find(import.file))
      return Span{document->text().source, 0, 0};
  }
  return std::nullopt;
}

}  // namespace axon::query
