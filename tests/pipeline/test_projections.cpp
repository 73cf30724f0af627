// No element of q, k or v is computed by two tasks: of the example Llama, over all tasks of each entry, by
// the boxes that tasks declare, which are proved to have all that they touch.
//
// A product of a row and a column of a weight has a term for each element of the column. The task that
// computes the term reads this element of the weight, and has the row among its points of the axes of the
// domain along which it reads other parts of no weight.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "pipeline.h"

namespace axon {
namespace {

using shape::Assignment;
using shape::Dim;

const std::map<std::string, int64_t> small_sizes{{"n", 2}, {"v", 5},  {"d", 6},  {"f", 3},  {"h", 3},
                                                 {"g", 2}, {"r", 11}, {"s", 90}, {"m", 67}, {"pos", 20}};

int64_t value(const Dim& d, const Assignment& values) { return d.evaluate(values).value(); }

/// visit() with each value of a variable below its extent, of one after the other.
void each(const std::vector<std::pair<shape::Var, Dim>>& axes, Assignment& values,
          const std::function<void()>& visit, size_t from = 0) {
  if (from == axes.size()) return visit();
  const int64_t extent = value(axes[from].second, values);
  for (int64_t i = 0; i < extent; ++i) {
    values[axes[from].first] = i;
    each(axes, values, visit, from + 1);
  }
}

/// How often each term is computed: by rows, then by the weight's element.
class Terms {
 public:
  Terms(const task::Program& p, task::BufferId weight, Assignment values)
      : p_(p), weight_(weight), values_(std::move(values)) {
    for (const task::TaskType& type : p.types)
      for (const task::Access& access : type.accesses)
        if (access.buffer == weight) add(type, access);
  }

  int64_t rows = 1;  ///< of the product
  std::map<std::vector<int64_t>, int> count;

 private:
  void add(const task::TaskType& type, const task::Access& access) {
    EXPECT_FALSE(access.write);
    std::vector<std::pair<shape::Var, Dim>> all;
    for (const task::LoopId loop : type.loops) all.emplace_back(p_.loops[loop].index, p_.loops[loop].extent);
    for (const task::Coordinate& c : type.coordinates) all.emplace_back(c.var, c.extent);
    const auto is_row = [&](const task::Coordinate& c) {
      return std::none_of(access.box.begin(), access.box.end(), [&](const task::Interval& i) {
        return i.low.contains(c.var) || i.high.contains(c.var);
      });
    };
    const auto& domain = p_.graph->nodes[type.node].domain;
    each(all, values_, [&] {
      std::vector<task::Interval> box;
      for (const task::Coordinate& c : type.coordinates)
        if (is_row(c)) {
          const Dim first = Dim(c.tile) * Dim(c.var);
          box.push_back({first, shape::min(first + Dim(c.tile), domain[c.axis].extent)});
        }
      box.insert(box.end(), access.box.begin(), access.box.end());
      each_of(box);
    });
    rows = 1;
    for (const task::Coordinate& c : type.coordinates)
      if (is_row(c)) rows *= value(domain[c.axis].extent, values_);
  }

  void each_of(const std::vector<task::Interval>& box, std::vector<int64_t> point = {}) {
    if (point.size() == box.size()) {
      ++count[point];
      return;
    }
    const task::Interval axis = box[point.size()];
    const int64_t end = value(axis.high, values_);
    point.push_back(value(axis.low, values_));
    for (; point.back() < end; ++point.back()) each_of(box, point);
  }

  const task::Program& p_;
  const task::BufferId weight_;
  Assignment values_;
};

void expect_once(const task::Program& p, task::BufferId weight, int64_t rows) {
  Assignment values;
  for (const graph::Size& size : p.graph->sizes)
    if (const auto given = small_sizes.find(shape::var_name(size.var)); given != small_sizes.end())
      values[size.var] = given->second;
  const Terms terms(p, weight, values);
  int64_t elements = rows;
  for (const Dim& extent : p.buffers[weight].shape) elements *= value(extent, values);
  EXPECT_EQ(terms.rows, rows);
  EXPECT_EQ(static_cast<int64_t>(terms.count.size()), elements);
  for (const auto& [term, count] : terms.count) ASSERT_EQ(count, 1) << testing::PrintToString(term);
}

TEST(Projections, AreComputedOnce) {
  for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    CompileOptions options;
    options.library = {AXON_SOURCE_DIR "/stdlib"};
    options.levels = {level};
    Compilation c(std::move(options));
    c.file = c.sources.load(AXON_SOURCE_DIR "/examples/models/llama.axn", c.diagnostics).value();
    ASSERT_TRUE(run(c, "plan"));
    size_t projections = 0;
    for (const CompiledEntry& entry : c.entries)
      for (const plan::Variant& variant : entry.plan.variants)
        for (uint32_t b = 0; b < variant.program.buffers.size(); ++b) {
          const std::string& name = variant.program.buffers[task::BufferId{b}].name;
          if (name != "p.layers.wq" && name != "p.layers.wk" && name != "p.layers.wv") continue;
          SCOPED_TRACE(std::string(level) + " " + entry.name + " " + name);
          ++projections;
          expect_once(variant.program, task::BufferId{b}, entry.name == "prefill" ? small_sizes.at("m") : 1);
        }
    EXPECT_GE(projections, 6u);
  }
}

}  // namespace
}  // namespace axon
