// Native code of tile programs against their interpreter, bit for bit where no elementary function occurs.
//
// Every tensor lies next to a page that cannot be touched, once with its end and once with its start.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <regex>

#include "base/round.h"
#include "compiled_tiles.h"
#include "module/tiles/emit_program.h"
#include "tile/support.h"

namespace axon::module {
namespace {

using base::Elem;
using testing::Memory;
using tile::Sizes;
using tile::TensorData;
using tile::Tensors;

/// Inputs that the program's types have: `sample` rounded to them, or with random floats in its place.
Tensors drawn(const tile::Program& p, const Tensors& sample, std::mt19937_64* random) {
  Tensors out = sample;
  for (const tile::Tensor& t : p.tensors) {
    const auto found = out.find(t.name);
    if (found == out.end()) continue;
    for (tile::Number& n : found->second.values) {
      if (base::is_float(t.elem)) {
        if (random) n.real = static_cast<double>(static_cast<int32_t>((*random)())) * 0x1p-30;
        n.real = base::round_to(t.elem, n.real);
      } else {
        n.integer = base::wrap_to(t.elem, n.integer + static_cast<int64_t>(n.real * 8));
        n.real = 0;
      }
    }
  }
  return out;
}

struct Case {
  std::string program, name, text;
  int64_t ulps = 0;
};

std::string replaced(const std::string& text, const std::string& what, const std::string& by) {
  return std::regex_replace(text, std::regex(what), by);
}

/// Each program, and with other element types: of all tiles, or of tensors alone.
std::vector<Case> cases() {
  std::vector<Case> out;
  for (const std::string& program : tile::all_programs()) {
    const std::string text = tile::text_of(program);
    const tile::Program p = tile::program_of(text);
    if (p.machine.threads() > 1 || why_not_emitted(p)) continue;  // a GPU's: tests/gpu
    const bool elementary =
        text.find("exp(") != std::string::npos || text.find("rsqrt(") != std::string::npos;
    const int64_t ulps = elementary ? 4 : 0;
    out.push_back({program, program, text, ulps});
    for (const char* narrow : {"f16", "bf16", "f8e4m3", "f8e5m2"})
      out.push_back({program, program + "_" + narrow,
                     replaced(replaced(text, "((?:tensor|view) \\w+) f32", std::string("$1 ") + narrow),
                              " align 4 ", " align 1 "),
                     elementary ? 1 : 0});
    // Twice as wide, the rows of rms_norm need twice the scratch memory.
    out.push_back({program, program + "_f64",
                   replaced(replaced(text, "f32|bf16", "f64"), "f64\\[4096\\] as line at 16384",
                            "f64[4096] as line at 32768"),
                   elementary ? int64_t{1} << 4 : 0});
  }
  for (const char* program : {"transpose", "gather"})
    for (const char* elem : {"i64", "i32", "i16", "i8", "u32", "u8"})
      out.push_back(
          {program, std::string(program) + "_" + elem, replaced(tile::text_of(program), "f32", elem), 0});
  for (const char* program : {"gemm", "convolution", "decode"})
    for (const char* elem : {"i64", "i32", "i16", "i8", "u8"}) {
      const std::string sums = std::string(elem) == "i64" ? "i64" : "i32";
      out.push_back({program, std::string(program) + "_" + elem,
                     replaced(replaced(tile::text_of(program), "f32|bf16", sums),
                              "((?:tensor|view) \\w+) " + sums, std::string("$1 ") + elem),
                     0});
    }
  out.push_back({"transpose", "transpose_bool", replaced(tile::text_of("transpose"), "f32", "bool"), 0});
  return out;
}

class TilePrograms : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, TilePrograms, ::testing::ValuesIn(cases()),
                         [](const auto& p) { return p.param.name; });

TEST_P(TilePrograms, ComputeWhatTheInterpreterDoes) {
  const Case& c = GetParam();
  const tile::Program p = tile::program_of(c.text);
  ASSERT_FALSE(HasFailure());
  ASSERT_EQ(why_not_emitted(p), std::nullopt);
  std::string error;
  ASSERT_TRUE(emit_task(p, *target::find_machine("x86-64-v4"), TaskForm::object, error)) << error;
  CompiledTiles v2(p, "x86-64-v2"), v3(p, "x86-64-v3");
  ASSERT_FALSE(HasFailure());
  uint64_t seed = 0;
  for (const Sizes& sizes : tile::sizes_of(c.program)) {
    std::mt19937_64 random(++seed);
    // Another type goes through a third of the sizes.
    if (c.name != c.program && seed % 3 != 0) continue;
    for (const bool any : {false, true}) {
      const Tensors given = drawn(p, tile::sample_of(c.program, sizes, seed).given, any ? &random : nullptr);
      const tile::RunResult want = tile::interpret(p, sizes, given, {.seed = seed});
      ASSERT_EQ(want.error, "");
      std::string at;
      for (const auto& [name, value] : sizes) at += " " + name + "=" + std::to_string(value);
      const auto end = seed % 2 ? Memory::End::last : Memory::End::first;
      ASSERT_EQ(difference(p, v3.run(sizes, given, end), want.tensors, c.ulps), "") << at << " at v3";
      // Without fused multiply-adds sums of products have other roundings.
      if (any && c.text.find("gemm ") != std::string::npos) continue;
      ASSERT_EQ(difference(p, v2.run(sizes, given, end), want.tensors, c.ulps), "") << at << " at v2";
    }
  }
}

// ---- what the texts of tests/tile do not have ----

/// One text, on random numbers, for all sizes that are listed.
void expect_interpreted(const std::string& text, const std::vector<Sizes>& all, uint64_t seed = 1) {
  const tile::Program p = tile::program_of(text);
  ASSERT_FALSE(::testing::Test::HasFailure());
  ASSERT_EQ(why_not_emitted(p), std::nullopt);
  CompiledTiles v2(p, "x86-64-v2"), v3(p, "x86-64-v3");
  for (const Sizes& sizes : all)
    for (const auto end : {Memory::End::first, Memory::End::last}) {
      std::mt19937_64 random(++seed);
      shape::Assignment values;
      std::string at;
      for (shape::Var v : p.sizes) values[v] = sizes.at(shape::var_name(v));
      for (const auto& [name, value] : sizes) at += " " + name + "=" + std::to_string(value);
      Tensors given;
      for (const tile::Tensor& t : p.tensors) {
        if (!t.reads) continue;
        TensorData& data = given[t.name];
        int64_t count = 1;
        for (const Dim& extent : t.shape) count *= data.shape.emplace_back(extent.evaluate(values).value());
        for (int64_t i = 0; i < count; ++i)
          data.values.push_back({0, static_cast<int64_t>(random() % 23) - 3});
      }
      given = drawn(p, given, &random);
      const tile::RunResult want = tile::interpret(p, sizes, given, {.seed = seed});
      ASSERT_EQ(want.error, "") << at;
      ASSERT_EQ(difference(p, v3.run(sizes, given, end), want.tensors, 0), "") << at << " at v3";
      ASSERT_EQ(difference(p, v2.run(sizes, given, end), want.tensors, 0), "") << at << " at v2";
    }
}

std::vector<Sizes> grid_of(const char* m, std::vector<int64_t> ms, const char* n, std::vector<int64_t> ns) {
  std::vector<Sizes> out;
  for (const int64_t x : ms)
    for (const int64_t y : ns) out.push_back({{m, x}, {n, y}});
  return out;
}

const char* const reductions = R"(tiles reductions on x86-64-v3
sizes m, n
facts 0 <= m and 0 <= n
layout block = S[(4,2,8):(2,1,1@v)]
layout columns = S[(2,8):(1,1@v)]
layout rows = S[4:1] + R[8:1@v]
grid i < max(cdiv(m, 4), 1)
grid j < max(cdiv(n, 16), 1)
tensor x f32[m, n] align 4 reads [4*i : min(m, 4*i + 4), 16*j : min(n, 16*j + 16)] at S[(m,n):(1,m)]
tensor c f32[max(cdiv(m, 4), 1), n] align 4 writes [i : i + 1, 16*j : min(n, 16*j + 16)] at S[(max(cdiv(m, 4), 1),n):(n,1)]
tensor r f32[m, max(cdiv(n, 16), 1)] align 4 writes [4*i : min(m, 4*i + 4), j : j + 1] at S[(m,max(cdiv(n, 16), 1)):(max(cdiv(n, 16), 1),1)]
registers t f32[4, 16] as block
registers sum f32[16] as columns
registers top f32[4] as rows
registers row f32[4] as rows
do
  copy t[a, b] = x[4*i + a, 16*j + b] if 4*i + a < m and 16*j + b < n fill 0
  reduce add sum[b] = t[a, b] in f32
  reduce max top[a] = t[a, b] in f32
  map t[a, b] = sub(t[a, b], top[a])
  reduce add row[a] = t[a, b] in f32
  copy sum[b] to c[i, 16*j + b] if 16*j + b < n
  copy row[a] to r[4*i + a, j] if 4*i + a < m
)";

TEST(TileCode, ReducesAcrossLanesAndRegisters) {
  const auto sizes = grid_of("m", {0, 1, 4, 5, 9}, "n", {0, 1, 15, 16, 17, 37});
  expect_interpreted(reductions, sizes);
  expect_interpreted(replaced(reductions, "f32", "f64"), sizes);
  expect_interpreted(replaced(reductions, "f32", "i32"), sizes);
  // Five lanes, whose last one is folded first, and lanes with gaps between them.
  std::string odd = replaced(reductions, "S\\[\\(4,2,8\\):\\(2,1,1@v\\)\\]", "S[(4,2,5):(2,1,1@v)]");
  odd =
      replaced(replaced(odd, "S\\[\\(2,8\\):\\(1,1@v\\)\\]", "S[(2,5):(1,1@v)]"), "R\\[8:1@v\\]", "R[5:1@v]");
  odd = replaced(replaced(odd, "\\[4, 16\\]", "[4, 10]"), "f32\\[16\\]", "f32[10]");
  odd = replaced(odd, "16([^0-9])", "10$1");
  ASSERT_NE(odd.find("S[(4,2,5):(2,1,1@v)]"), std::string::npos);
  ASSERT_NE(odd.find("10*j"), std::string::npos);
  expect_interpreted(odd, sizes);
  std::string gaps = replaced(reductions, "S\\[\\(4,2,8\\):\\(2,1,1@v\\)\\]", "S[(4,2,8):(2,1,2@v)]");
  gaps = replaced(replaced(gaps, "S\\[\\(2,8\\):\\(1,1@v\\)\\]", "S[(2,8):(1,2@v)]"), "R\\[8:1@v\\]",
                  "R[8:2@v]");
  ASSERT_NE(gaps.find("S[(4,2,8):(2,1,2@v)]"), std::string::npos);
  expect_interpreted(gaps, sizes);
}

/// Several lanes go to one element; sums of a part are cleared and added to, others are not touched.
const char* const scatters = R"(tiles scatters on x86-64-v3
sizes n, v
facts 0 <= n and 0 <= v
layout vectors = S[(4,8):(1,1@v)]
layout line = S[1024:1]
grid i < max(cdiv(v, 1024), 1)
tensor ids i32[n] align 4 reads [0 : n] at S[n:1]
tensor x f32[n] align 4 reads [0 : n] at S[n:1]
tensor y f32[v] align 4 writes [1024*i : min(v, 1024*i + 1024)] at S[v:1]
scratch sums f32[1024] as line at 0
registers id i32[32] as vectors
registers t f32[32] as vectors
do
  map sums[r] = f32(1) if 1024*i + r < v
  for b < cdiv(n, 32) carry sums
    copy id[r] = ids[32*b + r] if 32*b + r < n fill -1
    copy t[r] = x[32*b + r] if 32*b + r < n
    scatter add t[r] to sums[id[r] + 1 - 1024*i] if 32*b + r < n
  for b < cdiv(min(v - 1024*i, 1024), 32)
    copy t[r] = sums[32*b + r] if 1024*i + 32*b + r < v
    copy t[r] to y[1024*i + 32*b + r] if 1024*i + 32*b + r < v
)";
TEST(TileCode, ScattersLanesOneByOne) {
  const auto sizes = grid_of("n", {0, 1, 31, 32, 33, 200}, "v", {0, 1, 7, 1023, 1024, 1025, 2500});
  for (const char* elem : {"f32", "f64", "i32"}) expect_interpreted(replaced(scatters, "f32", elem), sizes);
  expect_interpreted(replaced(replaced(scatters, "f32", "i8"), "add", "max"), sizes);
}

const char* const picks = R"(tiles picks on x86-64-v3
sizes n, v
facts 0 <= n and 0 <= v
layout vectors = S[(4,8):(1,1@v)]
grid i < max(cdiv(n, 32), 1)
tensor ids i32[n] align 4 reads [32*i : min(n, 32*i + 32)] at S[n:1]
tensor x f32[v] align 4 reads [0 : v] at S[v:1]
tensor y f32[n] align 4 writes [32*i : min(n, 32*i + 32)] at S[n:1]
registers id i32[32] as vectors
registers t f32[32] as vectors
do
  copy id[r] = ids[32*i + r] if 32*i + r < n fill -1
  copy t[r] = x[id[r] + 1] if 32*i + r < n fill 7
  map t[r] = add(t[r], f32(i64(index(r + i))))
  copy t[r] to y[32*i + r] if 32*i + r < n streaming
  fence
)";

TEST(TileCode, TakesWhatTablesSayAndStoresPastTheCaches) {
  for (const char* elem : {"f32", "f64"})
    expect_interpreted(replaced(picks, "f32", elem),
                       grid_of("n", {0, 1, 31, 32, 33, 100}, "v", {0, 1, 7, 30}));
  std::string error;
  const auto text =
      emit_task(tile::program_of(picks), *target::find_machine("x86-64-v3"), TaskForm::assembly, error);
  ASSERT_TRUE(text) << error;
  EXPECT_NE(text->find("vmovntps"), std::string::npos);
  EXPECT_NE(text->find("sfence"), std::string::npos);
}

const char* const windows = R"(tiles windows on x86-64-v3
sizes m, n
facts 0 <= m and 0 <= n
layout vector = S[8:1@v]
grid i < max(m, 1)
tensor x f32[m, n] align 4 reads [i : min(m, i + 1), 0 : n] at S[(m,n):(n,1)]
tensor y f32[m, 8] align 4 writes [i : min(m, i + 1), 0 : 8] at S[(m,8):(8,1)]
registers t f32[8] as vector
registers s f32[8] as vector
do
  map s[c] = f32(0)
  for k < cdiv(n + 13, 8) carry s
    copy t[c] = x[i, 8*k + c - 13] if i < m and 0 <= 8*k + c - 13 and 8*k + c - 13 < n fill 0.5
    map s[c] = add(mul(s[c], f32(0.75)), t[c]) if 0 <= 8*k + c - 3 fill 1
  copy s[c] to y[i, c] if i < m
)";

TEST(TileCode, HasEdgesOnBothSides) {
  for (const char* elem : {"f32", "f64"})
    expect_interpreted(replaced(windows, "f32", elem),
                       grid_of("m", {0, 1, 2}, "n", {0, 1, 2, 3, 4, 11, 64, 67}));
  for (const char* narrow : {"f16", "bf16", "f8e4m3", "f8e5m2"})
    expect_interpreted(replaced(replaced(windows, "tensor x f32", std::string("tensor x ") + narrow),
                                "at S\\[\\(m,n\\)", "at S[(m,n)"),
                       grid_of("m", {2}, "n", {0, 1, 11, 67}));
}

/// At the edge of a row: its last elements again, or those of a row that is shorter than a block.
const char* const scaled_rows = R"(tiles scaled_rows on x86-64-v3
sizes m, n
facts 0 <= m and 0 <= n
layout block = S[(4,8):(1,1@v)]
grid i < max(cdiv(m, 2), 1)
tensor x f32[m, n] align 4 reads [2*i : min(m, 2*i + 2), 0 : n] at S[(m,n):(n,1)]
tensor y f32[m, n] align 4 writes [2*i : min(m, 2*i + 2), 0 : n] at S[(m,n):(n,1)]
registers t f32[32] as block
do
  for k < min(m - 2*i, 2)
    for b < cdiv(n, 32)
      copy t[c] = x[2*i + k, 32*b + c] if 32*b + c < n
      map t[c] = add(t[c], f32(i64(index(32*b + c))))
      copy t[c] to y[2*i + k, 32*b + c] if 32*b + c < n streaming
)";

TEST(TileCode, RepeatsElementsAtAnEdge) {
  const auto sizes = grid_of("m", {0, 1, 3}, "n", {0, 1, 7, 8, 9, 31, 32, 33, 40, 41, 63, 64, 65, 95, 97});
  for (const char* elem : {"f32", "f64"}) expect_interpreted(replaced(scaled_rows, "f32", elem), sizes);
  for (const char* narrow : {"f16", "bf16", "f8e4m3"})
    expect_interpreted(replaced(replaced(scaled_rows, "((?:tensor) \\w+) f32", std::string("$1 ") + narrow),
                                " align 4 ", " align 1 "),
                       sizes);
}

/// How often the code of a program has an instruction.
size_t count_of(const std::string& instruction, const std::string& program) {
  std::string error;
  const auto text =
      emit_task(tile::program_of(program), *target::find_machine("x86-64-v3"), TaskForm::assembly, error);
  EXPECT_TRUE(text) << error;
  size_t count = 0;
  for (size_t at = 0; text && (at = text->find(instruction, at)) != std::string::npos; ++at) ++count;
  return count;
}
/// How often the code of `scaled_rows` with this line in its inner loop asks for memory.
size_t count_of_prefetches(const std::string& line, const std::string& program = scaled_rows) {
  return count_of("prefetcht1", replaced(program, "      copy t\\[c\\] = ", line + "$&"));
}

TEST(TileCode, AsksForEachLineOnce) {
  EXPECT_EQ(count_of_prefetches(""), 0u);
  const size_t once = count_of_prefetches("      prefetch c < 1 of x[2*i, 32*b + c]\n");
  EXPECT_GE(once, 1u);
  EXPECT_EQ(count_of_prefetches("      prefetch c < 32 of x[2*i, 32*b + c]\n"), 2 * once);
  EXPECT_EQ(count_of_prefetches("      prefetch r < 3, c < 32 of x[2*i + r, 32*b + c]\n"), 6 * once);
  EXPECT_EQ(count_of_prefetches("      prefetch c < 4 of x[2*i + c, 32*b]\n"), 4 * once);
  EXPECT_EQ(count_of_prefetches("      prefetch c < 320 of x[2*i, c]\n"), 10 * once) << "20 lines: a loop";
  const std::string panels = replaced(replaced(scaled_rows, "tensor x f32\\[m, n\\]", "$& round [1, 32]"),
                                      "(tensor x .* at) .*", "$1 S[(m,cdiv(n, 32),32):(32,32*m,1)]");
  EXPECT_EQ(count_of_prefetches("      prefetch r < 4, c < 32 of x[2*i + r, 32*b + c]\n", panels), 8 * once);
}

/// Of a product each step of the depth asks for its lines, however many rows there are.
TEST(TileCode, AsksAlongTheDepth) {
  const auto with = [](const std::string& line) {
    return replaced(tile::text_of("gemm"), "    gemm ", "    " + line + "\n$&");
  };
  const std::string one = with("prefetch along e < 32, f < 16 of w[32*s + e + 128, 16*j + f]");
  const std::string two = with("prefetch along e < 32, f < 32 of w[32*s + e + 128, 16*j + f]");
  const std::string far = with("prefetch along e < 32, f < 16 of w[99*s + e + 5000, 7*j + f - 4096]");
  const size_t steps = count_of("prefetcht1", one);
  EXPECT_EQ(count_of("prefetcht1", tile::text_of("gemm")), 0u);
  EXPECT_GE(steps, 6u) << "1 to 6 rows";
  EXPECT_EQ(count_of("prefetcht1", two), 2 * steps);
  const std::string none =
      replaced(tile::text_of("gemm"), "  for s ",
               "  for u < n\n    prefetch along e < 32, f < 16 of w[e + u, 16*j + f]\n$&");
  EXPECT_EQ(count_of("prefetcht1", none), 0u) << "no gemm follows";
  EXPECT_EQ(count_of("vfmadd231ps", one), count_of("vfmadd231ps", tile::text_of("gemm")));
  std::vector<Sizes> all;
  for (const int64_t k : {0, 1, 33, 65})
    for (Sizes sizes : grid_of("m", {0, 1, 5, 6, 13}, "n", {0, 1, 16, 33})) {
      sizes["k"] = k;
      all.push_back(std::move(sizes));
    }
  for (const std::string& text : {one, far}) expect_interpreted(replaced(text, "f32", "i32"), all);
}

TEST(TileCode, AsksForWhatIsNotThere) {
  const std::string far = "      prefetch r < 40, c < 64 of x[2*i + r + 1000, c + 4096*b - 512]\n";
  expect_interpreted(replaced(scaled_rows, "      copy t\\[c\\] = ", far + "$&"),
                     grid_of("m", {0, 1, 3}, "n", {0, 1, 31, 33, 64}));
}

TEST(TileCode, RoundsToHalvesByInstruction) {
  const std::string halves =
      replaced(replaced(scaled_rows, "(tensor \\w+) f32", "$1 f16"), "align 4", "align 2");
  std::string error;
  const auto text =
      emit_task(tile::program_of(halves), *target::find_machine("x86-64-v3"), TaskForm::assembly, error);
  ASSERT_TRUE(text) << error;
  EXPECT_NE(text->find("vcvtps2ph"), std::string::npos);
  EXPECT_EQ(text->find("vpminud"), std::string::npos) << "rounded before";
}

/// What is left of each row is in a lane of its own.
const char* const sums_of_rows = R"(tiles sums_of_rows on x86-64-v3
sizes m, n
facts 0 <= m and 0 <= n
guard n <= 16
layout block = S[(8,2,8):(2,1,1@v)]
layout rows = S[8:1@v]
grid i < max(cdiv(m, 8), 1)
tensor x f32[m, n] align 4 reads [8*i : min(m, 8*i + 8), 0 : n] at S[(m,n):(n,1)]
tensor y f32[m] align 4 writes [8*i : min(m, 8*i + 8)] at S[m:1]
registers t f32[8, 16] as block
registers sum f32[8] as rows
do
  copy t[r, c] = x[8*i + r, c] if 8*i + r < m and c < n fill 0
  reduce add sum[r] = t[r, c] in f32
  copy sum[r] to y[8*i + r] if 8*i + r < m
)";

TEST(TileCode, FoldsRowsTogether) {
  const auto sizes = grid_of("m", {0, 1, 7, 8, 9, 30}, "n", {0, 1, 3, 8, 9, 16});
  for (const char* elem : {"f32", "f64", "i32", "i64"})
    expect_interpreted(replaced(sums_of_rows, "f32", elem), sizes);
  // Fewer rows than lanes, an odd number of them; and more.
  for (const char* rows : {"3", "5", "16"}) {
    std::string other = replaced(sums_of_rows, "S\\[\\(8,2,8\\)", std::string("S[(") + rows + ",2,8)");
    other = replaced(replaced(other, "S\\[8:1@v\\]", std::string("S[") + rows + ":1@v]"), "8\\*i \\+ 8",
                     std::string(rows) + "*i + " + rows);
    other = replaced(replaced(other, "8\\*i", std::string(rows) + "*i"), "cdiv\\(m, 8\\)",
                     std::string("cdiv(m, ") + rows + ")");
    other = replaced(replaced(other, "f32\\[8, 16\\]", std::string("f32[") + rows + ", 16]"), "f32\\[8\\]",
                     std::string("f32[") + rows + "]");
    expect_interpreted(other, sizes);
  }
}

const char* const rows_in_scratch = R"(tiles rows_in_scratch on x86-64-v3
sizes m, n
facts 0 <= m and 0 <= n
guard n <= 301
layout square = S[(5,301):(304,1)]
layout turned = S[(5,301):(1,5)]
layout few = S[5:1]
grid i < max(cdiv(m, 5), 1)
tensor x f32[m, n] align 4 reads [5*i : min(m, 5*i + 5), 0 : n] at S[(m,n):(n,1)]
tensor y f32[m, n] align 4 writes [5*i : min(m, 5*i + 5), 0 : n] at S[(m,n):(n,1)]
tensor z f32[m] align 4 writes [5*i : min(m, 5*i + 5)] at S[m:1]
scratch s f32[5, 301] as square at 0
scratch u f32[5, 301] as turned at 8192
scratch most f32[5] as few at 16384
registers sum f32[5] as few
do
  copy s[r, c] = x[5*i + r, c] if 5*i + r < m and c < n fill -0.125
  reduce max most[r] = s[r, c] in f32
  map u[r, c] = min(sub(s[r, c], most[r]), f32(1)) if 3 <= c fill 2
  reduce add sum[r] = u[r, c] in f32
  copy sum[r] to z[5*i + r] if 5*i + r < m
  copy u[r, c] to y[5*i + r, c] if 5*i + r < m and c < n
)";

TEST(TileCode, LoopsOverTilesInScratchMemory) {
  const auto sizes = grid_of("m", {0, 1, 5, 6}, "n", {0, 1, 8, 9, 64, 300, 301});
  for (const char* elem : {"f32", "i32"})
    expect_interpreted(replaced(replaced(rows_in_scratch, "f32", elem),
                                std::string(elem) == "i32" ? "-0.125" : "none", "-2"),
                       sizes);
}

/// The accumulated rows of a table in scratch memory, each named by a loop.
const char* const named_by_loops = R"(tiles named_by_loops on x86-64-v3
sizes m, n
facts 0 <= m and 0 <= n
guard m <= 6
layout square = S[(6,16):(16,1)]
layout vectors = S[(2,8):(1,1@v)]
grid j < max(cdiv(n, 16), 1)
tensor x f32[m, n] align 4 reads [0 : m, 16*j : min(n, 16*j + 16)] at S[(m,n):(n,1)]
tensor y f32[m, n] align 4 writes [0 : m, 16*j : min(n, 16*j + 16)] at S[(m,n):(n,1)]
scratch e f32[6, 16] as square at 64
registers t f32[16] as vectors
registers s f32[16] as vectors
do
  copy e[r, c] = x[r, 16*j + c] if r < m and 16*j + c < n fill 0
  map s[c] = f32(0)
  for b < m carry s
    copy t[c] = e[b, c]
    map s[c] = add(s[c], t[c])
    copy s[c] to y[b, 16*j + c] if 16*j + c < n
)";

TEST(TileCode, ReadsScratchMemoryByLoops) {
  for (const char* elem : {"f32", "f64", "i32"})
    expect_interpreted(replaced(named_by_loops, "f32", elem),
                       grid_of("m", {0, 1, 5, 6}, "n", {0, 1, 15, 16, 17, 40}));
}

/// No byte outside of the tensors is read, whatever the data says.
TEST(TileCode, NotesTheFirstCheckThatFails) {
  const tile::Program p = tile::program_of(tile::text_of("checked"));
  const std::vector<std::tuple<std::vector<int64_t>, std::array<int64_t, 3>>> rows = {
      {{0, 6, 1, 2, 3}, {}},
      {{0, 7, 1, 2, 3}, {1, 7, 6}},
      {{0, 1, -1, 8, 3}, {1, -1, 6}},
      {{0, 1, 2, 3, INT32_MIN}, {1, INT32_MIN, 6}},
      {{0, 1, 2, 3, INT32_MAX}, {1, INT32_MAX, 6}},
  };
  for (const char* level : {"x86-64-v2", "x86-64-v3"}) {
    CompiledTiles code(p, level);
    for (const auto& [ids, failed] : rows)
      for (const auto end : {Memory::End::first, Memory::End::last}) {
        Tensors given;
        for (const int64_t id : ids) given["ids"].values.push_back({0, id});
        given["table"].values.assign(7 * 17, {0.5, 0});
        code.run({{"n", 5}, {"v", 7}, {"d", 17}}, given, end);
        EXPECT_EQ(code.failed, failed) << level;
      }
  }
  // Of indices that are large enough, the other one.
  std::string text = replaced(tile::text_of("checked"), "i32\\(100\\)", "i32(2)");
  CompiledTiles code(tile::program_of(text), "x86-64-v3");
  Tensors given;
  for (const int64_t id : {0, 2, 1, 3, 4}) given["ids"].values.push_back({0, id});
  given["table"].values.assign(7 * 17, {0.5, 0});
  code.run({{"n", 5}, {"v", 7}, {"d", 17}}, given, Memory::End::last);
  EXPECT_EQ(code.failed, (std::array<int64_t, 3>{2, 3, 103}));
}

// ---- what it is made of ----

struct Block {
  std::string label;
  std::vector<std::string> lines;
  bool has(const char* pattern) const {
    const std::regex wanted(pattern);
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return std::regex_search(line, wanted); });
  }
};

std::vector<Block> blocks_of(const std::string& text) {
  const tile::Program p = tile::program_of(text);
  std::string error;
  const auto code = emit_task(p, *target::find_machine("x86-64-v3"), TaskForm::assembly, error);
  EXPECT_TRUE(code) << error;
  std::vector<Block> out;
  std::istringstream lines(code.value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, std::regex("^[.\\w]+:"))) out.push_back({line, {}});
    if (!out.empty() && std::regex_search(line, std::regex("^\tv?[a-z]"))) out.back().lines.push_back(line);
    if (std::regex_search(line, std::regex("^\tj"))) out.push_back({"behind " + line, {}});
  }
  return out;
}

/// Blocks with such vector instructions, and without masks, that are loops where the program has some:
/// nothing in them is done one by one, or is spilled.
void expect_vectors(const std::string& text, const char* instruction, bool in_loop) {
  size_t count = 0;
  for (const Block& block : blocks_of(text)) {
    if (!block.has(instruction) || block.has("vmaskmov") || block.has("cmov")) continue;
    const std::string label = block.label.substr(0, block.label.find(':'));
    if (in_loop && !block.has(("\\tj[a-z]+\\t\\" + label + "$").c_str())) continue;
    ++count;
    EXPECT_TRUE(block.has("%ymm")) << block.label;
    EXPECT_FALSE(block.has("\tv?(add|sub|mul|div|min|max|sqrt|fn?m(add|sub)\\d+)s[sd]\t")) << block.label;
    EXPECT_FALSE(block.has("\\(%rsp\\)")) << block.label;
  }
  EXPECT_GT(count, 0u) << instruction;
}

TEST(TileCode, HotBlocksAreVectors) {
  expect_vectors(tile::text_of("pointwise"), "vmulps.*ymm", false);
  expect_vectors(tile::text_of("softmax"), "vdivps.*ymm", true);
  expect_vectors(tile::text_of("rms_norm"), "vmulps.*ymm", true);
  expect_vectors(tile::text_of("gemm"), "vfmadd231ps.*ymm", true);
}

TEST(TileCode, IsForItsKindOfMachine) {
  for (const auto& [program, machine, why] :
       {std::tuple("gemm_staged", "x86-64-v3", "it is for several threads"),
        {"softmax", "sm_80", "it is for one thread"}}) {
    std::string error;
    const auto code = emit_task(tile::program_of(tile::text_of(program)), *target::find_machine(machine),
                                TaskForm::assembly, error);
    EXPECT_FALSE(code) << program;
    EXPECT_EQ(error, why);
  }
}

TEST(TileCode, SaysWhyThereIsNone) {
  const auto why = [](const std::string& text) {
    return why_not_emitted(tile::program_of(text)).value_or("");
  };
  EXPECT_EQ(why(tile::text_of("chain")), "a is a ring");
  const std::string columns =
      replaced(tile::text_of("scan"), "S\\[\\(4,8\\):\\(1,1@v\\)\\]", "S[(8,4):(1@v,1)]");
  EXPECT_NE(why(columns).find("only rows of vectors are scanned"), std::string::npos) << why(columns);
  std::string scattered = replaced(scatters, "S\\[\\(4,8\\):\\(1,1@v\\)\\]", "S[(8,4):(1@v,1)]");
  EXPECT_NE(why(scattered).find("elements in another order"), std::string::npos);
  std::string turned =
      replaced(rows_in_scratch, "map u\\[r, c\\] = min\\(sub\\(s", "map u[r, c] = min(sub(u");
  EXPECT_EQ(why(turned), "");
  turned = replaced(rows_in_scratch, "as turned at 8192", "as turned at 4");
  EXPECT_NE(why(turned).find("it reads the memory that it writes"), std::string::npos) << why(turned);
}

}  // namespace
}  // namespace axon::module
