// Every primitive, over every element type that its declaration admits, in every executor.
//
// The rows are those of core/prims.def, the types those of the declarations in stdlib/prim.axn: a row without
// an entry in the table below, or an entry of no row, fails. All entries of one element type are one program:
// its sizes are 0, 1, 5 and 33, and its inputs hold the ends of the type, and for floats also NaN and
// infinities.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <random>
#include <set>
#include <sstream>

#include "executors.h"
#include "graph/round.h"

namespace axon::differential {
namespace {

using base::Elem;

/// Sets of element types; a primitive's declaration admits one of them.
enum class Over : uint8_t { floats, integers, numbers, truth, all };

/// All but 8-bit floats, which the executors do not hold (executors.cpp).
std::vector<Elem> elems() {
  std::vector<Elem> list(std::begin(base::all_elems), std::end(base::all_elems));
  std::erase_if(list, [](Elem e) { return base::is_float(e) && base::elem_bytes(e) == 1; });
  return list;
}

bool is_in(Elem e, Over over) {
  switch (over) {
    case Over::floats:
      return base::is_float(e);
    case Over::integers:
      return base::is_integer(e);
    case Over::numbers:
      return e != Elem::boolean;
    case Over::truth:
      return e == Elem::boolean;
    case Over::all:
      return true;
  }
  return false;
}

/// What is computed of x and y : T[n], z : T[m, n] and c : bool[n]. No element of y is 0.
struct Use {
  const char* prim;
  const char* text;
  Over over = Over::all;  ///< of the types that the declaration admits
  bool any_size = true;   ///< else n is not 0
};

const Use uses[] = {
    {"add", "add x y"},
    {"add", "add z x"},
    {"sub", "sub x y"},
    {"sub", "sub x z"},
    {"mul", "mul x y"},
    {"div", "div x y"},
    {"mod", "mod x y", Over::integers},
    {"mod", "mod (floor (mul x 8.0)) 4.0", Over::floats},  // else it jumps where the quotient is rounded
    {"neg", "neg x"},
    {"abs", "abs x"},
    {"min", "min x y"},
    {"max", "max z y"},
    {"pow", "pow x y"},
    {"exp", "exp x"},
    {"exp2", "exp2 x"},
    {"log", "log x"},
    {"sin", "sin x"},
    {"cos", "cos x"},
    {"atan", "atan x"},
    {"tanh", "tanh x"},
    {"erf", "erf x"},
    {"sqrt", "sqrt x"},
    {"rsqrt", "rsqrt x"},
    {"floor", "floor x"},
    {"eq", "eq x y"},
    {"eq", "eq z x"},
    {"ne", "ne x y"},
    {"lt", "lt x y"},
    {"le", "le z x"},
    {"gt", "gt x y"},
    {"ge", "ge z x"},
    {"and", "and x y"},
    {"or", "or z y"},
    {"not", "not x"},
    {"select", "select c x y"},
    {"select", "select c z y"},
    {"cast", "(f64 x, f32 x, f16 x, bf16 x)"},
    {"cast", "(i64 x, i32 x, i16 x, i8 x, u8 x, bool x)"},
    {"cast", "(cast x :> i16[n])"},
    {"real", "(add (real x) (f64 c), add (real x) (f32 c), add (real x) (f16 c), add (real x) (bf16 c))"},
    {"dim", "(dim z 0, dim z (-1))"},
    {"reduce", "reduce add 0 z", Over::integers},
    {"reduce", "reduce mul 1 z", Over::integers},
    {"reduce", "reduce max 0 z", Over::integers},
    {"reduce", "reduce add 0.0 z", Over::floats},
    {"reduce", "reduce mul 1.0 z", Over::floats},
    {"reduce", "reduce min 0.0 z", Over::floats},
    {"reduce", "reduce and true z", Over::truth},
    {"reduce", "reduce or false z", Over::truth},
    {"argmax", "argmax z", Over::numbers, false},
    {"argsmallest", "for i (r < n) => argsmallest r z[i]"},
    {"argsmallest", "argsmallest (dim x 0 / 2) z", Over::numbers, false},
    {"arglargest", "for i (r < (n + 1) / 2) => arglargest r z[i]"},
    {"fold", "fold (fn s r => select c r s) x z"},
    {"scan", "scan (fn s r => let t = select c r s in (t, select c s r)) x z"},
    {"iterate", "iterate 3 (fn s => select c y s) x"},
    {"iterate", "iterate (dim z 0) (fn s => select c s y) x"},
    {"while", "while (fn (s, k) => k < 3) (fn (s, k) => (select c y s, k + i64 1)) (x, i64 0)"},
    {"debug", "debug \"shown\" x"},
};

std::set<std::string> rows() {
  return {
#define PRIM(name, word, arity) word,
#include "core/prims.def"
  };
}

/// What the declaration of a primitive admits: `prim exp : 't[..a] -> 't[..a] where 't : float`.
Over declared(const std::string& prim) {
  std::ifstream file(AXON_SOURCE_DIR "/stdlib/prim.axn");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("prim " + prim + " :")) continue;
    const auto says = [&](const char* words) { return line.find(words) != std::string::npos; };
    if (says("'i : int")) return Over::integers;
    if (says("'t : float")) return Over::floats;
    if (says("'t : num")) return Over::numbers;
    return says("'") ? Over::all : Over::truth;
  }
  ADD_FAILURE() << prim << " is not declared";
  return Over::all;
}

TEST(Prims, EachRowIsUsedOverAllItsTypes) {
  const std::set<std::string> known = rows();
  for (const Use& use : uses) EXPECT_TRUE(known.contains(use.prim)) << use.prim << " is no row of prims.def";
  for (const std::string& prim : known)
    for (const Elem elem : elems()) {
      if (!is_in(elem, declared(prim))) continue;
      const bool used = std::any_of(std::begin(uses), std::end(uses), [&](const Use& use) {
        return use.prim == prim && is_in(elem, use.over);
      });
      EXPECT_TRUE(used) << prim << " has no entry for " << base::elem_name(elem);
    }
}

/// The uses that one type has of one kind of entry.
std::vector<Use> uses_of(Elem elem, const std::string& entry) {
  std::vector<Use> found;
  for (const Use& use : uses) {
    const bool shown = use.prim == std::string("debug");
    if (entry != (shown ? "shown" : use.any_size ? "of_any" : "of_some")) continue;
    if (is_in(elem, use.over) && is_in(elem, declared(use.prim))) found.push_back(use);
  }
  return found;
}

/// One entry for each kind: with n = 0, without, and those that print.
std::string program_of(Elem elem) {
  std::string text;
  for (const char* entry : {"of_any", "of_some", "shown"}) {
    std::vector<std::string> results;
    for (const Use& use : uses_of(elem, entry)) results.push_back(use.text);
    if (results.empty()) continue;
    text += fmt::format("entry {0} (x : {1}[n]) (y : {1}[n]) (z : {1}[m, n]) (c : bool[n]){2} =\n  ({3})\n",
                        entry, base::elem_name(elem), entry == std::string("of_some") ? " where 1 <= n" : "",
                        fmt::join(results, ",\n   "));
  }
  return text;
}

// ---- inputs ----

/// The ends of the integer type, numbers near 0, and any.
int64_t any_integer(Elem elem, std::mt19937_64& random) {
  const auto [least, greatest] = base::range_of_integers(elem);
  const int64_t small = static_cast<int64_t>(random() % 19) - 9;
  switch (random() % 8) {
    case 0:
      return least;
    case 1:
      return greatest;
    case 2:
      return std::max<int64_t>(least, -1);
    default:
      return std::clamp(small, least, greatest);
  }
}

double any_float(Elem elem, std::mt19937_64& random, bool special) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double specials[] = {inf, -inf, std::numeric_limits<double>::quiet_NaN(), -0.0, 1e30, -300.0};
  if (special && random() % 6 == 0) return graph::round_to(elem, specials[random() % std::size(specials)]);
  std::normal_distribution<double> normal;
  return graph::round_to(elem, std::clamp(normal(random), -3.0, 3.0));
}

/// x, y, z and c; only x holds special floats, and y no 0.
Inputs inputs_of(Elem elem, int64_t n, int64_t m) {
  std::mt19937_64 random(static_cast<uint64_t>(100 * n + m));
  Inputs inputs = {
      {elem, {n}, {}, {}}, {elem, {n}, {}, {}}, {elem, {m, n}, {}, {}}, {Elem::boolean, {n}, {}, {}}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    graph::Tensor& t = inputs[i];
    for (int64_t e = 0; e < t.count(); ++e) {
      if (base::is_float(t.elem)) {
        t.floats.push_back(any_float(t.elem, random, i == 0));
        if (i == 1 && t.floats.back() == 0) t.floats.back() = 1;
      } else {
        t.integers.push_back(any_integer(t.elem, random));
        if (i == 1 && t.integers.back() == 0 && t.elem != Elem::boolean) t.integers.back() = 1;
      }
    }
  }
  return inputs;
}

/// Of n and m.
constexpr std::pair<int64_t, int64_t> sizes[] = {{0, 0}, {0, 5}, {1, 1},  {1, 33},
                                                 {5, 0}, {5, 5}, {33, 1}, {33, 33}};

class Prims : public testing::TestWithParam<Elem> {};

TEST_P(Prims, ExecutorsAgree) {
  const std::string source = program_of(GetParam());
  SCOPED_TRACE(source);
  const Compiled compiled(source, for_levels());
  ASSERT_EQ(compiled.error(), "");
  const Loaded loaded(compiled, {});
  ASSERT_EQ(loaded.error(), "");
  for (const auto& [n, m] : sizes)
    for (const char* entry : {"of_any", "of_some", "shown"}) {
      if (uses_of(GetParam(), entry).empty() || (n == 0 && entry == std::string("of_some"))) continue;
      const bool shown = entry == std::string("shown");
      if (shown) testing::internal::CaptureStderr();
      const std::string wrong = disagreement(compiled, {&loaded}, entry, inputs_of(GetParam(), n, m), 1);
      const std::string printed = shown ? testing::internal::GetCapturedStderr() : "";
      EXPECT_EQ(wrong, "") << entry << " n=" << n << " m=" << m;
      EXPECT_EQ(shown, printed.find("shown = ") != std::string::npos) << printed;
    }
}

INSTANTIATE_TEST_SUITE_P(Elems, Prims, testing::ValuesIn(elems()),
                         [](const auto& info) { return std::string(base::elem_name(info.param)); });

}  // namespace
}  // namespace axon::differential
