// See definitions.h.
#include "repl/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/print.h"
#include "session/try_edits.h"
#include "source/files.h"

namespace axon::repl {

namespace {

/// No file has such a name: what is on disk is never shadowed.
std::string document_in(const std::filesystem::path& folder) { return (folder / "(repl).axn").string(); }

/// The text with every `it_N` as the user knows it.
std::string with_its(std::string text, const std::string& it) {
  for (size_t at = 0; !it.empty() && (at = text.find(it, at)) != std::string::npos; at += 2)
    text.replace(at, it.size(), "it");
  return text;
}

}  // namespace

Definitions::Definitions(std::vector<std::string> library, source::RenderOptions render)
    : session_(std::move(library), {}), render_(render) {
  std::error_code ignored;
  path_ = document_in(std::filesystem::current_path(ignored));
  session_.documents().open(path_, "");
}

/// What the phrase says, with the last value for `it`.
std::string Definitions::with_it(const std::string& phrase) const {
  std::string text = phrase;
  if (it_.empty()) return text;
  const auto places = places_of(phrase, "it");
  for (auto place = places.rbegin(); place != places.rend(); ++place) text.replace(*place, 2, it_);
  return text;
}

std::string Definitions::text_of(const std::vector<Kept>& all) {
  std::string text;
  for (const Kept& kept : all) text += kept.item.text + "\n";
  return text;
}

std::vector<Definitions::Kept> Definitions::without(const std::vector<Item>& replaced) const {
  std::vector<Kept> left;
  for (const Kept& kept : kept_) {
    const bool gone = std::any_of(replaced.begin(), replaced.end(), [&](const Item& item) {
      // a definition without a stated type gives up the one that was stated before
      return item.same_as(kept.item) ||
             (!item.name.empty() && kept.item.is_signature && !item.is_type && item.name == kept.item.name);
    });
    if (!gone) left.push_back(kept);
  }
  return left;
}

Definitions::Outcome Definitions::define(const std::string& phrase) {
  const std::vector<Item> items = items_of(with_it(phrase));
  std::vector<Kept> wanted = without(items);
  const size_t fresh = wanted.size();
  for (const Item& item : items) wanted.push_back({item, false, false});
  return change(std::move(wanted), fresh, phrase, true);
}

Definitions::Outcome Definitions::evaluate(const std::string& expression, const std::string& name,
                                           bool keep) {
  std::vector<Kept> wanted = kept_;
  Item item{name, false, false, fmt::format("val {} = {}", name, with_it(expression))};
  wanted.push_back({std::move(item), false, true});
  return change(std::move(wanted), kept_.size(), expression, keep);
}

Definitions::Outcome Definitions::probe(const std::string& declaration, const std::string& name,
                                        const Look& look) {
  std::vector<Kept> wanted = kept_;
  wanted.push_back({{name, false, false, with_it(declaration)}, false, true});
  return change(std::move(wanted), kept_.size(), declaration, false, look);
}

Definitions::Outcome Definitions::load(const std::string& path, const std::string& text) {
  session_.documents().reload();
  Outcome of_file;
  if (session_.documents().read(path))
    for (const source::Diagnostic& d : checked(path).sorted()) {
      const bool is_error = d.severity == source::Severity::error;
      (is_error ? of_file.errors : of_file.warnings) += rendered(d, {}, 0, "");
      if (is_error) of_file.found.push_back(d);
    }
  if (!of_file.errors.empty()) return of_file;
  const std::vector<Item> items = items_of(text);
  std::vector<Kept> own, wanted;
  for (const Kept& kept : kept_)
    if (!kept.loaded &&
        std::none_of(items.begin(), items.end(), [&](const Item& i) { return i.same_as(kept.item); }))
      own.push_back(kept);
  for (const Item& item : items)
    if (!item.text.empty()) wanted.push_back({item, true, false});
  wanted.insert(wanted.end(), own.begin(), own.end());
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  const std::string before = path_;
  if (document_in(folder) != path_) {
    session_.documents().close(path_);
    path_ = document_in(folder);
  }
  const auto go_back = [&] {
    session_.documents().close(path_);
    path_ = before;
    session_.documents().open(path_, text_of(kept_));
  };
  try {
    Outcome outcome = change(std::move(wanted), static_cast<size_t>(-1), "", true);
    outcome.warnings = of_file.warnings + outcome.warnings;
    if (!outcome.errors.empty()) go_back();
    return outcome;
  } catch (...) {
    go_back();
    throw;
  }
}

/// The diagnostic in places of the phrase, where it is in there, and of the definitions elsewhere.
std::string Definitions::rendered(const source::Diagnostic& found, const Ranges& ranges, size_t fresh,
                                  const std::string& phrase) const {
  source::SourceManager sources;
  source::Diagnostics ignored;
  const bool has_phrase = fresh < ranges.size();
  const size_t begin = has_phrase ? ranges[fresh].first : static_cast<size_t>(-1);
  const std::string_view whole =
      session_.documents().find(path_)
          ? session_.sources()[session_.documents().find(path_)->text().source].text()
          : "";
  const source::FileId document = session_.documents().find(path_)->text().source;
  const source::FileId typed = sources.add("repl", phrase, ignored);
  std::map<source::FileId, source::FileId> others;
  // Before the phrase stands what hides it (`val it_1 = `), and in it `it` is longer.
  size_t prefix = 0;
  std::vector<size_t> its;
  if (has_phrase) {
    const std::string written = with_it(phrase);
    const size_t at = whole.find(written, begin);
    prefix = at == std::string_view::npos ? begin : at;
    if (!it_.empty()) its = places_of(phrase, "it");
  }
  const auto move = [&](source::Span& span) {
    if (!span.valid()) return;
    if (span.file == document && has_phrase && span.begin >= begin) {
      const auto place = [&](uint32_t offset) {
        size_t at = offset > prefix ? offset - prefix : 0;
        for (size_t i : its)
          if (at > i) at = std::max(i + std::min<size_t>(at - i, 2), at - (it_.size() - 2));
        return static_cast<uint32_t>(std::min(at, phrase.size()));
      };
      span = {typed, place(span.begin), place(span.end)};
      return;
    }
    auto [other, added] = others.try_emplace(span.file);
    if (added) {
      const source::SourceFile& file = session_.sources()[span.file];
      other->second =
          sources.add(span.file == document ? "definitions" : file.name(), std::string(file.text()), ignored);
    }
    span.file = other->second;
  };
  source::Diagnostic d = found;
  move(d.primary.span);
  for (source::Label& label : d.secondary) move(label.span);
  for (source::Help& help : d.helps)
    if (help.edit) move(help.edit->span);
  return with_its(source::render_human(d, sources, render_), it_);
}

/// What a file of the session is told, with those edits alone that repair something.
source::Diagnostics Definitions::checked(const std::string& path) {
  source::Diagnostics found = session_.check_with_drafts(path);
  session::try_edits(session_, path, session_.documents().find(path)->text().source, found);
  return found;
}

/// Sorts what is said of the wanted definitions: that of the phrase and of other files into the outcome, the
/// rest by the definition that it is about.
Definitions::Errors Definitions::sort_errors(const std::vector<Kept>& wanted, size_t fresh,
                                             const std::string& phrase, const Ranges& ranges,
                                             Outcome& outcome) {
  const source::Diagnostics found = checked(path_);
  const source::FileId document = session_.documents().find(path_)->text().source;
  Errors errors;
  for (const source::Diagnostic& d : found.sorted()) {
    const bool here = d.primary.span.file == document;
    size_t item = 0;
    while (here && item + 1 < ranges.size() && d.primary.span.begin > ranges[item].second) ++item;
    const bool is_error = d.severity == source::Severity::error;
    const bool of_phrase = here && fresh < wanted.size() && item >= fresh;
    if (!here || of_phrase) {
      (is_error ? outcome.errors : outcome.warnings) += rendered(d, ranges, fresh, phrase);
      if (is_error) outcome.found.push_back(d);
    } else if (is_error && !wanted.empty()) {
      errors[wanted[item].item.name] += rendered(d, ranges, fresh, phrase);
    }
  }
  return errors;
}

/// Which definitions check no longer, and which do again. A value that was typed is none: that it can no
/// longer be made is said where `it` is used.
void Definitions::compare_broken(const Errors& errors, Outcome& outcome) const {
  for (const auto& [name, text] : errors)
    if (!name.starts_with("it_") && !broken_.count(name)) {
      outcome.broken.push_back(name);
      outcome.broken_errors += text;
    }
  for (const std::string& name : broken_)
    if (!name.starts_with("it_") && !errors.count(name)) outcome.mended.push_back(name);
}

/// The types of the definitions of the phrase.
void Definitions::read_types(const std::vector<Kept>& wanted, size_t fresh, const Look& look,
                             Outcome& outcome) const {
  for (size_t i = fresh; i < wanted.size(); ++i) {
    const Item& item = wanted[i].item;
    if (item.is_type || item.is_signature || item.name.empty()) continue;
    for (const session::Entry& entry : session_.declarations(path_)) {
      if (entry.key.name != item.name || entry.key.space != core::DeclKey::Space::values) continue;
      outcome.types.push_back({entry.key.name, with_its(type_of(entry), it_)});
      if (look && outcome.errors.empty() && entry.record && entry.record->checked) look(*entry.record);
    }
  }
}

/// Checks other definitions, of which those from `fresh` on are the phrase, and keeps them where it is right.
Definitions::Outcome Definitions::change(std::vector<Kept> wanted, size_t fresh, const std::string& phrase,
                                         bool keep, const Look& look) {
  std::string text;
  Ranges ranges;
  for (const Kept& kept : wanted) {
    ranges.emplace_back(text.size(), text.size() + kept.item.text.size());
    text += kept.item.text + "\n";
  }
  const auto back = [&] { session_.documents().open(path_, text_of(kept_)); };
  Outcome outcome;
  try {
    session_.documents().open(path_, text);
    const Errors errors = sort_errors(wanted, fresh, phrase, ranges, outcome);
    compare_broken(errors, outcome);
    read_types(wanted, fresh, look, outcome);
    if (!keep || !outcome.errors.empty()) {
      back();
    } else {
      kept_ = std::move(wanted);
      broken_.clear();
      for (const auto& [name, said] : errors) broken_.insert(name);
    }
  } catch (...) {
    back();
    throw;
  }
  return outcome;
}

std::string Definitions::type_of(const session::Entry& entry) const {
  if (!entry.record || !entry.record->checked) return "?";
  const shape::UseArena use(entry.record->checked->arena);
  entry.record->checked->program.own = {entry.record->checked->global};
  std::string text = core::print_types(entry.record->checked->program);
  const std::string prefix = entry.key.name + " : ";
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// Those that do not check, and those that use them.
std::set<std::string> Definitions::all_broken() const {
  std::set<std::string> all = broken_;
  for (size_t before = 0; before != all.size() && !broken_.empty();) {
    before = all.size();
    for (const Kept& kept : kept_)
      for (const std::string& name : std::set<std::string>(all))
        if (!places_of(kept.item.text, name).empty()) all.insert(kept.item.name);
  }
  return all;
}

std::string Definitions::broken_in(const std::string& text) const {
  const std::string meant = with_it(text);
  for (const std::string& name : all_broken())
    if (!places_of(meant, name).empty()) return name == it_ ? "it" : name;
  return "";
}

std::string Definitions::program() const {
  const std::set<std::string> broken = all_broken();
  std::string text;
  for (const Kept& kept : kept_)
    if (!broken.count(kept.item.name)) text += kept.item.text + "\n";
  return text;
}

std::string Definitions::program(const std::string& entry, const std::string& expression) const {
  return program() + fmt::format("entry {} = {}\n", entry, with_it(expression));
}

std::string Definitions::source() const {
  // A definition that mentions `it` needs the value that this was.
  std::set<std::string> used;
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    if (kept->hidden && !used.count(kept->item.name)) continue;
    for (const Kept& other : kept_)
      if (other.hidden && !places_of(kept->item.text, other.item.name).empty()) used.insert(other.item.name);
  }
  std::string text;
  for (const Kept& kept : kept_)
    if (!kept.hidden || used.count(kept.item.name)) {
      const size_t first = kept.item.text.find_first_not_of("\n");
      text += kept.item.text.substr(first == std::string::npos ? 0 : first) + "\n";
    }
  return text;
}

std::vector<Typed> Definitions::types(bool all) const {
  const std::set<std::string> broken = all_broken();
  std::vector<Typed> types;
  for (const Kept& kept : kept_) {
    if ((kept.hidden && !all) || kept.item.is_type || kept.item.is_signature || kept.item.name.empty())
      continue;
    for (const session::Entry& entry : session_.declarations(path_))
      if (entry.key.name == kept.item.name && entry.key.space == core::DeclKey::Space::values)
        types.push_back({kept.item.name, broken_.count(kept.item.name)  ? "no longer checks"
                                         : broken.count(kept.item.name) ? "uses what no longer checks"
                                                                        : with_its(type_of(entry), it_)});
  }
  return types;
}

bool Definitions::defines(const std::string& name) const {
  return std::any_of(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.item.name == name; });
}

size_t Definitions::loaded() const {
  return static_cast<size_t>(std::count_if(kept_.begin(), kept_.end(), [](const Kept& k) {
    return k.loaded && !k.item.is_signature && !k.item.name.empty();
  }));
}

void Definitions::see_library() {
  if (session_.prelude().empty()) session_.check(path_);
}

bool Definitions::is_value(const std::string& name) {
  if (name == "it") return !it_.empty();
  see_library();
  const auto& prelude = session_.prelude();
  return std::any_of(kept_.begin(), kept_.end(),
                     [&](const Kept& k) { return k.item.name == name && !k.item.is_type; }) ||
         std::any_of(prelude.begin(), prelude.end(), [&](const core::DeclKey& k) { return k.name == name; });
}

std::string Definitions::free_name(std::string name) const {
  while (defines(name)) name += "_";
  return name;
}

/// A name, or names with points between them.
static bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  });
}

std::optional<session::Entry> Definitions::find(const std::string& name) {
  if (!is_name(name)) return std::nullopt;
  // A value that uses it sees what it stands for, and has it checked.
  std::optional<core::DeclKey> key;
  const std::string user = free_name("question");
  probe(fmt::format("val {} = {}", user, name), user, [&](const session::Record& record) {
    for (const core::SharedKey& used : record.named) key = *used;
  });
  if (key) return session_.find(*key);
  for (const bool own : {true, false})
    for (const std::string& path : session_.documents().paths()) {
      if ((path == source::file_identity(path_)) != own) continue;
      for (const session::Entry& entry : session_.declarations(path))
        if (entry.key.name == name && entry.decl && (own || !entry.decl->is_private)) return entry;
    }
  return std::nullopt;
}

std::string Definitions::documentation(const std::string& name) {
  const auto entry = find(name);
  if (!entry || !entry->decl) return "";
  std::string text = entry->decl->doc;
  while (text.ends_with('\n')) text.pop_back();
  if (!text.empty()) text += "\n";
  if (entry->key.space != core::DeclKey::Space::values)
    return std::string(session_.sources().text(entry->decl->span)) + "\n" + text;
  const std::string type = with_its(type_of(*entry), it_);
  return fmt::format("{}{}\n{}", name, type.empty() ? "" : " : " + type, text);
}

std::string Definitions::type_of_name(const std::string& name) {
  if (broken_in(name) != "") return "";
  const auto entry = find(name);
  if (!entry || !entry->decl || entry->key.space != core::DeclKey::Space::values) return "";
  const std::string type = with_its(type_of(*entry), it_);
  return type == "?" ? "" : type;
}

std::vector<std::string> Definitions::fields_of(const std::string& expression) {
  std::vector<std::string> fields;
  if (const std::string module = session_.imported(path_, expression); !module.empty()) {
    for (const session::Entry& entry : session_.declarations(module))
      if (entry.decl && !entry.decl->is_private) fields.push_back(entry.key.name);
    return fields;
  }
  if (!is_name(expression)) return fields;
  const std::string name = free_name("record");
  probe(fmt::format("val {} = {}", name, expression), name, [&](const session::Record& record) {
    const core::Program& program = record.checked->program;
    fields = program.types.types[program.globals[record.checked->global].scheme.type].fields;
  });
  return fields;
}

std::vector<std::string> Definitions::names() {
  see_library();
  std::set<std::string> names = {"it"};
  for (const std::string& path : session_.documents().paths())
    for (const session::Entry& entry : session_.declarations(path))
      if (entry.decl && !entry.decl->is_private && !entry.key.name.starts_with("it_") &&
          entry.key.name.find(' ') == std::string::npos)
        names.insert(entry.key.name);
  return {names.begin(), names.end()};
}

}  // namespace axon::repl
