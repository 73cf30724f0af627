// See definitions.h.
#include "repl/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "core/print.h"
#include "query/complete.h"
#include "query/typed.h"
#include "repl/lexed.h"
#include "repl/typed_places.h"
#include "session/try_edits.h"
#include "source/files.h"

namespace axon::repl {

namespace {

/// No file has such a name: what is on disk is never shadowed.
std::string document_in(const std::filesystem::path& folder) { return (folder / "(repl).axn").string(); }

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

std::vector<Kept> Definitions::without(const std::vector<Item>& replaced) const {
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
  wanted.push_back({made(name, fmt::format("val {} = ", name), with_it(expression)), false, true});
  return change(std::move(wanted), kept_.size(), expression, keep);
}

size_t Definitions::parameters_of(const std::string& expression) {
  const std::string name = free_name("value");
  size_t count = 0;
  probe(fmt::format("val {} = {}", name, expression), name, [&](const session::Record& record) {
    const core::Program& program = record.checked->program;
    const core::Type& type = program.types.types[program.globals[record.checked->global].scheme.type];
    if (type.kind == core::Type::Kind::function) count = type.items.size() - 1;
  });
  return count;
}

Kept Definitions::entry_of(const std::string& expression, size_t parameters) const {
  std::string names;
  for (size_t i = 0; i < parameters; ++i) names += " " + free_name(fmt::format("x{}", i + 1));
  const std::string before = fmt::format("entry {}{} = {}", entry(), names, parameters == 0 ? "" : "(");
  Item item = made(entry(), before, with_it(expression));
  if (parameters != 0) item.text += ")" + names;
  return {std::move(item), false, true};
}

Definitions::Outcome Definitions::run_check(const std::string& expression, size_t parameters) {
  std::vector<Kept> wanted = kept_;
  wanted.push_back(entry_of(expression, parameters));
  return change(std::move(wanted), kept_.size(), expression, false);
}

Definitions::Outcome Definitions::probe(const std::string& declaration, const std::string& name,
                                        const Look& look) {
  std::vector<Kept> wanted = kept_;
  wanted.push_back({made(name, "", with_it(declaration)), false, true});
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
  const std::string before = path_, loaded_path = loaded_path_, loaded_text = loaded_text_;
  loaded_path_ = path;
  loaded_text_ = text;
  if (document_in(folder) != path_) {
    session_.documents().close(path_);
    path_ = document_in(folder);
  }
  const auto go_back = [&] {
    session_.documents().close(path_);
    path_ = before;
    loaded_path_ = loaded_path;
    loaded_text_ = loaded_text;
    session_.documents().open(path_, joined(kept_));
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

/// The diagnostic in places of what was typed.
std::string Definitions::rendered(const source::Diagnostic& found, const KeptRanges& ranges, size_t fresh,
                                  const std::string& phrase) const {
  source::FileId document;
  std::string_view text;
  if (const session::Document* own = session_.documents().find(path_)) {
    document = own->text().source;
    text = session_.sources()[document].text();
  }
  TypedPlaces places({phrase, loaded_path_, loaded_text_, it_}, ranges, fresh, text);
  return rendered(places.moved(found, session_.sources(), document), places);
}

/// What is said of the entry that an expression became is of no use.
std::string Definitions::rendered(source::Diagnostic d, const TypedPlaces& places) const {
  const std::string made_entry = fmt::format("`entry {}", entry());
  std::erase_if(d.helps,
                [&](const source::Help& help) { return help.text.find(made_entry) != std::string::npos; });
  return with_its(source::render_human(d, places.sources(), render_), it_);
}

/// Whether the bytes of a file are no text: then nothing else that is said of it means anything.
static bool is_about_bytes(const source::Diagnostic& d) {
  return d.code == source::Code::E0003 || d.code == source::Code::E0004;
}

/// What a file of the session is told, with those edits alone that repair something.
source::Diagnostics Definitions::checked(const std::string& path) {
  source::Diagnostics found = session_.check_with_drafts(path);
  const source::FileId own = session_.documents().find(path)->text().source;
  source::Diagnostics bytes;
  for (const source::Diagnostic& d : found.in_order_of_report())
    if (d.primary.span.file == own && is_about_bytes(d)) bytes.report(d);
  if (bytes.has_errors()) return bytes;
  session::try_edits(session_, path, own, found);
  return found;
}

/// Sorts what is said of the wanted definitions: that of the phrase and of other files into the outcome, the
/// rest by the definition that it is about.
Definitions::Errors Definitions::sort_errors(const std::vector<Kept>& wanted, size_t fresh,
                                             const std::string& phrase, const KeptRanges& ranges,
                                             Outcome& outcome) {
  const source::Diagnostics found = checked(path_);
  const source::FileId document = session_.documents().find(path_)->text().source;
  Errors errors;
  for (source::Diagnostic d : found.sorted()) {
    const bool here = d.primary.span.file == document;
    size_t item = 0;
    while (here && item + 1 < ranges.size() && d.primary.span.begin > ranges[item].end) ++item;
    if (here) item = blamed(d, item, wanted, fresh, ranges);
    const bool is_error = d.severity == source::Severity::error;
    const bool of_phrase = here && fresh < wanted.size() && item >= fresh;
    if (!here || of_phrase) {
      (is_error ? outcome.errors : outcome.warnings) += rendered(d, ranges, fresh, phrase);
      if (is_error) outcome.found.push_back(d);
    } else if (is_error && !wanted.empty()) {
      Broken& broken = errors[wanted[item].item.name];
      broken.text += rendered(d, ranges, fresh, phrase);
      broken.found.push_back(d);
    }
  }
  return errors;
}

/// Which definitions check no longer, and which do again; of the values that were typed, the last one. That
/// it can no longer be made is explained where something uses it.
void Definitions::compare_broken(const std::vector<Kept>& wanted, const Errors& errors,
                                 Outcome& outcome) const {
  const auto failing = [&](const Errors& all, const std::vector<Kept>& among) {
    std::set<std::string> names, shown;
    for (const auto& [name, error] : all) names.insert(name);
    for (const std::string& name : with_users_of_values(names, among))
      if (!is_value_of(among, name) || name == it_) shown.insert(name == it_ ? "it" : name);
    return shown;
  };
  const std::set<std::string> before = failing(broken_, kept_), now = failing(errors, wanted);
  std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                      std::back_inserter(outcome.broken));
  std::set_difference(before.begin(), before.end(), now.begin(), now.end(),
                      std::back_inserter(outcome.mended));
  for (const auto& [name, error] : errors) {
    const auto users = with_users_of_values({name}, wanted);
    const bool matters = std::any_of(users.begin(), users.end(),
                                     [&](const std::string& user) { return !is_value_of(wanted, user); });
    if (matters && !broken_.contains(name)) outcome.broken_errors += error.text;
  }
}

/// The types of the definitions of the phrase.
void Definitions::read_types(const std::vector<Kept>& wanted, size_t fresh, const Look& look,
                             Outcome& outcome) const {
  for (size_t i = fresh; i < wanted.size(); ++i) {
    const Item& item = wanted[i].item;
    if (item.is_type || item.is_signature || item.name.empty()) continue;
    const auto entry = value_here(item.name);
    if (!entry) continue;
    outcome.types.push_back({entry->key.name, with_its(type_of(*entry), it_)});
    if (look && outcome.errors.empty() && entry->record && entry->record->checked) look(*entry->record);
  }
}

/// Checks other definitions, of which those from `fresh` on are the phrase, and keeps them where it is right.
Definitions::Outcome Definitions::change(std::vector<Kept> wanted, size_t fresh, const std::string& phrase,
                                         bool keep, const Look& look) {
  KeptRanges ranges;
  const std::string text = joined(wanted, &ranges);
  const auto back = [&] { session_.documents().open(path_, joined(kept_)); };
  Outcome outcome;
  try {
    session_.documents().open(path_, text);
    Errors errors = sort_errors(wanted, fresh, phrase, ranges, outcome);
    compare_broken(wanted, errors, outcome);
    read_types(wanted, fresh, look, outcome);
    if (!keep || !outcome.errors.empty()) {
      back();
    } else {
      kept_ = std::move(wanted);
      broken_ = std::move(errors);
    }
  } catch (...) {
    back();
    throw;
  }
  return outcome;
}

std::string Definitions::type_of(const session::Entry& entry) const {
  if (entry.decl && syntax::as<syntax::TestDecl>(*entry.decl)) return "bool";
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
  std::set<std::string> all;
  for (const auto& [name, error] : broken_) all.insert(name);
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

Answer Definitions::why_broken(const std::string& text) const {
  const std::string name = broken_in(text);
  if (name.empty()) return {};
  const auto own = broken_.find(name == "it" ? it_ : name);
  const bool itself = own != broken_.end();
  std::string used, errors;
  std::vector<source::Diagnostic> found;
  for (const auto& [other, broken] : broken_) {
    if (itself && other != own->first) continue;
    used += fmt::format("{}`{}`", used.empty() ? "" : " or ", with_its(other, it_));
    errors += broken.text;
    found.insert(found.end(), broken.found.begin(), broken.found.end());
  }
  Answer answer = error_answer(
      itself ? fmt::format("error: `{}` no longer checks\n{}", name, errors)
             : fmt::format("error: `{}` uses {}, which no longer checks\n{}", name, used, errors));
  answer.found = std::move(found);
  return answer;
}

std::vector<Kept> Definitions::checked_definitions() const {
  const std::set<std::string> broken = all_broken();
  std::vector<Kept> all = kept_;
  std::erase_if(all, [&](const Kept& kept) { return broken.count(kept.item.name) != 0; });
  return all;
}

std::string Definitions::program() const { return joined(checked_definitions()); }

std::string Definitions::program(const std::string& expression, size_t parameters) const {
  return program() + entry_of(expression, parameters).item.text + "\n";
}

/// All that it says in words.
static void for_each_text(source::Diagnostic& d, const std::function<void(std::string&)>& f) {
  f(d.message);
  f(d.primary.text);
  f(d.body);
  for (source::Label& label : d.secondary) f(label.text);
  for (source::Note& note : d.notes) f(note.text);
  for (source::Help& help : d.helps) f(help.text);
}

std::string Definitions::as_typed(Found& found, const std::string& expression, size_t parameters) const {
  std::vector<Kept> all = checked_definitions();
  const size_t fresh = all.size();
  all.push_back(entry_of(expression, parameters));
  KeptRanges ranges;
  const std::string text = joined(all, &ranges);
  source::SourceManager files;
  source::Diagnostics ignored;
  source::FileId document;
  for (const Found::File& file : found.files) {
    const source::FileId id = files.add(file.name, file.text, ignored);
    if (file.name == path_) document = id;
  }
  const source::SourceFile& program = files[files.add("program", text, ignored)];
  std::string out;
  for (source::Diagnostic& d : found.diagnostics) {
    TypedPlaces places({expression, loaded_path_, loaded_text_, it_}, ranges, fresh, text);
    for_each_text(d, [&](std::string& said) { said = places.moved(said, program, path_); });
    out += rendered(places.moved(d, files, document), places);
  }
  return out;
}

std::string Definitions::source(const std::string& folder, std::string& problem) const {
  // A definition that mentions `it` needs the value that this was.
  std::set<std::string> used;
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    if (kept->hidden && !used.count(kept->item.name)) continue;
    for (const Kept& other : kept_)
      if (other.hidden && !places_of(kept->item.text, other.item.name).empty()) used.insert(other.item.name);
  }
  const std::string from = std::filesystem::path(path_).parent_path().string();
  std::string text;
  for (const Kept& kept : kept_)
    if (!kept.hidden || used.count(kept.item.name)) {
      const auto one = moved_import(kept.item, from, folder);
      if (!one) {
        problem =
            fmt::format("error: the file of the import `{}` lies outside of `{}`\n", kept.item.name, folder);
        return "";
      }
      const size_t first = text.empty() ? one->find_first_not_of("\n") : 0;
      text += one->substr(first == std::string::npos ? 0 : first) + "\n";
    }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

std::vector<Typed> Definitions::types(bool all) {
  bring_up_to_date();
  const std::set<std::string> broken = all_broken();
  std::vector<Typed> types;
  for (const Kept& kept : kept_) {
    if ((kept.hidden && !all) || kept.item.is_type || kept.item.is_signature || kept.item.name.empty())
      continue;
    if (const auto entry = value_here(kept.item.name))
      types.push_back({kept.item.name, broken_.count(kept.item.name)  ? "no longer checks"
                                       : broken.count(kept.item.name) ? "uses what no longer checks"
                                                                      : with_its(type_of(*entry), it_)});
  }
  return types;
}

std::vector<std::string> Definitions::others() const {
  const std::set<std::string> broken = all_broken();
  std::vector<std::string> texts;
  for (const Kept& kept : kept_)
    if (kept.item.is_type && !kept.item.name.empty())
      texts.push_back(declaration_of(kept.item) +
                      (broken.contains(kept.item.name) ? "  -- no longer checks" : ""));
  return texts;
}

/// The value of that name as it is declared here; where its type is stated, with what that is stated of.
std::optional<session::Entry> Definitions::value_here(const std::string& name) const {
  for (const session::Entry& entry : session_.declarations(path_))
    if (entry.key.name == name && entry.key.space == core::DeclKey::Space::values) return entry;
  return std::nullopt;
}

bool Definitions::defines(const std::string& name) const {
  return std::any_of(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.item.name == name; });
}

size_t Definitions::loaded() const {
  return static_cast<size_t>(std::count_if(kept_.begin(), kept_.end(), [](const Kept& k) {
    return k.loaded && !k.item.is_signature && !k.item.name.empty();
  }));
}

/// Checks the definitions as they are kept. After a phrase was refused the session knows those of the phrase.
void Definitions::bring_up_to_date() {
  if (!session_.is_checked(path_)) session_.check(path_);
}

bool Definitions::is_value(const std::string& name) {
  if (name == "it") return !it_.empty();
  bring_up_to_date();
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

/// An operator as a function.
static std::string function_of(const std::string& name) {
  const Lexed lexed(name);
  const bool is_sign = lexed.tokens.size() == 1 && std::none_of(name.begin(), name.end(), [](char c) {
                         return std::isalnum(static_cast<unsigned char>(c)) ||
                                std::string_view("_,.:?|()[]{}'\"").find(c) != std::string_view::npos;
                       });
  return is_sign ? fmt::format("fn a b => a {} b", name) : "";
}

std::optional<session::Entry> Definitions::find(const std::string& name) {
  const std::string function = function_of(name);
  if (!is_name(name) && function.empty()) return std::nullopt;
  // A value that uses it sees what it stands for, and has it checked.
  std::optional<core::DeclKey> key;
  const std::string user = free_name("question");
  probe(fmt::format("val {} = {}", user, function.empty() ? name : function), user,
        [&](const session::Record& record) {
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
  return entry && entry->decl ? documentation(name, *entry) : "";
}

std::string Definitions::documentation(const std::string& name, const session::Entry& entry) const {
  std::string text = entry.decl->doc;
  while (text.ends_with('\n')) text.pop_back();
  if (!text.empty()) text += "\n";
  if (entry.key.space != core::DeclKey::Space::values)
    return std::string(session_.sources().text(entry.decl->span)) + "\n" + text;
  const std::string type = with_its(type_of(entry), it_);
  return (type.empty() ? name : query::declaration_text(name, type)) + "\n" + text;
}

std::string Definitions::type_of_name(const std::string& name) {
  if (broken_in(name) != "") return "";
  const auto entry = find(name);
  if (!entry || !entry->decl || entry->key.space != core::DeclKey::Space::values) return "";
  const std::string type = with_its(type_of(*entry), it_);
  return type == "?" ? "" : type;
}

std::vector<std::string> Definitions::completions(const std::string& phrase, size_t word) {
  bring_up_to_date();
  const bool defines_something = kind_of(phrase) == PhraseKind::definitions;
  const std::string before = defines_something ? "" : fmt::format("val {} = ", free_name("value"));
  const std::string text =
      joined(kept_) + before + with_it(phrase.substr(0, word)) + phrase.substr(word) + "\n";
  query::Completions found;
  session_.documents().open(path_, text);
  try {
    found = query::complete(session_, path_, static_cast<uint32_t>(text.size() - 1), counts_);
  } catch (...) {
    session_.documents().open(path_, joined(kept_));
    throw;
  }
  session_.documents().open(path_, joined(kept_));
  std::vector<std::string> names;
  for (query::Completion& one : found.items) {
    if (one.name == it_) one.name = "it";
    if (!one.import && !is_value_of(kept_, one.name)) names.push_back(std::move(one.name));
  }
  return names;
}

std::vector<std::string> Definitions::imports() const {
  std::vector<std::string> names;
  for (const Kept& kept : kept_)
    if (kept.item.is_type && !session_.imported(path_, kept.item.name).empty())
      names.push_back(kept.item.name);
  return names;
}

std::vector<std::string> Definitions::names() {
  bring_up_to_date();
  std::set<std::string> names = {"it"};
  for (const std::string& path : session_.documents().paths())
    for (const session::Entry& entry : session_.declarations(path))
      if (entry.decl && !entry.decl->is_private && !entry.key.name.starts_with("it_") &&
          entry.key.name.find(' ') == std::string::npos)
        names.insert(entry.key.name);
  return {names.begin(), names.end()};
}

}  // namespace axon::repl
