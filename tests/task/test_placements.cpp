// Where weights lie, and why, for all uses in all entries.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "task/placements.h"
#include "task/storage.h"

namespace axon::task {
namespace {

/// What print() says of graphs in text, each with a weight `w` of 8 x 6 and what reads it.
std::string places(const std::vector<std::string>& bodies) {
  std::vector<graph::Graph> graphs;
  for (const std::string& body : bodies) {
    std::string error;
    auto g = graph::parse(
        "graph \"g\"\n  size m = axis 0 of 1 where m\n  fact 0 <= m\n"
        "  input \"w\" weight f32[8, 6]\n  input \"x\" argument f32[m, 8]\n"
        "  input \"y\" argument f32[m, 6]\n  %0 = input 0\n  %1 = input 1\n  %2 = input 2\n" +
            body,
        error);
    if (!g) ADD_FAILURE() << error;
    if (!g) return "";
    graphs.push_back(std::move(*g));
  }
  std::vector<const graph::Graph*> pointers;
  for (const graph::Graph& g : graphs) pointers.push_back(&g);
  return print(choose_placements(pointers, 4));
}

const std::string forward =
    "  %3 = compute \"up\" [i < m, j < 6] {\n    out f32[m, 6] = sum(k < 8; %1[i, k] * %0[k, j])\n  }\n"
    "  result \"\" %3\n";
const std::string backward =
    "  %3 = compute \"down\" [i < m, j < 8] {\n    out f32[m, 8] = sum(k < 6; %2[i, k] * %0[j, k])\n  }\n"
    "  result \"\" %3\n";
const std::string element =
    "  %3 = compute \"copy\" [i < 8, j < 6] {\n    out f32[8, 6] = %0[i, j] + 1.0\n  }\n  result \"\" %3\n";

TEST(Placements, AreOnesThatAllUsesCanLiveWith) {
  EXPECT_EQ(
      places({forward}),
      "w f32[8, 6] (1/4, 0, 1%4)\n  panels: 1 product streams it, row-major would take 1.25 times as long\n");
  EXPECT_EQ(
      places({backward}),
      "w f32[8, 6] (0/4, 1, 0%4)\n  panels: 1 product streams it, row-major would take 1.08 times as long\n");
  EXPECT_EQ(
      places({forward, forward}),
      "w f32[8, 6] (1/4, 0, 1%4)\n  panels: 2 products stream it, row-major would take 1.25 times as long\n");
  EXPECT_EQ(places({forward, backward}),
            "w f32[8, 6] ()\n  row-major: `up` of `g` and `down` of `g` stream it along different axes\n");
  EXPECT_EQ(places({forward, element}),
            "w f32[8, 6] ()\n  row-major: `copy` of `g` reads it element by element\n");
  EXPECT_EQ(places({"  result \"\" %1\n"}), "w f32[8, 6] ()\n  row-major: nothing reads it\n");
}

/// Narrow weights lie in panels whatever they are multiplied by, and whatever the sums are of.
TEST(Placements, OfNarrowWeights) {
  const auto of = [](const std::string& left, const std::string& weight, const std::string& sum) {
    const auto cast = [&](const std::string& from, const std::string& load) {
      return from == sum ? load : sum + "(" + load + ")";
    };
    std::string error;
    const auto g = graph::parse(
        "graph \"g\"\n  size m = axis 0 of 1 where m\n  fact 0 <= m\n  input \"w\" weight " + weight +
            "[8, 6]\n  input \"x\" argument " + left + "[m, 8]\n  %0 = input 0\n  %1 = input 1\n" +
            "  %2 = compute \"up\" [i < m, j < 6] {\n    out " + sum + "[m, 6] = sum(k < 8; " +
            cast(left, "%1[i, k]") + " * " + cast(weight, "%0[k, j]") + ")\n  }\n  result \"\" %2\n",
        error);
    if (!g) return error;
    const std::string text = print(choose_placements({&*g}, 4));
    return text.substr(0, text.find('\n'));
  };
  for (const std::string weight : {"i8", "u8", "i16"})
    for (const std::string left : {"i8", "u8", "i16"}) {
      EXPECT_EQ(of(left, weight, "i32"), "w " + weight + "[8, 6] (1/4, 0, 1%4)") << left;
      EXPECT_EQ(of(left, weight, "i64"), "w " + weight + "[8, 6] (1/4, 0, 1%4)") << left;
      EXPECT_EQ(of(left, weight, "f32"), "w " + weight + "[8, 6] (1/4, 0, 1%4)") << left;
    }
  for (const std::string weight : {"i8", "u8"})
    for (const std::string sum : {"bf16", "f16", "f32"})
      EXPECT_EQ(of(sum, weight, sum), "w " + weight + "[8, 6] (1/4, 0, 1%4)") << sum;
  // What a cast rounds or wraps is no value that lies in memory.
  EXPECT_EQ(of("bf16", "i16", "bf16"), "w i16[8, 6] ()");
  EXPECT_EQ(of("u32", "i8", "u32"), "w i8[8, 6] ()");
}

/// What callers have, and what the program stores so: in the text, and proved to be what the graph says.
TEST(Placements, ThatAreStatedAreThoseOfTheGraph) {
  std::string error;
  auto g = graph::parse(
      "graph \"g\"\n  size m = axis 0 of 0 where m\n  size n = axis 1 of 0 where n\n"
      "  size s = stride 0 of 0 where s\n  fact 0 <= m\n  fact 0 <= n\n  fact 0 <= s\n"
      "  input \"x\" argument f32[m, n] placed \"S[(m,n):(s,1)]\"\n  %0 = input 0\n"
      "  %1 = empty f32[m, n] placed \"S[(m,n):(1,m)]\"\n"
      "  %2 = compute [i < m, j < n] {\n    out f32[m, n] of %1 = %0[i, j]\n  }\n"
      "  %3 = compute [i < m, j < n] {\n    out f32[m, n] = %2[i, j] + %2[i, n - 1 - j]\n  }\n"
      "  result \"\" %3 placed \"S[(m,n):((n + 2),1)]\"\n",
      error);
  ASSERT_TRUE(g) << error;
  EXPECT_EQ(insert_copies(*g).size(), 0u);
  Program p = from_graph(*g, placements_of(*g, {}), {}, target::x86_64());
  derive_events(p);
  const std::string text = print(p);
  for (const char* line : {"buffer b0 argument f32[m, n] \"x\" input 0 placed \"S[(m,n):(s,1)]\"\n",
                           "result 0 placed \"S[(m,n):((n + 2),1)]\"\n", "placed \"S[(m,n):(1,m)]\"\n"})
    EXPECT_NE(text.find(line), std::string::npos) << text;
  const auto again = parse(*g, text, error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(print(*again), text);
  const auto unproved = [&](const char* from, const char* to) {
    std::string changed = text;
    changed.replace(changed.find(from), std::string(from).size(), to);
    const auto wrong = parse(*g, changed, error);
    if (!wrong) return error;
    std::string out;
    for (const Obligation& o : verify(*wrong))
      if (!o.proved) out += o.what + "\n";
    return out;
  };
  EXPECT_EQ(unproved("(s,1)", "(s,1)"), "");
  EXPECT_EQ(unproved("(s,1)", "(1,s)"), "x: lies where the program states\n");
  EXPECT_EQ(unproved("((n + 2),1)", "((n + 1),1)"), "result: lies where the program states\n");
  EXPECT_NE(unproved("(1,m)", "(1,0)"), "");
  EXPECT_NE(unproved("\"S[(m,n):(1,m)]\"", "\"S[(m,n):(1,q)]\"").find("a layout is expected"),
            std::string::npos);
}

}  // namespace
}  // namespace axon::task
