// Small entries as tile programs: each is compiled up to its plan, and its tasks run their tile programs on
// every machine, against the meaning. Every program is proved (tile_programs.h).
#include "tile_programs.h"

#include <gtest/gtest.h>

#include "bindings.h"

namespace axon::differential {
namespace {

struct Entry {
  const char* name;
  const char* source;     ///< behind `entry f `
  bool has_tiles = true;  ///< at least one of its types has tile programs
};
void PrintTo(const Entry& entry, std::ostream* out) { *out << entry.source; }

// Ranks, element types, casts between them.
constexpr Entry types[] = {
    {"Scalar", "(x : f32) (y : f32) = x * y + 1.0"},
    {"ScalarOfIntegers", "(x : i64) (y : i32) (z : u8) = (i32 x / (y + 1), x % 7, z / 3, i16 y - 4)"},
    {"Doubles", "(x : f64[n]) = x * x - 1.5"},
    {"Halves", "(x : f16[n]) (y : f16[n]) = x * y + x"},
    {"BrainFloats", "(x : bf16[m, n]) = tanh x * 0.5"},
    {"Bytes", "(x : i8[n]) (y : i8[n]) = (x + y, x * y, x / (y + 1), x % (y + 1))"},
    {"UnsignedBytes", "(x : u8[n]) = (x + 200, x / 7, -x, max x 9)"},
    {"Shorts", "(x : i16[m, n]) (y : i16[n]) = x * y - x"},
    {"Words", "(x : u32[n]) = (x / 3, x % 5, x - 1000)"},
    {"Longs", "(x : i64[n]) (y : i64[n]) = (x / (y + 1), x % (y - 200), abs (x - y))"},
    {"Truths", "(x : bool[m, n]) (y : bool[n]) = (x && y, x || not y, x != y)"},
    {"EightBits", "(x : f8e4m3[n]) (y : f8e5m2[n]) = (f32 x + f32 y, f8e5m2 (f32 x), f8e4m3 (f32 y * 2.0))"},
    {"FloatsOfAll",
     "(a : i8[n]) (b : u8[n]) (c : i16[n]) (d : i32[n]) (e : u32[n]) (g : i64[n]) =\n"
     "  (f32 a + f32 b, f64 c * f64 d, f32 e, f64 g, f32 g)"},
    {"IntegersOfFloats",
     "(x : f32[n]) (y : f64[n]) = (i32 x, i64 (x * 100.0), u8 x, i8 (y * 60.0), i16 y, u32 y)"},
    {"NarrowOfWide", "(x : f64[n]) (y : f32[n]) = (f32 x, f16 x, bf16 y, f16 y + f16 x)"},
    {"WideOfNarrow", "(x : f16[n]) (y : bf16[n]) = (f32 x * f32 y, f64 x, f64 y)"},
    {"IntegersOfIntegers",
     "(x : i64[n]) (y : i32[n]) = (i8 x, u8 x, i16 (x * 300), u32 y, i64 y + x, i32 x * y)"},
    {"TruthsOfNumbers", "(x : f32[n]) (y : i8[n]) (z : f64[n]) = (x < 0.5, y >= 7, z == z, f64 x < z)"},
    {"NumbersOfTruths", "(x : bool[n]) = (select x 1.5 (f32 (-2)), select x (i64 3) 4, select x (i8 1) 0)"},
    {"Functions", "(x : f32[m, n]) = (exp x, erf x, sin x + cos x, sqrt (abs x), floor x, pow (abs x) x)"},
    {"FunctionsOfDoubles", "(x : f64[n]) = (exp x, log (abs x + 1.0), atan x, exp2 x, rsqrt (abs x + 1.0))"},
};

// Shapes: broadcast operands, permutations, slices, what lies outside.
constexpr Entry shapes[] = {
    {"Vector", "(x : f32[n]) = x + x"},
    {"FourAxes", "(x : f32[l, k, m, n]) (y : f32[k, 1, n]) = x * y"},
    {"ThreeAxes", "(x : f32[k, m, n]) (y : f32[k, 1, n]) (z : f32[m, 1]) = x * y + z"},
    {"Transposed", "(x : f32[m, n]) (y : f32[n, m]) = x + transpose y", false},
    {"Turned", "(x : f32[k, m, n]) = for a b c => x[b, c, a]", false},
    {"Heads", "(x : f32[n, m]) (y : f32[m, 2*n]) = heads[2, n] (tanh (x @ y))"},
    {"Flipped", "(x : f32[m, n]) = x[:, ::-1]", false},
    {"FlippedRows", "(x : f32[m, n]) = x[::-1] * 2.0"},
    {"EverySecond", "(x : f32[n]) = x[::2]", false},
    {"Tail", "(x : f32[m, n]) where n >= 1 = x[:, 1:] - x[:, :-1]"},
    {"Shifted", "(x : f32[n]) = for i => x[i - 1 else 0.0] + x[i + 1 else 5.0]"},
    {"ShiftedRows", "(x : f32[m, n]) = for i j => x[i - 1, j else 0.0] * x[i, j + 2 else 1.0]"},
    {"Padded", "(x : bf16[m, n]) = pad 2 3 0.5 x"},
    {"PaddedIntegers", "(x : i32[n]) = pad 1 0 7 x"},
    {"Joined", "(x : f32[m, n]) (y : f32[k, n]) = concat x y"},
    {"JoinedRows", "(x : f32[m, n]) (y : f32[m, k]) = concat_last x y * 3.0"},
    {"Repeated", "(x : f32[m, n]) = for i (j < n) => x[i, j % 3 else 0.25]", false},
    {"Diagonal", "(x : f32[n]) = for i (j < n) => if i == j then x[i] else 0.0"},
    {"LowerTriangle", "(x : f32[m, n]) = for i j => if j <= i then x[i, j] else -inf"},
    {"Positions", "(x : f32[m, n]) = for i j => x[i, j] + real (2*i - j)"},
    {"Halved", "(x : f32[2*n]) = x[:n] * x[n:]"},
    {"Flattened", "(x : f32[m, n]) = flatten x + 1.0"},
    {"Unflattened", "(x : f32[m, 4*n]) : f32[m, 4, n] = unflatten x"},
    {"Constant", "(x : f32[n]) = (for (i < n) => 1.5, iota n, zeros_like x)"},
    {"Clamped", "(x : f32[n]) where n >= 1 = for (i < n + 3) => x[min i (n - 1)]", false},
    {"Choice",
     "(c : bool[m]) (x : f32[m, n]) (y : f32[m, n]) = for i j => if c[i] then x[i, j] else y[i, j]"},
};

// Reductions, of rows, columns and all, of each monoid, one inside of another.
constexpr Entry reductions[] = {
    {"SumOfAVector", "(x : f32[n]) = sum x"},
    {"SumOfAll", "(x : f64[k, m, n]) = sum i j l => x[i, j, l]"},
    {"SumsOfColumns", "(x : f32[m, n]) = over_first sum x", false},
    {"Extrema", "(x : f32[m, n]) = (maximum x, minimum x)"},
    {"ExtremaOfIntegers", "(x : i32[m, n]) = (reduce max (-9) x, reduce min 1000 x, sum x, prod x)"},
    {"ExtremaOfBytes", "(x : u8[m, n]) = (reduce max 0 x, sum x)"},
    {"AllAndAny", "(x : bool[m, n]) = (all x, any x)"},
    {"Count", "(x : f32[m, n]) = count (x > 0.0)"},
    {"Product", "(x : f64[m, n]) = prod (1.0 + 0.1 * x)"},
    {"Argmax", "(x : f32[m, n]) where n >= 1 = argmax x"},
    {"ArgmaxOfIntegers", "(x : i8[m, n]) where n >= 1 = (argmax x, argmin x)"},
    {"Softmax", "(x : f32[m, n]) = softmax x"},
    {"SoftmaxOfHalves", "(x : f16[m, n]) = softmax x"},
    {"SoftmaxOfDoubles", "(x : f64[k, m, n]) = softmax x"},
    {"LogSoftmax", "(x : bf16[n]) = log_softmax x"},
    {"LayerNorm", "(x : f32[m, n]) (w : f32[n]) (b : f32[n]) = layer_norm x w b 0.00001"},
    {"RmsNormOfHalves", "(x : bf16[m, n]) (w : bf16[n]) = rms_norm x w 0.00001", false},
    {"RmsNorm", "(x : f32[m, n]) (w : f32[n]) = rms_norm x w 0.00001"},
    {"RowsOfThreeAxes", "(x : f32[k, m, n]) (w : f32[m, n]) = for i j => sum l => x[i, j, l] * w[j, l]",
     false},
    {"TwoAxes", "(x : f32[m, k, n]) = for i => maximum a b => abs x[i, a, b]"},
    {"Nested", "(x : f32[k, m, n]) = for i => maximum (for j => sum x[i, j])"},
    {"Variances", "(x : f64[m, n]) = (mean x, variance x)"},
    {"Causal", "(x : f32[n, n]) = for i => sum j => if j <= i then x[i, j] else 0.0"},
    {"CausalOfAVector", "(x : f32[n]) = for (i < n) => sum j => if j <= i then x[j] else 0.0"},
    {"MaskedChoices",
     "(x : i32[n, m]) (y : i32[n]) =\n"
     "  for (l < n) => sum i => sum (j < m + 2) =>\n"
     "    if i + j <= l then (if j < 2 then y[i] else x[i, max j 2 - 2]) else 0"},
    {"Band", "(x : i64[m, n]) = for i => sum j => if i <= j && j < i + 5 then x[i, j] else 0"},
    {"CausalSoftmax", "(x : f32[m, n]) = softmax (for i j => if j <= i then x[i, j] else -inf)", false},
    {"Windows", "(x : f32[n]) where n >= 3 = for (i < n - 2) => sum (s < 3) => x[i + s]", false},
    {"NormalizedByAll", "(x : f32[n]) = x / sum (abs x)"},
    {"Branched", "(x : f32[n]) (c : i64) = if sum x > 0.5 && c < 40 then x * 2.0 else x - 1.0"},
    {"Mixed", "(x : f32[m, n]) (s : f64) = (f64 (for i => sum x[i]) * s, i32 (for i => maximum x[i]))"},
};

// States and loops.
constexpr Entry states[] = {
    {"Update", "(s : *f32[n]) (x : f32[m]) where m <= n = s with [0:m] = x * 2.0"},
    {"UpdateAt", "(s : *f32[m, n]) (x : f32[n]) (p : i64) where 0 <= p, p < m = s with [p] = x"},
    {"Added", "(s : *f32[m, n]) (x : f32[m, n]) = let t = s + x in (t, sum (for i => sum t[i]))"},
    {"Steps", "(x : f32[m, n]) = fold (fn h r => tanh (h * 0.5 + r)) (for (i < n) => 0.1) x"},
    {"Scanned",
     "(x : f32[m, n]) = let (h, all) = scan (fn h r => let g = h * 0.5 + r in (g, sum g)) (for (i < n) => "
     "0.0) x in (h, all)"},
    {"Iterated", "(x : f64[n]) (c : i64) = iterate (c % 4) (fn y => y * 0.5 + 1.0) x"},
    {"While",
     "(x : f32[n]) = while (fn (s, c) => c < 3 && sum s < 100.0) (fn (s, c) => (s * 2.0, c + 1)) (x, i64 0)"},
    {"ArgmaxOfAStatesColumn",
     "(x : f64[n, n]) where n >= 1 =\n"
     "  iterate 3 (fn (k, a) =>\n"
     "    let p = argmax (for i => if i >= k then a[i, 0] else -1.0)\n"
     "    in (k + 1, for i j => a[i, j] - a[p, j])) (i64 0, x) |> (fn (_, a) => a)"},
    {"UpdateInAnArm",
     "(x : f32[n, m]) (y : f32[m]) where n >= 1 =\n"
     "  let t = if n >= 3 then x with [-3] = x[2] * 0.5 + 0.25 else x let u = t[0] in (u, layer_norm u y y "
     "0.1)"},
    {"PackedTriangle",
     "(x : f32[n * (n + 1) / 2]) (y : f32[n]) =\n"
     "  for (i < n) (j < n) => if j <= i then x[i * (i + 1) / 2 + j] else y[j]",
     false},
    {"UpdateReversed", "(s : *f32[m, n]) (x : f32[m, n]) = (s with [::-1] = x * 0.5)[::-1]"},
    {"UpdateOfEverySecond", "(s : *f32[2*k, n]) (x : f32[k, n]) = s with [::2] = x * 0.5", false},
    {"Cumulative", "(x : f32[m, n]) = cumulative_sum x"},
};

std::vector<Entry> all_entries() {
  std::vector<Entry> all;
  all.insert(all.end(), std::begin(types), std::end(types));
  all.insert(all.end(), std::begin(shapes), std::end(shapes));
  all.insert(all.end(), std::begin(reductions), std::end(reductions));
  all.insert(all.end(), std::begin(states), std::end(states));
  return all;
}

const Sizes sizes_of_entries[] = {
    {{"k", 2}, {"l", 3}, {"m", 5}, {"n", 7}},   {{"k", 1}, {"l", 1}, {"m", 1}, {"n", 1}},
    {{"k", 3}, {"l", 1}, {"m", 2}, {"n", 0}},   {{"k", 2}, {"l", 2}, {"m", 0}, {"n", 5}},
    {{"k", 2}, {"l", 1}, {"m", 3}, {"n", 131}}, {{"k", 1}, {"l", 2}, {"m", 4}, {"n", 64}},
};

class Tiles : public ::testing::TestWithParam<Entry> {};

TEST_P(Tiles, AgreeWithTheMeaning) {
  const Compiled compiled(std::string("entry f ") + GetParam().source + "\n", {}, "plan");
  ASSERT_EQ(compiled.error(), "");
  uint64_t seed = 0, runs = 0;
  for (Sizes sizes : sizes_of_entries) {
    for (const char* scalar : {"c", "p", "x", "y", "z"}) sizes[scalar] = sizes["n"] / 3;
    const Inputs inputs = make_inputs(compiled.meaning("f"), sizes, 100, ++seed);
    const Outcome meaning = compiled.interpret("f", inputs, graph::Precision::f64);
    if (!meaning.error.empty()) continue;  // a `where` that these sizes break
    const Outcome storage = compiled.interpret("f", inputs, graph::Precision::storage);
    for (uint64_t order = 0; order < 8; ++order)
      EXPECT_EQ(first_difference(compiled.simulate("f", inputs, 100 * seed + order), meaning, storage), "")
          << "order " << order << " n = " << sizes["n"] << " m = " << sizes["m"];
    ++runs;
  }
  EXPECT_GE(runs, 3u);
  if (GetParam().has_tiles) EXPECT_GT(compiled.tile_tasks(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Entries, Tiles, ::testing::ValuesIn(all_entries()),
                         [](const auto& info) { return info.param.name; });

// ---- generated programs ----

std::pair<uint64_t, uint64_t> seeds_of_tiles() {
  const char* const given = std::getenv("AXON_SEEDS");
  if (!given) return {3001, 3010};
  char* end = nullptr;
  const uint64_t first = std::strtoull(given, &end, 10);
  return {first, *end == '-' ? std::strtoull(end + 1, nullptr, 10) : first};
}

class GeneratedTiles : public ::testing::TestWithParam<uint64_t> {};

TEST_P(GeneratedTiles, AgreeWithTheMeaning) {
  const Generated g = generate(GetParam());
  const Compiled compiled(g.source, {}, "plan");
  ASSERT_EQ(compiled.error(), "") << g.source;
  for (Round round : rounds) {
    const Sizes sizes = choose_sizes(g, round, g.seed);
    const Inputs inputs = choose_inputs(g, compiled.meaning(g.name), sizes, round, g.seed);
    const Outcome meaning = compiled.interpret(g.name, inputs, graph::Precision::f64);
    const Outcome storage = compiled.interpret(g.name, inputs, graph::Precision::storage);
    EXPECT_EQ(meaning.error, "") << g.source;
    const uint64_t order = 10 * g.seed + static_cast<uint64_t>(round);
    EXPECT_EQ(first_difference(compiled.simulate(g.name, inputs, order), meaning, storage), "")
        << round_name(round) << "\n"
        << g.source;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, GeneratedTiles,
                         ::testing::Range(seeds_of_tiles().first, seeds_of_tiles().second + 1));

}  // namespace
}  // namespace axon::differential
