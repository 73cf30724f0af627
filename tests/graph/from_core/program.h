// Source text to graphs, for tests: the whole front end with the standard library.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "core/elaborate.h"
#include "graph/from_core.h"
#include "graph/interpret.h"
#include "source/render.h"
#include "syntax/parse.h"

namespace axon::graph {

/// The graphs of all entries of a program, by name, and what was reported.
struct Lowered {
  std::map<std::string, Graph> graphs;
  std::vector<std::string> order;
  std::string errors;
};

inline Lowered lower(const std::string& text, const core::Options& options = {}) {
  source::SourceManager sources;
  source::Diagnostics diagnostics;
  source::FileId id = sources.add("test.axn", text, diagnostics);
  syntax::File file = syntax::parse(sources[id], diagnostics);
  core::LibraryLoader loader(sources, diagnostics, {AXON_SOURCE_DIR "/stdlib"});
  core::Program program = core::elaborate(
      file, sources, [&](const std::string& module) { return loader(module); }, diagnostics, options);
  Lowered out;
  for (core::GlobalId g : program.own) {
    if (program.globals[g].kind != core::Global::Kind::entry) continue;
    if (auto graph = from_core(program, g, diagnostics, &sources)) {
      EXPECT_EQ(verify(*graph, Extents::dynamic), std::vector<std::string>{}) << print(*graph);
      std::string error;
      auto again = parse(print(*graph), error);
      EXPECT_TRUE(again && print(*again) == print(*graph)) << error << print(*graph);
      out.order.push_back(graph->name);
      out.graphs.emplace(graph->name, std::move(*graph));
    }
  }
  out.errors = source::render_short(diagnostics, sources);
  return out;
}

/// Sizes by name, for entries with size parameters.
inline shape::Assignment named_sizes(const Graph& g, const std::map<std::string, int64_t>& values) {
  shape::Assignment sizes;
  for (const Size& s : g.sizes)
    if (auto it = values.find(s.name); it != values.end()) sizes[s.var] = it->second;
  return sizes;
}

}  // namespace axon::graph
