// Modules, on-demand order of declarations, and the entry point elaborate().
#include "core/elaborator.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "syntax/parse.h"

namespace axon::core {

using source::Code;
using source::error;
namespace stx = axon::syntax;

const char* prim_name(Prim p) {
  switch (p) {
#define PRIM(name, arity, cls) \
  case Prim::name##_:          \
    return #name;
#include "core/prims.def"
#undef PRIM
  }
  return "?";
}
int prim_arity(Prim p) {
  switch (p) {
#define PRIM(name, arity, cls) \
  case Prim::name##_:          \
    return arity;
#include "core/prims.def"
#undef PRIM
  }
  return 0;
}

GlobalId Program::find(const std::string& name) const {
  for (GlobalId g : own)
    if (globals[g].name == name && globals[g].kind != Global::Kind::type) return g;
  return {};
}

std::string test_name(const std::string& title) { return fmt::format("test \"{}\"", title); }

std::optional<std::string> nearest(const std::string& name, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  size_t best_distance = name.size() <= 2 ? 1 : name.size() <= 5 ? 2 : 3;
  ++best_distance;
  for (const std::string& other : known) {
    if (other == name ||
        (other.size() > name.size() ? other.size() - name.size() : name.size() - other.size()) >= 4)
      continue;
    std::vector<size_t> row(other.size() + 1);
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= name.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= other.size(); ++j) {
        const size_t substitute = diagonal + (name[i - 1] != other[j - 1]);
        diagonal = row[j];
        row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row.back() < best_distance && row.back() < std::max(name.size(), other.size())) {
      best_distance = row.back();
      best = other;
    }
  }
  return best;
}

// ---- Files
// ------------------------------------------------------------------------------------------------------

LibraryLoader::LibraryLoader(source::SourceManager& sources, source::Diagnostics& diagnostics,
                             std::vector<std::string> directories)
    : sources_(sources), diagnostics_(diagnostics), directories_(std::move(directories)) {}

const stx::File* LibraryLoader::operator()(const std::string& module) {
  if (auto it = files_.find(module); it != files_.end()) return it->second.get();
  std::string relative = module;
  if (!relative.ends_with(".axn")) {
    std::replace(relative.begin(), relative.end(), '.', '/');
    relative += ".axn";
  }
  for (const std::string& directory : directories_) {
    const std::string path = directory.empty() ? relative : directory + "/" + relative;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    auto id = sources_.load(path, diagnostics_);
    if (!id) return nullptr;
    auto file = std::make_unique<stx::File>(stx::parse(sources_[*id], diagnostics_));
    return (files_[module] = std::move(file)).get();
  }
  return nullptr;
}

// ---- Modules
// ----------------------------------------------------------------------------------------------------

Elaborator::Elaborator(const source::SourceManager& sources, const Loader& loader,
                       source::Diagnostics& diagnostics, const Options& options)
    : sources(sources), loader(loader), diagnostics(diagnostics), options(options) {}

Module* Elaborator::module(const std::string& name, source::Span at) {
  if (auto it = modules_.find(name); it != modules_.end()) return it->second.get();
  auto m = std::make_unique<Module>();
  m->name = name;
  m->file = loader(name);
  if (!m->file) {
    diagnostics.report(error(Code::E0403, at, fmt::format("there is no module `{}`", name)));
    return nullptr;
  }
  Module* out = (modules_[name] = std::move(m)).get();
  declare(*out);
  return out;
}

void Elaborator::import(Module& m, const stx::Decl& d, const stx::ImportDecl& i) {
  std::string name;
  if (i.file) name = *i.file;
  for (const stx::Name& part : i.path) name += (name.empty() ? "" : ".") + part.text;
  if (Module* imported = module(name, d.span)) m.imports[d.name.text] = imported;
}

void Elaborator::declare(Module& m) {
  for (const stx::Decl& d : m.file->decls) {
    if (const auto* i = stx::as<stx::ImportDecl>(d)) {
      import(m, d, *i);
      continue;
    }
    Global g;
    g.name = d.name.text;
    g.module = m.name;
    g.span = d.name.span.valid() ? d.name.span : d.span;
    g.doc = d.doc;
    auto& space = stx::as<stx::TypeDecl>(d) ? m.types : m.values;
    const bool known =
        std::visit(stx::Overloaded{[&](const stx::FunDecl& f) {
                                     g.kind = f.is_entry ? Global::Kind::entry : Global::Kind::function;
                                     return true;
                                   },
                                   [&](const stx::ValueDecl&) { return g.kind = Global::Kind::value, true; },
                                   [&](const stx::TestDecl& t) {
                                     g.kind = Global::Kind::value;
                                     g.name = test_name(t.title);
                                     return true;
                                   },
                                   [&](const stx::SignatureDecl& s) {
                                     g.kind = s.is_prim ? Global::Kind::prim : Global::Kind::value;
                                     return true;
                                   },
                                   [&](const stx::TypeDecl&) { return g.kind = Global::Kind::type, true; },
                                   [](const auto&) { return false; }},
                   d.node);
    if (!known || g.name.empty()) continue;
    if (auto it = space.find(g.name); it != space.end()) {
      // `val f : t` followed by `fun f` states the type of f
      DeclInfo& earlier = infos[it->second.index];
      const bool signature = stx::as<stx::SignatureDecl>(*earlier.decl) && stx::as<stx::FunDecl>(d);
      if (!signature) {
        diagnostics.report(error(Code::E0404, g.span, fmt::format("`{}` is declared twice", g.name))
                               .also(program.globals[it->second].span, "here first"));
        continue;
      }
      std::erase(m.in_order, it->second);
    }
    const GlobalId id = program.globals.add(std::move(g));
    DeclInfo info;
    info.module = &m;
    info.decl = &d;
    infos.push_back(std::move(info));
    space[program.globals[id].name] = id;
    m.in_order.push_back(id);
  }
}

GlobalId Elaborator::library_value(const std::string& name) {
  for (Module* m : {prelude_, prim_})
    if (m)
      if (auto it = m->values.find(name); it != m->values.end()) return it->second;
  return {};
}
GlobalId Elaborator::library_type(const std::string& name) {
  for (Module* m : {prelude_, prim_})
    if (m)
      if (auto it = m->types.find(name); it != m->types.end()) return it->second;
  return {};
}

// ---- Order
// ------------------------------------------------------------------------------------------------------

void Elaborator::report_recursion(GlobalId g) {
  diagnostics.report(
      error(Code::E0317, program.globals[g].span, fmt::format("`{}` uses itself", program.globals[g].name))
          .text("There is no recursion: fold, scan and iterate repeat a function."));
  program.globals[g].has_error = true;
  program.globals[g].scheme.type = vars.error();
  infos[g.index].state = DeclInfo::State::done;
}

/// Depth first over what declarations use, with a stack of its own: a chain of uses may be long.
void Elaborator::check(GlobalId root) {
  using State = DeclInfo::State;
  struct Visit {
    GlobalId global;
    size_t next = 0;  ///< the use to look at
  };
  std::vector<Visit> stack;
  auto enter = [&](GlobalId g) {
    if (infos[g.index].state != State::unseen) return;
    infos[g.index].state = State::lowering;
    lower(*this, g);
    infos[g.index].state = State::lowered;
    stack.push_back({g});
  };
  enter(root);
  while (!stack.empty()) {
    const GlobalId g = stack.back().global;
    const std::vector<GlobalId>& uses = infos[g.index].uses;
    if (stack.back().next < uses.size()) {
      const GlobalId used = uses[stack.back().next++];
      if (infos[used.index].state == State::lowered) report_recursion(used);
      enter(used);
      continue;
    }
    stack.pop_back();
    if (infos[g.index].state == State::done) continue;  // found to use itself
    infos[g.index].state = State::checking;
    check_declaration(*this, g);
    infos[g.index].state = State::done;
    program.globals[g].checked = true;
  }
}

void Elaborator::run(const stx::File& file) {
  prim_ = module("prim", {});
  prelude_ = module("prelude", {});
  for (const Module* m : {prelude_, prim_})
    if (m)
      for (const auto& [name, g] : m->values) names_in_scope.push_back(name);
  auto own = std::make_unique<Module>();
  own->file = &file;
  own->library = false;
  Module* m = (modules_[""] = std::move(own)).get();
  declare(*m);
  program.own = m->in_order;
  for (GlobalId g : m->in_order) check(g);
}

Program elaborate(const stx::File& file, const source::SourceManager& sources, const Loader& loader,
                  source::Diagnostics& diagnostics, const Options& options) {
  Elaborator e(sources, loader, diagnostics, options);
  e.run(file);
  return std::move(e.program);
}

}  // namespace axon::core
