// See bombs.h.
#include "bombs.h"

#include <fmt/format.h>

#include <functional>

namespace axon::corpus {
namespace {

std::string repeated(int count, const std::string& between, const std::function<std::string(int)>& part) {
  std::string out;
  for (int i = 0; i < count; ++i) out += (i ? between : "") + part(i);
  return out;
}
std::string name(const char* prefix, int i) { return prefix + std::to_string(i); }

/// let a0 = n in let a1 = a0 OP a0 in ... in iota aK
std::string doubling(int count, const char* form) {
  std::string out = "fun bomb (x : f32[n]) = let a0 = n ";
  for (int i = 1; i <= count; ++i)
    out += fmt::format("let a{} = {} ", i, fmt::format(fmt::runtime(form), name("a", i - 1)));
  return out + fmt::format("in iota a{}\n", count);
}

/// Functions that each apply the one before twice.
std::string towers(int count, const char* first) {
  std::string out = fmt::format("fun bomb x = let f0 y = {} ", first);
  for (int i = 1; i <= count; ++i) out += fmt::format("let f{} y = f{} (f{} y) ", i, i - 1, i - 1);
  return out + fmt::format("in f{} x\n", count);
}

std::string nested_records(int count) {
  std::string out = "type T0 = { a : f32[3], b : f32[4] }\n";
  for (int i = 1; i <= count; ++i) out += fmt::format("type T{} = {{ a : T{}, b : T{} }}\n", i, i - 1, i - 1);
  return out + fmt::format("fun bomb (p : T{}) = p.a\n", count);
}

/// Vectors of many sizes, and a parameter whose size joins all of these with an operator.
std::string many_sizes(int count, const std::string& size, const std::string& body) {
  return "fun bomb " + repeated(count, " ", [](int i) { return fmt::format("(x{} : f32[n{}])", i, i); }) +
         " (y : f32[" + size + "]) = " + body + "\n";
}
std::string joined(int count, const char* sign) {
  return repeated(count, sign, [](int i) { return name("n", i); });
}
std::string nested_calls(int count, const char* function, bool backwards) {
  std::string out = name("n", backwards ? 0 : count - 1);
  for (int i = 1; i < count; ++i)
    out = fmt::format("{}({}, {})", function, name("n", backwards ? i : count - 1 - i), out);
  return out;
}

/// The same as an expression of the body, from the other end.
std::string least_of_all(int count) {
  std::string out = "n0";
  for (int i = 1; i < count; ++i) out = fmt::format("min (n{}) ({})", i, out);
  return out;
}

}  // namespace

std::vector<Bomb> bombs() {
  const std::set<std::string> complex{"E0590"};
  const std::set<std::string> number{"E0320", "E0502", "E0590"};
  std::vector<Bomb> out;
  out.push_back({"squares_of_squares", doubling(40, "{0} * {0}"), complex});
  out.push_back({"squares_within_limits", doubling(3, "{0} * {0}"), {}});
  out.push_back({"doubled_beyond_64_bits", doubling(70, "{0} + {0}"), {"E0590", "E0320"}});
  out.push_back({"quotients_that_are_the_size", doubling(300, "({0} + n) / 2"), {}});
  out.push_back({"quotients_of_quotients", doubling(300, "({0} * 3 + n) / (n + 2)"), complex});
  out.push_back({"quotients_beyond_limits", doubling(40, "({0} * 3 + n) / (n + 2)"), complex});
  out.push_back({"quotients_within_limits", doubling(30, "({0} * 3 + n) / (n + 2)"), {}});
  out.push_back({"remainders_of_remainders", doubling(100, "({0} * 3 + n + 1) % (n + 7)"), complex});
  out.push_back({"quotients_that_branch", doubling(30, "({0} / 3 + {0} % 5)"), complex});
  out.push_back({"extremes_of_extremes", doubling(100, "min ({0} * 3 + 1) (n * 2)"), complex});
  out.push_back({"squares_of_sums", doubling(30, "({0} + 1) * ({0} + 1)"), complex});
  out.push_back({"largest_number_twice", "fun bomb (x : f32[9223372036854775807 * 2]) = x\n", number});
  out.push_back({"largest_number_and_one", "fun bomb (x : f32[9223372036854775807 + 1]) = x\n", number});
  const auto one = [](int) { return std::string("n"); };
  out.push_back(
      {"sum_of_hundreds", "fun bomb (x : f32[n]) = iota (" + repeated(400, " + ", one) + ")\n", {}});
  out.push_back({"sum_of_ten_thousand",
                 "fun bomb (x : f32[n]) = iota (" + repeated(10000, " + ", one) + ")\n",
                 {"E0201"}});
  out.push_back({"sum_of_names", many_sizes(300, joined(300, " + "), "y"), complex});
  out.push_back({"sum_of_names_within_limits", many_sizes(200, joined(200, " + "), "y"), {}});
  out.push_back({"product_of_names", many_sizes(20, joined(20, "*"), "y"), complex});
  out.push_back(
      {"coprime_products",
       "fun bomb (x : f32[a*b]) (y : f32[a]) (z : f32[b])\n  where a*b == 7919*104729, 2 <= a, a < b = iota "
       "(a*b - 1) \n",
       {}});
  out.push_back({"remainders_of_primes",
                 "fun bomb (x : f32[n]) where " +
                     repeated(8, ", ",
                              [](int i) {
                                const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
                                return fmt::format("n % {} == 1", primes[i]);
                              }) +
                     " = x[n % 4849845 :] \n",
                 {}});
  out.push_back({"cubes",
                 "fun bomb (x : f32[a]) (y : f32[b]) (z : f32[d]) where a*a*a + b*b*b == d*d*d, 1 <= a, 1 <= "
                 "b = z[3:]\n",
                 {}});
  out.push_back(
      {"least_of_many_in_two_orders",
       many_sizes(14, nested_calls(14, "min", false), "y + (for (i < " + least_of_all(14) + ") => 0.0)"),
       {}});
  out.push_back(
      {"least_of_many_below_each",
       many_sizes(12, nested_calls(12, "min", false),
                  "(" + repeated(12, ", ", [](int i) { return fmt::format("x{}[:dim y 0]", i); }) + ")"),
       {}});
  out.push_back({"alternating_extremes",
                 many_sizes(
                     16,
                     [] {
                       std::string e = "n0";
                       for (int i = 1; i < 16; ++i)
                         e = fmt::format("{}(n{} + {}, {})", i % 2 ? "min" : "max", i, i, e);
                       return e;
                     }(),
                     "y[:dim x0 0]"),
                 {}});
  const std::string squares = "fun of_any (x : i64[a]) where (a*a + a) % 2 == 0, a*a % 4 != 2 = x\n";
  out.push_back({"products_of_neighbours", squares + "fun bomb (x : i64[n]) = of_any x\n", {}});
  out.push_back({"products_of_what_the_data_decides",
                 squares + "fun bomb (m : bool[n]) = of_any (nonzero m)\n",
                 {"E0591"}});
  out.push_back({"pairs_of_pairs", towers(30, "(y, y)"), complex});
  out.push_back({"records_of_records", towers(30, "{ a = y, b = y }"), complex});
  out.push_back({"ranks_upon_ranks", towers(12, "for i => y + real i * 0.0"), {"E0307", "E0590", "E0501"}});
  out.push_back({"identities_upon_identities", towers(200, "y"), {}});
  out.push_back({"nested_types", nested_records(40), complex});
  out.push_back({"many_constraints",
                 "fun bomb (x : f32[n]) = " +
                     repeated(60, "\n  ",
                              [](int i) {
                                return fmt::format("let y{} = {}", i, repeated(400, " + ", [](int) {
                                                     return std::string("x");
                                                   }));
                              }) +
                     " in y0\n",
                 complex});
  out.push_back(
      {"remainders_of_products",
       "fun bomb (x : f32[n]) (y : f32[m]) = " +
           repeated(40, " + ", [](int i) { return fmt::format("x[(n * m + {}) % (m + {})]", i, i + 1); }) +
           "\n",
       {}});
  out.push_back({"many_joins",
                 "fun bomb " + repeated(100, " ", [](int i) { return name("x", i); }) + " = " +
                     repeated(100, " + ", [](int i) { return name("x", i); }) + "\n",
                 {}});
  out.push_back({"splices_of_splices",
                 "fun outer_any (x : [..a]) (y : [..b]) : [..a, ..b] = for ..p ..q => x[..p] * y[..q]\nfun "
                 "bomb (x : f32[n]) = " +
                     [] {
                       std::string e = "x";
                       for (int i = 0; i < 40; ++i) e = "outer_any (" + e + ") x";
                       return e;
                     }() +
                     "\n",
                 {"E0501"}});
  return out;
}

}  // namespace axon::corpus
