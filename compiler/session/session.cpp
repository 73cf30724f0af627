// See session.h.
#include "session/session.h"

#include <set>

#include "core/print.h"

namespace axon::session {

using core::DeclId;
using source::Diagnostic;
using source::Diagnostics;

/// The same with all its places in whole files. What is to be tried before it is offered is left out.
Diagnostic Session::in_whole(Diagnostic d) {
  const source::SourceManager& all = sources();
  d.primary.span = all.in_whole(d.primary.span);
  for (source::Label& label : d.secondary) label.span = all.in_whole(label.span);
  std::erase_if(d.helps, [](const source::Help& help) { return help.trial != 0; });
  for (source::Help& help : d.helps)
    if (help.edit) help.edit->span = all.in_whole(help.edit->span);
  return d;
}

Diagnostics Session::check(const std::string& path) {
  Diagnostics found;
  const core::Loader loader = [this](const std::string& module) { return documents_.load(module); };
  core::Modules modules(sources(), loader, found);
  const core::Module& own = modules.open_program(*documents_.load(path), options_.root);
  std::vector<DeclId> declarations = own.in_order;
  for (const auto& [name, d] : own.layouts) declarations.push_back(d);
  Round round(documents_, modules, options_, records_);
  round.run(declarations);
  checked_ = round.checked();

  auto& keys = own_[path];
  keys.clear();
  for (DeclId d : own.in_order) keys.push_back(modules.key(d));
  for (const core::Module* m : modules.all())
    for (const Diagnostic& d : documents_.find(m->text.source)->reports()) found.report(d);
  for (const core::DeclKey& key : round.reached())
    for (const Diagnostic& d : records_.at(key).reports) found.report(d);
  found.revise([&](Diagnostic& d) { d = in_whole(std::move(d)); });
  return found;
}

std::string Session::types(const std::string& path) const {
  std::string out;
  const auto keys = own_.find(path);
  if (keys == own_.end()) return out;
  for (const core::DeclKey& key : keys->second) {
    const Record& record = records_.at(key);
    const shape::UseArena use(record.checked->arena);
    record.checked->program.own = {record.checked->global};
    out += core::print_types(record.checked->program);
  }
  return out;
}

}  // namespace axon::session
