// Declarations of a module, their on-demand order, and the entry point elaborate().
#include "core/elaborator.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/shared_weights.h"
#include "core/suggest.h"
#include "syntax/parse.h"

namespace axon::core {

using source::Code;
using source::error;
namespace stx = axon::syntax;

const char* prim_name(Prim p) {
  switch (p) {
#define PRIM(name, arity) \
  case Prim::name##_:     \
    return #name;
#include "core/prims.def"
#undef PRIM
  }
  return "?";
}
int prim_arity(Prim p) {
  switch (p) {
#define PRIM(name, arity) \
  case Prim::name##_:     \
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

namespace {

/// How many letters are put in, left out, replaced or exchanged with the next one.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> two_above, above, row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    two_above = std::move(above);
    above = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j - 1] + (a[i - 1] != b[j - 1]), above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row.back();
}

/// In small letters, without what separates words: `LayerNorm` and `layer_norm` are one name.
std::string without_style(const std::string& name) {
  std::string out;
  for (char c : name)
    if (c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::optional<std::string> nearest(const std::string& name, const std::vector<std::string>& known) {
  const std::string plain = without_style(name);
  std::optional<std::string> best, longer;
  size_t best_distance = (name.size() < 4 ? name.size() / 2 : name.size() < 6 ? 2 : 3) + 1;
  for (const std::string& other : known) {
    if (other == name) continue;
    if (!plain.empty() && without_style(other) == plain) return other;
    const bool begins = name.size() >= 3 && other.starts_with(name);  // `var` of `variance`
    if (begins && (!longer || other.size() < longer->size())) longer = other;
    if (std::max(name.size(), other.size()) - std::min(name.size(), other.size()) >= best_distance) continue;
    const size_t distance = edit_distance(name, other);
    if (distance < best_distance && distance < std::max(name.size(), other.size())) {
      best_distance = distance;
      best = other;
    }
  }
  return best ? best : longer;
}

Elaborator::Elaborator(const source::SourceManager& sources, const Loader& loader,
                       source::Diagnostics& diagnostics, const Options& options)
    : sources(sources), loader(loader), diagnostics(diagnostics), options(options) {}

void Elaborator::declare(Module& m) {
  infos.reserve(infos.size() + m.file->decls.size());
  program.globals.reserve(m.file->decls.size());
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
    if (const auto* mesh = stx::as<stx::MeshDecl>(d)) {
      declare_mesh(m, d, *mesh);
      continue;
    }
    const bool layout = stx::as<stx::LayoutDecl>(d) != nullptr;
    auto& space = layout ? m.layouts : stx::as<stx::TypeDecl>(d) ? m.types : m.values;
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
                                   [&](const stx::LayoutDecl&) { return g.kind = Global::Kind::type, true; },
                                   [](const auto&) { return false; }},
                   d.node);
    if (!known || g.name.empty()) continue;
    const stx::Decl* stated = nullptr;
    if (auto it = space.find(g.name); it != space.end()) {
      // `val f : t` followed by `fun f` or `val f = e` states the type of f
      DeclInfo& earlier = infos[it->second.index];
      const bool signature = stx::as<stx::SignatureDecl>(*earlier.decl) &&
                             (stx::as<stx::FunDecl>(d) || stx::as<stx::ValueDecl>(d));
      if (!signature) {
        diagnostics.report(error(Code::E0404, g.span, fmt::format("`{}` is declared twice", g.name))
                               .also(program.globals[it->second].span, "here first"));
        continue;
      }
      stated = earlier.decl;
      std::erase(m.in_order, it->second);
    }
    const GlobalId id = program.globals.add(std::move(g));
    DeclInfo info;
    info.module = &m;
    info.decl = &d;
    info.stated = stated;
    infos.push_back(std::move(info));
    space[program.globals[id].name] = id;
    if (!layout) m.in_order.push_back(id);
  }
}

/// The axes of a mesh are numbers of devices.
void Elaborator::declare_mesh(Module& m, const stx::Decl& d, const stx::MeshDecl& mesh) {
  if (m.meshes.count(d.name.text))
    diagnostics.report(
        error(Code::E0404, d.name.span, fmt::format("the mesh `{}` is declared twice", d.name.text)));
  auto& axes = m.meshes[d.name.text];
  for (const stx::FieldValue& f : mesh.fields) {
    const auto* number = stx::as<stx::NumberExpr>((*m.file)[f.value]);
    if (!number || number->is_float || number->text == "0")
      diagnostics.report(
          error(Code::E0301, (*m.file)[f.value].span, "the size of a mesh axis is a number, at least 1"));
    if (std::find(axes.begin(), axes.end(), f.name.text) != axes.end())
      diagnostics.report(
          error(Code::E0404, f.name.span, fmt::format("the mesh has two axes `{}`", f.name.text)));
    axes.push_back(f.name.text);
  }
}

/// The module `prelude`, what it imports, and `prim`.
void Elaborator::open_prelude() {
  if (const Module* prelude = library_module("prelude")) {
    prelude_.push_back(prelude);
    for (const auto& [name, part] : prelude->imports)
      if (part) prelude_.push_back(part);
  }
  if (const Module* prim = library_module("prim")) prelude_.push_back(prim);
  for (const Module* m : prelude_)
    for (const auto& [name, g] : m->values)
      if (!is_private(g)) names_in_scope.push_back(name);
}

GlobalId Elaborator::library_value(const std::string& name) {
  for (const Module* m : prelude_)
    if (auto it = m->values.find(name); it != m->values.end() && !is_private(it->second)) return it->second;
  return {};
}
GlobalId Elaborator::library_type(const std::string& name) {
  for (const Module* m : prelude_)
    if (auto it = m->types.find(name); it != m->types.end() && !is_private(it->second)) return it->second;
  return {};
}

/// A name of the file hides that of the library. Of two imports of a module the first in the alphabet counts.
void Elaborator::name_types(const Module& file) {
  auto& names = program.types.declared;
  for (const auto& [name, g] : file.types) names.emplace(g, name);
  for (const auto& [qualifier, m] : file.imports) {
    if (!m) continue;  // it could not be read
    for (const auto& [name, g] : m->types)
      if (!is_private(g)) names.emplace(g, qualifier + "." + name);
  }
  for (const Module* m : prelude_)
    for (const auto& [name, g] : m->types)
      if (!file.types.count(name) && library_type(name) == g) names.emplace(g, name);
}

// ---- Order ----

void Elaborator::report_recursion(GlobalId g) {
  diagnostics.report(
      error(Code::E0317, program.globals[g].span, fmt::format("`{}` uses itself", program.globals[g].name))
          .text("There is no recursion: fold, scan, iterate and while repeat a function."));
  program.globals[g].has_error = true;
  program.globals[g].scheme.type = vars.error();
  infos[g.index].state = DeclInfo::State::done;
}

/// A declaration that needs more than the limits allow is an error, and the others go on.
void Elaborator::within_limits(GlobalId g, const std::function<void()>& step) {
  vars.begin_declaration();
  Global& global = program.globals[g];
  if (global.has_error && global.scheme.type.valid()) return;
  try {
    step();
  } catch (const TooComplex& too) {
    diagnostics.report(
        error(Code::E0590, too.span.valid() ? too.span : program.globals[g].span,
              fmt::format("the types and sizes of `{}` are too complex", program.globals[g].name))
            .text("One declaration may state 10,000 constraints. A size may have 256 terms of 8 factors and "
                  "4,096 parts, with `/`, `%`, min and max nested 32 deep.")
            .help("split it, or name what its parts have in common"));
    program.globals[g].has_error = true;
    program.globals[g].scheme = {};
    vars.after_too_complex();
    program.globals[g].scheme.type = vars.error();
    const DeclInfo& info = infos[g.index];
    for (uint32_t i = info.first_expr; i < program.exprs.size(); ++i)
      if (i < info.end_expr || info.end_expr == 0) program.exprs[{i}].type = program.globals[g].scheme.type;
  }
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
    within_limits(g, [&] { lower(*this, g); });
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
    within_limits(g, [&] { check_declaration(*this, g); });
    infos[g.index].state = State::done;
    program.globals[g].checked = true;
  }
}

void Elaborator::run(const stx::File& file) {
  open_prelude();
  auto own = std::make_unique<Module>();
  own->file = &file;
  own->library = false;
  if (!diagnostics.has_errors()) program.exprs.reserve(file.exprs.size());  // else most may be left out
  own->root = root_of(file);
  std::string key = identity(file);
  while (modules_.count(key))
    key += " (checked)";  // a file of the library itself: besides what it is to others
  Module* m = add_module(key, std::move(own));
  program.own = m->in_order;
  name_types(*m);
  for (const auto& [name, g] : m->layouts) check(g);
  for (GlobalId g : m->in_order) check(g);
  check_shared_weights(program, diagnostics);
}

void Elaborator::check_options() {
  const auto check = [&](const auto& given, const std::set<std::string>& names, std::string_view kind,
                         const std::set<std::string>& others, std::string_view other) {
    std::string known;
    for (const std::string& name : names) known += (known.empty() ? "`" : ", `") + name + "`";
    for (const auto& [name, value] : given) {
      if (names.count(name)) continue;
      auto d = error(Code::E0405, {}, fmt::format("-D {}: no entry has {} of this name", name, kind));
      if (others.count(name))
        d.text(fmt::format("It is {} of an entry.", other));
      else
        d.text(known.empty() ? fmt::format("No entry names {}.", kind) : "The entries name " + known + ".");
      diagnostics.report(std::move(d));
    }
  };
  check(options.sizes, entry_sizes, "a size", entry_elems, "an element type");
  check(options.elems, entry_elems, "an element type", entry_sizes, "a size");
}

Program elaborate(const stx::File& file, const source::SourceManager& sources, const Loader& loader,
                  source::Diagnostics& diagnostics, const Options& options) {
  Elaborator e(sources, loader, diagnostics, options);
  e.run(file);
  if (!diagnostics.has_errors()) e.check_options();
  try_edits(file, sources, loader, diagnostics, options);
  return std::move(e.program);
}

}  // namespace axon::core
