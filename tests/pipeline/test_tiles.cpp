// Tile programs as the pipeline makes them: the texts of small entries (tiles/NAME.axn gives NAME.tiles;
// AXON_BLESS=1 rewrites them), and proofs and texts of those of all example models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "pipeline.h"
#include "source/render.h"
#include "target/machine.h"
#include "tile/from_task.h"
#include "tile/places.h"

namespace axon {
namespace {

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(AXON_SOURCE_DIR "/" + folder))
    if (file.path().extension() == ".axn") names.push_back(file.path().string());
  std::sort(names.begin(), names.end());
  return names;
}
std::string name_of_file(const testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}

std::unique_ptr<Compilation> planned(const std::string& path, const std::string& machine) {
  CompileOptions options;
  options.library = {AXON_SOURCE_DIR "/stdlib"};
  (target::find_machine(machine)->is_gpu() ? options.target : options.levels.emplace_back()) = machine;
  auto c = std::make_unique<Compilation>(std::move(options));
  c->file = c->sources.load(path, c->diagnostics).value();
  EXPECT_TRUE(run(*c, "plan")) << source::render_short(c->diagnostics, c->sources);
  return c;
}
std::string tiles_of(Compilation& c) { return find_stage("tiles")->print(c); }

// ---- texts ----

class TileTexts : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Small, TileTexts, testing::ValuesIn(files_in("tests/pipeline/tiles")), name_of_file);

void expect_as_written(const std::string& text, const std::string& path) {
  if (std::getenv("AXON_BLESS")) {
    std::ofstream(path) << text;
    return;
  }
  std::stringstream wanted;
  wanted << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, wanted.str()) << path << ": set AXON_BLESS=1 to accept";
}

TEST_P(TileTexts, AreAsWritten) {
  const std::filesystem::path path = GetParam();
  expect_as_written(tiles_of(*planned(path, "x86-64-v3")),
                    std::filesystem::path(path).replace_extension(".tiles"));
  expect_as_written(tiles_of(*planned(path, "sm_80")),
                    std::filesystem::path(path).replace_extension(".sm_80.tiles"));
}

// ---- proofs ----

/// Of a text of one program after the other, and lines that say why a type has none.
std::vector<std::string> programs_in(const std::string& text) {
  std::vector<std::string> out;
  std::stringstream lines(text);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) inside = false;
    if (line.starts_with("tiles ")) out.emplace_back(), inside = true;
    if (inside) out.back() += line + "\n";
  }
  return out;
}

/// Sums are printed in the order of their variables' numbers, which parsing gives anew.
void expect_proved_and_read_back(const std::string& text) {
  std::string error;
  const auto program = tile::parse(text, error);
  ASSERT_TRUE(program) << error << "\n" << text;
  for (const tile::Obligation& o : tile::verify(*program)) EXPECT_TRUE(o.proved) << o.what << "\n" << text;
  const std::string printed = tile::print(*program);
  const auto again = tile::parse(printed, error);
  ASSERT_TRUE(again) << error << "\n" << printed;
  EXPECT_EQ(tile::print(*again), printed);
}

class TileProofs : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, TileProofs, testing::ValuesIn(files_in("examples/models")), name_of_file);
INSTANTIATE_TEST_SUITE_P(Proofs, TileProofs, testing::ValuesIn(files_in("tests/pipeline/proofs")),
                         name_of_file);

/// What makes proofs hard, in tests/pipeline/proofs, is the form of indices and sizes: levels do not change
/// it.
std::vector<const char*> levels_of(const std::string& path) {
  if (path.find("/proofs/") != std::string::npos) return {"x86-64-v3"};
  return {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
}

/// Of each type: most_programs, the last of which, and no other, is for all sizes.
void expect_few(const std::vector<std::string>& programs) {
  size_t count = 0;
  for (const std::string& program : programs) {
    EXPECT_LE(++count, tile::most_programs) << program;
    if (program.find("\nguard ") == std::string::npos) count = 0;
  }
  EXPECT_EQ(count, 0u);
}

TEST_P(TileProofs, OfEveryLevel) {
  const auto c = planned(GetParam(), "x86-64-v2");
  for (const char* level : levels_of(GetParam())) {
    SCOPED_TRACE(level);
    c->options.levels = {level};
    const auto programs = programs_in(tiles_of(*c));
    EXPECT_GE(programs.size(), 1u);
    for (const std::string& text : programs) expect_proved_and_read_back(text);
    expect_few(programs);
  }
}

/// Where elements of a tensor lie next to each other along the last axis of a tile, each thread of all warps
/// has 16 bytes of them at once; accumulators apart, and numbers that several lanes have, one of each row.
void expect_whole_loads(const std::string& text) {
  std::string error;
  const auto program = tile::parse(text, error);
  ASSERT_TRUE(program) << error;
  std::set<tile::LayoutId> sums;
  for (const tile::Op& op : program->ops)
    if (const auto* gemm = std::get_if<tile::Gemm>(&op)) sums.insert(program->tiles[gemm->acc.tile].layout);
  for (const tile::Op& op : program->ops) {
    const auto* copy = std::get_if<tile::Copy>(&op);
    if (!copy || !copy->from.tensor || copy->to.labels.empty()) continue;
    const auto by_last = copy->from.at.back().dim.linear_in(copy->to.labels.back());
    if (!by_last || !by_last->first.is(1)) continue;
    const tile::Tile& tile = program->tiles[copy->to.tile];
    if (sums.contains(tile.layout)) continue;  // what is added to a product
    const tile::Places places(program->layouts[tile.layout].layout);
    if (places.copies() > 1 && tile.shape.size() == 1) continue;
    int64_t run = 0;
    std::set<int64_t> threads;
    for (int64_t x = 0; x < places.elements(); ++x)
      for (const tile::Point& point : places.of(x)) {
        const int64_t thread = point.holder / tile::most_vector_lanes;
        threads.insert(thread);
        run += thread == 0 && x == run ? 1 : 0;
      }
    EXPECT_EQ(static_cast<int64_t>(threads.size()), program->machine.threads()) << text;
    EXPECT_GE(run * base::elem_bytes(program->tensors[copy->from.tensor].elem), 16) << tile.name << "\n"
                                                                                    << text;
  }
}

TEST_P(TileProofs, OfGpus) {
  for (const std::string& text : programs_in(tiles_of(*planned(GetParam(), "sm_80")))) {
    expect_proved_and_read_back(text);
    expect_whole_loads(text);
  }
}

/// Rows of some length, in 32 bits and in 64, would have nine programs.
TEST(TilePrograms, AreFewForEachType) {
  for (const std::string& path : files_in("tests/pipeline/tiles"))
    for (const char* machine : {"x86-64-v2", "x86-64-v4", "sm_80", "sm_90a"})
      expect_few(programs_in(tiles_of(*planned(path, machine))));
}

TEST(TileLoads, AreWholeOnGpus) {
  for (const std::string& path : files_in("tests/pipeline/tiles"))
    for (const std::string& text : programs_in(tiles_of(*planned(path, "sm_80")))) expect_whole_loads(text);
}

}  // namespace
}  // namespace axon
