// Online softmaxes that weight values, as graph text, run natively for sizes around the edges of blocks of
// rows, keys and columns, against the interpreter: every level that this machine has, one worker and three.
#include "harness.h"

namespace axon::testing {
namespace {

/// Queries are `q`, keys `k`, values `v`, of type E in memory; KEY is how a key is read; SCORE is made of the
/// product $0; OUT is the value of [h, i, j], which reads `online`.
std::string program(const std::string& score, const std::string& out, const std::string& elem = "f32",
                    bool keys_next_to_each_other = false) {
  const std::string in = elem == "f64" ? "f64" : "f32";
  std::string text = R"(graph "f"
  size a = axis 0 of 0 where a
  size m = axis 1 of 0 where m
  size d = axis 2 of 0 where d
  size n = axis 1 of 2 where n
  size e = axis 2 of 2 where e
  input "q" argument IN[a, m, d]
  input "k" argument E[KEYS]
  input "v" argument E[a, n, e]
  input "b" argument IN[m, n]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = input 3
  %4 = compute [h < a, i < m, j < e] {
    local $0 [h_2 < a, i_2 < m, j_2 < n] IN = sum(c < d; %0[h_2, i_2, c] * KEY)
    out IN[a, m, e] = OUT
  }
  result "0" %4
)";
  const auto widened = [&](const std::string& x) { return elem == in ? x : in + "(" + x + ")"; };
  const auto online = "online(k < n; e, 1.0ZERO; " + score + ", " + widened("%2[h, k, j]") + ")";
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"OUT", out},
        {"ONLINE", online},
        {"ZERO", score.find("inf") == std::string::npos ? "" : ", or_zero"},
        {"KEYS", keys_next_to_each_other ? "a, d, n" : "a, n, d"},
        {"KEY", widened(keys_next_to_each_other ? "%1[h_2, c, j_2]" : "%1[h_2, j_2, c]")},
        {"IN", in},
        {"E[", elem + "["}})
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  return text;
}

Sizes edges() {
  Sizes out;
  for (const auto& [m, d, n, e] : std::vector<std::array<int64_t, 4>>{{0, 3, 5, 4},
                                                                      {3, 0, 5, 4},
                                                                      {3, 4, 0, 5},
                                                                      {3, 4, 5, 0},
                                                                      {1, 1, 1, 1},
                                                                      {1, 64, 130, 64},
                                                                      {4, 15, 63, 31},
                                                                      {5, 16, 64, 32},
                                                                      {13, 33, 65, 129},
                                                                      {64, 8, 129, 16},
                                                                      {67, 257, 200, 7}})
    out.push_back({{"a", m % 2 + 1}, {"m", m}, {"d", d}, {"n", n}, {"e", e}});
  return out;
}

const std::string weighted = "proj(2, (t0 := ONLINE)) / proj(1, t0)";

void check(const std::string& text, double tolerance) {
  check_program(text, edges(), every_level(), tolerance);
}

TEST(Attention, OfAllKeys) {
  check(program("$0[h, i, k] / 2.0", weighted), 5e-5);
  check(program("$0[h, i, k] / f64(2.0)", weighted, "f64"), 1e-12);
}

TEST(Attention, OfKeysNextToEachOther) { check(program("$0[h, i, k]", weighted, "f32", true), 5e-5); }

TEST(Attention, OfNarrowKeysAndValues) {
  check(program("$0[h, i, k]", weighted, "bf16"), 5e-4);
  check(program("$0[h, i, k]", weighted, "f16", true), 5e-4);
}

TEST(Attention, OfMaskedKeys) {
  const std::string or_one = "proj(2, (t0 := ONLINE)) / select(proj(1, t0) == 0.0, 1.0, proj(1, t0))";
  check(program("select({k} <= {i}, $0[h, i, k], -inf)", or_one), 5e-5);
  check(program("select({k} <= {i} && {i - k} < 3, $0[h, i, k], -inf)", or_one), 5e-5);
  check(program("select(0.0 < %3[i, k], $0[h, i, k] + %3[i, k], -inf)", or_one), 5e-5);
}

TEST(Attention, OfMaximumAndSum) {
  check(program("$0[h, i, k]", "proj(2, (t0 := ONLINE)) + proj(0, t0) * proj(1, t0)"), 5e-4);
}

}  // namespace
}  // namespace axon::testing
