// What is checked while a program runs: the checks of indices, slices and of what functions state, where they
// are made, and what their errors name.
#include <limits>

#include "run.h"

namespace axon::graph {
namespace {

TEST(FromCoreChecks, SliceEndsAreBlamed) {
  const std::string program = "entry s (v : f32[n]) (o : i64[2]) = sum v[o[0] : o[1]]";
  EXPECT_EQ(run(program, {reals({2}, {1, 2}), integers({2}, {2, 3})}).error,
            "end `o[1]` in `v[o[0] : o[1]]` (test.axn:1:41) is past the axis: 2 is not in 0 .. 1");
  EXPECT_EQ(run(program, {reals({2}, {1, 2}), integers({2}, {3, 3})}).error,
            "index `o[0]` in `v[o[0] : o[1]]` (test.axn:1:41) is 3, which is not in 0 .. 2");
  EXPECT_EQ(result(program, {reals({2}, {1, 2}), integers({2}, {2, 2})}), (Reals{0}));
}

TEST(FromCoreChecks, RunTimeErrorsNameTheExpression) {
  const char* const gather = "entry f (table : f32[v, d]) (ids : i32[n]) = for i j => table[ids[i], j]";
  EXPECT_EQ(run(gather, {reals({2, 1}, {5, 6}), integers({2}, {1, 0}, Elem::i32)}).error, "");
  std::string error = run(gather, {reals({2, 1}, {5, 6}), integers({2}, {1, 2}, Elem::i32)}).error;
  EXPECT_NE(error.find("`ids[i]` in `table[ids[i], j]` (test.axn:1:57): 2 is not in 0 .. 1"),
            std::string::npos)
      << error;
  const char* const chosen =
      "entry f (x : f32[n]) (ids : i64[m]) = for i => if ids[i] < 0 then 0.0 else x[ids[i]]";
  Outcome skipped = run(chosen, {reals({2}, {5, 6}), integers({3}, {1, -7, 0})});
  EXPECT_EQ(skipped.error, "");
  EXPECT_EQ(skipped.results.at(0).floats, (Reals{6, 0, 5}));
  error = run(chosen, {reals({2}, {5, 6}), integers({2}, {2, -7})}).error;
  EXPECT_NE(error.find("2 is not in 0 .. 1"), std::string::npos) << error;
  EXPECT_EQ(result("entry f (x : f32[n]) (ids : i64[m]) = for i => x[ids[i] else 9.0]",
                   {reals({2}, {5, 6}), integers({3}, {1, -7, 2})}),
            (Reals{6, 9, 9}));
  error = run("entry f (x : f32[n]) (pos : i64) = x[pos]", {reals({2}, {5, 6}), integers({}, {2})}).error;
  EXPECT_NE(error.find("pos < n"), std::string::npos) << error;
  error = run("entry f (x : f32[b, b, 2*d]) = x", {reals({1, 1, 3}, {1, 2, 3})}).error;
  EXPECT_EQ(error, "axis 2 of `x` is 3, which is not 2*d");
}

TEST(FromCoreChecks, AnAxisWithoutElementsIsCalledSo) {
  const auto of = [](const std::string& body, std::vector<double> x, std::vector<int64_t> k) {
    const auto n = static_cast<int64_t>(x.size()), m = static_cast<int64_t>(k.size());
    const std::string error = run("entry f (x : f32[n]) (k : i64[m]) = " + body,
                                  {reals({n}, std::move(x)), integers({m}, std::move(k))})
                                  .error;
    return error.substr(std::min(error.size(), error.rfind(')') + 1));
  };
  const std::string none = ": the axis has no elements", no_such = ": the axis has no such element";
  EXPECT_EQ(of("x[k[0]]", {}, {0}), none);
  EXPECT_EQ(of("x[k]", {}, {0}), none);
  EXPECT_EQ(of("fold (fn s j => s + x[j]) 0.0 k", {}, {0}), none);
  EXPECT_EQ(of("x with [k[0]] = 1.0", {}, {0}), none);
  EXPECT_EQ(of("let y = x[:k[0]] in y[k[1]]", {5}, {0, 0}), none);
  EXPECT_EQ(of("if k[0] == 0 then x[k[0]] else 0.0", {}, {0}), no_such);
  EXPECT_EQ(of("for i => if k[i] == 0 then x[k[i]] else 0.0", {}, {0}), no_such);
  EXPECT_EQ(of("if k[0] == 0 then x with [k[0]] = 1.0 else x", {}, {0}), no_such);
  EXPECT_EQ(of("for i => x[:i][k[i]]", {5, 6}, {0, 0}), no_such);
  EXPECT_EQ(of("for i => x[:i + 1][k[i]]", {5, 6, 7}, {0, 2, 0}), no_such);
  EXPECT_EQ(of("if k[0] == 0 then x[k[1]] else 0.0", {5, 6}, {0, 2}), ": 2 is not in 0 .. 1");
}

TEST(FromCoreChecks, WhatNothingShowsIsSaidInWordsOfTheProgram) {
  const auto of = [](const std::string& body) {
    const std::string error = lower("entry f (x : f32[n]) (k : i64[1]) = " + body).errors;
    return error.substr(std::min(error.size(), error.find("E0601")));
  };
  const std::string slice = "nothing shows that the slice lies between 0 and n";
  EXPECT_NE(of("fold (fn s j => s + sum x[2*j::-1]) 0.0 (iota (k[0]))").find(slice), std::string::npos);
  EXPECT_NE(of("for (j < k[0]) => sum x[j::-1]").find(slice), std::string::npos);
  const std::string outside =
      lower("fun g (x : f32[n]) (k : i64[1]) = x[k[0]]\nentry f = g [1.0] [5]\n").errors;
  EXPECT_NE(outside.find(": 5 is not in 0 .. 0"), std::string::npos) << outside;
}

TEST(FromCoreChecks, IntegersOfAnyTypeAreAsStated) {
  const auto of = [](const char* text, int64_t k) {
    return run(text, {reals({3}, {5, 6, 7}), integers({}, {k}, Elem::i32)}).error;
  };
  const char* const stated =
      "fun pick x (k : i32) where k < 2 = x[k]\nentry f (x : f32[n]) (k : i32) = pick x k";
  EXPECT_EQ(of(stated, 1), "");
  EXPECT_NE(of(stated, 2).find("k < 2; the sides are 2 and 2"), std::string::npos) << of(stated, 2);
  EXPECT_NE(of(stated, -1).find("-1 is not in 0 .. 2"), std::string::npos) << of(stated, -1);
  const char* const divided = "entry f (x : f32[n]) (k : i32) = x[0] * real (12 / k)";
  EXPECT_EQ(of(divided, 4), "");
  EXPECT_NE(of(divided, 0).find("k != 0; the sides are 0 and 0"), std::string::npos) << of(divided, 0);
  EXPECT_NE(of("entry f (x : f32[n]) (k : i32) where 2 <= k = x * real k", 1), "");
}

TEST(FromCoreChecks, IntegersOfTheDataAreCheckedInFunctions) {
  const auto of = [](const std::string& text, int64_t k) {
    const auto ran = run(text, {reals({3}, {5, 6, 7}), integers({2}, {1, k}, Elem::i64)});
    return ran.error;
  };
  const std::string entry = "\nentry f (x : f32[n]) (ids : i64[m]) = ";
  const char* const programs[] = {"fun at (x : [n]) (i : i64) = x[i]",
                                  "fun at x (i : i64) = let y = x with [i] = 1.0 in y[0] * 0.0 + x[i]",
                                  "fun at x (i : i64) = sum x[i : i + 1]",
                                  "fun at (x : [n]) (i : i64) where 0 <= i, i < n = x[i]"};
  for (const std::string at : programs) {
    for (const char* use : {"for j => at x ids[j]", "fold (fn s k => s + at x k) 0.0 ids",
                            "let k = ids[1] in if k < 100 then at x k else 0.0", "map_of (at x) ids"}) {
      const std::string text = "fun map_of f (xs : [m]) = for j => f xs[j]\n" + at + entry + use;
      EXPECT_EQ(of(text, 0), "") << text;
      EXPECT_EQ(of(text, 2), "") << text;
      for (const int64_t wrong : {int64_t{-1}, int64_t{3}, std::numeric_limits<int64_t>::min()})
        EXPECT_NE(of(text, wrong), "") << text;
    }
  }
  const std::string small = "fun small (k : i64) where k < 3 = k + 1" + entry + "x[0] * real (small ids[1])";
  EXPECT_EQ(of(small, 2), "");
  EXPECT_NE(of(small, 3).find("`small` needs k < 3; the sides are 3 and 3"), std::string::npos)
      << of(small, 3);
  const std::string first = "fun first x (k : i64) = x[:k]" + entry + "sum (first x ids[1])";
  EXPECT_EQ(of(first, 3), "");
  EXPECT_NE(of(first, 4), "");
  EXPECT_NE(of(first, -1), "");
  const std::string quotient = "fun over a (b : i64) = a / b" + entry + "x[0] * real (over 6 ids[1])";
  EXPECT_EQ(of(quotient, 3), "");
  EXPECT_NE(of(quotient, 0), "");
}

/// However a function names an integer of the data that it gives back, its caller may index with it.
TEST(FromCoreChecks, IntegersNamedInFunctionsAreChecked) {
  const std::pair<const char*, const char*> forms[] = {
      {"fun of (d : i64[m]) = let s = fold (fn s x => s + x) (i64 0) d in s", "of d"},
      {"fun of d = let s = sum d in s", "of d"},
      {"fun of (d : i64[m]) : i64 = let s = sum d in s", "of d"},
      {"val of : i64[m] -> i64\nfun of d = let s = sum d in s", "of d"},
      {"fun of (d : [m]) = let (_, s) = iterate (m - 1) (fn (i, s) => (i + 1, s + d[0])) (i64 0, d[0]) in s",
       "of d"},
      {"fun of d = let (_, s) = while (fn (i, _) => i < dim d 0) (fn (i, s) => (i + 1, s + d[0])) (i64 0, 0) "
       "in s + 0",
       "of d"},
      {"fun of d = let s = sum d in let t = s + 1 in t", "(of d - 1)"},
      {"fun of d = let s = sum d in (s, (s + 1, s))", "(let (_, (_, s)) = of d in s)"},
      {"fun of d = let s = sum d in {more = s + 1, sum = s}", "(of d).sum"},
      {"fun inner d = let s = sum d in s\nfun of d = let s = inner d in s", "of d"},
      {"fun of d = let g e = let s = sum e in s in g d", "of d"},
      {"fun of d = (fn e => let s = sum e in s) d", "of d"},
      {"fun of (d : i64[m]) = let s = sum (i32 d) in s", "of d"},
      {"fun of d = let s = sum d in if s < 100 then s else 0", "of d"},
      {"fun of d = let s = sum d in (sum (for (i < max s 0) => 1.0), s)", "(let (_, s) = of d in s)"}};
  const std::pair<const char*, Reals> uses[] = {{"x[@]", {7}},
                                                {"let i = @ in x[i]", {7}},
                                                {"sum x[: @ + 1]", {18}},
                                                {"sum x[@ :]", {7}},
                                                {"sum (x with [@] = 1.0)", {12}},
                                                {"sum (for j => x[@] * real d[j])", {14}},
                                                {"fold (fn s v => s + x[@]) 0.0 x", {21}},
                                                {"if dim d 0 == 2 then x[@] else 0.0", {7}}};
  for (const auto& [function, value] : forms)
    for (const auto& [use, wanted] : uses) {
      std::string body = use;
      body.replace(body.find('@'), 1, value);
      const std::string text =
          std::string(function) + "\nentry g (x : f32[n]) (d : i64[m]) where m >= 1 = " + body;
      const auto of = [&](std::vector<int64_t> d) {
        return run(text, {reals({3}, {5, 6, 7}), integers({2}, std::move(d))});
      };
      const Outcome right = of({1, 1});
      ASSERT_EQ(right.error, "") << text;
      EXPECT_EQ(right.results.at(0).floats, wanted) << text;
      for (const int64_t wrong : {-2, 2}) EXPECT_NE(of({wrong, wrong}).error, "") << text;
    }
}

/// Where the data decides how far an index goes, each element and step checks its own.
TEST(FromCoreChecks, IndicesBelowIntegersOfTheDataAreChecked) {
  struct Case {
    const char* body;
    double two, three;  // of k elements
    bool past;          // whether k = 4 is right for three elements
  };
  const Case cases[] = {
      {"sum (for (i < k) => x[i])", 11, 18, false},
      {"sum (for (i < k) => x[2 - i])", 13, 18, false},
      {"sum (for (i < k) => sum (x with [i] = 1.0))", 27, 39, false},
      {"sum (for (i < k) => sum (x with [i : i + 1] = [1.0]))", 27, 39, false},
      {"sum (for (i < k) => sum x[i : i + 1])", 11, 18, false},
      {"sum (for (i < k) => sum x[:i])", 5, 16, true},
      {"sum (for (i < k) => sum x[i:k])", 17, 38, false},
      {"sum (sum (for (i < k) (j < k) => x[i] * x[j]))", 121, 324, false},
      {"sum (for (i < k) => sum (for (j < i) => x[j]))", 5, 16, true},
      {"fold (fn s i => s + x[i]) 0.0 (iota k)", 11, 18, false},
      {"fold (fn s i => s + sum x[i:]) 0.0 (iota k)", 31, 38, true},
      {"sum (fold (fn s i => s with [i] = 1.0) x (iota k))", 9, 3, false},
      {"fold (fn s v => s + sum (for (i < k) => x[i])) 0.0 x", 33, 54, false},
      {"if x[0] > 0.0 then sum (for (i < k) => x[i]) else 0.0", 11, 18, false},
      {"sum x[iota k]", 11, 18, false},
  };
  const auto of = [](const std::string& text, int64_t k, Elem elem) {
    return run(text, {reals({3}, {5, 6, 7}), integers({1}, {k}, elem)});
  };
  for (const Case& c : cases) {
    const std::string body = c.body;
    const std::pair<std::string, Elem> forms[] = {
        {"entry g (x : f32[n]) (s : i16[m]) = let k = i64 s[0] in " + body, Elem::i16},
        {"fun f (x : f32[n]) (k : i64) = " + body + "\nentry g (x : f32[n]) (s : i64[m]) = f x s[0]",
         Elem::i64}};
    for (const auto& [text, elem] : forms) {
      EXPECT_NE(of(text, -1, elem).error, "") << text;
      for (const auto& [k, value] : {std::pair(2, c.two), std::pair(3, c.three)}) {
        const Outcome right = of(text, k, elem);
        ASSERT_EQ(right.error, "") << text;
        EXPECT_EQ(right.results.at(0).floats, (Reals{value})) << text;
      }
      EXPECT_EQ(of(text, 0, elem).error, "") << text;
      EXPECT_EQ(of(text, 4, elem).error.empty(), c.past) << text << of(text, 4, elem).error;
    }
  }
}

TEST(FromCoreChecks, NarrowArgumentsBoundWhatIsBelowThem) {
  for (const auto& [name, elem] :
       {std::pair("i8", Elem::i8), std::pair("u8", Elem::u8), std::pair("u32", Elem::u32),
        std::pair("i16", Elem::i16), std::pair("i32", Elem::i32)}) {
    const std::string type = std::string(" (k : ") + name + ") = ";
    const std::string fun = "fun f (x : f32[n])" + type + "sum (for (i < k) => x[i + 1])\n";
    for (const std::string& text :
         {"entry g (x : f32[n])" + type + "sum (for (i < k) => x[i + 1])",
          fun + "entry g (x : f32[n])" + type + "f x k",
          "entry g (x : *f32[n])" + type + "let s = sum (for (i < k) => x[i + 1]) in s"}) {
      const auto of = [&](int64_t k) { return run(text, {reals({3}, {5, 6, 7}), integers({}, {k}, elem)}); };
      EXPECT_EQ(of(0).results.at(0).floats, (Reals{0})) << text;
      EXPECT_EQ(of(2).results.at(0).floats, (Reals{13})) << text;
      EXPECT_NE(of(3).error.find("k + 1 <= n; the sides are 4 and 3"), std::string::npos) << of(3).error;
    }
  }
}

TEST(FromCoreChecks, IndicesInBranchesAreCheckedThere) {
  const auto of = [](const std::string& body, int64_t k) {
    const std::string text =
        "fun at (x : [n]) (i : i64) = x[i]\nfun small (k : i64) where k < 2 = real k\n"
        "entry f (x : f32[n]) (k : i64) = " +
        body;
    return run(text, {reals({3}, {5, 6, 7}), integers({}, {k}, Elem::i64)}).error;
  };
  for (const std::string body : {"if k == -1 then 0.0 else x[k]", "if k == -1 then 0.0 else at x k",
                                 "sum (if k == -1 then x else x with [k] = 1.0)",
                                 "fold (fn s v => if k == -1 then s else s + x[k]) 0.0 x",
                                 "sum (for i => if k == -1 then x[i] else x[k])",
                                 "if x[0] > 0.0 && k == -1 then 0.0 else sum x[k : k + 1]"}) {
    for (const int64_t right : {-1, 0, 2}) EXPECT_EQ(of(body, right), "") << body;
    for (const int64_t wrong : {-2, 3}) EXPECT_NE(of(body, wrong), "") << body;
  }
  const std::string stated = "if x[0] > 0.0 && k > 5 then 0.0 else small k";
  EXPECT_EQ(of(stated, 1), "");
  EXPECT_EQ(of(stated, 6), "");
  EXPECT_NE(of(stated, 2).find("`small` needs k < 2; the sides are 2 and 2"), std::string::npos)
      << of(stated, 2);
}

TEST(FromCoreChecks, StatementsReachThroughFunctions) {
  const auto of = [](const std::string& argument, int64_t k, bool taken) {
    const std::string text =
        "fun small (k : i64) where k < 2 = real k\nfun pick (k : i64) c = if c then small k else 0.0\n"
        "entry f (x : f32[n]) (k : i64) (c : bool) = sum x + pick " +
        argument + " c";
    const Tensor choice = integers({}, {taken ? 1 : 0}, Elem::boolean);
    return run(text, {reals({5}, {1, 2, 3, 4, 5}), integers({}, {k}, Elem::i64), choice}).error;
  };
  for (const std::string argument : {"k", "n", "2", "(n - 3)"}) {
    EXPECT_NE(of(argument, 2, true).find("`small` needs k < 2"), std::string::npos) << of(argument, 2, true);
    EXPECT_EQ(of(argument, 2, false), "") << argument;
  }
  for (const std::string argument : {"k", "1", "(n - 4)"}) EXPECT_EQ(of(argument, 1, true), "") << argument;
}

TEST(FromCoreChecks, SizesInTheTypeAreExact) {
  const auto of = [](const std::string& size, int64_t p) {
    return run("entry f (x : f32[n]) (p : i64) where p >= 0 = for (t < " + size + ") => x[t else -1.0]",
               {reals({6}, {1, 2, 3, 4, 5, 6}), integers({}, {p})});
  };
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  for (const std::string part : {"n + 2*p", "n*p", "n + 2*p - 1"})
    for (const std::string& size : {"min (" + part + ") 5", "(" + part + ") / 3", "(" + part + ") % 7",
                                    "min ((" + part + ") / 3) 5", "min 5 ((" + part + ") / 5 + 1)"}) {
      EXPECT_EQ(of(size, 1).error, "") << size;
      for (const int64_t p : {most, most / 2 + 1}) EXPECT_NE(of(size, p).error, "") << size << " for " << p;
    }
  EXPECT_EQ(of("min (n + 2*p) 5", 1).results.at(0).floats, (Reals{1, 2, 3, 4, 5}));
  const std::string error = of("min (n + 2*p) 5", most).error;
  EXPECT_NE(error.find("`n + 2*p` is too large"), std::string::npos) << error;
}

TEST(FromCoreChecks, SizesAreReadOffBeforeTheyAreDividedBy) {
  const auto of = [](const std::string& params, int64_t length, bool first) {
    const Tensor x = reals({length}, Reals(static_cast<size_t>(length), 1)), y = reals({0, 3}, {});
    return run("entry f " + params + " = sum x + sum (sum y)", first ? std::vector{x, y} : std::vector{y, x});
  };
  for (const std::string axis : {"p*q", "q*p", "2*p*q"}) {
    EXPECT_EQ(of("(x : f32[" + axis + "]) (y : f32[p, q])", 0, true).error, "") << axis;
    EXPECT_EQ(of("(y : f32[p, q]) (x : f32[" + axis + "])", 0, false).error, "") << axis;
    EXPECT_EQ(of("(x : f32[" + axis + " + 1]) (y : f32[p, q])", 1, true).error, "") << axis;
    EXPECT_NE(of("(x : f32[" + axis + "]) (y : f32[p, q])", 1, true).error, "") << axis;
    EXPECT_EQ(of("(x : f32[" + axis + "]) (y : f32[p, q + 1])", 0, true).error, "") << axis;
  }
}

TEST(FromCoreChecks, CallsAskForNoMoreThanIndicesNeed) {
  const auto of = [](const std::string& size, int64_t w) {
    return run(
        "entry f (x : f32[n]) (w : i64) where w >= 0 = for (i < n) => sum (j < " + size + ") => x[j + i]",
        {reals({3}, {1, 2, 3}), integers({}, {w})});
  };
  EXPECT_EQ(of("min n (min n (i + w) - i)", 1).results.at(0).floats, (Reals{1, 2, 3}));
  EXPECT_EQ(of("min n (min n (i + w) - i)", 2).results.at(0).floats, (Reals{3, 5, 3}));
  EXPECT_EQ(of("min n (i + w) - i", 2).results.at(0).floats, (Reals{3, 5, 3}));
  EXPECT_NE(of("min n w", 2).error, "");
}

TEST(FromCoreChecks, AnIntegerIsASizeOnlyInTheBranchTaken) {
  const auto of = [](const std::string& program, int64_t k) {
    return result(program, {reals({3}, {1, 2, 3}), integers({}, {k})});
  };
  const std::string entry = "\nentry e (x : f32[n]) (k : i64) = ";
  const std::string rotated =
      "fun rot (x : [n]) (k : i64) = if 0 <= k && k <= n then concat x[k:] x[:k] else x" + entry;
  EXPECT_EQ(of(rotated + "rot x k", 1), (Reals{2, 3, 1}));
  EXPECT_EQ(of(rotated + "rot x k", -1), (Reals{1, 2, 3}));
  EXPECT_EQ(of(rotated + "rot x (-1) + real k", 0), (Reals{1, 2, 3}));
  const std::string padded =
      "fun pad_to (x : [n]) (k : i64) = if k > dim x 0 then pad 0 (k - dim x 0) 0.0 x else x" + entry;
  EXPECT_EQ(of(padded + "pad_to x k", 4), (Reals{1, 2, 3, 0}));
  EXPECT_EQ(of(padded + "pad_to x k", -70), (Reals{1, 2, 3}));
  for (const auto& [body, sum] : std::map<std::string, double>{
           {"if 0 <= k && k <= n then sum x[:k] else 0.0", 3},
           {"if k >= 0 then real (sum (iota k)) else 0.0", 1},
           {"if k >= 0 then sum (softmax (for (i < k) => real i)) else 0.0", 1},
           {"if k >= 0 then fold (fn s i => s + real i) 0.0 (iota k) else 0.0", 1},
           {"if k >= 0 then sum (for (i < n) => sum (j < k) => x[i]) else 0.0", 12},
           {"if k >= 0 then let (s, e) = scan (fn s i => (s, s + real i)) 0.0 (iota k) in sum e else 0.0",
            1}}) {
    const Reals taken = of(entry + body, 2), left = of(entry + body, -70);
    expect_near(taken, {sum}, 1e-6);
    EXPECT_EQ(left, (Reals{0})) << body;
  }
}

TEST(FromCoreChecks, NoAxisIsAsLongAsALargeNumber) {
  for (const std::string body :
       {"if c then x[:0] else x[K :]", "if c then 0 else x[K]", "if c then 0 else x[281474976710656]", "x[K]",
        "x with [K] = 1", "x with [9223372036854775806] = 1", "for i => x[i + K]", "x[-K]", "x[: -K]",
        "x with [9223372036854775806 : K] = y", "if c then sum x else sum x[: K]", "x[: K : 2]",
        "fold (fn s i => s + x[K]) 0 x"}) {
    std::string program = "entry e (x : i64[n]) (y : i64[1]) (c : bool) = " + body;
    if (const size_t at = program.find('K'); at != std::string::npos)
      program.replace(at, 1, "9223372036854775807");
    EXPECT_NE(lower(program).errors.find("E0502"), std::string::npos) << program << lower(program).errors;
  }
  EXPECT_NE(lower("entry e (x : i64[n]) where 281474976710657 <= n = x").errors.find("E0502"),
            std::string::npos);
}

/// Where the call does not ask for it, such an index is checked where it is reached.
TEST(FromCoreChecks, LargeNumbersAreData) {
  const std::string program =
      "fun at k x = x[k]\n"
      "entry e (x : f32[n]) (k : i64) = if k > 0 then at 9223372036854775807 x else x[0 else 0.0] + ";
  const auto of = [&](const std::string& rest, int64_t k) {
    return run(program + rest, {reals({2}, {1, 2}), integers({}, {k})});
  };
  EXPECT_EQ(of("1.0", 0).results.at(0).floats, (Reals{2}));
  EXPECT_NE(of("1.0", 1).error.find("9223372036854775807 is not in 0 .. 1"), std::string::npos);
  EXPECT_EQ(of("x[k + 9223372036854775807 else 5.0]", 0).results.at(0).floats, (Reals{6}));
}

}  // namespace
}  // namespace axon::graph
