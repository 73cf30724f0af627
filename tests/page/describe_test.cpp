// A page's JSON: formulas, places, what refers to what; and that it stands safely in its file.
#include "page/support.h"

namespace axon::page {
namespace {

const char* const layers = R"(fun layer x w = relu (x @ w)

entry network (x : f32[m, d]) (w : f32[n, d, d]) = fold layer x w
)";

std::string plain(shape::Var v) { return shape::var_name(v); }

TEST(Expressions, AreListsOfTheirOperands) {
  const shape::Dim n(shape::fresh_var("n")), m(shape::fresh_var("m"));
  EXPECT_EQ(expression(shape::Dim(0), plain).dump(), "0");
  EXPECT_EQ(expression(n, plain).dump(), R"("n")");
  EXPECT_EQ(expression(shape::Dim(2) * n * m - shape::Dim(1), plain).dump(), R"(["+",["*",2,"n","m"],-1])");
  EXPECT_EQ(expression(shape::floor_div(n, m), plain).dump(), R"(["/","n","m"])");
  EXPECT_EQ(expression(shape::mod(n, shape::Dim(3)), plain).dump(), R"(["%","n",3])");
  EXPECT_EQ(expression(shape::max(n, shape::Dim(1)), plain)[0], "max");
  EXPECT_EQ(fact(shape::at_most(n, m), plain).dump(), R"(["<=","n","m"])");
}

TEST(Expressions, WhatIsTooLargeIsNull) {
  const shape::Dim n(shape::fresh_var("n"));
  shape::Dim large = n;
  for (int i = 0; i < 8; ++i) large = large * (shape::Dim(int64_t{1} << 40) * n + shape::Dim(1));
  EXPECT_TRUE(expression(large, plain).is_null());
}

TEST(FirstSizes, AreThoseThatTheFactsAllow) {
  const Made m = made("entry e (x : f32[n]) where n % 3 == 0, 20 <= n = x + 1.0\n", "e");
  const auto sizes = first_sizes(m.variant());
  ASSERT_EQ(sizes.size(), 1U);
  EXPECT_EQ(sizes.begin()->second % 3, 0);
  EXPECT_GE(sizes.begin()->second, 20);
}

TEST(Describe, NodesSayWhereTheyAreWritten) {
  const Json page = describe(made(layers, "network").subject());
  EXPECT_EQ(page["entry"]["name"], "network");
  EXPECT_EQ(page["entry"]["place"]["line"], 3);
  bool found = false;
  for (const Json& node : page["fused"]["nodes"])
    if (node["op"] == "compute" && node["place"].is_object())
      found |= node["place"] == Json{{"line", 3}, {"column", 52}, {"end", 3}};
  EXPECT_TRUE(found) << page["fused"].dump(1);
}

TEST(Describe, LoopsHoldTheirNodes) {
  const Json page = describe(made(layers, "network").subject());
  Json loop;
  for (const Json& node : page["fused"]["nodes"])
    if (node["op"] == "loop") loop = node;
  ASSERT_FALSE(loop.is_null());
  EXPECT_EQ(loop["trips"], "n");
  int inside = 0;
  for (const Json& node : page["fused"]["nodes"]) inside += node["loop"] == loop["id"];
  EXPECT_GT(inside, 0);
  const Json& steps = page["variants"][0]["steps"];
  EXPECT_TRUE(
      std::any_of(steps.begin(), steps.end(), [](const Json& step) { return step.contains("body"); }));
}

TEST(Describe, WaitsNameEventsAndTypes) {
  const Json page = describe(made(layers, "network").subject());
  const Json& variant = page["variants"][0];
  ASSERT_FALSE(variant["waits"].empty());
  for (const Json& wait : variant["waits"]) {
    ASSERT_LT(wait["event"].get<size_t>(), variant["events"].size());
    ASSERT_LT(wait["consumer"].get<size_t>(), variant["types"].size());
    const Json& event = variant["events"][wait["event"].get<size_t>()];
    EXPECT_EQ(wait["box"].size(), event["shape"].size());
    for (const Json& range : wait["box"]) EXPECT_TRUE(range.is_array() && range.size() == 2) << range.dump();
  }
}

TEST(Describe, IsTheSameEveryTime) {
  EXPECT_EQ(describe(made(layers, "network").subject()), describe(made(layers, "network").subject()));
}

TEST(Html, NeedsNothingElseAndKeepsItsText) {
  const Made m = made("-- </script><script>alert(1)</script>\nentry e (x : f32[n]) = x + 1.0\n", "e");
  const std::string page = html(m.subject());
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(page.find(" src="), std::string::npos);
  EXPECT_EQ(page.find("@JSON@"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(Dot, LoopsAreClusters) {
  const std::string text = dot(made(layers, "network").subject());
  EXPECT_EQ(text.rfind("digraph \"network\" {", 0), 0U);
  EXPECT_NE(text.find("subgraph cluster_"), std::string::npos);
  EXPECT_NE(text.find("label=\"f32[m, d]\""), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '{'), std::count(text.begin(), text.end(), '}'));
}

}  // namespace
}  // namespace axon::page
