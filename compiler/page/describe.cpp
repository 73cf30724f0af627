// See page.h: the parts of a page's JSON, put together.
#include "core/print.h"
#include "page/describe_graph.h"
#include "page/describe_tasks.h"
#include "page/page.h"
#include "page/places.h"
#include "target/cost_model.h"
#include "task/names.h"

namespace axon::page {

namespace {

constexpr int first_workers = 8;  ///< that a page shows at first

std::string type_text(const core::Program& program, core::GlobalId id) {
  const core::Global& global = program.globals[id];
  core::Names names(program.types);
  core::name_variables(program.types, global.scheme, names);
  return core::print(program.types, global.scheme, names, 2);
}

Json describe_core(const Subject& s) {
  static constexpr const char* kinds[] = {"fun", "entry", "val", "prim", "type"};
  Json out = Json::array();
  for (core::GlobalId id : s.program.own) {
    const core::Global& global = s.program.globals[id];
    if (global.kind == core::Global::Kind::type || !global.scheme.type.valid()) continue;
    out.push_back(
        {{"name", global.name},
         {"kind", kinds[static_cast<int>(global.kind)]},
         {"type", type_text(s.program, id)},
         {"place", global.span.file == s.file ? place(s.sources[s.file], global.span.begin, global.span.end)
                                              : Json(nullptr)},
         {"text", core::print_core(s.program, id)}});
  }
  return out;
}

Json describe_sizes(const graph::Graph& g, const NameOf& name) {
  static constexpr const char* froms[] = {"parameter", "axis", "scalar", "data"};
  Json out = Json::array();
  for (const graph::Size& size : g.sizes)
    out.push_back({{"name", name(size.var)}, {"from", froms[static_cast<int>(size.from)]}});
  return out;
}

}  // namespace

Json describe(const Subject& s) {
  const graph::Graph& g = *s.plan.graph;
  const source::SourceFile& file = s.sources[s.file];
  const core::Global& entry = s.program.globals[s.entry];
  const task::Names names(s.plan.variants.front().program);
  const NameOf name = [&](shape::Var v) { return names(v); };
  const auto numbers = node_numbers(g);
  Json variants = Json::array();
  for (const plan::Variant& v : s.plan.variants) {
    const task::Names own(v.program);
    variants.push_back(describe_variant(v, numbers, file, [&](shape::Var var) { return own(var); }));
  }
  const target::CostModel machine;
  return {{"format", 1},
          {"file", file.name()},
          {"path", s.path},
          {"source", std::string(file.text())},
          {"entry",
           {{"name", entry.name},
            {"type", type_text(s.program, s.entry)},
            {"place", place(file, entry.span.begin, entry.span.end)}}},
          {"machine",
           {{"operations", machine.operations},
            {"bytes", machine.bytes},
            {"handoff", machine.handoff},
            {"workers", first_workers}}},
          {"sizes", describe_sizes(g, name)},
          {"facts", facts(g.facts, name)},
          {"core", describe_core(s)},
          {"written", s.written ? describe_graph(*s.written, file, name) : Json(nullptr)},
          {"fused", describe_graph(g, file, name)},
          {"variants", std::move(variants)}};
}

}  // namespace axon::page
