// The text of graphs: what print makes, parse reads back to the same text; broken text gives an error with
// its line.
#include <gtest/gtest.h>

#include <functional>

#include "graph/support.h"

namespace axon::graph {
namespace {

const char* const everything = R"(graph "step"
  size h = parameter
  size n = axis 1 of 0 where 2*n + 1
  size pos = scalar 2
  fact 0 <= n
  fact h != pos
  input "p.w" weight f32[h, 2*n + 1]
  input "x" argument bf16[n]
  input "pos" scalar i64[] size pos
  input "cache" state f32[h, n]
  input "ids" argument i32[n]
  %0 = input 0
  %1 = input 1
  %2 = input 3
  %3 = input 4
  %4 = empty f32[n, h]
  %5 = compute "softmax" @120 [i < n] {
    local $0 "e" [a < n] f32 = exp(f32(%1[a]) - 0.5)
    local $1 [] f32 = sum(k < n; $0[k])
    out f32[n] = $0[i] / $1[]
    out bf16[n] = (t0 := %1[i] * 2.0_bf16) * t0 + t0
  }
  %6 = compute [i < n, j < h] {
    out f32[n, h] of %4 at [n - i - 1, j] = select({i} < 3, %5.0[i], -inf)
  }
  %7 = loop "fold" @7 [l < n / 2] (f32[h, n] = %2, f32[n] = %5.0) {
    %8 = param
    %9 = compute [i < h, j < n] {
      out f32[h, n] of %8.0 = %8.0[i, {bounded(i64(%3[j]), n, 0)}] + f32(i32(true)) * 3.0
    }
    yield (%9, %8.1)
  }
  %10 = compute [i < h] {
    out f32[h] = proj(2, (t0 := online(r < n; e, 0.125; %7.0[i, r], %7.1[r]))) / proj(1, t0)
  }
  %11 = compute [] {
    out i64[] = argmax(r < n; %7.1[r])
  }
  %12 = compute [] {
    out i64[] = max(r < n; require({r} < 3, {r}, {n}, 2))
  }
  %13 = compute [] {
    out bool[] = {n} < 3
  }
  %14 = compute [i < h, j < n] {
    out i64[h, n] = argsmallest(k < n; (t0 := %7.0[i, k] * 2.0) * t0, {j})
  }
  %15 = compute [i < h] {
    out i64[h] = arglargest(k < n; %1[k], {i})
  }
  %16 = compute [i < h, j < n] {
    out f32[h, n] = %7.0[i, {%14[i, j]}]
  }
  check n < h : "the \"size\" n is too large"
  check %3 < n : "ids"
  effect %12 < 1 : "{lhs} is not {rhs}"
  debug "a" %5.1
  debug if %13
  debug "b" %10
  result "0" %10
  result "1" %7.0
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(GraphText, RoundTripOfEverything) {
  Graph g = parsed(everything);
  EXPECT_EQ(print(g), std::string(everything));
  EXPECT_EQ(verify(g), std::vector<std::string>{});
}

TEST(GraphText, RoundTripOfPlaces) {
  const char* const placed = R"(graph "placed"
  size m = axis 0 of 0 where m
  size n = axis 1 of 0 where n
  size s = stride 0 of 0 where s
  fact 0 <= m
  fact 0 <= n
  fact 0 <= s
  input "x" argument f32[m, n] placed "S[(m,n):(s,1)]"
  %0 = input 0
  %1 = empty f32[m, n] placed "S[(m,n):(-1,m)] + (m - 1)@m"
  %2 = compute [i < m, j < n] {
    out f32[m, n] of %1 = %0[i, j]
  }
  result "" %2 placed "S[(m,n):(1,m)]"
)";
  Graph g = parsed(placed);
  EXPECT_EQ(print(g), std::string(placed));
  EXPECT_EQ(verify(g), std::vector<std::string>{});
  std::string error;
  EXPECT_FALSE(parse(replaced(placed, "S[(m,n):(s,1)]", "S[(m,n):(q,1)]"), error));
  EXPECT_NE(error.find("a layout in memory is expected"), std::string::npos) << error;
  EXPECT_FALSE(verify(parsed(replaced(placed, "S[(m,n):(1,m)]", "S[(m,2,n):(1,m,2*m)]"))).empty());
  EXPECT_FALSE(verify(parsed(replaced(placed, "S[(m,n):(-1,m)]", "S[m:1]"))).empty());
}

TEST(GraphText, VariableNumbersDoNotShow) {
  // Parsing twice gives other variable numbers; the text stays.
  Graph g = parsed(everything);
  Graph again = parsed(print(g));
  EXPECT_EQ(print(again), print(g));
}

TEST(GraphText, EqualNamesAreToldApart) {
  Graph g;
  g.name = "names";
  g.root = g.regions.add({});
  Var n = shape::fresh_var("n"), i = shape::fresh_var("i"), j = shape::fresh_var("i");
  g.sizes.push_back({n, "n", Size::From::parameter, 0, 0, {}});
  Node c;
  c.region = g.root;
  c.domain = {{i, Dim(n)}, {j, Dim(n)}};
  c.types = {{Elem::i64, {Dim(n), Dim(n)}}};
  c.outputs = {{c.types[0], index_of(g, Dim(j) - Dim(i)), std::nullopt, identity_map(c.domain)}};
  g.regions[g.root].nodes.push_back(g.nodes.add(c));
  std::string text = print(g);
  EXPECT_NE(text.find("[i < n, i_2 < n]"), std::string::npos) << text;
  EXPECT_EQ(print(parsed(text)), text);
}

TEST(GraphText, DeepSharingStaysSmall) {
  Graph g;
  g.name = "deep";
  g.root = g.regions.add({});
  g.inputs.push_back({"x", InputKind::argument, {Elem::f32, {}}, std::nullopt});
  Node in;
  in.op = NodeOp::input;
  in.region = g.root;
  in.types = {g.inputs[0].type};
  NodeId x = g.nodes.add(in);
  ScalarId v = load(g, {x, 0}, {}, Elem::f32);
  for (int k = 0; k < 60; ++k) v = apply(g, Op::mul, {v, apply(g, Op::exp, {v})});
  Node c;
  c.region = g.root;
  c.types = in.types;
  c.outputs = {{in.types[0], v, std::nullopt, {}}};
  NodeId y = g.nodes.add(c);
  g.regions[g.root].nodes = {x, y};
  std::string text = print(g);
  EXPECT_LT(text.size(), 4000u);
  EXPECT_EQ(print(parsed(text)), text);
}

const char* const dynamic = R"(graph "ragged"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  fact 0 <= n
  fact 0 <= m
  input "x" argument f32[n, m]
  input "l" argument i64[n]
  %0 = input 0
  %1 = input 1
  %2 = compute "rows" @7 guarded [i < n, k = bounded(%1[i], m + 1, 0) at most m, a < k] {
    out f32[n, m] = %0[i, k - a - 1]
  }
  %3 = compute [] {
    out f32[] = sum(i < n, k = bounded(%1[i], m + 1, 0) at most m, a < k; %2[i, a])
  }
  check %1 < m + 1 : "a size"
  result "" %3
)";

TEST(GraphText, DynamicSizesStandAfterWhatTheyDependOn) {
  Graph g = parsed(dynamic);
  EXPECT_EQ(print(g), std::string(dynamic));
  EXPECT_EQ(verify(g, Extents::dynamic), std::vector<std::string>{});
}

struct Broken {
  const char* from;
  const char* to;
  const char* error;
};

TEST(GraphText, ErrorsNameTheLine) {
  const Broken cases[] = {
      {"%5.0[i], -inf", "%9[i], -inf", "%9 is not defined"},
      {"exp(f32(%1[a])", "exq(f32(%1[a])", "`exq` with 1 arguments is no operator"},
      {"fact 0 <= n", "fact 0 <= m", "`m` is not declared"},
      {"yield (%9, %8.1)", "yield (%9)", "expected `,`"},
      {"out bf16[n] = (t0", "out bf17[n] = (t0", "`bf17` is no element type"},
      {"input 4\n", "input 14\n", "no such input"},
      {"sum(k < n; $0[k])", "sum(k < n; $1[])", "the local is not defined"},
  };
  for (const Broken& b : cases) {
    std::string error;
    EXPECT_FALSE(parse(replaced(everything, b.from, b.to), error).has_value()) << b.to;
    EXPECT_NE(error.find(b.error), std::string::npos) << error;
    EXPECT_EQ(error.rfind("line ", 0), 0u) << error;
  }
}

TEST(GraphVerify, RejectsBrokenGraphs) {
  const Broken cases[] = {
      {"(f32[h, n] = %2, f32[n]", "(f32[n, h] = %2, f32[n]", "starts with another type"},
      {"yield (%9, %8.1)", "yield (%9, %9)", "ends with another type"},
      {"{bounded(i64(%3[j]), n, 0)}", "{i64(%3[j])}", "without `bounded`"},
      {"out f32[n] = $0[i] / $1[]", "out f32[n] = $0[i] / $1[i]", "1 indices for rank 0"},
      {"%7.0[i, r], %7.1[r]", "%7.0[i, r], %8.1[r]", "outside its definition"},
      {"{i} < 3, %5.0[i], -inf", "{i} < 3, %5.0[i], -inf_f64", "two equal types"},
      {"= $0[i] / $1[]", "= exp(sum(k < n; $0[k]))", "inside an expression"},
      {"bounded(i64(%3[j]), n, 0)", "bounded(i64(%3[j]), n, 7)", "check that does not exist"},
      {"size pos = scalar 2", "size pos = scalar 1", "no i64 scalar"},
      {"where 2*n + 1", "where 2*n*n + 1", "cannot be solved"},
      {"out f32[n, h] of %4 at [n - i - 1, j]", "out f32[h, n] of %4 at [n - i - 1, j]",
       "another type than its base"},
      {"out i64[] = argmax(r < n; %7.1[r])", "out i64[] = sum(r < n; argmax(k < n; %7.1[k]))", "inside"},
      {"[i < n] {\n    local", "[i < n + 1] {\n    local", "not that of the domain"},
      {"t0, {j})", "t0, {i})", "is the variable of the last axis"},
      {"t0, {j})", "t0, i64(%3[0]))", "is the variable of the last axis"},
      {"(t0 := %7.0[i, k] * 2.0)", "(t0 := f32({j}))", "a key depends on the number"},
      {"out i64[h] = arglargest(k < n; %1[k], {i})",
       "local $0 [] f32 = 2.0 out i64[h] = arglargest(k < n; %1[k], {i})", "all that its node computes"},
      {"out i64[h] = arglargest(k < n; %1[k], {i})",
       "out i64[h] = arglargest(k < n; %1[k], {i}) out i64[h] = {i}", "all that its node computes"},
      {"out i64[h] = arglargest(k < n; %1[k], {i})", "out i64[h] = arglargest(k < n; %1[k], {i}) + 1",
       "inside an expression"},
      {"= %7.0[i, {%14[i, j]}]", "= %7.0[i, {i64(%3[j]) + %14[i, j]}]", "without `bounded`"},
      {"debug if %13\n", "debug if %10\n", "has other axes"},
      {"debug if %13\n", "debug if %13\n  debug if %13\n", "a condition of no debug"},
      {"debug \"b\" %10\n", "", "a condition of no debug"},
  };
  for (const Broken& b : cases) {
    std::string error, all;
    auto g = parse(replaced(everything, b.from, b.to), error);
    ASSERT_TRUE(g.has_value()) << b.to << ": " << error;
    for (const std::string& complaint : verify(*g)) all += complaint + "\n";
    EXPECT_NE(all.find(b.error), std::string::npos) << b.to << " gave: " << all;
  }
}

std::string complaints(const Graph& g, Extents extents) {
  std::string all;
  for (const std::string& complaint : verify(g, extents)) all += complaint + "\n";
  return all;
}

TEST(GraphVerify, RejectsDynamicExtentsOnceTheyAreBounded) {
  const std::string alone[] = {
      replaced(dynamic, "@7 guarded", "@7"),  // sizes only
      "graph \"g\" size n = axis 0 of 0 where n input \"x\" argument f32[n] %0 = input 0 "
      "%1 = compute guarded [] { out f32[] = %0[0] } result \"\" %1",
      "graph \"g\" size n = axis 0 of 0 where n input \"x\" argument f32[n] %0 = input 0 "
      "%1 = compute [i < n] { out f32[n] = sum(a < i; %0[a]) } result \"\" %1"};
  for (const std::string& text : alone) {
    EXPECT_EQ(complaints(parsed(text), Extents::dynamic), "") << text;
    EXPECT_NE(complaints(parsed(text), Extents::bounded).find("bound_dynamic_sizes comes first"),
              std::string::npos)
        << text;
  }
}

TEST(GraphVerify, RejectsBrokenDynamicSizes) {
  const auto broken = [](const std::function<void(Graph&, DynamicSize&)>& change) {
    Graph g = parsed(dynamic);
    for (uint32_t n = 0; n < g.nodes.size(); ++n)
      if (Node& node = g.nodes[NodeId{n}]; !node.dynamic_sizes.empty()) {
        change(g, node.dynamic_sizes[0]);
        break;
      }
    return complaints(g, Extents::dynamic);
  };
  const Var stranger = shape::fresh_var("stranger");
  EXPECT_NE(broken([](Graph&, DynamicSize& s) { s.value = {}; }).find("has no value"), std::string::npos);
  EXPECT_NE(broken([&](Graph&, DynamicSize& s) { s.bound = Dim(stranger); }).find("mentions `stranger`"),
            std::string::npos);
  EXPECT_NE(broken([&](Graph& g, DynamicSize& s) {
              s.value = index_of(g, Dim(stranger));
            }).find("mentions what is not in scope"),
            std::string::npos);
  EXPECT_NE(broken([](Graph& g, DynamicSize& s) {
              s.value = index_of(g, Dim(s.size));
            }).find("the value of a dynamic size mentions one"),
            std::string::npos);
  EXPECT_NE(broken([](Graph& g, DynamicSize& s) {
              s.value = constant_int(g, Elem::boolean, 1);
            }).find("stands for i64"),
            std::string::npos);
}

}  // namespace
}  // namespace axon::graph
