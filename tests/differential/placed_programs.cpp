// Programs whose arguments, states and results lie elsewhere than row-major (hand_programs.h): by hand, and
// generated with random orders of the axes, gaps, and steps backwards.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>

#include "hand_programs.h"

namespace axon::differential {

namespace {

/// One program: an elementwise entry, a reduction, a product, an update and an order, of tensors of one shape
/// that lie in different ways.
class PlacedProgram {
 public:
  explicit PlacedProgram(uint64_t seed) : random_(seed) {
    static const char* const all[] = {"a", "b", "c", "d"};
    axes_.assign(all, all + 1 + random_() % 4);
  }

  std::string source() {
    const std::string x = type(true), y = type(true), state = type(false), out = type(false);
    std::string text = fmt::format("entry pointwise (x : {}) (y : {}) : {} = x * 2.0 + y\n", x, y, out);
    text += fmt::format("entry rows (x : {}) = (sum x, softmax x)\n", x);
    text += fmt::format("entry updated (x : *{}) (y : {}) = x with [:] = x * 0.5 + y\n", state, y);
    text += fmt::format("entry both (x : *{}) (y : {}) : ({}, {}) = (x with [:] = x + y, y)\n", state, y,
                        state, out);
    text += fmt::format("entry ordered (x : {}) = sort x\n", x);
    if (axes_.size() >= 2) text += fmt::format("entry product (x : {}) (y : {}) = x @ transpose y\n", x, y);
    return text;
  }

  Sizes sizes(const std::vector<int64_t>& extents) const {
    Sizes out;
    for (size_t a = 0; a < axes_.size(); ++a) out[axes_[a]] = extents[a % extents.size()];
    for (int i = 0; i < free_; ++i) out[fmt::format("ld{}", i)] = 40000 + 7 * i;
    return out;
  }

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  /// f32[a, b] @ S[(a, b) : (1, (1*a + 3))], with a step backwards or one that only the call says where the
  /// tensor is read.
  std::string type(bool read) {
    std::vector<size_t> order(axes_.size());
    for (size_t a = 0; a < order.size(); ++a) order[a] = a;
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<std::string> strides(axes_.size());
    std::string step = chance(70) ? "1" : "2";
    for (size_t i = 0; i < order.size(); ++i) {
      const bool last = i + 1 == order.size();
      const std::string& axis = axes_[order[i]];
      if (last && read && chance(25)) {
        strides[order[i]] = fmt::format("ld{}", free_++);
        break;
      }
      strides[order[i]] = read && chance(20) ? "(-" + step + ")" : step;
      step = fmt::format("({}*max({}, 1){})", step, axis, chance(40) ? " + 3" : "");
    }
    const auto listed = [](const std::vector<std::string>& all) {
      return all.size() == 1 ? all[0] : fmt::format("({})", fmt::join(all, ", "));
    };
    return fmt::format("f32[{}] @ S[{} : {}]", fmt::join(axes_, ", "), listed(axes_), listed(strides));
  }

  std::mt19937_64 random_;
  std::vector<std::string> axes_;
  int free_ = 0;
};

std::vector<HandProgram> generated() {
  static std::vector<std::string> names;
  std::vector<HandProgram> out;
  constexpr uint64_t programs = 12;
  names.reserve(programs);
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    PlacedProgram program(seed);
    names.push_back(fmt::format("Placed{}", seed));
    const std::string source = program.source();
    out.push_back({names.back().c_str(),
                   source,
                   {program.sizes({3, 5, 7, 2}), program.sizes({0, 3}), program.sizes({4, 0, 3}),
                    program.sizes({1}), program.sizes({33, 1, 4}), program.sizes({2, 17, 65, 1})}});
  }
  return out;
}

}  // namespace

std::vector<HandProgram> programs_of_places() {
  std::vector<HandProgram> out = generated();
  const std::vector<HandProgram> by_hand = {
      {"PlacedOperands",
       "layout columns[m, n] = S[(m, n) : (1, m)]\n"
       "entry left (x : f32[m, k] @ columns[m, k]) (y : f32[k, n]) = x @ y\n"
       "entry right (x : f32[m, k]) (y : f32[k, n] @ columns[k, n]) = x @ y\n"
       "entry both (x : f32[m, k] @ columns[m, k]) (y : f32[k, n] @ columns[k, n])\n"
       "  : f32[m, n] @ columns[m, n] = x @ y\n"
       "entry sliced (x : f32[m, k] @ S[(m, k) : (r, 1)]) (y : f32[k, n] @ S[(k, n) : (s, 1)]) = x @ y\n"
       "entry back (x : f32[m, k] @ S[(m, k) : (k, -1)]) (y : f32[k, n] @ S[(k, n) : ((-n), 1)]) = x @ y\n"
       "entry narrow (x : bf16[m, k] @ columns[m, k]) (y : bf16[k, n] @ columns[k, n]) = x @ y\n"
       "entry weighted (p : weights { w : f32[k, n] }) (x : f32[m, k] @ columns[m, k]) = x @ p.w\n",
       {{{"m", 3}, {"k", 5}, {"n", 7}, {"r", 11}, {"s", 9}},
        {{"m", 67}, {"k", 65}, {"n", 33}, {"r", 66}, {"s", 33}},
        {{"m", 1}, {"k", 129}, {"n", 1}, {"r", 200}, {"s", 1}},
        {{"m", 0}, {"k", 3}, {"n", 2}, {"r", 3}, {"s", 2}},
        {{"m", 2}, {"k", 0}, {"n", 3}, {"r", 4}, {"s", 5}}}},
      {"PlacedElements",
       "entry halves (x : f16[m, n] @ S[(m, n) : (1, m)]) (y : bf16[m, n] @ S[(m, n) : (1, m)])\n"
       "  : (f16[m, n] @ S[(m, n) : (1, m)], bf16[m, n] @ S[(m, n) : ((n + 1), 1)]) = (x * x, y * y)\n"
       "entry integers (x : i32[m, n] @ S[(m, n) : (1, m)]) (y : i8[n] @ S[n : 3]) = (x + 1, y, argmax x)\n"
       "entry picked (x : f32[m, n] @ S[(m, n) : (1, m)]) (i : i32[k] @ S[k : 3]) = x[i]\n"
       "entry truths (x : bool[m, n] @ S[(m, n) : (1, m)]) = (not x, any x)\n",
       {{{"m", 3}, {"k", 5}, {"n", 7}}, {{"m", 65}, {"k", 2}, {"n", 34}}, {{"m", 1}, {"k", 0}, {"n", 1}}},
       3},
      {"PlacedStates",
       "type Cache[n, d] = { k : f32[n, d] @ S[(n, d) : (1, n)], v : f32[n, d] @ S[(n, d) : ((d + 2), 1)] }\n"
       "entry step (c : *Cache[n, d]) (x : f32[d]) (i : i64) where 0 <= i, i < n =\n"
       "  let c = c with k = (c.k with [i] = x) in\n"
       "  let c = c with v = (c.v with [i] = x * 2.0) in (sum c.k, c)\n"
       "entry folded (c : *f32[n, d] @ S[(n, d) : (1, n)]) (x : f32[n, d]) =\n"
       "  fold (fn c i => c with [i] = c[i] + x[i]) c (iota n)\n"
       "entry anew (c : *f32[n, d] @ S[(n, d) : (1, n)]) : f32[n, d] @ S[(n, d) : (d, 1)] = c with [:] = c * "
       "2.0\n",
       {{{"n", 3}, {"d", 5}, {"i", 1}}, {{"n", 1}, {"d", 65}, {"i", 0}}, {{"n", 33}, {"d", 2}, {"i", 32}}}},
      {"PlacedValues",
       "entry turned (x : f32[m, n]) (y : f32[k, n]) =\n"
       "  let z : f32[m, n] @ S[(m, n) : (1, m)] = x * 2.0 in z @ transpose y\n"
       "entry back (x : f32[n]) = let y : f32[n] @ S[n : -1] = x + 1.0 in (y, sum y)\n"
       "entry tiled (x : f32[4*m, n]) = let y : f32[4*m, n] @ S[(m, 4, n) : (4*n, 1, 4)] = tanh x in for i j "
       "=> y[i, j] + y[i, n - 1 - j]\n"
       "fun by_columns (x : f32[m, n] @ S[(m, n) : (1, m)]) = softmax x\n"
       "entry called (x : f32[m, n]) = by_columns (x + 1.0)\n"
       "entry same (x : f32[m, n] @ S[(m, n) : (1, m)]) = by_columns x\n"
       "entry checked (x : f32[n, d]) (k : i64) = x :> (f32[k, d] @ S[(k, d) : ((d + 1), 1)])\n"
       "entry looped (x : f32[m, n]) (k : i64) = let s : f32[m, n] @ S[(m, n) : (1, m)] = x in iterate k (fn "
       "s => s * 0.5 + transpose (transpose s)) s\n"
       "entry inside (x : f32[m, n]) = fold (fn s i => let t : f32[n] @ S[n : 3] = x[i] + s in t * 0.5) "
       "(x[0] * 0.0) (iota m)\n"
       "entry placed_twice (x : f32[m, n]) : f32[m, n] @ S[(m, n) : ((n + 2), 1)] = let s : f32[m, n] @ "
       "S[(m, n) : (1, m)] = x + 1.0 in s\n",
       {{{"m", 3}, {"n", 5}, {"k", 5}, {"d", 4}},
        {{"m", 33}, {"n", 17}, {"k", 17}, {"d", 1}},
        {{"m", 1}, {"n", 1}, {"k", 1}, {"d", 65}}}},
      {"PlacedValuesOfNothing",
       "entry turned (x : f32[m, n]) (y : f32[k, n]) =\n"
       "  let z : f32[m, n] @ S[(m, n) : (1, m)] = x * 2.0 in z @ transpose y\n"
       "entry back (x : f32[n]) = let y : f32[n] @ S[n : -1] = x + 1.0 in (y, sum y)\n"
       "entry padded (x : f32[m, n]) =\n"
       "  let y : f32[m, n] @ S[(m, n) : ((n + 3), 1)] = x + 1.0 in sum y\n",
       {{{"m", 0}, {"n", 5}, {"k", 3}}, {{"m", 4}, {"n", 0}, {"k", 0}}}},
      {"PlacedConvolution",
       "entry conv (x : f32[c, n] @ S[(c, n) : (1, c)]) (w : f32[o, c, k] @ S[(o, c, k) : (1, o, o*c)]) =\n"
       "  for j (t < n - k + 1) => sum c s => x[c, t + s] * w[j, c, s]\n",
       {{{"c", 3}, {"n", 9}, {"o", 2}, {"k", 3}}, {{"c", 1}, {"n", 64}, {"o", 5}, {"k", 1}}}},
  };
  out.insert(out.end(), by_hand.begin(), by_hand.end());
  return out;
}

}  // namespace axon::differential
