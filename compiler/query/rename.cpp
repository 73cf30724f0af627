// See rename.h.
#include "query/rename.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/elem.h"
#include "core/modules.h"
#include "syntax/tokens.h"

namespace axon::query {

using session::Session;
using source::Edit;
using source::Span;

namespace {

bool is_name(std::string_view text) {
  if (text.empty() || text == "_" || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
}

/// Why nothing can be called so; empty where something can.
std::string refusal_of_name(const std::string& name, Kind kind) {
  if (!is_name(name)) return fmt::format("`{}` is no name: letters, digits and `_`, no digit first", name);
  if (syntax::keyword_of(name)) return fmt::format("`{}` is a word of the language", name);
  const bool type = kind == Kind::type || kind == Kind::size || kind == Kind::element;
  const bool known = base::elem_from_name(name) || name == "Stack" || name == "string" || name == "min" ||
                     name == "max" || name == "cdiv" || name == "weights";
  return type && known ? fmt::format("`{}` has a meaning in types", name) : "";
}

/// The files as they are with another name at some places, and what their names stand for then.
class Trial {
 public:
  Trial(Session& session, const std::vector<Edit>& edits) : session_(session) {
    for (const Edit& edit : edits) by_file_[session.sources()[edit.span.file].name()].push_back(edit);
  }

  /// Makes the edits and looks at each file; the first change of meaning in words, or nothing.
  std::string run(const Meaning& renamed, const std::string& name) {
    for (const auto& [path, edits] : by_file_) {
      session_.check(path);
      before_[path] = names(path);
      errors_[path] = count(session_.check(path));
    }
    return with_edits(by_file_.begin(), renamed, name);
  }

 private:
  using Files = std::map<std::string, std::vector<Edit>>;

  /// Without the paths of imports, which stay what they are.
  std::vector<Mention> names(const std::string& path) const {
    std::vector<Mention> out = mentions(session_, path);
    std::erase_if(out, [&](const Mention& m) {
      return m.meaning.kind == Kind::module &&
             session_.sources().text(m.span) != session_.sources().text(m.meaning.binding);
    });
    return out;
  }

  static std::multiset<std::string> count(const source::Diagnostics& found) {
    std::multiset<std::string> out;
    for (const source::Diagnostic& d : found.in_order_of_report())
      if (d.severity == source::Severity::error) out.insert(std::string(code_name(d.code)));
    return out;
  }

  std::string with_edits(Files::const_iterator file, const Meaning& renamed, const std::string& name) {
    if (file == by_file_.end()) return compare(renamed, name);
    std::string text(session_.sources()[file->second[0].span.file].text()), out;
    for (auto edit = file->second.rbegin(); edit != file->second.rend(); ++edit)
      text.replace(edit->span.begin, edit->span.size(), edit->replacement);
    session_.with_text(file->first, text, [&](const source::Diagnostics& found) {
      out = with_edits(std::next(file), renamed, name);
      if (out.empty() && std::next(file) == by_file_.end() && count(found) != errors_[file->first])
        out = fmt::format("with the name `{}` the program has an error that it has not now", name);
    });
    return out;
  }

  /// Where a place of a file lies once the edits are made.
  Span moved(Span span) const {
    const auto file = by_file_.find(session_.sources()[span.file].name());
    if (file == by_file_.end()) return span;
    long shift = 0;
    const Span at = span;
    for (const auto& [place, text, how] : file->second) {
      const long grows = static_cast<long>(text.size()) - static_cast<long>(place.size());
      if (place.end <= at.begin) shift += grows;
      if (at.begin <= place.begin && place.end <= at.end) span.end = static_cast<uint32_t>(span.end + grows);
      if (at == place && text.find(' ') != text.npos)  // `a as b`: the name is b
        span.begin += static_cast<uint32_t>(text.rfind(' ') + 1);
    }
    span.begin = static_cast<uint32_t>(span.begin + shift);
    span.end = static_cast<uint32_t>(span.end + shift);
    return span;
  }

  Meaning moved(Meaning meaning, const Meaning& renamed, const std::string& name) const {
    if (meaning.declared && renamed.declared && *meaning.declared == *renamed.declared)
      meaning.declared->name = name;
    if (meaning.binding.valid()) meaning.binding = moved(meaning.binding);
    return meaning;
  }

  std::string compare(const Meaning& renamed, const std::string& name) {
    for (const auto& [path, edits] : by_file_) {
      const std::vector<Mention> after = names(path);
      const std::vector<Mention>& was = before_[path];
      for (size_t i = 0; i < std::max(was.size(), after.size()); ++i) {
        if (i < was.size() && i < after.size() && after[i].span == moved(was[i].span) &&
            after[i].meaning == moved(was[i].meaning, renamed, name))
          continue;
        return fmt::format("`{}` already means something else {}", name, where(path, was, i));
      }
    }
    return "";
  }

  std::string where(const std::string& path, const std::vector<Mention>& was, size_t i) const {
    if (was.empty()) return "there";
    const Span span = was[std::min(i, was.size() - 1)].span;
    const source::SourceFile& file = session_.sources()[span.file];
    const size_t slash = path.rfind('/');
    return fmt::format("in line {} of {}", file.line_of(std::min(span.begin, file.size())),
                       path.substr(slash == std::string::npos ? 0 : slash + 1));
  }

  Session& session_;
  Files by_file_;
  std::map<std::string, std::vector<Mention>> before_;
  std::map<std::string, std::multiset<std::string>> errors_;
};

/// Whether the name of an import stands behind `as`.
bool has_alias(const Session& session, Span name) {
  std::string_view before = session.sources()[name.file].text().substr(0, name.begin);
  while (before.ends_with(' ')) before.remove_suffix(1);
  return before.ends_with(" as");
}

/// Why a thing keeps its name; empty where it need not.
std::string refusal_of(const Session& session, const Meaning& meaning) {
  const auto place =
      meaning.kind == Kind::module ? std::optional(meaning.binding) : definition(session, meaning);
  if (!place) return "what it stands for is not declared in a file";
  const std::string& file = session.sources()[place->file].name();
  const auto entry = meaning.declared ? session.find(*meaning.declared) : std::nullopt;
  const auto* const signature = entry ? syntax::as<syntax::SignatureDecl>(*entry->decl) : nullptr;
  if (session.documents().is_library(file) || (signature && signature->is_prim))
    return fmt::format("`{}` belongs to the library", session.sources().text(*place));
  return "";
}

}  // namespace

Renamable renamable(const Session& session, const std::string& path, uint32_t offset) {
  const auto mention = mention_at(session, path, offset);
  if (!mention) return {"there is no name here", {}};
  std::string_view text = session.sources().text(mention->span);
  if (text.starts_with("'")) text.remove_prefix(1);
  if (!is_name(text)) return {fmt::format("`{}` is an operator", text), {}};
  const std::string refusal = refusal_of(session, mention->meaning);
  if (!refusal.empty()) return {refusal, {}};
  return {"", mention->span};
}

Renaming rename(Session& session, const std::string& path, uint32_t offset, const std::string& name,
                const session::RunStep& run) {
  Renaming out;
  const Renamable place = renamable(session, path, offset);
  out.refusal = place.refusal;
  if (!out.refusal.empty()) return out;
  const Mention mention = *mention_at(session, path, offset);
  const bool quoted = session.sources().text(mention.span).starts_with("'");
  const std::string plain = quoted && name.starts_with("'") ? name.substr(1) : name;
  out.refusal = refusal_of_name(plain, mention.meaning.kind);
  if (!out.refusal.empty()) return out;
  const std::string replacement = quoted ? "'" + plain : plain;
  const std::string before(session.sources().text(mention.span));
  if (before == replacement) return out;
  for (const Mention& m : mentions_of(session, mention.meaning)) {
    if (session.sources().text(m.span) != before) continue;  // an operator, or the path of an import
    if (session.documents().is_library(session.sources()[m.span.file].name())) {
      out.refusal = fmt::format("the library uses the name `{}`", before);
      return out;
    }
    const bool import = m.binds && m.meaning.kind == Kind::module && !has_alias(session, m.span);
    out.edits.push_back(
        {m.span, import ? before + " as " + replacement : replacement, source::Applicability::safe});
  }
  run([&] { out.refusal = Trial(session, out.edits).run(mention.meaning, plain); });
  return out;
}

}  // namespace axon::query
