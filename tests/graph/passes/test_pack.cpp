// Right operands that are packed once, for fewer rows and into narrower panels than those of real programs,
// and left operands that are stored.
#include <gtest/gtest.h>

#include "graph/contraction.h"
#include "graph/passes/passes.h"
#include "support.h"

namespace axon::graph::testing {
namespace {

const char* const to_pack = R"(graph "pack"
  size m = axis 0 of 0 where m
  size k = axis 1 of 0 where k
  size n = axis 1 of 1 where n
  fact 0 <= m
  fact 0 <= k
  fact 0 <= n
  input "x" argument f32[m, k]
  input "y" argument f32[k, n]
  input "z" argument bf16[k, n]
  input "b" argument f32[2, k, n]
  input "c" argument i64[n]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = input 3
  %4 = input 4
)";

struct PackedProduct {
  const char* name;
  const char* node;
};

const PackedProduct products[] = {
    {"plain", "[i < m, j < n] { out f32[m, n] = sum(a < k; %0[i, a] * %1[a, j]) }"},
    {"narrow", "[i < m, j < n] { out f32[m, n] = sum(a < k; %0[i, a] * f32(%2[a, j])) }"},
    {"narrow_sums", "[i < m, j < n] { out bf16[m, n] = sum(a < k; bf16(%0[i, a]) * %2[a, j]) }"},
    {"computed", "[i < m, j < n] { out f32[m, n] = sum(a < k; %0[i, a] * (%1[a, j] + f32(%2[a, j]))) }"},
    {"scaled", "[i < m, j < n] { out f32[m, n] = sum(a < k; %0[i, a] * %1[a, j] * %1[a, 0 * j]) }"},
    {"rows_last", "[j < n, i < m] { out f32[n, m] = sum(a < k; %1[a, j] * %0[i, a]) }"},
    {"of_a_batch", "[i < m, j < n] { out f32[m, n] = sum(a < k; %0[i, a] * %3[1, a, j]) }"},
    {"two_axes_of_rows",
     "[i < m, l < m, j < n] { out f32[m, m, n] = sum(a < k; %0[i, a] * %0[l, a] * %1[a, j]) }"},
    {"in_a_local",
     "[i < m, j < n] { local $0 \"p\" [r < m, s < n] f32 = sum(a < k; %0[r, a] * %1[a, s]) "
     "out f32[m, n] = exp($0[i, j] * 0.1) }"},
    {"siblings",
     "[i < m, j < n] { out f32[m, n] = sum(a < k; %0[i, a] * %1[a, j]) "
     "out f32[m, n] = sum(a < k; %0[i, a] * f32(%2[a, j])) }"},
};
std::string product_name(const ::testing::TestParamInfo<PackedProduct>& info) { return info.param.name; }

Graph graph_to_pack(const char* node) {
  return read(to_pack + ("%5 = compute \"r\" " + std::string(node) + " result \"\" %5"));
}

class Packed : public ::testing::TestWithParam<PackedProduct> {};

TEST_P(Packed, KeepsTheMeaning) {
  const Graph before = graph_to_pack(GetParam().node);
  for (const PackLimits limits : {PackLimits{1, 1}, PackLimits{2, 3}, PackLimits{4, 8}}) {
    Graph after = before;
    pack_operands(after, limits);
    EXPECT_EQ(verify(after), std::vector<std::string>{});
    EXPECT_TRUE(contains(print(after), "packed [")) << print(after);
    EXPECT_GE(expect_same_meaning(before, after, 11, {0, 1, 2, 3, 4, 5, 9}), 8);
  }
}
INSTANTIATE_TEST_SUITE_P(Products, Packed, ::testing::ValuesIn(products), product_name);

/// What rows read in other ways, or are known to be few, is read where it lies.
TEST(PackOperands, OnlyOfOneMatrix) {
  const char* const nodes[] = {
      "[i < 3, j < n] { out f32[3, n] = sum(a < k; %1[a, i * 0] * %1[a, j]) }",
      "[i < m, j < 3] { out f32[m, 3] = sum(a < k; %0[i, a] * %3[j - j, a, j - j]) }",
      "[l < 2, i < m, j < n] { out f32[2, m, n] = sum(a < k; %0[i, a] * %3[l, a, j]) }",
      "[i < m, j < n] { out f32[m, n] = sum(a < k; max(%0[i, a], %1[a, j])) }",
      ("[j < n, i < m] { local $0 \"p\" [r < m, b < k] f32 = exp(%0[r, b]) "
       "out f32[n, m] = sum(a < k; $0[i, a] * %1[a, j]) }"),
      "[i < 9, j < n] { out f32[9, n] = sum(a < 5; %0[i * 0, a * 0] * %1[a * 0, j]) }",
      "[j < n] { out f32[n] = sum(a < k; %0[0 * j, a] * %1[a, j]) }",
      ("[i < m, j < n] { local $0 \"p\" [r < m, s < n] f32 = sum(a < k; %0[r, a] * %1[a, s]) "
       "out f32[m, n] = $0[i, j] - $0[i, n - j - 1] }"),
  };
  for (const char* node : nodes) {
    Graph g = graph_to_pack(node);
    pack_operands(g, {4, 4});
    EXPECT_FALSE(contains(print(g), "packed [")) << print(g);
  }
}

/// A choice that a program writes is its own: both arms may differ.
TEST(PackOperands, MarksWhatItPacks) {
  Graph g = graph_to_pack(products[0].node);
  pack_operands(g, {2, 2});
  const std::string text = print(g);
  const auto choices = [](const Graph& graph) {
    int found = 0;
    for (uint32_t s = 0; s < graph.scalars.size(); ++s) found += packed_choice(graph, ScalarId{s}) ? 1 : 0;
    return found;
  };
  EXPECT_EQ(choices(read(text)), 1);
  std::string other = text;
  other.erase(other.find(" packed"), std::string(" packed").size());
  EXPECT_EQ(choices(read(other)), 0);
}

struct StoredOperand {
  const char* node;
  bool is_stored;
};

/// For fewer rows and columns than those of real programs. What checks an index stays where it is evaluated.
TEST(StoreOperands, OnlyWhatAnotherNodeCanCompute) {
  const StoredOperand nodes[] = {
      {"[i < m, j < n] { out f32[m, n] = sum(a < k; exp(%0[i, a]) * %1[a, j]) }", true},
      {"[j < n, i < m] { out f32[n, m] = sum(a < k; exp(%0[i, a]) * %1[a, j]) }", false},
      {"[i < m, j < n] { out f32[m, n] = sum(a < k; %0[i, a] * exp(%1[a, j])) }", false},
      {"[i < 3, j < n] { out f32[3, n] = sum(a < k; exp(%1[a, i * 0]) * %1[a, j]) }", false},
      {"[i < m, j < n] { out f32[m, n] = sum(a < k; exp(%0[{bounded(%4[0], m, 0)}, a]) * %1[a, j]) } "
       "check %4 < m : \"index\"",
       false},
      {"[i < m, j < n] { out f32[m, n] = sum(a < k, b < k; exp(%0[i, a]) * %0[i, b] * %1[a, j]) }", false},
      {"[i < m, j < n] { out f32[m, n] = sum(a < k; exp(%0[i, m - 1]) * %1[a, j]) }", false},
      {"[i < m, j < n] { out f32[m, n] = sum(a < k; exp(%0[i, a] + %1[a, 0]) * %1[a, j]) }", false},
  };
  for (const StoredOperand& one : nodes) {
    const Graph before = graph_to_pack(one.node);
    Graph after = before;
    store_operands(after, {3, 1});
    EXPECT_EQ(verify(after), std::vector<std::string>{});
    EXPECT_EQ(contains(print(after), "%6 = compute"), one.is_stored) << print(after);
  }
}

}  // namespace
}  // namespace axon::graph::testing
