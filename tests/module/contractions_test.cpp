// Matrix products as graph text, run natively for sizes around the edges of blocks of rows, columns and
// depth, against the interpreter: every level that this machine has, one worker and three.
#include "harness.h"

namespace axon::testing {
namespace {

/// `x` has rows, `w` columns; E is the type of x, W that of w, KIND what w is. OUT is the value of [i, j],
/// which reads the products $2 and $3 of normalised rows, or $4 of the rows as they are.
std::string program(const std::string& out, const std::string& elem, const std::string& weight,
                    const std::string& kind) {
  std::string text = R"(graph "f"
  size m = axis 0 of 0 where m
  size k = axis 1 of 0 where k
  size n = axis 1 of 1 where n
  input "x" argument E[m, k]
  input "w" KIND W[k, n]
  input "u" KIND W[k, n]
  input "g" argument E[k]
  input "b" argument E[n]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = input 3
  %4 = input 4
  %5 = compute [i < m, j < n] {
    local $0 [i_2 < m] E = sum(c < k; %0[i_2, c] * %0[i_2, c])
    local $1 [i_2 < m] E = rsqrt($0[i_2] + E(1.5))
    local $2 [i_2 < m, j_2 < n] E = sum(c < k; %0[i_2, c] * %3[c] * $1[i_2] * E(%1[c, j_2]))
    local $3 [i_2 < m, j_2 < n] E = sum(c < k; %0[i_2, c] * %3[c] * $1[i_2] * E(%2[c, j_2]))
    local $4 [i_2 < m, j_2 < n] E = sum(c < k; %0[i_2, c] * E(%1[c, j_2]))
    out E[m, n] = OUT
  }
  result "0" %5
)";
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"OUT", out},
                                 {"KIND", kind},
                                 {"W[", weight + "["},
                                 {"E(", elem + "("},
                                 {"E[", elem + "["},
                                 {" E =", " " + elem + " ="}})
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  return text;
}

Sizes edges() {
  Sizes out;
  for (const auto& [m, k, n] : std::vector<std::array<int64_t, 3>>{{0, 3, 5},
                                                                   {3, 0, 5},
                                                                   {3, 5, 0},
                                                                   {1, 1, 1},
                                                                   {1, 300, 97},
                                                                   {2, 15, 31},
                                                                   {5, 16, 32},
                                                                   {6, 17, 33},
                                                                   {7, 31, 64},
                                                                   {8, 33, 65},
                                                                   {9, 255, 7},
                                                                   {13, 256, 66},
                                                                   {64, 257, 16},
                                                                   {67, 519, 129}})
    out.push_back({{"m", m}, {"k", k}, {"n", n}});
  return out;
}

void check(const std::string& out, const std::string& elem, const std::string& weight,
           const std::string& kind, double tolerance) {
  SCOPED_TRACE(elem + " " + weight + " " + kind + " " + out);
  check_program(program(out, elem, weight, kind), edges(), every_level(), tolerance);
}

TEST(Contractions, OfTensorsAndWeights) {
  check("$4[i, j]", "f32", "f32", "argument", 5e-5);
  check("$4[i, j]", "f32", "f32", "weight", 5e-5);
  check("$4[i, j]", "f64", "f64", "argument", 1e-12);
}

TEST(Contractions, OfNarrowWeights) {
  check("$4[i, j] + %4[j]", "f32", "bf16", "weight", 5e-4);
  check("$4[i, j] + %4[j]", "f32", "f16", "weight", 5e-4);
  check("$4[i, j] * %4[j]", "f32", "i8", "weight", 5e-4);
  check("$4[i, j] * %4[j]", "f32", "u8", "argument", 5e-4);
}

/// Integers of all widths, whose sums wrap, and floats that integers are exact in.
TEST(Contractions, OfNarrowOperands) {
  const std::string text = R"(graph "f"
  size m = axis 0 of 0 where m
  size k = axis 1 of 0 where k
  size n = axis 1 of 1 where n
  input "x" argument LEFT[m, k]
  input "w" KIND RIGHT[k, n]
  input "s" argument f32[n]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = compute [i < m, j < n] {
    local $0 [i_2 < m, j_2 < n] IN = sum(c < k; CAST_L(%0[i_2, c]) * CAST_R(%1[c, j_2]))
    out IN[m, n] = $0[i, j]
    out f32[m, n] = f32($0[i, j]) * %2[j]
  }
  result "0" %3.0
  result "1" %3.1
)";
  Sizes sizes;
  for (const auto& [m, k, n] :
       std::vector<std::array<int64_t, 3>>{{3, 0, 5}, {1, 1100, 33}, {9, 255, 7}, {67, 519, 65}})
    sizes.push_back({{"m", m}, {"k", k}, {"n", n}});
  for (const auto& [left, right, in, kinds] :
       std::vector<std::tuple<std::string, std::string, std::string, std::vector<std::string>>>{
           {"i8", "i8", "i32", {"weight", "argument"}},
           {"u8", "u8", "i64", {"weight"}},
           {"i8", "i8", "i8", {"weight"}},
           {"i16", "i8", "i32", {"weight"}},
           {"u8", "u8", "u32", {"weight"}},
           {"bf16", "i8", "bf16", {"weight", "argument"}},
           {"i8", "bf16", "f32", {"weight"}}})
    for (const std::string& kind : kinds) {
      std::string program = text;
      for (const auto& [from, to] : {std::pair<std::string, std::string>{
                                         "CAST_L(%0[i_2, c])", left == in ? "%0[i_2, c]" : "IN(%0[i_2, c])"},
                                     {"CAST_R(%1[c, j_2])", right == in ? "%1[c, j_2]" : "IN(%1[c, j_2])"},
                                     {"LEFT", left},
                                     {"RIGHT", right},
                                     {"KIND", kind},
                                     {"IN", in}})
        for (size_t at = program.find(from); at != std::string::npos; at = program.find(from, at + to.size()))
          program.replace(at, from.size(), to);
      SCOPED_TRACE(left + " " + right + " " + in + " " + kind);
      const bool is_rounded = in == "bf16" || in == "f16";
      check_program(program, sizes, every_level(), is_rounded ? 2e-2 : 5e-4);
    }
}

TEST(Contractions, OfNormalisedRows) {
  check("$2[i, j]", "f32", "f32", "weight", 5e-5);
  check("max($2[i, j], 0.0) * $3[i, j] + %4[j]", "f32", "f32", "weight", 5e-5);
  check("$3[i, j] / (1.0 + exp(neg($2[i, j]))) * %4[j]", "f32", "f32", "argument", 5e-5);
}

/// The sum goes over two binders, of which one is the depth; the product is one of a batch.
TEST(Contractions, OfSeveralDepthsInABatch) {
  check_program(R"(graph "f"
  size a = axis 0 of 0 where a
  size m = axis 1 of 0 where m
  size t = axis 2 of 0 where t
  size k = axis 3 of 0 where k
  size n = axis 2 of 1 where n
  input "x" argument f32[a, m, t, k]
  input "w" argument f32[t, k, n]
  %0 = input 0
  %1 = input 1
  %2 = compute [o < a, i < m, j < n] {
    out f32[a, m, n] = sum(s < t, c < k; %0[o, i, s, c] * %1[s, c, j])
  }
  result "0" %2
)",
                {{{"a", 2}, {"m", 5}, {"t", 3}, {"k", 17}, {"n", 33}},
                 {{"a", 1}, {"m", 70}, {"t", 2}, {"k", 64}, {"n", 65}},
                 {{"a", 3}, {"m", 1}, {"t", 1}, {"k", 300}, {"n", 31}},
                 {{"a", 2}, {"m", 3}, {"t", 0}, {"k", 4}, {"n", 3}}},
                every_level(), 5e-5);
}

/// Right operands that lie along the depth: dot products, or squares that are turned.
TEST(Contractions, OfRightOperandsAlongTheDepth) {
  for (const std::string of : {"f32", "f64", "bf16", "i8"}) {
    const std::string in = of == "f64" ? "f64" : "f32";
    SCOPED_TRACE(of);
    check_program(R"(graph "f"
  size b = axis 0 of 0 where b
  size m = axis 1 of 0 where m
  size k = axis 2 of 0 where k
  size n = axis 1 of 1 where n
  input "x" argument )" +
                      in + R"([b, m, k]
  input "w" argument )" +
                      of + R"([b, n, k]
  %0 = input 0
  %1 = input 1
  %2 = compute [a < b, i < m, j < n] {
    out )" + in + R"([b, m, n] = sum(c < k; %0[a, i, c] * )" +
                      (of == in ? "%1[a, j, c]" : in + "(%1[a, j, c])") + R"()
  }
  result "0" %2
)",
                  {{{"b", 2}, {"m", 5}, {"k", 17}, {"n", 33}},
                   {{"b", 1}, {"m", 6}, {"k", 257}, {"n", 8}},
                   {{"b", 2}, {"m", 70}, {"k", 519}, {"n", 65}},
                   {{"b", 3}, {"m", 1}, {"k", 300}, {"n", 31}},
                   {{"b", 1}, {"m", 9}, {"k", 0}, {"n", 4}}},
                  every_level(), in == "f64" ? 1e-12 : 5e-4);
  }
}

/// Rows lie next to each other, and there are none to speak of.
TEST(Contractions, OfTurnedRowsAndOfVectors) {
  check_program(R"(graph "f"
  size k = axis 0 of 0 where k
  size m = axis 1 of 0 where m
  size n = axis 1 of 1 where n
  input "x" argument f32[k, m]
  input "w" weight f32[k, n]
  input "v" argument f32[k]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = compute [i < m, j < n] {
    out f32[m, n] = sum(c < k; %0[c, i] * %1[c, j])
  }
  %4 = compute [j < n] {
    out f32[n] = sum(c < k; %2[c] * %1[c, j])
  }
  result "0" %3
  result "1" %4
)",
                {{{"k", 7}, {"m", 5}, {"n", 3}},
                 {{"k", 0}, {"m", 2}, {"n", 3}},
                 {{"k", 259}, {"m", 66}, {"n", 70}},
                 {{"k", 64}, {"m", 1}, {"n", 33}}},
                every_level(), 5e-5);
}

}  // namespace
}  // namespace axon::testing
