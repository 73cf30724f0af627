// THE page: what the compiler does, in order. Each row is a representation, why it exists, how it is made
// from the one before, and how it prints. A stage that reports errors is the last one to run.
//
//   source -> tokens -> ast -> core -> graph -> fused -> inplace -> places -> tasks
//          -> plan -> proof -> tiles -> llvm -> asm (ptx) -> bundle
#include "pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <new>
#include <set>

#include "base/bug.h"
#include "base/work.h"
#include "core/print.h"
#include "core/shared_weights.h"
#include "entry/fused.h"
#include "entry/report.h"
#include "image/build.h"
#include "module/module.h"
#include "plan/verify.h"
#include "session/try_edits.h"
#include "syntax/parse.h"
#include "syntax/print.h"
#include "target/machine.h"
#include "tile/from_task.h"

namespace axon {

namespace {

// ---- front: text to typed core ----

void make_syntax(Compilation& c) { c.syntax = syntax::parse(c.sources[c.file], c.diagnostics); }

std::string print_tokens(Compilation& c) {
  source::Diagnostics ignored;
  return syntax::print_tokens(c.sources[c.file], ignored);
}
std::string print_syntax(Compilation& c) { return syntax::print(*c.syntax); }

void make_core(Compilation& c) {
  c.loader = std::make_unique<core::LibraryLoader>(c.sources, c.diagnostics, c.options.library);
  c.core = core::elaborate(
      *c.syntax, c.sources, [&c](const std::string& module) { return (*c.loader)(module); }, c.diagnostics,
      c.options.core);
  const source::SourceFile& file = c.sources[c.file];
  session::try_edits(file.name(), std::string(file.text()), c.options.library, c.options.core, c.file,
                     c.diagnostics);
}
std::string print_core(Compilation& c) { return core::print_core(*c.core); }

// ---- middle: graph, passes, tasks, plan ----

/// What a node costs at least from tasks to native code, whatever it computes: so an entry has at most some
/// thousand.
constexpr uint64_t steps_of_a_node = 10'000;

bool wanted(const Compilation& c, const std::string& entry) {
  const auto& only = c.options.entries;
  return only.empty() || std::find(only.begin(), only.end(), entry) != only.end();
}

void make_graphs(Compilation& c) {
  if (!c.diagnostics.has_errors()) entry::report_no_entry(*c.core, c.options.entries, c.diagnostics);
  for (core::GlobalId id : c.core->own) {
    const core::Global& global = c.core->globals[id];
    if (global.kind != core::Global::Kind::entry || !wanted(c, global.name)) continue;
    auto graph = entry::graph_of(*c.core, id, c.sources, c.diagnostics);
    if (graph) c.entries.push_back({global.name, std::move(*graph), {}, {}});
  }
}

/// What the machines that code is made for have in common.
const target::Class& class_of(const Compilation& c) {
  return c.options.target.empty() ? target::x86_64() : target::nvidia();
}

void fuse_graphs(Compilation& c) {
  const bool has_panels = class_of(c).panel_columns > 0;
  for (CompiledEntry& entry : c.entries) entry::fuse(entry.graph, *c.core, c.diagnostics, has_panels);
}

void update_in_place(Compilation& c) {
  bool whole = true;
  for (CompiledEntry& entry : c.entries) whole &= entry::update_in_place(entry.graph, *c.core, c.diagnostics);
  for (const CompiledEntry& entry : c.entries)
    if (whole && !entry::refuse_unbounded_sizes(entry.graph, *c.core, c.diagnostics)) return;
}

std::string print_graphs(Compilation& c) {
  std::string text;
  for (const CompiledEntry& entry : c.entries) text += graph::print(entry.graph);
  return text;
}

std::string symbol_of(const std::string& entry, size_t variant) {
  return fmt::format("{}_{}", entry, variant);
}

void place_weights(Compilation& c) {
  std::vector<const graph::Graph*> graphs;
  for (const CompiledEntry& entry : c.entries) graphs.push_back(&entry.graph);
  c.placements = task::choose_placements(graphs, class_of(c).panel_columns);
  for (CompiledEntry& entry : c.entries) entry.placements = task::placements_of(entry.graph, c.placements);
}
std::string print_placements(Compilation& c) { return task::print(c.placements); }

void make_tasks(Compilation& c) {
  for (CompiledEntry& entry : c.entries) {
    entry.plan.graph = &entry.graph;
    within_allowance(c, entry, [&] {
      base::work(steps_of_a_node * entry.graph.nodes.size());
      plan::Variant variant;
      variant.symbol = symbol_of(entry.name, 0);
      variant.program = task::from_graph(entry.graph, entry.placements, {}, class_of(c));
      task::derive_events(variant.program);
      entry.plan.variants.push_back(std::move(variant));
    });
  }
}

std::string print_tasks(Compilation& c) {
  std::string text;
  for (const CompiledEntry& entry : c.entries)
    for (const plan::Variant& variant : entry.plan.variants) text += task::print(variant.program);
  return text;
}

void make_plans(Compilation& c) {
  for (CompiledEntry& entry : c.entries)
    within_allowance(c, entry, [&] {
      for (plan::Variant& variant : entry.plan.variants)
        variant = plan::from_task(std::move(variant.program), variant.symbol, c.options.schedule);
    });
}

std::string print_plans(Compilation& c) {
  std::string text;
  for (const CompiledEntry& entry : c.entries) text += plan::print(entry.plan);
  return text;
}

/// A plan that is not proved is refused: that would be a bug of derive_events or of the plan, or a limit of
/// the prover.
void prove(Compilation& c) {
  if (!c.options.verify_tasks) return;
  for (const CompiledEntry& entry : c.entries)
    within_allowance(c, entry, [&] {
      for (const plan::Variant& variant : entry.plan.variants)
        for (const task::Obligation& o : plan::obligations(variant))
          if (!o.proved) entry::report_unproved(entry.graph, o.what, c.diagnostics);
    });
}

std::string print_proofs(Compilation& c) {
  std::string text;
  for (const CompiledEntry& entry : c.entries)
    for (const plan::Variant& variant : entry.plan.variants)
      for (const task::Obligation& o : plan::obligations(variant))
        text += fmt::format("{} {}: {} ({})\n", o.proved ? "proved" : "FAILED", variant.symbol, o.what, o.by);
  return text;
}

// ---- back: tile programs, native code, bundle ----

std::vector<const plan::Plan*> plans_of(const Compilation& c) {
  std::vector<const plan::Plan*> plans;
  for (const CompiledEntry& entry : c.entries) plans.push_back(&entry.plan);
  return plans;
}

std::vector<const target::Machine*> levels_of(const Compilation& c) {
  std::vector<const target::Machine*> chosen;
  for (const target::Machine& gpu : target::gpus())
    if (gpu.name == c.options.target) chosen.push_back(&gpu);
  if (!chosen.empty()) return chosen;
  for (const target::Machine& level : target::machines()) {
    const auto& only = c.options.levels;
    if (only.empty() || std::find(only.begin(), only.end(), level.name) != only.end())
      chosen.push_back(&level);
  }
  return chosen;
}

/// Of the best level that is asked for.
std::string print_tiles(Compilation& c) {
  const auto machine = tile::find_machine(levels_of(c).back()->name);
  std::string text;
  for (const CompiledEntry& entry : c.entries)
    for (const plan::Variant& variant : entry.plan.variants) {
      graph::Graph graph = entry.graph;
      for (uint32_t t = 0; t < variant.program.types.size(); ++t) {
        const auto made = tile::programs_of(variant.program, {t}, graph, *machine);
        if (!made.declined.empty())
          text += fmt::format("# {}: {}\n", variant.program.types[{t}].name, made.declined);
        for (const tile::MadeProgram& one : made.list) text += tile::print(one.program);
      }
    }
  return text;
}

void report_limitation(Compilation& c, const std::string& what) {
  c.diagnostics.report(source::error(source::Code::E9002, {}, what));
}

/// Runs a step that emits code; an entry whose code is too long is reported.
void emit_entries(Compilation& c, const std::function<void()>& step) {
  try {
    step();
  } catch (const module::TooLarge& too) {
    for (const CompiledEntry& entry : c.entries)
      if (std::any_of(entry.plan.variants.begin(), entry.plan.variants.end(),
                      [&](const plan::Variant& v) { return &v == too.variant; }))
        entry::report_too_large(entry.graph, *c.core, c.diagnostics,
                                "Its code is longer than that of one entry may be.");
  }
}

void make_objects(Compilation& c) {
  if (!c.options.target.empty())
    return report_limitation(c, "Bundles have code for CPUs alone yet; `--emit=ptx` prints that of a GPU.");
  const auto levels = levels_of(c);
  emit_entries(c, [&] {
    std::string error;
    auto objects = module::emit_objects(plans_of(c), levels, {.trace = c.options.trace}, error);
    if (!objects) return report_limitation(c, error);
    for (size_t i = 0; i < levels.size(); ++i)
      c.objects[std::string(levels[i]->name)] = std::move(objects->of_level[i]);
    c.scratch_bytes = std::move(objects->scratch_bytes);
  });
}

/// Of the best machine that is asked for.
std::string print_code(Compilation& c, bool assembly) {
  std::string text;
  emit_entries(c, [&] {
    const auto plans = plans_of(c);
    const target::Machine& machine = *levels_of(c).back();
    const module::EmitOptions options;
    std::string error;
    const auto code = assembly ? module::emit_assembly(plans, machine, options, error)
                               : module::emit_llvm_text(plans, machine, options, true, error);
    if (code)
      text = *code;
    else
      report_limitation(c, error);
  });
  return text;
}

std::string print_llvm(Compilation& c) { return print_code(c, false); }
std::string print_assembly(Compilation& c) { return print_code(c, true); }
std::string print_ptx(Compilation& c) {
  return c.options.target.empty() ? "// no GPU is named\n" : print_assembly(c);
}

/// What the program says of an entry in front of it.
std::string words_for(const core::Program& program, const std::string& entry) {
  for (const core::Global& global : program.globals)
    if (global.kind == core::Global::Kind::entry && global.name == entry) return global.doc;
  return "";
}

std::string source_name(const Compilation& c) {
  const std::string& path = c.sources[c.file].name();
  return path.substr(path.rfind('/') + 1);
}

void make_bundle(Compilation& c) {
  std::string error;
  image::Bundle parts;
  parts.source = source_name(c);
  parts.other_weights = other_weights(c);
  parts.objects = c.objects;
  auto scratch = c.scratch_bytes.begin();
  for (const CompiledEntry& entry : c.entries) {
    const auto end = scratch + static_cast<ptrdiff_t>(entry.plan.variants.size());
    parts.entries.push_back(
        {&entry.plan, entry.placements, {scratch, end}, c.options.trace, words_for(*c.core, entry.name)});
    scratch = end;
  }
  auto bundle = image::build_bundle(parts, error);
  if (!bundle) return report_limitation(c, error);
  c.bundle = std::move(*bundle);
}

void nothing(Compilation&) {}

}  // namespace

bool within_allowance(Compilation& c, const CompiledEntry& entry, const std::function<void()>& step) {
  return entry::within_allowance(entry.graph, *c.core, c.diagnostics, steps_of_a_schedule, step);
}

std::vector<std::string> other_weights(const Compilation& c) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const bool compiled : {true, false})
    for (const core::GlobalId id : c.core->own) {
      const core::Global& global = c.core->globals[id];
      if (global.kind != core::Global::Kind::entry || wanted(c, global.name) != compiled) continue;
      for (const core::EntryWeights::Parameter& parameter : core::weights_of(*c.core, id).parameters)
        for (const core::WeightLeaf& leaf : parameter.leaves)
          if (seen.insert(leaf.path).second && !compiled) out.push_back(leaf.path);
    }
  return out;
}

std::string interface_of(const Compilation& c) {
  std::deque<plan::Plan> plans;
  image::Bundle parts;
  parts.source = source_name(c);
  parts.other_weights = other_weights(c);
  for (const CompiledEntry& entry : c.entries) {
    plans.push_back({&entry.graph, {}});
    parts.entries.push_back({&plans.back(), {}, {}, false});
  }
  return image::build_interface(parts);
}

const std::vector<Stage>& stages() {
  static const std::vector<Stage> table = {
      {"tokens", "bytes to tokens with spans", nothing, print_tokens},
      {"ast", "tokens to a syntax tree, always one, plus errors", make_syntax, print_syntax},
      {"core", "names resolved, every type and shape inferred", make_core, print_core},
      {"graph", "each entry evaluated on symbolic tensors: index notation, sizes symbolic", make_graphs,
       print_graphs},
      {"fused", "algebra and fusion: each node is what one kind of task computes", fuse_graphs, print_graphs},
      {"inplace", "updates in place, with copies of what is still read", update_in_place, print_graphs},
      {"places", "where weights lie, one choice for all entries", place_weights, print_placements},
      {"tasks", "constant tiles, boxes, and the event tensors that they imply", make_tasks, print_tasks},
      {"plan", "segments, hoisted waits, memory", make_plans, print_plans},
      {"proof", "that tasks and plan are right for all sizes: order, memory, words", prove, print_proofs},
      {"tiles", "what one task does, as tiles and operations on them", nothing, print_tiles},
      {"llvm", "one persistent function per plan variant, as LLVM text of the highest level", nothing,
       print_llvm},
      {"asm", "the same as assembly", nothing, print_assembly},
      {"ptx", "the same of a GPU: the one that `--target` names, else the most capable", nothing, print_ptx},
      {"object", "native code for every instruction-set level", make_objects, nullptr},
      {"bundle", "linked images and the manifest in one deterministic file", make_bundle, nullptr},
  };
  return table;
}

const Stage* find_stage(const std::string& name) {
  for (const Stage& stage : stages())
    if (name == stage.name) return &stage;
  return nullptr;
}

bool run(Compilation& c, const std::string& last) {
  for (size_t next = c.times.size(); next < stages().size(); ++next) {
    const Stage& stage = stages()[next];
    const auto begin = std::chrono::steady_clock::now();
    try {
      stage.run(c);
    } catch (const std::bad_alloc&) {
      c.diagnostics.report(source::error(source::Code::E0593, {})
                               .note(fmt::format("it ran out in the stage `{}`", stage.name)));
    }
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
    c.times.emplace_back(stage.name, spent.count());
    if (c.diagnostics.has_errors() && std::string_view(stage.name) != "ast") return false;
    if (last == stage.name) return !c.diagnostics.has_errors();
  }
  base::bug("pipeline", "no stage named " + last);
}

void go_back_to(Compilation& c, const std::string& stage) {
  const auto ran =
      std::find_if(c.times.begin(), c.times.end(), [&](const auto& time) { return time.first == stage; });
  c.times.erase(ran, c.times.end());
}

}  // namespace axon
