// See rename.h.
#include "query/rename.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/elem.h"
#include "core/modules.h"
#include "query/examples.h"
#include "query/imports.h"
#include "query/workspace.h"
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

const char* words_for(Kind kind) {
  switch (kind) {
    case Kind::value:
      return "a function or value";
    case Kind::type:
      return "a type";
    case Kind::layout:
      return "a layout";
    case Kind::module:
      return "an import";
    case Kind::local:
      return "a local name";
    case Kind::index:
      return "an index";
    case Kind::axes:
      return "a name of axes";
    case Kind::size:
      return "a size";
    case Kind::shape:
      return "a shape variable";
    case Kind::element:
      return "an element type";
    case Kind::row:
      return "the rest of a record";
    case Kind::axis:
    case Kind::mesh:
      return "an axis";
    case Kind::field:
      return "a field";
  }
  return "a name";
}

std::string_view without_quote(std::string_view name) {
  return name.starts_with("'") ? name.substr(1) : name;
}

std::string line_text(const Session& session, Span span) {
  const source::SourceFile& file = session.sources()[span.file];
  const size_t slash = file.name().rfind('/');
  return fmt::format("line {} of {}", file.line_of(span.begin),
                     file.name().substr(slash == std::string::npos ? 0 : slash + 1));
}

/// The files as they are with another name at some places, and what their names stand for then.
class Trial {
 public:
  Trial(Session& session, const std::vector<Edit>& edits, const Meaning& renamed, std::string name)
      : session_(session), renamed_(renamed), name_(std::move(name)) {
    for (const Edit& edit : edits) add(edit);
    for (auto& [path, of_file] : by_file_) {
      std::stable_sort(of_file.begin(), of_file.end(),
                       [](const Edit& a, const Edit& b) { return a.span.begin < b.span.begin; });
      add_in_order(path);
    }
  }

  /// Makes the edits and looks at each file; the first change of meaning in words, or nothing.
  std::string run() {
    for (const std::string& path : order_) {
      const ExampleText& examples = examples_.at(path);
      session_.with_text(path, examples.text(), [&](const source::Diagnostics& found) {
        errors_[path] = count(found);
        for (Mention& m : names(path))
          before_[path].push_back({m, std::string(session_.sources().text(m.span)),
                                   line_text(session_, examples.in_example(m.span).value_or(m.span))});
      });
    }
    return with_edits(0);
  }

 private:
  struct Named {
    Mention mention;
    std::string text, where;
  };

  /// What is edited in an example is edited in the value that is made of it, too.
  void add(const Edit& edit) {
    const std::string& path = session_.sources()[edit.span.file].name();
    const auto examples = examples_.try_emplace(path, session_, path).first;
    by_file_[path].push_back(edit);
    if (const auto copy = examples->second.in_value(edit.span))
      by_file_[path].push_back({*copy, edit.replacement, edit.applicability});
  }

  /// What a file imports is edited before it.
  void add_in_order(const std::string& path) {
    if (!seen_.insert(path).second) return;
    for (const Import& import : imports(session_, path))
      if (const session::Document* const document = session_.documents().find(import.file))
        add_in_order(session_.sources()[document->text().source].name());
    if (by_file_.count(path)) order_.push_back(path);
  }

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

  /// Of the files from there on; those before it are edited.
  std::string with_edits(size_t from) {
    if (from == order_.size()) return compare();
    const std::string& path = order_[from];
    const std::vector<Edit>& edits = by_file_.at(path);
    std::string text = examples_.at(path).text(), out;
    for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit)
      text.replace(edit->span.begin, edit->span.size(), edit->replacement);
    session_.with_text(path, text, [&](const source::Diagnostics& found) {
      const bool same = count(found) == errors_[path];
      out = with_edits(from + 1);
      if (out.empty() && !same)
        out = fmt::format("with the name `{}` the program has an error that it has not now", name_);
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

  Meaning moved(Meaning meaning) const {
    if (meaning.declared && renamed_.declared && *meaning.declared == *renamed_.declared)
      meaning.declared =
          std::make_shared<const core::DeclKey>(meaning.declared->module, meaning.declared->space, name_);
    if (meaning.binding.valid()) meaning.binding = moved(meaning.binding);
    return meaning;
  }

  /// Returns whether two meanings are equal. The binding of a field counts only where a field is renamed: it
  /// depends on which files were checked before, and the type of what stands before the point decides it.
  bool is_same(Meaning after, Meaning before) const {
    if (before.kind == Kind::field && renamed_.kind != Kind::field) after.binding = before.binding = {};
    return after == before;
  }

  std::string compare() {
    for (const std::string& path : order_) {
      const std::vector<Mention> after = names(path);
      const std::vector<Named>& was = before_[path];
      for (size_t i = 0; i < std::max(was.size(), after.size()); ++i)
        if (i >= was.size() || i >= after.size() || after[i].span != moved(was[i].mention.span) ||
            !is_same(after[i].meaning, moved(was[i].mention.meaning)))
          return reason(was, i);
    }
    return "";
  }

  /// Why the i-th name would stand for something else: most often there is one that is called so before it.
  std::string reason(const std::vector<Named>& was, size_t i) const {
    const Named* other = nullptr;
    for (size_t k = 0; k < was.size(); ++k)
      if (was[k].mention.binds && without_quote(was[k].text) == name_ && (k <= i || !other)) other = &was[k];
    if (other)
      return fmt::format("`{}` is already {} in {}", name_, words_for(other->mention.meaning.kind),
                         other->where);
    if (was.empty()) return fmt::format("`{}` already means something else", name_);
    return fmt::format("`{}` already means something else in {}", name_,
                       was[std::min(i, was.size() - 1)].where);
  }

  Session& session_;
  const Meaning renamed_;
  const std::string name_;
  std::map<std::string, std::vector<Edit>> by_file_;
  std::map<std::string, ExampleText> examples_;
  std::vector<std::string> order_;
  std::set<std::string> seen_;
  std::map<std::string, std::vector<Named>> before_;
  std::map<std::string, std::multiset<std::string>> errors_;
};

/// Whether names in the file can have the meaning: of what is declared those in its own file and where that
/// is imported; where an import leads nowhere, that is not known.
bool can_mention(const Session& session, const std::string& path, const Meaning& meaning) {
  if (meaning.kind == Kind::field || !is_seen_outside(meaning.kind)) return true;
  const std::string file = meaning.declared
                               ? core::file_of_module(meaning.declared->module)
                               : session.documents().identity(session.sources()[meaning.binding.file].name());
  if (session.documents().identity(path) == file) return true;
  const std::vector<Import> all = imports(session, path);
  return meaning.declared && std::any_of(all.begin(), all.end(), [&](const Import& import) {
           return import.file.empty() || session.documents().identity(import.file) == file;
         });
}

/// Why it is not known what the name stands for in all places: a declaration with an error mentions it.
std::string refusal_of_errors(const Session& session, const std::map<std::string, source::Diagnostics>& found,
                              const Mention& mention, const std::vector<Edit>& edits) {
  const std::string_view name = without_quote(session.sources().text(mention.span));
  const bool outside = is_seen_outside(mention.meaning.kind);
  for (const auto& [path, of_file] : found) {
    if (!can_mention(session, path, mention.meaning)) continue;
    for (const source::Diagnostic& d : of_file.in_order_of_report()) {
      const Span error = d.primary.span;
      const session::Document* const document = session.documents().find(path);
      if (d.severity != source::Severity::error || !document || error.file != document->text().source)
        continue;
      for (const syntax::File* file : document->text().parts) {
        const Span part = session.sources()[file->source].piece();
        if (error.begin < part.begin || part.end <= error.begin) continue;
        const bool touched = std::any_of(edits.begin(), edits.end(), [&](const Edit& edit) {
          return edit.span.file == part.file && part.begin <= edit.span.begin && edit.span.end <= part.end;
        });
        if (touched || (outside && has_word(session.sources().text(part), name)))
          return fmt::format("what `{}` means is not known while there is an error in {}", name,
                             line_text(session, error));
      }
    }
  }
  return "";
}

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

void add_edits(const Session& session, const Mention& mention, const std::string& replacement,
               Renaming& out) {
  const std::string before(session.sources().text(mention.span));
  for (const Mention& m : mentions_of(session, mention.meaning)) {
    if (session.sources().text(m.span) != before) continue;  // an operator, or the path of an import
    if (session.documents().is_library(session.sources()[m.span.file].name())) {
      out.refusal = fmt::format("the library uses the name `{}`", before);
      return;
    }
    const bool import = m.binds && m.meaning.kind == Kind::module && !has_alias(session, m.span);
    out.edits.push_back(
        {m.span, import ? before + " as " + replacement : replacement, source::Applicability::safe});
  }
}

/// In examples of the documentation, too.
void add_edits_of_examples(Session& session, const Meaning& meaning, const std::string& before,
                           const std::string& after, Renaming& out) {
  std::vector<Edit> found;
  for (const std::string& path : session.documents().paths()) {
    const ExampleText examples(session, path);
    if (session.documents().is_library(path) || !examples.mentions(before)) continue;
    session.with_text(path, examples.text(), [&](const source::Diagnostics&) {
      for (const Mention& m : mentions(session, path)) {
        const auto place = examples.in_example(m.span);
        if (place && m.meaning == meaning && session.sources().text(m.span) == before)
          found.push_back({*place, after, source::Applicability::safe});
      }
    });
  }
  out.edits.insert(out.edits.end(), found.begin(), found.end());
  std::map<source::FileId, size_t> order;  // that of the files
  for (const Edit& edit : out.edits) order.emplace(edit.span.file, order.size());
  std::sort(out.edits.begin(), out.edits.end(), [&](const Edit& a, const Edit& b) {
    return std::pair(order[a.span.file], a.span.begin) < std::pair(order[b.span.file], b.span.begin);
  });
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
                const std::vector<std::string>& others, const session::RunStep& run) {
  Renaming out;
  const Renamable place = renamable(session, path, offset);
  out.refusal = place.refusal;
  if (!out.refusal.empty()) return out;
  const std::string before(session.sources().text(place.span));
  const bool quoted = before.starts_with("'");
  const std::string plain = quoted && name.starts_with("'") ? name.substr(1) : name;
  std::map<std::string, source::Diagnostics> found;
  if (is_seen_outside(mention_at(session, path, offset)->meaning.kind))
    found = check_files(session, others, std::string(without_quote(before)));
  else
    found.emplace(path, session.check(path));
  const Mention mention = *mention_at(session, path, offset);  // other files may say that fields are one
  out.refusal = refusal_of_name(plain, mention.meaning.kind);
  const std::string replacement = quoted ? "'" + plain : plain;
  if (!out.refusal.empty() || before == replacement) return out;
  add_edits(session, mention, replacement, out);
  if (out.refusal.empty() && is_seen_outside(mention.meaning.kind))
    run([&] { add_edits_of_examples(session, mention.meaning, before, replacement, out); });
  if (out.refusal.empty()) out.refusal = refusal_of_errors(session, found, mention, out.edits);
  if (out.refusal.empty())
    run([&] { out.refusal = Trial(session, out.edits, mention.meaning, plain).run(); });
  if (!out.refusal.empty()) out.edits.clear();
  return out;
}

}  // namespace axon::query
