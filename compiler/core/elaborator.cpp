// Declarations of a module, their on-demand order, and the entry point elaborate().
#include "core/elaborator.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/interface.h"
#include "core/shared_weights.h"
#include "syntax/parse.h"

namespace axon::core {

using source::Code;
using source::error;
namespace stx = axon::syntax;

const char* prim_name(Prim p) {
  switch (p) {
#define PRIM(name, word, arity) \
  case Prim::name:              \
    return word;
#include "core/prims.def"
  }
  return "?";
}
int prim_arity(Prim p) {
  switch (p) {
#define PRIM(name, word, arity) \
  case Prim::name:              \
    return arity;
#include "core/prims.def"
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

GlobalId Elaborator::global(DeclId d) {
  const auto known = globals_.find(d);
  return known != globals_.end() ? known->second : globals_.emplace(d, add_global(d)).first->second;
}

GlobalId Elaborator::add_global(DeclId d) {
  const Declared& declared = modules[d];
  Global g;
  g.kind = declared.kind;
  g.name = declared.name;
  g.module = declared.module->name;
  g.span = declared.span;
  g.doc = declared.written->doc;
  const GlobalId id = program.globals.add(std::move(g));
  DeclInfo& info = infos.emplace_back();
  info.id = d;
  info.module = declared.module;
  info.written = declared.written;
  info.stated = declared.stated;
  if (std::string name = modules.name_of_type(file, d); !name.empty())
    program.types.declared.emplace(id, std::move(name));
  return id;
}

GlobalId Elaborator::with_body(GlobalId g) {
  if (!infos[g.index].given) return g;
  const auto known = bodies_.find(g);
  if (known != bodies_.end()) return known->second;
  const GlobalId id = add_global(infos[g.index].id);
  bodies_.emplace(g, id);
  silently([&] { check(id); });
  return id;
}

void Elaborator::silently(const std::function<void()>& step) {
  source::Diagnostics* const heard = std::exchange(diagnostics, &unheard_);
  step();
  diagnostics = heard;
}

GlobalId Elaborator::library_value(const std::string& name) {
  const DeclId d = lookups.find_in_library(DeclKey::Space::values, name);
  return d.valid() ? global(d) : GlobalId{};
}
GlobalId Elaborator::library_type(const std::string& name) {
  const DeclId d = lookups.find_in_library(DeclKey::Space::types, name);
  return d.valid() ? global(d) : GlobalId{};
}

bool Elaborator::is_library_function(const Expr& callee, const std::string& name) {
  return callee.kind == Expr::Kind::global && program.globals[callee.global].name == name &&
         infos[callee.global.index].id == lookups.find_in_library(DeclKey::Space::values, name);
}

// ---- Order ----

void Elaborator::report_recursion(GlobalId g) {
  diagnostics->report(
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
    diagnostics->report(
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

void Elaborator::read(GlobalId g) {
  infos[g.index].state = DeclInfo::State::lowering;
  within_limits(g, [&] { lower(*this, g); });
  infos[g.index].state = DeclInfo::State::lowered;
}

/// Depth first over what declarations use, with a stack of its own: a chain of uses may be long.
void Elaborator::check(GlobalId root) {
  using State = DeclInfo::State;
  struct Visit {
    GlobalId global;
    size_t next = 0;  ///< the use to look at
  };
  std::vector<Visit> stack;
  const auto take = [&](GlobalId g, const std::function<void()>& step) {
    given&& g != root ? silently(step) : step();
  };
  auto enter = [&](GlobalId g) {
    const State state = infos[g.index].state;
    if (state != State::unseen && !(state == State::lowered && stack.empty())) return;
    if (const Interface* known = given && g != root ? given(infos[g.index].id) : nullptr)
      return known->give(*this, g);
    if (state == State::unseen) take(g, [&] { read(g); });
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
    take(g, [&] { within_limits(g, [&] { check_declaration(*this, g); }); });
    infos[g.index].state = State::done;
    program.globals[g].checked = true;
  }
}

void Elaborator::run() {
  if (!diagnostics->has_errors()) {  // else most may be left out
    size_t count = 0;
    for (const stx::File* part : file.text.parts) count += part->exprs.size();
    program.exprs.reserve(count);
  }
  for (DeclId d : file.in_order) program.own.push_back(global(d));
  for (const auto& [name, d] : file.layouts) check(global(d));
  for (GlobalId g : std::vector(program.own)) check(g);
  SharedWeights weights(*diagnostics);
  for (GlobalId g : program.own)
    if (Global& global = program.globals[g]; global.kind == Global::Kind::entry && !global.has_error)
      global.has_error = !weights.add(weights_of(program, g));
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
      diagnostics->report(std::move(d));
    }
  };
  check(options.sizes, entry_sizes, "a size", entry_elems, "an element type");
  check(options.elems, entry_elems, "an element type", entry_sizes, "a size");
}

Program elaborate(const stx::File& file, const source::SourceManager& sources, const Loader& loader,
                  source::Diagnostics& diagnostics, const Options& options) {
  source::Paths paths;
  Modules modules(sources, paths, loader, diagnostics);
  const Module& own = modules.open_program({file.source, {&file}}, options.root);
  Elaborator e(sources, modules, own, diagnostics, options);
  e.run();
  if (!diagnostics.has_errors()) e.check_options();
  return std::move(e.program);
}

}  // namespace axon::core
