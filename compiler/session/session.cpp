// See session.h.
#include "session/session.h"

#include <algorithm>

#include "base/outside.h"
#include "core/print.h"
#include "source/files.h"

namespace axon::session {

using core::DeclId;
using core::DeclKey;
using source::Diagnostic;
using source::Diagnostics;

/// The same with all its places in whole files.
Diagnostic Session::in_whole(Diagnostic d) const {
  const source::SourceManager& all = sources();
  d.primary.span = all.in_whole(d.primary.span);
  for (source::Label& label : d.secondary) label.span = all.in_whole(label.span);
  for (source::Help& help : d.helps)
    if (help.edit) help.edit->span = all.in_whole(help.edit->span);
  return d;
}

/// Whether those that use the declaration find it as it was.
static bool has_same_interface(const Record& a, const Record& b) {
  return a.interface && b.interface && a.interface->fingerprint() == b.interface->fingerprint();
}

/// A file with the modules that it sees.
struct Session::View {
  View(Session& s, const std::string& path)
      : modules(
            s.sources(), s.documents_.disk(),
            [&s](const std::string& module) { return s.documents_.load(module); }, found),
        own(modules.open_program(*s.documents_.read(path), s.options_.root)),
        round(s.documents_, modules, s.options_, s.records_) {}
  Diagnostics found;
  core::Modules modules;
  const core::Module& own;
  Round round;
};

std::vector<DeclId> Session::declarations_of(const View& view) {
  std::vector<DeclId> out = view.own.in_order;
  for (const auto& [name, d] : view.own.layouts) out.push_back(d);
  return out;
}

/// Brings what is known of the file's declarations up to date, and says what is wrong.
Diagnostics Session::run(View& view) {
  view.round.run(declarations_of(view));
  return reports(view);
}

/// Of all that the round has brought up to date.
Diagnostics Session::reports(const View& view) const {
  Diagnostics found = view.found;
  for (const core::Module* m : view.modules.all())
    for (const Diagnostic& d : documents_.find(m->text.source)->reports()) found.report(d);
  for (DeclId reached : view.round.reached())
    for (const Diagnostic& d : records_.at(view.modules.key(reached)).reports) found.report(d);
  core::SharedWeights weights(found);
  for (DeclId d : view.own.in_order)
    if (view.modules[d].kind == core::Global::Kind::entry)
      if (const auto& taken = records_.at(view.modules.key(d)).weights) weights.add(*taken);
  found.revise([&](Diagnostic& d) { d = in_whole(std::move(d)); });
  return found;
}

/// Of what is declared no longer, such as a name that was typed halfway, the last ones are kept: a name that
/// comes back with an error still has its last good type.
void Session::forget_gone(const core::Modules& modules) {
  constexpr size_t most_kept = 32;
  const auto is_gone = [&](const core::DeclKey& key) {
    if (modules.module(key.module)) return !modules.find(key).valid();
    return !documents_.has(core::file_of_module(key.module));
  };
  std::erase_if(gone_, [&](const core::DeclKey& key) { return !is_gone(key); });
  for (const auto& [key, record] : records_)
    if (is_gone(key) && std::find(gone_.begin(), gone_.end(), key) == gone_.end()) gone_.push_back(key);
  std::erase_if(programs_, [&](const auto& program) { return !documents_.has(program.first); });
  std::vector<Records::node_type> dropped;
  const auto first_kept = gone_.end() - static_cast<long>(std::min(gone_.size(), most_kept));
  for (auto key = gone_.begin(); key != first_kept; ++key) dropped.push_back(records_.extract(*key));
  gone_.erase(gone_.begin(), first_kept);
  if (!dropped.empty()) base::outside([] {}, [&] { dropped.clear(); });
}

Diagnostics Session::check_with_drafts(const std::string& path) {
  View view(*this, path);
  Diagnostics found = run(view);
  checked_ = view.round.checked();
  Program& program = programs_[documents_.identity(path)];
  program = {view.own.identity, {}, {}, {}, documents_.changes()};
  for (const core::Module* m : view.modules.all())
    program.texts.emplace_back(m->text.source, documents_.find(m->text.source)->version());
  for (DeclId d : view.own.in_order) program.declarations.push_back(view.modules.key(d));
  for (const auto& [name, module] : view.own.imports)
    if (module) program.imports[name] = core::file_of_module(module->identity);
  prelude_.clear();
  for (const std::string& name : view.modules.library_names())
    prelude_.push_back(view.modules.key(view.modules.in_library(core::DeclKey::Space::values, name)));
  forget_gone(view.modules);
  return found;
}

bool Session::is_checked(const std::string& path) const {
  const auto program = programs_.find(documents_.identity(path));
  if (program == programs_.end() || program->second.changes != documents_.changes()) return false;
  const auto& texts = program->second.texts;
  return std::all_of(texts.begin(), texts.end(), [&](const auto& text) {
    const Document* const document = documents_.find(text.first);
    return document && document->version() == text.second;
  });
}

bool Session::was_checked(const std::string& path) const {
  return programs_.count(documents_.identity(path)) != 0;
}

void Session::check_changed(const std::string& path) {
  if (!was_checked(path)) {  // all of it is new
    check_with_drafts(path);
    return;
  }
  View view(*this, path);
  view.round.run_changed(declarations_of(view));
}

void Session::check_visible(const std::string& path) {
  View view(*this, path);
  std::vector<DeclId> all;
  for (const std::string& name : view.modules.library_names())
    all.push_back(view.modules.in_library(core::DeclKey::Space::values, name));
  for (const auto& [name, module] : view.own.imports)
    if (module)
      for (const auto& [value, d] : module->values) all.push_back(d);
  view.round.run(all);
}

bool Session::is_visible_known(const std::string& path) const {
  const auto program = programs_.find(documents_.identity(path));
  if (program == programs_.end()) return false;
  const auto is_known = [&](const core::DeclKey& key) { return records_.count(key) != 0; };
  return std::all_of(prelude_.begin(), prelude_.end(), is_known) &&
         std::all_of(program->second.imports.begin(), program->second.imports.end(), [&](const auto& import) {
           const std::vector<Entry> all = declarations(import.second);
           return std::all_of(all.begin(), all.end(), [&](const Entry& e) {
             return e.key.space != core::DeclKey::Space::values || is_known(e.key);
           });
         });
}

Diagnostics Session::check(const std::string& path) {
  Diagnostics found = check_with_drafts(path);
  found.revise([](Diagnostic& d) {
    std::erase_if(d.helps, [](const source::Help& help) { return help.trial != 0; });
  });
  return found;
}

/// Another text of a file, for a while.
struct Session::Trial {
  Trial(Session& session, const std::string& path, const std::string& text)
      : session(session), document(session.documents_.at(path)) {
    document.hold();
    document.set_text(text);
  }
  ~Trial() {
    for (auto& [key, record] : before)
      if (record)
        session.records_[key] = std::move(*record);
      else
        session.records_.erase(key);
    document.release();
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  Session& session;
  Document& document;
  ReplacedRecords before;
};

size_t Session::with_text(const std::string& path, const std::string& text,
                          const std::function<void(const Diagnostics&)>& look) {
  Trial trial(*this, path, text);
  View view(*this, path);
  view.round.keep_what_it_replaces(trial.before);
  look(run(view));
  return view.round.work();
}

/// Whether another declaration of the module may use one of these. Who uses a type has read its text.
bool Session::are_used(const std::vector<DeclKey>& declared, const std::string& module) const {
  const auto is_declared = [&](const DeclKey& key) {
    return std::find(declared.begin(), declared.end(), key) != declared.end();
  };
  if (std::any_of(declared.begin(), declared.end(),
                  [](const DeclKey& key) { return key.space != DeclKey::Space::values; }))
    return true;
  return std::any_of(records_.begin(), records_.end(), [&](const auto& each) {
    const auto& [key, record] = each;
    return key.module == module && !is_declared(key) &&
           std::any_of(record.uses.begin(), record.uses.end(),
                       [&](const auto& use) { return use.first.module == module && is_declared(use.first); });
  });
}

/// Brings up to date what the text that is tried changes, and what was reported before; false where that may
/// change others, too.
bool Session::run_edited(View& view, const Document& document, const ReplacedRecords& before) {
  const Document::Difference difference = document.difference();
  const auto seen = [&](const std::vector<const syntax::File*>& parts) {
    std::vector<std::string> out;
    for (const syntax::File* part : parts)
      for (const syntax::Decl& d : part->decls) out.push_back(core::seen_by_others(sources(), *part, d));
    return out;
  };
  if (seen(difference.held) != seen(difference.now)) return false;
  std::vector<DeclKey> edited;
  for (const syntax::File* part : difference.now)
    for (const syntax::Decl& d : part->decls)
      if (auto named = core::declared_name(d))
        edited.push_back({view.own.identity, named->first, std::move(named->second)});
  std::vector<DeclId> all;
  for (const DeclKey& key : edited) all.push_back(view.modules.find(key));
  for (const auto& [key, record] : records_)
    if (!record.reports.empty() && key.module == view.own.identity) all.push_back(view.modules.find(key));
  std::erase_if(all, [](DeclId d) { return !d.valid(); });
  view.round.run(all);
  std::erase_if(edited, [&](const DeclKey& key) {
    const auto was = before.find(key);
    if (was == before.end()) return true;  // its record holds
    const auto is = records_.find(key);
    return was->second && is != records_.end() && has_same_interface(*was->second, is->second);
  });
  return !are_used(edited, view.own.identity);
}

size_t Session::with_edited(const std::string& path, const std::string& text,
                            const std::function<void(const Diagnostics&)>& look) {
  Trial trial(*this, path, text);
  View view(*this, path);
  view.round.keep_what_it_replaces(trial.before);
  const bool touches_others = !run_edited(view, trial.document, trial.before);
  look(touches_others ? run(view) : reports(view));
  return view.round.work();
}

/// The record of the declaration, and what it was read from. Where the part was edited so that it has another
/// id now, that is the first of those whose text is no longer there.
void Session::find_record(Entry& entry, const Document& document) const {
  const auto known = records_.find(entry.key);
  if (known == records_.end()) return;
  const auto& own = known->second.own;
  auto read =
      std::find_if(own.begin(), own.end(), [&](const ReadPart& p) { return p.id == entry.part->source; });
  if (read == own.end())
    read = std::find_if(own.begin(), own.end(),
                        [&](const ReadPart& p) { return document.revision(p.id) != p.revision; });
  if (read == own.end()) return;
  entry.record = &known->second;
  entry.read = &*read;
  entry.current = read->id == entry.part->source && read->revision == document.revision(read->id);
}

std::vector<Entry> Session::declarations(const std::string& path) const {
  return declarations_in(path, 0, UINT32_MAX);
}

std::vector<Entry> Session::declarations_in(const std::string& path, uint32_t begin, uint32_t end) const {
  std::vector<Entry> out;
  const Document* const document = documents_.find(path);
  if (!document) return out;
  const std::string file = documents_.identity(path);
  const auto program = programs_.find(file);
  const std::string& module = program == programs_.end() ? file : program->second.module;
  for (const syntax::File* part : document->text().parts) {
    const source::Span piece = sources()[part->source].piece();
    if (end < piece.begin || piece.end < begin) continue;
    for (const syntax::Decl& decl : part->decls) {
      auto named = core::declared_name(decl);
      if (!named) continue;
      out.push_back({{module, named->first, std::move(named->second)}, part, &decl});
      find_record(out.back(), *document);
    }
  }
  return out;
}

std::string Session::imported(const std::string& path, const std::string& name) const {
  const auto program = programs_.find(documents_.identity(path));
  if (program == programs_.end()) return "";
  const auto found = program->second.imports.find(name);
  return found == program->second.imports.end() ? "" : found->second;
}

std::optional<Entry> Session::find(const core::DeclKey& key) const {
  std::optional<Entry> out;
  for (Entry& entry : declarations(core::file_of_module(key.module))) {
    if (entry.key.space != key.space || entry.key.name != key.name) continue;
    if (!out || syntax::as<syntax::SignatureDecl>(*out->decl)) out = std::move(entry);
  }
  return out;
}

std::string Session::types(const std::string& path) const {
  std::string out;
  const auto program = programs_.find(documents_.identity(path));
  if (program == programs_.end()) return out;
  for (const core::DeclKey& key : program->second.declarations) {
    const auto record = records_.find(key);
    if (record == records_.end()) continue;  // its file was edited, and has not been checked since
    Checked& checked = *record->second.checked;
    const shape::UseArena use(checked.arena);
    checked.program.own = {checked.global};
    out += core::print_types(checked.program);
  }
  return out;
}

}  // namespace axon::session
