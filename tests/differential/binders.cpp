// Reductions over three binders and more: what they range over follows from what they index, is given, or is
// both; sums, products, extremes, positions, means, counts; masked, shifted, gathered and scattered.
#include "steps.h"

namespace axon::differential {

namespace {

/// Of a tensor {0} of three axes: a number. {3} is the first size, as a text.
constexpr const char* binder_number_forms[] = {
    "tanh (sum a b c => {0}[a, b, c] * 0.05)",
    "max (-9.0) (maximum a b c => {0}[a, b, c])",
    "min 9.0 (minimum c b a => {0}[a, b, c] * 0.5)",
    "tanh (prod a b c => {0}[a, b, c] * 0.02 + 1.0)",
    "max (-4.0) (reduce max (-4.0) b a c => {0}[a, b, c])",
    "tanh (sum a b c => if b <= a && c != b then {0}[a, b, c] * 0.1 else 0.0)",
    "tanh (sum (a < {3}) b c (d < 3) => {0}[a, b, c] * real (d - 1) * 0.1)",
    "(sum a b c => select (c % 2 == 0) {0}[a, b, c] 0.25) |> (fn t => t / (abs t + 1.0))",
    "tanh (sum (a < {3}) b (c < 2) => {0}[a, b, c else 0.5] * 0.1)",
    "tanh ((sum a b c => {0}[a, b, c] * {0}[a, b, c]) * 0.05)"};

/// With weights {1} of a row per result: a vector.
constexpr const char* weighted_forms[] = {
    "tanh (for o => (sum a b c => {0}[a, b, c] * {1}[o, a, b, c]) * 0.1)",
    "tanh (for o => (sum c a b => if a >= c then {0}[a, b, c] * {1}[o, a, b, c] else 0.0) * 0.1)",
    "(for o => max (-5.0) (maximum a b c => {0}[a, b, c] * {1}[o, a, b, c]))"};

/// Shifted windows of {0}, of three axes, with weights {1}; {2} and {3} are the last two sizes.
constexpr const char* window_forms[] = {
    "tanh (for o (i < {2}) (j < {3}) => (sum c s t => {1}[o, c, s, t] * {0}[c, i + s - 1, j + t - 1 else "
    "0.25]) * 0.2)",
    "(for o (i < {2}) (j < {3}) => max (-5.0) (maximum c s t => {1}[o, c, s, t] * {0}[c, i + s, j - t else "
    "-0.5]))",
    "tanh (for o (i < {2}) (j < {3}) => (sum c s t => if s <= t then {1}[o, c, s, t] * {0}[c, i - s, j + 2 * "
    "t "
    "else 0.5] else 0.1) * 0.2)"};

/// Of a matrix {0} and weights {1} and {2}: chains and products that need not be made in one piece.
constexpr const char* chain_forms[] = {
    "tanh (for o t => (sum a b c => {0}[a, b] * {1}[o, a, b, c] * {2}[c, t]) * 0.05)",
    "(for o t => max (-5.0) (maximum a b c => {0}[a, b] * {1}[o, a, b, c] + {2}[c, t]))",
    "tanh (for o t => (sum a b c => if c > b then {1}[o, a, b, c] * {2}[c, t] else {0}[a, b] * 0.5) * 0.05)"};

}  // namespace

void Steps::binders() {
  const auto x = pick({1, 2, 3});
  if (x->dims.size() == 3) return binders_of_three(*x);
  if (x->dims.size() == 2) return binders_of_two(*x);
  const Dim cost = x->dims[0] * x->dims[0] * x->dims[0];
  static constexpr const char* forms[] = {
      "tanh ((sum a b c => {0}[a] * {0}[b] * {0}[c]) * 0.01)",
      "max (-9.0) (maximum a b c => if a <= b && b <= c then {0}[a] - {0}[b] + {0}[c] else -1.0)",
      "tanh ((sum a b (c < 3) => if (a + b) % 3 == c then {0}[a] * {0}[b] else 0.0) * 0.1)"};
  define(Family::binders, {}, 4, cost, pick_form(forms), x->name);
}

void Steps::binders_of_three(const Tensor& x) {
  const Dims& dims = x.dims;
  const Dim rows = pick_size(), all = volume(dims);
  switch (below(7)) {
    case 0: {
      const Tensor w = weight({rows, dims[0], dims[1], dims[2]});
      return define(Family::binders, {rows}, 3, all * rows, pick_form(weighted_forms), x.name, w.name);
    }
    case 1: {
      if (!small({dims[1]}) || !small({dims[2]})) return;
      const Tensor w = weight({rows, dims[0], 3, 2});
      return define(Family::binders, {rows, dims[1], dims[2]}, 4, all * rows * 6, pick_form(window_forms),
                    x.name, w.name, text(dims[1]), text(dims[2]));
    }
    case 2: {  // the position of the largest, and what stands there
      const auto given = pick_where([](const Tensor& t) {
        return t.input && t.dims.size() == 3 && volume(t.dims).terms().size() == 1 &&
               !volume(t.dims).constant();
      });
      if (!given) return;
      for (const Dim& d : given->dims) at_least(d, 1);
      return define_result(Family::binders, fresh("t"), 2, volume(given->dims),
                           fmt::format("argmax a b c => {}[a, b, c]", given->name));
    }
    case 3: {  // through the data
      if (!dims[1].as_var()) return;
      const std::string at = indices({rows}, dims[1], "i64");
      return define(Family::binders, {}, 3, all * rows, "tanh ((sum a i c => {}[a, {}[i], c]) * 0.05)",
                    x.name, at);
    }
    case 4: {  // to where the data says
      const std::string at = integers({dims[0]}, rows + 1, "i64");
      return define(Family::binders, {rows}, 3, all * rows,
                    "tanh (for (v < {2}) => (sum a b c => if {1}[a] == v then {0}[a, b, c] else 0.0) * 0.1)",
                    x.name, at, text(rows));
    }
    case 5: {  // counting
      const auto given = pick_where([](const Tensor& t) { return t.input && t.dims.size() == 3; });
      if (!given) return;
      static constexpr const char* forms[] = {
          "real (sum a b c => if {0}[a, b, c] > 0.5 then i64 1 else 0) * 0.01",
          "(if (any a b c => {0}[a, b, c] > 2.0) then 0.5 else -0.5)",
          "(if (all a b c => {0}[a, b, c] < 2.0) then 0.25 else -0.25)",
          "real ((reduce max (-3) a b c => i64 {0}[a, b, c] * 2 + c % 2)) * 0.1"};
      return define(Family::binders, {}, 3, volume(given->dims), pick_form(forms), given->name);
    }
    default:
      return define(Family::binders, {}, 3, all * 3, pick_form(binder_number_forms), x.name, "", "",
                    text(dims[0]));
  }
}

void Steps::binders_of_two(const Tensor& x) {
  const Dims& dims = x.dims;
  const Dim rows = pick_size(), inner = pick_size(), columns = pick_size();
  if (below(3) == 0) {  // two axes and a third of its own
    const Tensor y = of_shape({dims[1], inner});
    static constexpr const char* forms[] = {
        "tanh ((sum a b c => {0}[a, b] * {1}[b, c]) * 0.02)",
        "max (-9.0) (maximum a b c => {0}[a, b] - {1}[b, c])",
        "tanh ((sum a b c => if c <= a then {0}[a, b] * {1}[b, c] else 0.5) * 0.02)",
        ("(for t => tanh ((sum a b c => {0}[a, b] * {1}[b, c] * real (t % 3)) * 0.02 + 0.0 * {0}[t, 0 else "
         "0.0]))")};
    const int form = below(4);
    return define(Family::binders, form == 3 ? Dims{dims[0]} : Dims{}, 4,
                  volume(dims) * inner * (form == 3 ? dims[0] : Dim(1)), forms[form], x.name, y.name);
  }
  const Tensor w = weight({rows, dims[0], dims[1], inner}), v = weight({inner, columns});
  define(Family::binders, {rows, columns}, 5, volume(w.dims) * columns, pick_form(chain_forms), x.name,
         w.name, v.name);
}

}  // namespace axon::differential
