// Whole models on several sizes: native code, simulator and interpreter agree. No model states a number of
// its own, so one compilation serves every size. Entries with size parameters are called by an entry that
// takes them from an argument's shape, since these executors know no others; test_numpy.py calls them by
// name.
#include "support.h"

namespace axon::stdlib {
namespace {

std::string source_of(const std::string& name) {
  return read_file(AXON_SOURCE_DIR "/examples/models/" + name + ".axn");
}

/// The model with its entries as functions, and `entries` that call them.
std::string called_by(const std::string& entries, std::string model) {
  for (size_t at = 0; (at = model.find("\nentry ", at)) != std::string::npos;) model.replace(at, 7, "\nfun ");
  for (size_t at = 0; (at = model.find(": weights ", at)) != std::string::npos;) model.replace(at, 10, ": ");
  return model + entries;
}

const Fill eps = {"eps", 0.01, 0.1};

TEST(Models, Gpt2) {
  const std::string entries = R"(
entry run (p : weights Model[f32, n, v, s, h*k, f]) (sizes : f32[h, k]) (tokens : i32[m]) (eps : f32) where m <= s =
  logits[f32, h] p tokens eps
entry judge (p : weights Model[f32, n, v, s, h*k, f]) (sizes : f32[h, k]) (tokens : i32[m + 1]) (eps : f32) where m <= s =
  loss[f32, h] p tokens eps
)";
  expect_executors_agree({"gpt2",
                          called_by(entries, source_of("gpt2")),
                          {{{"n", 2}, {"v", 11}, {"s", 7}, {"h", 2}, {"k", 3}, {"f", 5}, {"m", 5}},
                           {{"n", 1}, {"v", 5}, {"s", 1}, {"h", 1}, {"k", 1}, {"f", 1}, {"m", 1}},
                           {{"n", 1}, {"v", 17}, {"s", 40}, {"h", 3}, {"k", 8}, {"f", 33}, {"m", 37}}},
                          {eps, {"p.tokens", -1, 1}, {"tokens", 0, 5}}});
}

TEST(Models, Bert) {
  const std::string entries = R"(
entry states (p : weights Model[f32, n, v, s, c, h*k, f]) (sizes : f32[h, k]) (tokens : i32[b, m]) (segments : i32[b, m])
    (mask : bool[b, m]) (eps : f32) where m <= s =
  encode[f32, h] p tokens segments mask eps
entry classes (p : weights Model[f32, n, v, s, c, h*k, f]) (pooler : weights Dense[f32, h*k, h*k]) (classifier : weights Dense[f32, h*k, o])
    (sizes : f32[h, k]) (tokens : i32[b, m]) (segments : i32[b, m]) (mask : bool[b, m]) (eps : f32) where 1 <= m, m <= s =
  classify[f32, h] p pooler classifier tokens segments mask eps
entry judge (p : weights Model[f32, n, v, s, c, h*k, f]) (head : weights Dense[f32, h*k, h*k]) (head_norm : weights Norm[f32, h*k])
    (sizes : f32[h, k]) (tokens : i32[b, m]) (segments : i32[b, m]) (mask : bool[b, m]) (labels : i64[b, m]) (eps : f32)
    where m <= s =
  masked_loss[f32, h] p head head_norm tokens segments mask labels eps
)";
  expect_executors_agree(
      {"bert",
       called_by(entries, source_of("bert")),
       {{{"n", 2}, {"v", 11}, {"s", 7}, {"c", 2}, {"h", 2}, {"k", 3}, {"f", 5}, {"b", 2}, {"m", 5}, {"o", 3}},
        {{"n", 1}, {"v", 5}, {"s", 1}, {"c", 2}, {"h", 1}, {"k", 1}, {"f", 1}, {"b", 1}, {"m", 1}, {"o", 1}},
        {{"n", 1},
         {"v", 7},
         {"s", 19},
         {"c", 3},
         {"h", 3},
         {"k", 5},
         {"f", 9},
         {"b", 2},
         {"m", 17},
         {"o", 2}}},
       {eps,
        {"p.tokens", -1, 1},
        {"p.segments", -1, 1},
        {"tokens", 0, 5},
        {"segments", 0, 2},
        {"labels", -1, 5}}});
}

TEST(Models, ResNet) {
  expect_executors_agree(
      {"resnet",
       source_of("resnet"),
       {{{"n", 2}, {"m", 1}, {"c", 3}, {"d", 4}, {"e", 5}, {"r", 1}, {"b", 2}, {"h", 7}, {"w", 6}, {"o", 3}},
        {{"n", 1}, {"m", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"r", 0}, {"b", 1}, {"h", 1}, {"w", 1}, {"o", 1}},
        {{"n", 0},
         {"m", 2},
         {"c", 2},
         {"d", 3},
         {"e", 2},
         {"r", 2},
         {"b", 1},
         {"h", 3},
         {"w", 11},
         {"o", 2}}},
       {eps, {"variance", 0.5, 1.5}}});
}

TEST(Models, Lstm) {
  expect_executors_agree({"lstm",
                          source_of("lstm"),
                          {{{"n", 2}, {"v", 11}, {"d", 5}, {"t", 4}, {"b", 3}},
                           {{"n", 1}, {"v", 2}, {"d", 1}, {"t", 1}, {"b", 1}},
                           {{"n", 1}, {"v", 7}, {"d", 33}, {"t", 7}, {"b", 2}},
                           {{"n", 2}, {"v", 3}, {"d", 2}, {"t", 0}, {"b", 2}}},
                          {{"tokens", 0, 2}}});
}

TEST(Models, MixtureOfExperts) {
  const std::string entries = R"(
entry dense (p : weights Model[f32, n, v, d, h, k, e, f]) (sizes : f32[h, top]) (tokens : i32[m]) (eps : f32) where top <= e =
  logits[f32, h, top] p tokens eps
entry sparse (p : weights Model[f32, n, v, d, h, k, e, f]) (sizes : f32[h, top]) (tokens : i32[m]) (eps : f32) where top <= e =
  sparse_logits[f32, h, top] p tokens eps
)";
  expect_executors_agree(
      {"moe",
       called_by(entries, source_of("moe")),
       {{{"n", 2}, {"v", 11}, {"d", 4}, {"e", 5}, {"f", 6}, {"h", 2}, {"k", 3}, {"m", 5}, {"top", 2}},
        {{"n", 1}, {"v", 5}, {"d", 1}, {"e", 1}, {"f", 1}, {"h", 1}, {"k", 1}, {"m", 1}, {"top", 1}},
        {{"n", 1}, {"v", 7}, {"d", 17}, {"e", 8}, {"f", 9}, {"h", 3}, {"k", 5}, {"m", 19}, {"top", 3}}},
       {eps, {"tokens", 0, 5}}});
}

TEST(Models, StateSpace) {
  expect_executors_agree(
      {"ssm",
       source_of("ssm"),
       {{{"n", 2}, {"v", 11}, {"d", 4}, {"e", 6}, {"k", 3}, {"w", 4}, {"r", 2}, {"t", 5}},
        {{"n", 1}, {"v", 2}, {"d", 1}, {"e", 1}, {"k", 1}, {"w", 1}, {"r", 1}, {"t", 1}},
        {{"n", 1}, {"v", 7}, {"d", 13}, {"e", 17}, {"k", 5}, {"w", 2}, {"r", 3}, {"t", 19}}},
       {eps, {"tokens", 0, 2}, {"log_a", -1, 0.5}}});
}

}  // namespace
}  // namespace axon::stdlib
