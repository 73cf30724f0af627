// Generated programs of functions as values: what the checker accepts has, for every size, the shape that its
// type says and the meaning that a small evaluator without types gives it.
#include <set>

#include "../../core/higher_order.h"
#include "../../sanitized.h"
#include "program.h"

namespace axon::graph {
namespace {

using core::HigherOrderProgram;

struct Checked {
  source::SourceManager sources;
  source::Diagnostics diagnostics;
  core::Program program;
  std::optional<Graph> graph;

  explicit Checked(const std::string& text) {
    const source::FileId id = sources.add("test.axn", text, diagnostics);
    const syntax::File file = syntax::parse(sources[id], diagnostics);
    core::LibraryLoader loader(sources, diagnostics, {AXON_SOURCE_DIR "/stdlib"});
    program = core::elaborate(
        file, sources, [&](const std::string& module) { return loader(module); }, diagnostics);
    if (!diagnostics.has_errors()) graph = from_core(program, program.find("f"), diagnostics, &sources);
  }

  /// The one axis of the result as the type states it; nothing where the data decides it.
  std::optional<int64_t> stated(const HigherOrderProgram::Arguments& given) const {
    const core::Global& f = program.globals[program.find("f")];
    const core::Type& fn = program.types.types[f.scheme.type];
    const core::Type& result = program.types.types[fn.items.back()];
    shape::Assignment sizes;
    for (shape::Var v : f.scheme.dims) {
      const std::string& name = shape::var_name(v);
      sizes[v] = name == "n"   ? static_cast<int64_t>(given.x.size())
                 : name == "m" ? static_cast<int64_t>(given.y.size())
                               : given.k;
    }
    EXPECT_EQ(result.shape.size(), 1u);
    return result.shape[0].dim.evaluate(sizes);
  }
};

TEST(HigherOrder, WhatIsAcceptedHasTheShapeOfItsType) {
  // What a program may be refused for: sizes and functions that do not fit, and sizes that nothing bounds.
  const std::set<std::string_view> refusals = {"E0301", "E0303", "E0307", "E0308", "E0309", "E0310",
                                               "E0313", "E0314", "E0323", "E0591", "E0602", "E9001"};
  int accepted = 0, ran = 0;
  for (uint64_t seed = 0; seed < sampled(400u); ++seed) {
    const HigherOrderProgram made(seed);
    SCOPED_TRACE(made.text());
    const Checked checked(made.text());
    for (const source::Diagnostic& d : checked.diagnostics.in_order_of_report())
      EXPECT_TRUE(refusals.count(source::code_name(d.code)))
          << source::render_human(checked.diagnostics, checked.sources) << made.text();
    if (!checked.graph) continue;
    ++accepted;
    for (const auto& [n, m, k, d, c] :
         std::vector<std::tuple<int, int, int64_t, int64_t, bool>>{{0, 1, 0, 2, false},
                                                                   {1, 0, 1, 0, true},
                                                                   {2, 3, 2, -1, false},
                                                                   {3, 3, 5, 9, true},
                                                                   {5, 4, 3, 3, false}}) {
      HigherOrderProgram::Arguments given;
      for (int i = 0; i < n; ++i) given.x.push_back(10 + i);
      for (int i = 0; i < m; ++i) given.y.push_back(20 + i);
      given.k = k;
      given.d = d;
      given.c = c;
      HigherOrderProgram::Fit fit;
      const auto meaning = made.meaning(given, fit);
      if (fit == HigherOrderProgram::Fit::stretches) continue;
      const Outcome got = interpret(*checked.graph,
                                    {{Elem::f32, {n}, given.x, {}},
                                     {Elem::f32, {m}, given.y, {}},
                                     {Elem::i64, {}, {}, {k}},
                                     {Elem::i64, {1}, {}, {d}},
                                     {Elem::boolean, {}, {}, {c}}},
                                    {}, Precision::storage);
      const std::string where = made.text() + "n = " + std::to_string(n) + ", m = " + std::to_string(m) +
                                ", k = " + std::to_string(k) + ", d = " + std::to_string(d) +
                                ", c = " + std::to_string(c);
      if (!meaning) {
        EXPECT_NE(got.error, "") << where;
        continue;
      }
      if (!got.error.empty()) continue;  // a check of its sizes, which other sizes pass
      ++ran;
      ASSERT_EQ(got.results.size(), 1u);
      EXPECT_EQ(got.results[0].floats, *meaning) << where;
      const auto stated = checked.stated(given);
      EXPECT_EQ(stated.value_or(got.results[0].shape[0]), got.results[0].shape[0]) << where;
    }
  }
  EXPECT_GT(accepted, sampled_floor(100));
  EXPECT_GT(ran, sampled_floor(300));
}

}  // namespace
}  // namespace axon::graph
