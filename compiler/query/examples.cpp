// See examples.h.
#include "query/examples.h"

#include <algorithm>

#include "syntax/examples.h"
#include "syntax/tokens.h"

namespace axon::query {

using session::Session;
using source::Span;

namespace {

constexpr std::string_view before_examples = "val it = ";  // what makes one a declaration

/// The word that ends at the place, where it is no member of anything itself.
std::string word_before(std::string_view text, uint32_t end) {
  uint32_t begin = end;
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  return begin > 0 && text[begin - 1] == '.' ? "" : std::string(text.substr(begin, end - begin));
}

/// The name at the place of a declaration that is made of an example; nothing where it is no such name.
std::optional<ExampleName> name_at(std::string_view text, const std::string& name, uint32_t at, bool types) {
  using Place = Cursor::Place;
  Cursor cursor = cursor_at(text, at);
  const bool member = cursor.place == Place::member;
  const bool fits =
      member ? cursor.in_type == types : cursor.place == (types ? Place::type : Place::expression);
  std::string module = member ? word_before(text, cursor.operand) : "";
  if (!fits || (member && module.empty())) return std::nullopt;
  if (bound_in(cursor.names, member ? module : name)) return std::nullopt;
  return ExampleName{{}, std::move(module), std::move(cursor.names)};
}

}  // namespace

std::vector<ExampleName> names_in_examples(const Session& session, const std::string& path,
                                           const std::string& name, bool types) {
  std::vector<ExampleName> out;
  const session::Document* const document = session.documents().find(path);
  if (!document) return out;
  const auto before = static_cast<uint32_t>(before_examples.size());
  for (const syntax::File* part : document->text().parts)
    for (const syntax::Comment& comment : part->comments) {
      auto example = syntax::example_in(comment, session.sources()[part->source]);
      if (example) example = session.sources().in_whole(*example);
      if (!example || session.sources().text(*example).find(name) == std::string_view::npos) continue;
      const source::SourceFile file(
          source::FileId{0}, "",
          std::string(before_examples) + std::string(session.sources().text(*example)) + "\n");
      source::Diagnostics ignored;
      for (const syntax::Token& t : syntax::lex(file, ignored).tokens) {
        if (t.kind != syntax::TokenKind::ID || t.begin < before) continue;
        if (file.text().substr(t.begin, t.end - t.begin) != name) continue;
        auto found = name_at(file.text(), name, t.begin, types);
        if (!found) continue;
        const uint32_t begin = example->begin + t.begin - before;
        found->span = {example->file, begin, begin + static_cast<uint32_t>(name.size())};
        out.push_back(std::move(*found));
      }
    }
  return out;
}

}  // namespace axon::query
