// A decoder layer, fused by the graph passes, run natively: what the interpreter makes of the graph before
// any pass.
#include <fstream>
#include <iterator>

#include "graph/passes/passes.h"
#include "harness.h"

namespace axon::testing {
namespace {

std::string decoder(bool decode) {
  std::ifstream file(AXON_SOURCE_DIR "/tests/graph/passes/decoder.graph");
  std::string text(std::istreambuf_iterator<char>(file), {});
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at))
      text.replace(at, from.size(), to);
  };
  replace("@size m = axis 0 of 0 where m\n", decode ? "" : "size m = axis 0 of 0 where m\n");
  replace("@m", decode ? "1" : "m");
  return text;
}

graph::Graph parsed(const std::string& text) {
  std::string error;
  auto g = graph::parse(text, error);
  EXPECT_TRUE(g) << error;
  return std::move(*g);
}

void check_decoder(bool decode, const std::vector<std::map<std::string, int64_t>>& sizes) {
  const graph::Graph before = parsed(decoder(decode));
  graph::Graph fused = parsed(decoder(decode));
  for (const auto& pass : graph::graph_passes()) pass.run(fused);
  for (int workers : {1, 2, 5}) {
    RunOptions options;
    options.workers = workers;
    Native native(fused, options);
    ASSERT_EQ(native.error(), "");
    uint32_t seed = 40;
    for (const auto& assignment : sizes) {
      std::string error;
      const auto inputs = random_inputs(before, assignment, seed += 50);
      const auto solved = graph::solve_sizes(before, inputs, {}, error);
      ASSERT_TRUE(solved) << error;
      const auto reference = graph::interpret(before, inputs, *solved, graph::Precision::storage);
      ASSERT_EQ(reference.error, "");
      const auto outcome = native.run(inputs);
      ASSERT_EQ(outcome.error, "");
      for (size_t r = 0; r < reference.results.size(); ++r)
        expect_close(outcome.results[r], reference.results[r], 1e-3, 1e-3,
                     "workers " + std::to_string(workers));
    }
  }
}

TEST(Decoder, OneToken) {
  check_decoder(true,
                {{{"d", 24}, {"n", 2}, {"hk", 2}, {"c", 4}, {"s", 10}, {"g", 2}, {"f", 40}, {"pos", 6}},
                 {{"d", 64}, {"n", 1}, {"hk", 1}, {"c", 3}, {"s", 5}, {"g", 1}, {"f", 70}, {"pos", 0}},
                 {{"d", 64}, {"n", 5}, {"hk", 4}, {"c", 4}, {"s", 600}, {"g", 2}, {"f", 172}, {"pos", 570}}});
}

TEST(Decoder, ManyTokens) {
  check_decoder(
      false,
      {{{"m", 3}, {"d", 24}, {"n", 2}, {"hk", 2}, {"c", 4}, {"s", 10}, {"g", 2}, {"f", 40}, {"pos", 6}},
       {{"m", 67}, {"d", 32}, {"n", 2}, {"hk", 2}, {"c", 8}, {"s", 80}, {"g", 1}, {"f", 65}, {"pos", 1}},
       {{"m", 0}, {"d", 8}, {"n", 2}, {"hk", 2}, {"c", 2}, {"s", 4}, {"g", 1}, {"f", 9}, {"pos", 1}}});
}

}  // namespace
}  // namespace axon::testing
