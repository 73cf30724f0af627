// See refusals.h.
#include "lsp/refusals.h"

#include <algorithm>

#include "base/outside.h"
#include "entry/fused.h"
#include "page/cost_text.h"
#include "page/planned.h"
#include "session/whole.h"

namespace axon::lsp {

using source::Diagnostic;
using source::Span;

namespace {

/// The declarations of the file that a build would take, with what they are made of; none where the file has
/// errors.
std::map<std::string, std::string> entries(const session::Session& session, const std::string& path) {
  std::map<std::string, std::string> out;
  for (const session::Entry& entry : session.declarations(path)) {
    if (!entry.current || !entry.record->good) return {};
    const auto* function = syntax::as<syntax::FunDecl>(*entry.decl);
    if (function && function->is_entry) out.emplace(entry.key.name, texts_of(session, entry.key));
  }
  return out;
}

/// The same with all its places changed.
template <class Change>
Diagnostic changed(Diagnostic d, Change change) {
  d.primary.span = change(d.primary.span);
  for (source::Label& label : d.secondary) label.span = change(label.span);
  for (source::Help& help : d.helps)
    if (help.edit) help.edit->span = change(help.edit->span);
  return d;
}

/// A place of the whole file as one of the part that it begins in.
Span in_part(const session::Session& session, const syntax::Text& text, Span span) {
  if (!span.valid() || span.file != text.source) return span;
  for (const syntax::File* part : text.parts) {
    const Span piece = session.sources()[part->source].piece();
    if (span.begin < piece.begin || span.begin >= piece.end) continue;
    return {part->source, span.begin - piece.begin, std::min(span.end, piece.end) - piece.begin};
  }
  return span;
}

/// What is wrong with the entry behind the core; of one that nothing is wrong with the costs. Touches nothing
/// of the session.
source::Diagnostics refused(const source::SourceManager& sources, const core::Program& program,
                            const std::string& name, std::string& cost) {
  source::Diagnostics found;
  base::outside([] {},
                [&] {
                  auto graph = entry::graph_of(program, program.find(name), sources, found);
                  if (!graph || !entry::fuse(*graph, program, found) ||
                      !entry::update_in_place(*graph, program, found) ||
                      !entry::refuse_unbounded_sizes(*graph, program, found))
                    return;
                  source::Diagnostics not_said;
                  const auto plan = page::plan_of(*graph, program, not_said);
                  if (plan) cost = page::cost_line(plan->variants.back());
                });
  return found;
}

/// The texts of the session as they are now.
std::unique_ptr<source::SourceManager> copied(const source::SourceManager& sources, source::FileId file) {
  source::Diagnostics known;
  return sources.with(file, std::string(sources[file].text()), known);
}

}  // namespace

void Refusals::look_at(session::Session& session, const std::string& path) {
  const std::map<std::string, std::string> now = entries(session, path);
  auto& known = files_[path];
  std::erase_if(known, [&](const auto& one) {
    const auto entry = now.find(one.first);
    return entry == now.end() || entry->second != one.second.texts;
  });
  if (known.size() == now.size()) return;
  const std::unique_ptr<session::Whole> whole = whole_program(session, path);
  if (!whole) return;
  const shape::UseArena use(whole->arena);
  const syntax::Text& text = session.documents().find(path)->text();
  const auto sources = copied(session.sources(), text.source);
  for (const auto& [name, texts] : now) {
    if (known.count(name)) continue;
    Looked looked{texts, {}, ""};
    for (const Diagnostic& d : refused(*sources, whole->program, name, looked.cost).sorted())
      looked.found.push_back(changed(d, [&](Span at) { return in_part(session, text, at); }));
    known.emplace(name, std::move(looked));
  }
}

std::vector<Diagnostic> Refusals::of(const session::Session& session, const std::string& path) const {
  std::vector<Diagnostic> out;
  const auto known = files_.find(path);
  if (known == files_.end() || known->second.empty()) return out;
  const std::map<std::string, std::string> now = entries(session, path);
  for (const auto& [name, looked] : known->second) {
    const auto entry = now.find(name);
    if (entry == now.end() || entry->second != looked.texts) continue;
    for (const Diagnostic& d : looked.found)
      out.push_back(changed(d, [&](Span at) { return session.sources().in_whole(at); }));
  }
  return out;
}

std::string Refusals::cost_of(const session::Session& session, const std::string& path,
                              const std::string& entry) const {
  const auto known = files_.find(path);
  if (known == files_.end() || !known->second.count(entry)) return "";
  const std::map<std::string, std::string> now = entries(session, path);
  const auto current = now.find(entry);
  const Looked& looked = known->second.at(entry);
  return current != now.end() && current->second == looked.texts ? looked.cost : "";
}

}  // namespace axon::lsp
