// Outputs whose axes are merged, run natively against the interpreter: tasks have parts of each axis that is
// merged, and rows are as long as sizes say.
#include <array>
#include <regex>

#include "harness.h"

namespace axon::testing {
namespace {

/// Outputs in terms of %0: ELEM[a, b, c] and %1: ELEM[c, d].
std::string program(const std::string& elem, const std::vector<std::string>& outputs) {
  std::string text =
      "graph \"f\"\n"
      "  size a = axis 0 of 0 where a\n"
      "  size b = axis 1 of 0 where b\n"
      "  size c = axis 2 of 0 where c\n"
      "  size d = axis 1 of 1 where d\n"
      "  input \"x\" argument ELEM[a, b, c]\n"
      "  input \"y\" argument ELEM[c, d]\n"
      "  %0 = input 0\n"
      "  %1 = input 1\n";
  std::string results;
  int node = 2;
  for (const std::string& output : outputs) {
    text += "  %" + std::to_string(node) + " = compute " + output + "\n";
    results += "  result \"" + std::to_string(node) + "\" %" + std::to_string(node) + "\n";
    ++node;
  }
  return std::regex_replace(text + results, std::regex("ELEM"), elem);
}

const std::vector<std::string> outputs = {
    "[i < a, j < b, k < c] { out ELEM[a*b*c] at [b*c*i + c*j + k] = %0[i, j, k] + %0[i, j, k] }",
    "[i < a, j < b, k < c] { out ELEM[a*b, c] at [b*i + j, k] = %0[i, j, k] + %0[i, j, k] }",
    "[i < a, j < b, k < c] { out ELEM[b*a, c] at [a*j + i, k] = %0[i, j, k] + %0[i, j, k] }",
    "[i < a, j < b, k < c] { out ELEM[b, a*c] at [j, c*i + k] = %0[i, j, k] + %0[i, j, k] }",
    "[i < a, j < b, k < c] { out ELEM[b, a*c] at [j, a*k + i] = %0[i, j, k] + %0[i, j, k] }",
    "[i < a, j < b, k < c] { out ELEM[c*b*a] at [b*a*k + a*j + i] = %0[i, j, k] + %0[i, j, k] }",
    "[i < a, j < b] { out ELEM[a*b] at [b*i + j] = sum(k < c; %0[i, j, k]) }",
    "[i < a, j < b, k < d] { out ELEM[a*b, d] at [b*i + j, k] = sum(l < c; %0[i, j, l] * %1[l, k]) }",
    "[i < a, j < b, k < d] { out ELEM[b, a*d] at [j, d*i + k] = sum(l < c; %0[i, j, l] * %1[l, k]) }",
    "[i < a, j < b, l < 2, k < c] { out ELEM[b, a*2*c] at [j, 2*c*i + c*l + k] = %0[i, j, k] }",
    "[i < a, j < b, k < c, l < 3] { out ELEM[a*b, c*3] at [b*i + j, 3*k + l] = %0[i, j, k] }",
};

Sizes edges() {
  Sizes out;
  for (const auto& [a, b, c, d] : std::vector<std::array<int64_t, 4>>{{0, 2, 3, 4},
                                                                      {2, 0, 3, 4},
                                                                      {2, 3, 0, 4},
                                                                      {2, 3, 5, 0},
                                                                      {1, 1, 1, 1},
                                                                      {5, 7, 3, 2},
                                                                      {4, 16, 8, 16},
                                                                      {3, 65, 17, 33},
                                                                      {67, 2, 31, 9},
                                                                      {2, 5, 1030, 7}})
    out.push_back({{"a", a}, {"b", b}, {"c", c}, {"d", d}});
  return out;
}

TEST(Merged, OfOpenSizes) { check_program(program("f32", outputs), edges(), every_level(), 1e-4); }

TEST(Merged, OfOtherTypes) {
  check_program(program("f16", outputs), edges(), every_level(), 1e-2);
  check_program(program("f64", outputs), edges(), every_level(), 1e-11);
  check_program(program("i32", outputs), edges(), every_level(), 0);
}

}  // namespace
}  // namespace axon::testing
