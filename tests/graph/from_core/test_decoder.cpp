// A small decoder in the reference interpreter: steps of one token agree with reading all tokens at once.
#include "run.h"

namespace axon::graph {
namespace {

const char* const decoder = R"(
type Layer[d, h, g, k, f] =
  { norm1 : f32[d], wq : f32[d, h*g*k], wk : f32[d, h*k], wv : f32[d, h*k], wo : f32[h*g*k, d]
  , norm2 : f32[d], w1 : f32[d, f], w2 : f32[f, d], w3 : f32[d, f] }
type Model[n, v, d, h, g, k, f] = { embed : f32[v, d], layers : Stack[n, Layer[d, h, g, k, f]], norm : f32[d] }
type Cache[n, h, k, s] = { keys : f32[n, h, k, s], values : f32[n, h, s, k] }
fun mlp x p = (silu (x @ p.w1) * (x @ p.w3)) @ p.w2
fun table (m : i64) (half : i64) (pos : i64) (base : f32) =
  let angles = for (i < m) (j < half) => real (pos + i) * pow base (-(real j) / real half)
  in (cos angles, sin angles)
fun attend (q : [h, g, m, k]) (keys : [h, k, t]) (values : [h, t, k]) (pos : i64) =
  let scores = for h g i j => (sum c => q[h, g, i, c] * keys[h, c, j]) / sqrt (real k)
  let weights = softmax (causal pos scores)
  in for h g i c => sum j => weights[h, g, i, j] * values[h, j, c]
fun decoder[n, d, h, g, k, f, s, m] (layers : Stack[n, Layer[d, h, g, k, f]]) (cache : *Cache[n, h, k, s])
    (x : f32[m, d]) (pos : i64) (eps : f32) (base : f32) =
  let (cosines, sines) = table m (k / 2) pos base
  let step x (w, c) =
    let y = rms_norm x w.norm1 eps
    let q = rope (rearrange (y @ w.wq) [m, h*g*k] => [h, g, m, k]) cosines sines
    let key = rope (rearrange (y @ w.wk) [m, h*k] => [h, m, k]) cosines sines
    let value = rearrange (y @ w.wv) [m, h*k] => [h, m, k]
    let keys = c.keys with [:, :, pos : pos + m] = transpose key
    let values = c.values with [:, pos : pos + m, :] = value
    let a = attend q (keys[:, :, 0 : pos + m]) (values[:, 0 : pos + m, :]) pos
    let x = x + (rearrange a [h, g, m, k] => [m, h*g*k]) @ w.wo
    in (x + mlp (rms_norm x w.norm2 eps) w, { keys = keys, values = values })
  in scan step x (layers, cache)
entry logits[h, k] (p : weights Model[n, v, d, h, g, k, f]) (cache : *Cache[n, h, k, s]) (tokens : i32[m]) (pos : i64)
    (eps : f32) (base : f32) =
  let (x, cache) = decoder p.layers cache (embedding p.embed tokens) pos eps base
  in (rms_norm x p.norm eps @ transpose p.embed, cache)
)";

TEST(FromCoreRun, DecodingStepByStepIsReadingAllAtOnce) {
  Lowered lowered = lower(decoder);
  ASSERT_EQ(lowered.errors, "");
  const Graph& g = lowered.graphs.at("logits");
  const int64_t n = 2, v = 11, d = 8, h = 2, groups = 2, k = 4, f = 12, s = 6, m = 5;
  Random random;
  std::map<std::string, Tensor> weights = {{"p.embed", random.tensor({v, d})},
                                           {"p.layers.norm1", random.tensor({n, d})},
                                           {"p.layers.wq", random.tensor({n, d, h * groups * k}, 0.3)},
                                           {"p.layers.wk", random.tensor({n, d, h * k}, 0.3)},
                                           {"p.layers.wv", random.tensor({n, d, h * k}, 0.3)},
                                           {"p.layers.wo", random.tensor({n, h * groups * k, d}, 0.3)},
                                           {"p.layers.norm2", random.tensor({n, d})},
                                           {"p.layers.w1", random.tensor({n, d, f}, 0.3)},
                                           {"p.layers.w2", random.tensor({n, f, d}, 0.3)},
                                           {"p.layers.w3", random.tensor({n, d, f}, 0.3)},
                                           {"p.norm", random.tensor({d})},
                                           {"eps", reals({}, {1e-5})},
                                           {"base", reals({}, {10000})}};
  auto call = [&](const std::vector<int64_t>& tokens, int64_t pos, const Tensor& keys, const Tensor& values) {
    std::map<std::string, Tensor> given = weights;
    given["cache.keys"] = keys;
    given["cache.values"] = values;
    given["tokens"] = integers({static_cast<int64_t>(tokens.size())}, tokens, Elem::i32);
    given["pos"] = integers({}, {pos});
    std::vector<Tensor> inputs;
    for (const Input& i : g.inputs) inputs.push_back(given.at(i.path));
    return interpret(g, inputs, named_sizes(g, {{"h", h}, {"k", k}}), Precision::storage);
  };
  const std::vector<int64_t> tokens = {3, 1, 4, 1, 10};
  Tensor keys = reals({n, h, k, s}, Reals(static_cast<size_t>(n * h * k * s), 0));
  Tensor values = reals({n, h, s, k}, Reals(static_cast<size_t>(n * h * k * s), 0));
  Outcome all = call(tokens, 0, keys, values);
  ASSERT_EQ(all.error, "");
  ASSERT_EQ(all.results.size(), 3u);
  ASSERT_EQ(all.results[0].shape, (std::vector<int64_t>{m, v}));
  Tensor step_keys = keys, step_values = values;
  for (int64_t pos = 0; pos < m; ++pos) {
    Outcome one = call({tokens[static_cast<size_t>(pos)]}, pos, step_keys, step_values);
    ASSERT_EQ(one.error, "");
    auto row = all.results[0].floats.begin() + pos * v;
    expect_near(one.results[0].floats, Reals(row, row + v), 1e-4);
    step_keys = one.states.at(0);
    step_values = one.states.at(1);
  }
  expect_near(step_keys.floats, all.states.at(0).floats, 1e-5);
  std::string error = call({1}, s, keys, values).error;
  EXPECT_NE(error.find("m + pos <= s; the sides are 7 and 6"), std::string::npos) << error;
}

}  // namespace
}  // namespace axon::graph
