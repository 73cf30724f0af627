// Indices that the data decides fail where evaluation comes to them, in every executor: whether what is read
// there is used or not, and never for a `for` or a loop that has no element.
#include <gtest/gtest.h>

#include "checked_runs.h"
#include "task/scatter.h"

namespace axon::differential {
namespace {

/// The other operand, a later `if` or another element decides that the element is not needed.
TEST(IndexChecks, WhatIsReadNeedNotBeUsed) {
  const std::vector<const char*> bodies = {
      "fold (fn s i => if i > 5 && x[i] < 0.0 then s + 1.0 else s) 0.0 k",
      "fold (fn s j => if j >= m && x[k[j]] < 0.0 then s + 1.0 else s) 0.0 (iota m)",
      "fold (fn s j => let c = x[k[j]] in if j >= m then s + c else s) 0.0 (iota m)",
      "let (s, _) = while (fn (_, j) => j < m) (fn (s, j) => (if j >= m && x[k[j]] < 0.0 then s + 1.0 else "
      "s, "
      "j + 1)) (0.0, i64 0) in s",
      "let (s, all) = scan (fn s j => if j >= m && x[k[j]] < 0.0 then (s + 1.0, s) else (s, s)) 0.0 (iota m) "
      "in s + sum all",
      "sum (for i => if i >= m && x[max k[i] (-7)] < 0.0 then 1.0 else 0.0)",
      "sum (for i => let c = x[max k[i] (-7)] in if i >= m then c else 0.0)",
      "let y = for i => x[max k[i] (-7)] in if sum x > 100.0 then sum y else 0.0",
      "let y = for i => x[max k[i] (-7)] in y[0 else 0.0] * 0.0",
      "let y = x[k] in real (dim y 0) * 0.0",
      "let (s, _) = fold (fn (s, t) i => (s, x[i])) (0.0, 0.0) k in s",
      "fold (fn s i => let y = x[i] in s) 0.0 k",
      "select true 0.0 (sum (for i => x[max k[i] (-7)]))",
      "if any (for i => x[max k[i] (-7)] > 0.0) || true then 0.0 else 1.0",
  };
  std::string text;
  std::vector<std::string> names;
  for (size_t b = 0; b < bodies.size(); ++b) {
    names.push_back("e" + std::to_string(b));
    text += "entry " + names.back() + " (x : f32[n]) (k : i64[m]) = " + bodies[b] + "\n";
  }
  const Compiled compiled(text, for_levels());
  std::vector<CheckedRun> runs;
  for (const std::string& name : names) {
    runs.push_back({name.c_str(), {1, 2, 3}, {1, 0, 2}, {0}});
    runs.push_back({name.c_str(), {1, 2, 3}, {1, 0, 3}, {}, "must be at least 0 and less than 3"});
    runs.push_back({name.c_str(), {1, 2, 3}, {}, {0}});
  }
  for (CheckedRun& run : runs)
    if (*run.error) run.error = "3";  // before the launch or in it, in the words of either
  expect_runs(compiled, runs);
}

/// The tensor that is read has no element, or the part of it that is read.
TEST(IndexChecks, OfNothing) {
  const Compiled compiled(
      "entry tail (x : f32[n]) (k : i64[m]) = for r => sum x[k[r] :]\n"
      "entry row (x : f32[n]) (k : i64[m]) = let v = for (i < 1) j => x[j] in fold (fn s a => s + sum v[a]) "
      "0.0 k\n"
      "entry walk (x : f32[n]) (k : i64[m]) =\n"
      "  for r => let (h, _) = while (fn (_, i) => i < k[r]) (fn (h, i) => (h + k[i64 x[i]], i + 1)) (i64 7, "
      "0)\n"
      "           in real h\n",
      for_levels());
  expect_runs(compiled, {{"tail", {}, {5}, {}, "5"},
                         {"tail", {}, {0}, {0}},
                         {"tail", {1, 2}, {1, 2}, {2, 0}},
                         {"row", {}, {5}, {}, "5 is not in 0 .. 0"},
                         {"row", {}, {0}, {0}},
                         {"row", {1, 2}, {0, 0}, {6}},
                         {"walk", {}, {2}, {}, ": the axis has no such element"},
                         {"walk", {}, {0}, {7}},
                         {"walk", {0, 0}, {2}, {11}}});
}

/// Lengths that the data decides end the loops over what is reduced; where they leave the axis that is said,
/// though no point past the axis is visited.
TEST(IndexChecks, OfLengths) {
  const Compiled compiled(
      "entry sums (x : f32[n]) (k : i64[m]) where m >= 1 = for (r < m - 1) => sum x[k[r] : k[r + 1]]\n"
      "entry tops (x : f32[n]) (k : i64[m]) where m >= 1 = for (r < m - 1) => maximum x[k[r] : k[r + 1]]\n"
      "entry counts (x : f32[n]) (k : i64[m]) = for r => let c = x[: k[r]] in real (count j => c[j] > 0.0)\n"
      "entry pairs (x : f32[n]) (k : i64[m]) = for r => let c = x[: k[r]] in sum i j => c[i] * c[j]\n",
      for_levels());
  std::vector<double> x(100);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7);
  const double part = 7 * 21 + 0 + 1 + 2 + 3;  // of 53 elements
  expect_runs(compiled, {{"sums", x, {0, 53, 53, 100}, {part, 0, 4 + 5 + 6 + 6 * 21 + 0 + 1}},
                         {"sums", x, {0, 101}, {}, "101"},
                         {"sums", x, {-1, 5}, {}, "-1"},
                         {"sums", x, {7, 3}, {}, "-4"},
                         {"sums", {}, {0, 0}, {0}},
                         {"sums", {}, {0, 1}, {}, "1"},
                         {"tops", x, {50, 53, 55}, {3, 5}},
                         {"tops", x, {99, 100}, {1}},
                         {"counts", x, {0, 100, 53, 1}, {0, 85, 45, 0}},
                         {"counts", x, {101}, {}, "101"},
                         {"pairs", x, {0, 4, 53}, {0, 36, part * part}},
                         {"pairs", x, {101}, {}, "101"}});
}

/// An index that no element of a `for`, or no iteration of a loop, uses need not be inside.
TEST(IndexChecks, FailForNoElement) {
  const Compiled compiled(
      "entry table (x : f32[n]) (k : i64[m]) (t : i64) where 1 <= m = for (i < t) => x[max k[0] (-7)]\n"
      "entry first (x : f32[n]) (k : i64[m]) (t : i64) where 1 <= m = for (i < t) => x[k[0]]\n"
      "entry loop (x : f32[n]) (k : i64[m]) (t : i64) where 1 <= m = [fold (fn s j => s + x[k[0]]) 0.0 (iota "
      "t)]\n"
      "entry whole (x : f32[n]) (k : i64[m]) (t : i64) = [fold (fn s j => s + sum (for i => x[max k[i] "
      "(-7)])) "
      "0.0 "
      "(iota t)]\n"
      "entry until (x : f32[n]) (k : i64[m]) (t : i64) where 1 <= m =\n"
      "  let (s, _) = while (fn (_, i) => i < t) (fn (s, i) => (s + x[max k[0] (-7)], i + 1)) (0.0, i64 0) "
      "in "
      "[s]\n"
      "entry own (x : f32[n]) (k : i64[m]) (t : i64) where 1 <= m = for (i < n) => x[max k[0] (-7)]\n"
      "entry never (x : f32[n]) (k : i64[m]) (t : i64) where 1 <= m = [iterate 0 (fn s => s + x[k[0]]) 0.0]\n"
      "entry nested (x : f32[n]) (k : i64[m]) (t : i64) where 1 <= m =\n"
      "  for (i < t) => fold (fn s j => s + x[k[0]]) 0.0 (iota t)\n",
      for_levels());
  std::vector<CheckedRun> runs{{"own", {}, {9}, {}, "", {0}}, {"never", {}, {9}, {0}, "", {0}}};
  for (const char* entry : {"table", "first", "loop", "whole", "until", "nested"}) {
    const bool one =
        std::string(entry) == "loop" || std::string(entry) == "whole" || std::string(entry) == "until";
    runs.push_back({entry, {1, 2}, {9}, one ? std::vector<double>{0} : std::vector<double>{}, "", {0}});
    runs.push_back({entry, {1, 2}, {9}, {}, "9 is not in 0 .. 1", {1}});
    runs.push_back({entry, {1, 2}, {1}, {2}, "", {1}});
  }
  expect_runs(compiled, runs);
}

/// The node stores no table, and each of its reductions goes through its terms once; of `before` they
/// compare.
void expect_steps_of_a_line(const CompiledEntry& entry, const graph::Node& node) {
  for (const graph::TensorType& type : node.types)
    EXPECT_LE(type.shape.size(), 1u) << graph::print(entry.graph);
  const auto look = [&](graph::ScalarId body, const std::vector<graph::Axis>& domain) {
    if (entry.graph.scalars[body].op != graph::Op::reduce || entry.name == "before") return;
    EXPECT_TRUE(task::find_scatter(entry.graph, body, domain)) << graph::print(entry.graph);
  };
  for (const graph::Local& local : node.locals) look(local.body, local.domain);
  for (const graph::Output& output : node.outputs) look(output.body, node.domain);
}

/// Wherever a reduction takes the branch at one element at least, an index is checked, and stored once.
TEST(IndexChecks, InABranchOfAReduction) {
  const std::string at = "x[k[m + j]]";
  const std::vector<std::pair<const char*, std::string>> bodies = {
      {"plain", "sum (j < m) => if k[j] == r then " + at + " else 0.0"},
      {"turned", "sum (j < m) => if r + 1 == k[j] + 1 then " + at + " else 0.0"},
      {"narrow", "sum (j < m) => if i64 (i32 k[j]) == r then x[i32 k[m + j]] else 0.0"},
      {"nested", "sum (j < m) => if k[j] == r then (if r < t then " + at + " else 9.0) else 0.0"},
      {"listed", "sum (j < m) => if k[j] == r then (if k[r else 0] < 99 then " + at + " else 9.0) else 0.0"},
      {"pairs", "sum (i < t) (j < m) => if k[j] == r && k[j] == i then " + at + " else 0.0"},
      {"moved", "sum (j < m) => if k[j] == t - 1 - (t - 1 - r) then x[k[m + j] + r - r] else 0.0"},
      {"summed", "sum (j < m) => if k[j] == r then x[k[m + j] + k[j] - r] else 0.0"},
      {"weighted", "sum (j < m) => if k[j] == r then 2.0 * " + at + " else 0.0"},
      {"counted", "count (j < m) => if k[j] == r then " + at + " > 0.0 else false"},
      {"present", "any (j < m) => if k[j] == r then " + at + " > 0.0 else false"}};
  std::string text;
  for (const auto& [name, body] : bodies)
    text += "entry " + std::string(name) +
            " (x : f32[n]) (k : i64[2*m]) (t : i64) where t >= 0 =\n  for (r < t) => " + body + "\n";
  text +=
      "entry added (x : *f32[n]) (k : i64[2*m]) (t : i64) =\n"
      "  for r => x[r] + sum (j < m) => if k[j] == r then real k[k[m + j]] else 0.0\n"
      "entry before (x : f32[n]) (k : i64[2*m]) (t : i64) where t >= 0 =\n"
      "  for (r < t) => sum (j < m) => if k[j] < r then x[k[m + j]] else 0.0\n";
  const Compiled compiled(text, for_levels());
  ASSERT_EQ(compiled.error(), "");
  for (const CompiledEntry& entry : compiled.compilation().entries)
    for (const graph::Node& node : entry.graph.nodes) expect_steps_of_a_line(entry, node);
  const std::vector<double> x = {1, 2, 4};
  const std::vector<int64_t> k = {0, 2, 2, -5, 9, 1, 0, 2, 7, -3};
  std::vector<CheckedRun> runs;
  for (const auto& [name, body] : bodies) {
    const std::string entry = name;
    runs.push_back({name, x, k, {2, 0, 5}, "", {3}});
    if (entry == "weighted") runs.back().result = {4, 0, 10};
    if (entry == "counted") runs.back().result = {1, 0, 2};
    if (entry == "present") runs.back().result = {1, 0, 1};
    runs.push_back({name, x, k, {}, "", {0}});
    runs.push_back({name, x, k, {}, "-3 is not in 0 .. 2", {10}});
    runs.push_back({name, {}, k, {}, "the axis has no such element", {1}});
    runs.push_back({name, {}, {5, 0}, {0, 0}, "", {2}});
  }
  runs.push_back({"added", x, {0, 2, 2, -5, 1, 0, 2, 70}, {3, 2, 6}, "", {0}});
  runs.push_back({"added", x, {0, 2, 2, 1, 1, 0, 2, 70}, {}, "70 is not in 0 .. 7", {0}});
  runs.push_back({"before", x, {0, 2, 2, 1}, {0, 4, 4}, "", {3}});
  runs.push_back({"before", x, {0, 2, 2, 5}, {0, 4, 4}, "", {3}});
  runs.push_back({"before", x, {0, 2, 2, 5}, {}, "5 is not in 0 .. 2", {4}});
  expect_runs(compiled, runs);
}

/// A slice is as long as the iteration says: the check is of that length, not of the longest.
TEST(IndexChecks, OfSlicesThatALoopMakesLonger) {
  const Compiled compiled(
      "entry grows (x : f32[n]) (k : i64[m]) =\n"
      "  fold (fn s c => let y = x[: c] in s + sum (for j => y[k[j]])) 0.0 (iota n)\n"
      "entry shrinks (x : f32[n]) (k : i64[m]) =\n"
      "  fold (fn s c => let y = x[c :] in s + sum (for j => y[k[j]] * 0.5)) 0.0 (iota n)\n"
      "entry scanned (x : f32[n]) (k : i64[m]) =\n"
      "  let (_, y) = scan (fn s c => let y = x[: c + 1] in (s, sum (for j => y[k[j]]))) 0.0 (iota n) in y\n",
      for_levels());
  expect_runs(compiled, {{"grows", {1, 2, 3}, {}, {0}},
                         {"grows", {1, 2, 3}, {0}, {}, "the axis has no such element"},
                         {"grows", {}, {0}, {0}},
                         {"shrinks", {1, 2, 3}, {0, 0}, {6}},
                         {"shrinks", {1, 2, 3}, {1}, {}, "the axis has no such element"},
                         {"scanned", {1, 2, 3}, {0, 0}, {2, 2, 2}},
                         {"scanned", {1, 2, 3}, {1}, {}, "the axis has no such element"},
                         {"scanned", {1, 2, 3}, {}, {0, 0, 0}}});
}

/// The axis of `argmax` has an element where it is reached.
TEST(IndexChecks, ArgmaxOfWhatTheDataCuts) {
  const Compiled compiled(
      "entry prefix (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let a = k[0] in if a > 0 then real (argmax x[: a]) else -1.0\n"
      "entry each (x : f32[n]) (k : i64[m]) =\n"
      "  for i => let b = k[i] in if b > 1 then real (argmax x[1 : b]) else -1.0\n"
      "entry within (x : f32[n]) (k : i64[m]) (a : i64) (b : i64) =\n"
      "  if b > a && a >= 0 && b <= n then real (argmax x[a : b]) else -1.0\n",
      for_levels());
  expect_runs(compiled, {{"prefix", {1, 5, 3}, {0}, {-1}},
                         {"prefix", {1, 5, 3}, {1}, {0}},
                         {"prefix", {1, 5, 3}, {3}, {1}},
                         {"prefix", {1, 5, 3}, {4}, {}, "4"},
                         {"prefix", {}, {-3}, {-1}},
                         {"each", {9, 5, 7}, {3, 0, 2}, {1, -1, 0}},
                         {"each", {9, 5, 7}, {4}, {}, "`x[1 : b]`"},
                         {"within", {1, 5, 7}, {}, {1}, "", {1, 3}},
                         {"within", {1, 5, 7}, {}, {-1}, "", {1, 1}},
                         {"within", {1, 5, 7}, {}, {-1}, "", {2, 4}}});
}

/// The end of a slice of several steps is checked, too, and a slice that is too long for its axis is refused
/// before there is room for it.
TEST(IndexChecks, EndsOfSlices) {
  const Compiled compiled(
      "entry window (x : f32[n]) (k : i64[m]) = for j => sum x[k[j] : k[j] + 4 : 2]\n"
      "entry stepped (x : f32[n]) (k : i64[m]) where 2 <= m = x[k[0] : k[1] : 2]\n"
      "entry folded (x : f32[n]) (k : i64[m]) = fold (fn s i => s + sum x[i : i + 3 : 2]) 0.0 k\n"
      "entry long (x : f32[n]) (k : i64[m]) (v : i64) where 1 <= m = x[k[0] : k[0] + v]\n"
      "entry each (x : f32[n]) (k : i64[m]) (v : i64) = for j => sum x[k[j] - 1 : k[j] - 1 + v]\n"
      "entry chosen (x : f32[n]) (k : i64[m]) (v : i64) where 1 <= m =\n"
      "  if k[0] > 0 then sum x[k[0] : k[0] + v] else -1.0\n",
      for_levels());
  const std::vector<double> y = {0, 1, 2, 3, 4};
  constexpr int64_t huge = int64_t{1} << 40;
  expect_runs(compiled, {{"window", y, {1, 0}, {4, 2}},
                         {"window", y, {1, 2}, {}, "6 is not in 0 .. 5"},
                         {"window", {0}, {}, {}},
                         {"stepped", y, {2, 5}, {2, 4}},
                         {"stepped", y, {2, 6}, {}, "6 is not in 0 .. 5"},
                         {"stepped", y, {5, 5}, {}},
                         {"folded", y, {2, 1}, {10}},
                         {"folded", y, {3}, {}, "6 is not in 0 .. 5"},
                         {"long", y, {1}, {1, 2}, "", {2}},
                         {"long", y, {0}, {}, "the slice has 1099511627776 elements, and the axis 5", {huge}},
                         {"each", y, {1, 3}, {1, 5}, "", {2}},
                         {"each", y, {}, {}, "", {6}},
                         {"each", y, {1}, {}, "the slice has 6 elements, and the axis 5", {6}},
                         {"chosen", y, {1}, {3}, "", {2}},
                         {"chosen", y, {0}, {-1}, "", {6}}});
}

/// Of a loop without an iteration, though the index or the amount is the same in all of them.
TEST(IndexChecks, OfWhatNoIterationChanges) {
  const std::vector<const char*> data_counts = {
      "iterate k[0] (fn s => x[sum k] * s) 7.0",
      "let (s, _) = while (fn (_, i) => i < k[0]) (fn (s, i) => (x[sum k] + s, i + 1)) (7.0, i64 0) in s",
      "let ids = k + k in iterate k[0] (fn s => s + sum x[ids]) 7.0",
      "real (iterate k[0] (fn s => s + i64 x[dot k k]) (i64 7))",
      "sum (for (i < 1) => iterate k[0] (fn s => s + x[sum k]) 7.0)",
      "iterate k[0] (fn s => iterate k[0] (fn t => t + x[sum k]) s) 7.0",
  };
  const std::vector<const char*> elements = {
      "fold (fn s v => s + 10 / k[0]) (i64 7) x",
      "fold (fn s v => s - k[k[0] + 9]) (i64 7) x",
      "fold (fn s v => s + k[sum k + 9]) (i64 7) x",
      "let (p, s) = fold (fn (p, s) v => (p + k[k[0] + 9], s + v)) (i64 7, 0.0) x in p",
      "let (s, all) = scan (fn s v => (s + k[k[0] + 9], real s + v)) (i64 7) x in s",
      "let all = for (i < 1) => fold (fn s v => s + k[k[0] + 9]) (i64 7) x in all[0]",
      "iterate n (fn s => s + 10 / k[0]) (i64 7)",
  };
  std::string text;
  std::vector<std::string> names;
  const auto entry = [&](const std::string& body) {
    names.push_back("e" + std::to_string(names.size()));
    text += "entry " + names.back() + " (x : f32[n]) (k : i64[m]) where 1 <= m = " + body + "\n";
  };
  for (const char* body : data_counts) entry(body);
  for (const char* body : elements) entry("real (" + std::string(body) + ")");
  const Compiled compiled(text, for_levels());
  std::vector<CheckedRun> runs;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool counted = i < data_counts.size();
    runs.push_back({names[i].c_str(), {}, {0, 9}, {7}});
    runs.push_back({names[i].c_str(),
                    {1, 2},
                    counted ? std::vector<int64_t>{1, 9} : std::vector<int64_t>{0, 9},
                    {},
                    "e"});
    runs.push_back({names[i].c_str(), {}, {-1, 9}, {7}});
  }
  expect_runs(compiled, runs);
}

}  // namespace
}  // namespace axon::differential
