// Orders, natively, against the interpreter: rows of every element type with ties, NaNs, infinities and both
// zeros, for sizes at the edges of what is kept and of the runs that are sorted together, by several workers.
#include <cmath>
#include <limits>
#include <random>

#include "graph/round.h"
#include "harness.h"

namespace axon::testing {
namespace {

using base::Elem;
using graph::Tensor;

/// Contents of a row: how many different values there are, and which.
enum class Contents : uint8_t { few, any, equal, nan, rising, falling };

double real_element(Contents contents, int64_t i, uint32_t random) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const double few[] = {0, -0.0, 1, -1, inf, -inf, nan, 1e-40, -1e-40, 3e30};
  switch (contents) {
    case Contents::few:
      return few[random % 10];
    case Contents::any:
      return (static_cast<double>(static_cast<int32_t>(random)) + 0.25) * 0x1p-29;
    case Contents::equal:
      return -2;
    case Contents::nan:
      return nan;
    case Contents::rising:
      return static_cast<double>(i / 3);
    case Contents::falling:
      return static_cast<double>(-i / 3);
  }
  return 0;
}

int64_t integer_element(Contents contents, Elem elem, int64_t i, uint64_t random) {
  const auto [least, greatest] = base::range_of_integers(elem);
  const int64_t few[] = {least, least + 1, 0, 1, greatest - 1, greatest};
  switch (contents) {
    case Contents::few:
      return few[random % 6];
    case Contents::any:
      return graph::wrap_to(elem, static_cast<int64_t>(random));
    case Contents::equal:
    case Contents::nan:
      return greatest;
    case Contents::rising:
      return graph::wrap_to(elem, i / 3);
    case Contents::falling:
      return graph::wrap_to(elem, -i / 3);
  }
  return 0;
}

Tensor filled(Elem elem, std::vector<int64_t> shape, Contents contents, uint64_t seed) {
  Tensor t;
  t.elem = elem;
  t.shape = std::move(shape);
  std::mt19937_64 random(seed);
  for (int64_t i = 0; i < t.count(); ++i)
    if (base::is_float(elem))
      t.floats.push_back(
          graph::round_to(elem, real_element(contents, i, static_cast<uint32_t>(random() >> 32))));
    else if (elem == Elem::boolean)
      t.integers.push_back(contents == Contents::equal ? 1 : static_cast<int64_t>(random() & 1));
    else
      t.integers.push_back(integer_element(contents, elem, i, random()));
  return t;
}

std::string with_elem(std::string text, const std::string& elem) {
  for (size_t at; (at = text.find("TYPE")) != std::string::npos;) text.replace(at, 4, elem);
  return text;
}

const char* const rows = R"(graph "f"
  size m = axis 0 of 0 where m
  size n = axis 1 of 0 where n
  size k = scalar 1
  fact 0 <= k
  fact k <= n
  input "x" argument TYPE[m, n]
  input "k" scalar i64[] size k
  %0 = input 0
  %1 = input 1
  %2 = compute [p < m, i < n] { out i64[m, n] = argsmallest(j < n; %0[p, j], {i}) }
  %3 = compute [p < m, i < k] { out i64[m, k] = arglargest(j < n; %0[p, j], {i}) }
  %4 = compute [p < m, i < n] { out TYPE[m, n] = %0[p, {%2[p, i]}] }
  result "0" %2
  result "1" %3
  result "2" %4
)";

Tensor number(int64_t value) { return {Elem::i64, {}, {}, {value}}; }

RunOptions with_workers(int workers) {
  RunOptions options;
  options.workers = workers;
  return options;
}

/// The program compiled once, for several numbers of workers.
class Rows {
 public:
  Rows(const std::string& elem, const std::vector<int>& workers) {
    for (const int count : workers)
      natives_.push_back(std::make_unique<Native>(with_elem(rows, elem), with_workers(count)));
  }

  void expect_interpreted(const Tensor& x, int64_t k, const std::string& contents) const {
    const std::vector<Tensor> inputs{x, number(k)};
    const auto want = graph::interpret(natives_[0]->graph(), inputs, {}, graph::Precision::storage);
    for (size_t n = 0; n < natives_.size(); ++n) {
      const std::string where = "n " + std::to_string(x.shape[1]) + ", k " + std::to_string(k) +
                                ", contents " + contents + ", native " + std::to_string(n);
      ASSERT_EQ(natives_[n]->error(), "");
      const auto got = natives_[n]->run(inputs);
      ASSERT_EQ(want.error + got.error, "") << where;
      ASSERT_EQ(got.failed, 0u) << where;
      for (size_t r = 0; r < want.results.size(); ++r)
        expect_close(got.results[r], want.results[r], 0, 0, where + ", result " + std::to_string(r));
    }
  }

 private:
  std::vector<std::unique_ptr<Native>> natives_;
};

constexpr Contents all_contents[] = {Contents::few, Contents::any,    Contents::equal,
                                     Contents::nan, Contents::rising, Contents::falling};

class Order : public ::testing::TestWithParam<const char*> {};

TEST_P(Order, RowsOfEveryType) {
  const Elem elem = *base::elem_from_name(GetParam());
  const Rows program(GetParam(), {1, 2, 5});
  for (const int64_t n : {0, 1, 2, 3, 17, 256, 257, 513, 1009})
    for (const Contents contents : all_contents)
      for (const int64_t k : {int64_t{0}, int64_t{1}, n / 2, n - 1, n}) {
        if (k < 0 || k > n) continue;
        const Tensor x = filled(elem, {n > 100 ? 2 : 7, n}, contents, static_cast<uint64_t>(n * 7 + k));
        program.expect_interpreted(x, k, std::to_string(static_cast<int>(contents)));
        if (HasFatalFailure()) return;
      }
}

INSTANTIATE_TEST_SUITE_P(Types, Order,
                         ::testing::Values("f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i64", "i32",
                                           "i16", "i8", "u32", "u8", "bool"),
                         [](const auto& info) { return std::string(info.param); });

/// Of many, the threshold is found before; of f64 and i64, positions take bits away from the keys.
TEST(OrderOfMany, ManyAreKept) {
  for (const char* const elem : {"f32", "f64", "i64"}) {
    const Rows program(elem, {2});
    for (const Contents contents : {Contents::few, Contents::any, Contents::rising, Contents::falling})
      for (const int64_t k : {100, 8193, 20000, 30010}) {
        const Tensor x = filled(*base::elem_from_name(elem), {1, 30011}, contents, static_cast<uint64_t>(k));
        program.expect_interpreted(x, k, elem + std::to_string(static_cast<int>(contents)));
        if (HasFatalFailure()) return;
      }
  }
}

/// Keys of 64 bits that agree in all bits that words have room for.
TEST(OrderOfMany, LongKeysDifferAtTheirEnd) {
  const Rows program("i64", {1});
  std::mt19937_64 random(5);
  for (const int64_t n : {5, 300, 5000})
    for (const int64_t k : {int64_t{1}, n / 3, n - 1}) {
      Tensor x{Elem::i64, {1, n}, {}, {}};
      for (int64_t i = 0; i < n; ++i)
        x.integers.push_back((static_cast<int64_t>(random() % 3) << 40) + static_cast<int64_t>(random() % 5) -
                             2);
      program.expect_interpreted(x, k, "long");
      if (HasFatalFailure()) return;
    }
}

/// A vector, rows along the first axis, three axes in a loop, keys that are computed, keys of two values, and
/// more numbers than elements.
TEST(OrderOfMany, RanksAndKeys) {
  std::vector<RunOptions> ways = every_level();
  for (const int workers : {2, 5}) ways.push_back(with_workers(workers));
  check_program(R"(graph "f"
  size a = axis 0 of 0 where a
  size b = axis 1 of 0 where b
  size c = axis 2 of 0 where c
  size t = parameter
  fact 0 <= t
  input "x" argument f32[a, b, c]
  input "y" argument i8[b]
  %0 = input 0
  %1 = input 1
  %2 = compute [i < b] { out i64[b] = argsmallest(j < b; %1[j], {i}) }
  %3 = compute [p < b, q < c, i < 3] { out i64[b, c, 3] = arglargest(j < a; %0[j, p, q] * 0.5 + f32(%1[p]), {i}) }
  %4 = compute [p < a, q < b, i < c] { out i64[a, b, c] = {i} }
  %5 = loop "l" [l < t] (i64[a, b, c] = %4) {
    %6 = param
    %7 = compute [p < a, q < b, i < c] {
      out i64[a, b, c] = argsmallest(j < c; f64(%0[p, q, j]) * f64({l - 2}) + f64(%6[p, q, j]), {i})
    }
    yield (%7)
  }
  %8 = compute [p < 4, i < 20] { out i64[4, 20] = argsmallest(j < 31; {j * p % 7}, {i}) }
  %9 = compute [p < b, i < 20] { out i64[b, 20] = argsmallest(j < 31; select({j * p % 7} < {3}, 9, -2), {i}) }
  %10 = compute [i < b] { out i64[b] = arglargest(j < b; i32(0.0 < f32(%1[j])), {i}) }
  result "0" %2
  result "1" %3
  result "2" %5
  result "3" %8
  result "4" %9
  result "5" %10
)",
                {{{"a", 3}, {"b", 5}, {"c", 7}, {"t", 3}},
                 {{"a", 1}, {"b", 1}, {"c", 1}, {"t", 1}},
                 {{"a", 0}, {"b", 2}, {"c", 2}, {"t", 2}},
                 {{"a", 2}, {"b", 0}, {"c", 600}, {"t", 2}},
                 {{"a", 11}, {"b", 3}, {"c", 0}, {"t", 2}},
                 {{"a", 2}, {"b", 3}, {"c", 700}, {"t", 4}}},
                ways, 0);
}

/// What keys check fails where they are wanted: of one key too, and of no positions never.
TEST(OrderOfMany, KeysAreChecked) {
  std::vector<RunOptions> ways = every_level();
  ways.push_back(with_workers(3));
  const std::string text = R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 0 of 1 where m
  size k = scalar 2
  fact 0 <= k
  input "x" argument f64[n]
  input "ids" argument i64[m]
  input "k" scalar i64[] size k
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = compute [i < k] { out i64[k] = argsmallest(j < m; %0[{bounded(%1[j], n, 0)}], {i}) }
  check %1 < n : "`ids` index axis 0 of `x`"
  result "0" %3
)";
  check_program(text,
                {{{"n", 40}, {"m", 33}, {"k", 33}},
                 {{"n", 40}, {"m", 33}, {"k", 4}},
                 {{"n", 4}, {"m", 1}, {"k", 1}},
                 {{"n", 3}, {"m", 0}, {"k", 2}}},
                ways, 0);
  for (const int64_t kept : {0, 1}) {
    const auto outcome =
        Native(text, {}).run({{Elem::f64, {0}, {}, {}}, {Elem::i64, {1}, {}, {0}}, number(kept)});
    EXPECT_EQ(outcome.failed, static_cast<uint32_t>(kept));
  }
}

}  // namespace
}  // namespace axon::testing
