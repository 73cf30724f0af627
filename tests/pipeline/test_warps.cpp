// What the threads of a GPU do of a row, by the programs that the pipeline makes of the small entries in
// tiles/. No warp is idle: which warps load something of a tensor follows from layouts and bounds; programs
// with a gemm, whose layouts the instruction decides, are left out. Of rows that stay in registers everything
// is loaded once, and costly values are computed once.
//
// A task has enough elements of a tensor where each thread can load 16 bytes of them, and rows are as long,
// or as many as warps.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>

#include "pipeline.h"
#include "target/machine.h"
#include "tile/names.h"
#include "tile/places.h"
#include "tile/tile.h"

namespace axon {
namespace {

using shape::Assignment;
using tile::Program;

constexpr int64_t bytes_at_once = 16;

/// Of the entries of one file, in the order in which they are tried.
std::vector<Program> programs_for_gpu(const std::string& path) {
  CompileOptions options;
  options.library = {AXON_SOURCE_DIR "/stdlib"};
  options.target = "sm_80";
  Compilation c(std::move(options));
  c.file = c.sources.load(path, c.diagnostics).value();
  EXPECT_TRUE(run(c, "plan"));
  std::vector<std::string> texts;
  std::stringstream lines(find_stage("tiles")->print(c));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    if (line.starts_with("tiles ")) texts.emplace_back();
    if (!texts.empty()) texts.back() += line + "\n";
  }
  std::vector<Program> out;
  for (const std::string& text : texts) {
    std::string error;
    auto program = tile::parse(text, error);
    EXPECT_TRUE(program) << error;
    if (program) out.push_back(std::move(*program));
  }
  return out;
}

/// The warps that load an element of a tensor in the first task, by the operation that loads.
class Loaders {
 public:
  Loaders(const Program& p, Assignment values) : p_(p), values_(std::move(values)) {
    for (const tile::Coordinate& c : p.grid) values_[c.var] = 0;
    walk(p.body);
  }

  std::map<tile::OpId, std::set<int64_t>> warps;
  std::map<tile::OpId, int64_t> elements;  ///< how many are loaded; not all are counted where all warps do

 private:
  void walk(const std::vector<tile::OpId>& body) {
    for (const tile::OpId id : body) {
      if (const auto* loop = std::get_if<tile::Loop>(&p_.ops[id])) {
        const int64_t extent = loop->extent.evaluate(values_).value();
        for (int64_t i = 0; i < extent; ++i) {
          values_[loop->index] = i;
          walk(loop->body);
        }
      }
      const auto* copy = std::get_if<tile::Copy>(&p_.ops[id]);
      if (copy && copy->from.tensor) load(id, *copy);
    }
  }

  void load(tile::OpId id, const tile::Copy& copy) {
    const tile::Tile& tile = p_.tiles[copy.to.tile];
    const tile::Places places(p_.layouts[tile.layout].layout);
    std::set<int64_t>& found = warps[id];
    for (int64_t x = 0; x < places.elements() && found.size() < static_cast<size_t>(p_.machine.warps); ++x) {
      int64_t rest = x;
      for (size_t a = tile.shape.size(); a-- > 0; rest /= tile.shape[a])
        values_[copy.to.labels[a]] = rest % tile.shape[a];
      const auto& facts = copy.bounds.facts;
      if (std::all_of(facts.begin(), facts.end(),
                      [&](const shape::Fact& fact) { return shape::holds(fact, values_).value(); })) {
        ++elements[id];
        for (const tile::Point& point : places.of(x)) found.insert(tile::warp_of(point.holder));
      }
    }
  }

  const Program& p_;
  Assignment values_;
};

/// Elements along the last axis of the box that the first task reads of the tensor, and how many rows.
std::pair<int64_t, int64_t> rows_of(const Program& p, const tile::Tensor& tensor, Assignment values) {
  for (const tile::Coordinate& c : p.grid) values[c.var] = 0;
  std::vector<int64_t> extents;
  for (const tile::Interval& i : *tensor.reads) extents.push_back((i.high - i.low).evaluate(values).value());
  int64_t rows = 1;
  for (size_t a = 0; a + 1 < extents.size(); ++a) rows *= extents[a];
  return {extents.empty() ? 1 : extents.back(), rows};
}

/// "" or which operations of the program leave warps idle though there is enough for them.
std::string idle(const Program& p, const Assignment& values) {
  std::string out;
  int64_t narrowest = 8;
  for (const tile::Tensor& t : p.tensors) narrowest = std::min<int64_t>(narrowest, base::elem_bytes(t.elem));
  const int64_t vectors = p.machine.threads() * bytes_at_once / narrowest;
  const Loaders loaders(p, values);
  for (const auto& [op, warps] : loaders.warps) {
    if (static_cast<int64_t>(warps.size()) == p.machine.warps) continue;
    const auto [length, rows] = rows_of(p, p.tensors[std::get<tile::Copy>(p.ops[op]).from.tensor], values);
    const auto loaded = loaders.elements.find(op);
    if (loaded == loaders.elements.end() || loaded->second < vectors) continue;
    if (length >= vectors || rows >= p.machine.warps)
      out += std::to_string(warps.size()) + " warps: " + tile::print(p, op) + "\n";
  }
  return out;
}

std::optional<Assignment> values_of(const Program& p, int64_t m, int64_t n) {
  Assignment out;
  for (const shape::Var v : p.sizes) {
    const std::string& name = shape::var_name(v);
    if (name != "m" && name != "n") return std::nullopt;
    out[v] = name == "m" ? m : n;
  }
  return out;
}

bool is_for(const Program& p, const Assignment& values) {
  return std::all_of(p.guard.begin(), p.guard.end(),
                     [&](const shape::Fact& fact) { return shape::holds(fact, values).value_or(false); });
}

const std::vector<std::pair<int64_t, int64_t>> sizes{
    {16, 64},  {16, 65},   {64, 67},   {16, 100},  {1030, 7}, {16, 128}, {16, 129},  {9, 200},   {8, 509},
    {16, 512}, {16, 1000}, {16, 1024}, {16, 1025}, {3, 1024}, {1, 1030}, {16, 2048}, {16, 2049}, {5, 4099},
    {1, 5000}, {16, 8192}, {3, 8193},  {1, 20000}, {5471, 3}, {8, 128},  {8, 1500}};

TEST(Warps, AllLoadWhereThereIsEnough) {
  size_t enough = 0;
  for (const auto& file : std::filesystem::directory_iterator(AXON_SOURCE_DIR "/tests/pipeline/tiles")) {
    if (file.path().extension() != ".axn") continue;
    const auto programs = programs_for_gpu(file.path().string());
    for (const auto& [m, n] : sizes) {
      std::string done;  // the type whose program for these sizes was found
      for (const Program& p : programs) {
        const auto values = values_of(p, m, n);
        const bool is_product = std::any_of(p.ops.begin(), p.ops.end(), [](const tile::Op& op) {
          return std::holds_alternative<tile::Gemm>(op);
        });
        const bool is_first = p.name != done && values && is_for(p, *values);
        if (is_first) done = p.name;
        if (p.guard.empty()) done = "";  // the last of its type
        if (!is_first || is_product) continue;
        ++enough;
        EXPECT_EQ(idle(p, *values), "") << file.path() << " " << p.name << " m=" << m << " n=" << n << "\n"
                                        << tile::print(p);
      }
    }
  }
  EXPECT_GT(enough, 400u);
}

struct Counts {
  size_t loads = 0, powers = 0;
};
/// As written, loops not unrolled.
Counts counts_in(const Program& p) {
  Counts out;
  for (const tile::Op& op : p.ops) {
    const auto* copy = std::get_if<tile::Copy>(&op);
    out.loads += copy && copy->from.tensor ? 1 : 0;
    if (const auto* map = std::get_if<tile::Map>(&op))
      for (const tile::Expr& e : map->exprs)
        out.powers += e.kind == tile::Expr::Kind::apply && e.op == base::Pointwise::exp ? 1 : 0;
  }
  return out;
}

TEST(RowsInRegisters, AreLoadedAndComputedOnce) {
  for (const char* name : {"softmax", "softmax_bf16"}) {
    const auto programs =
        programs_for_gpu(std::string(AXON_SOURCE_DIR "/tests/pipeline/tiles/") + name + ".axn");
    size_t whole = 0;
    for (const Program& p : programs) {
      const bool is_of_rows = std::any_of(p.tensors.begin(), p.tensors.end(), [](const tile::Tensor& t) {
        return t.reads && t.shape.size() == 2;
      });
      if (p.name != "softmax_0" || !is_of_rows) continue;  // of one row in parts
      const bool is_whole = std::none_of(p.ops.begin(), p.ops.end(), [](const tile::Op& op) {
        const auto* loop = std::get_if<tile::Loop>(&op);
        return loop && !loop->carries.empty();
      });
      whole += is_whole ? 1 : 0;
      const auto [loads, powers] = counts_in(p);
      EXPECT_EQ(loads, is_whole ? 1u : 3u) << tile::print(p);
      EXPECT_EQ(powers, is_whole ? 1u : 2u) << tile::print(p);
    }
    EXPECT_GE(whole, 5u) << name;
  }
}

/// Rows of one warp each need nothing of other warps.
TEST(RowsInRegisters, OfWarpsHaveNoSharedMemory) {
  const auto programs = programs_for_gpu(AXON_SOURCE_DIR "/tests/pipeline/tiles/layer_norm.axn");
  size_t of_warps = 0;
  for (const Program& p : programs) {
    const auto values = values_of(p, 16, 1024);
    if (!values || !is_for(p, *values)) continue;
    ++of_warps;
    size_t barriers = 0;
    for (const tile::Op& op : p.ops) barriers += std::holds_alternative<tile::Barrier>(op) ? 1 : 0;
    EXPECT_EQ(barriers, 1u) << tile::print(p);  // before its notification
    for (const tile::Tile& t : p.tiles) EXPECT_EQ(t.space, tile::Space::registers) << tile::print(p);
    break;
  }
  EXPECT_EQ(of_warps, 1u);
}

/// A row of 100 elements for all threads.
TEST(Warps, AreFoundIdle) {
  const auto programs = programs_for_gpu(AXON_SOURCE_DIR "/tests/pipeline/tiles/softmax.axn");
  ASSERT_TRUE(programs.back().guard.empty());
  EXPECT_NE(idle(programs.back(), values_of(programs.back(), 16, 100).value()), "");
}

}  // namespace
}  // namespace axon
