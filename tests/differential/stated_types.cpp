// Types stated with `:>`: what is known of them already, what only the data shows, below axes that are not
// named, of sizes that the data decides; used and not used, in branches, in steps and in elements.
#include <algorithm>

#include "steps.h"

namespace axon::differential {

/// The axes of a tensor as a type states them, the first in the words of `first`.
std::string Steps::stated_axes(const Dims& dims, const std::string& first) {
  std::string all = first;
  const bool rest = dims.size() > 1 && below(3) == 0;
  if (rest) return first + ", ..";
  for (size_t a = 1; a < dims.size(); ++a) all += ", " + (below(4) == 0 ? "_" : text(dims[a]));
  return all;
}

void Steps::stated() {
  const auto varies = [](const Dim& d) { return !d.constant(); };  // a literal 1 would stretch
  const auto x = pick_where([&](const Tensor& t) {
    return !t.dims.empty() && small(t.dims) && std::all_of(t.dims.begin(), t.dims.end(), varies);
  });
  if (!x) return;
  const Dims& dims = x->dims;
  const std::string elem = below(2) ? out_.elem : "";
  switch (below(6)) {
    case 0:  // known already
      return define(Family::stated, dims, 1, 0, "{0} * 0.25 + ({0} :> {1}[{2}]) * 0.5", x->name, elem,
                    stated_axes(dims, text(dims[0])));
    case 1: {  // said by the data: read, and not
      const std::string axes = stated_axes(dims, "v");
      static constexpr const char* forms[] = {
          "(let v = {3} let y = {0} :> {1}[{2}] in {0} * 0.25 + y * 0.5)",
          "(let v = {3} let y = {0} :> {1}[{2}] in {0} * 0.5)",
          "(let v = {3} in {0} * 0.25 + tanh ({0} :> {1}[{2}]))",
          "(let v = {3} let z = {0} :> {1}[{2}] let y = (for (i < v) ..p => z[i, ..p]) in {0} * 0.25 + y)",
          "(let v = {3} in if v == {4} then {0} * 0.5 + ({0} :> {1}[{2}]) else {0})",
          "(let v = {3} in if v > 4 then {0} + ({0} :> {1}[{2}]) * 0.5 else {0} * 0.25)"};
      return define(Family::stated, dims, 2, 0, pick_form(forms), x->name, elem, axes, datum(dims[0]),
                    text(dims[0]));
    }
    case 2:
      return stated_of_data(*x);
    case 3:
      return stated_by_function(*x);
    default:
      return stated_in_loop(*x);
  }
}

/// Once per step, and once per element.
void Steps::stated_in_loop(const Tensor& x) {
  const Dims& dims = x.dims;
  const Dims row(dims.begin() + 1, dims.end());
  const std::string v = datum(dims[0]), axes = stated_axes(dims, "v");
  const Dim cost = volume(dims) * layers() * 4;
  const auto in_steps = [&](const char* form) {
    const std::string given = of_shape({layers()}).name;
    define(Family::stated, dims, 4, cost, form, x.name, axes, v, given);
  };
  switch (below(row.empty() ? 4 : 6)) {
    case 0:
      return in_steps("(let v = {2} in fold (fn s r => tanh (s + (s :> [{1}]) * 0.5 + r)) {0} {3})");
    case 1:
      return in_steps(
          "(let v = {2} in fold (fn s r => let y = s :> [{1}] in s * 0.5 + y * 0.25 + r) {0} {3})");
    case 2:
      return in_steps(
          "(let v = {2} in iterate 2 (fn s => s * 0.5 + (s :> [{1}]) * 0.25) ({0} + 0.0 * sum "
          "{3}))");
    case 3:
      return in_steps(
          "(let v = {2} let (last, all) = scan (fn s r => let y = s :> [{1}] in (tanh (s * r), s * 0.25)) "
          "{0} {3} in last + (for ..p => sum i => all[i, ..p]) * 0.1)");
    case 4: {  // rows
      const std::string inner = stated_axes(row, "v");
      const std::string u = datum(row[0]);
      return define(Family::stated, dims, 3, volume(dims),
                    "(let v = {2} in for i => let y = {0}[i] :> [{1}] in {0}[i] * 0.25 + y)", x.name, inner,
                    u);
    }
    default: {
      const std::string marks = integers({dims[0]}, 3, "i64"), u = datum(row[0]);
      if (row.size() != 1) return;
      return define(Family::stated, {dims[0]}, 4, volume(dims),
                    "(let v = {2} in for i => if {1}[i] > 1 then sum ({0}[i] :> [v]) * 0.2 else 0.25)",
                    x.name, marks, u);
    }
  }
}

/// Of what has a size that the data decides.
void Steps::stated_of_data(const Tensor& x) {
  const Dims& dims = x.dims;
  const Dims row(dims.begin() + 1, dims.end());
  const std::string marks = integers({dims[0]}, 3, "i64"), axes = stated_axes(dims, "v");
  if (row.empty()) {
    static constexpr const char* forms[] = {
        "(let v = count ({1} > 0) in sum ({0}[nonzero ({1} > 0)] :> [{2}]) * 0.2)",
        "(let v = min ({1}[0 else 1]) ({3}) in dot ({0}[: v] :> [{2}]) {0}[: v] * 0.1)",
        "(let v = count ({1} > 0) let y = compress {0} ({1} > 0) :> [{2}] in sum (y + y[: v] * 0.5) * 0.1)",
        "(let v = count ({1} > 1) in sum (for (i < v) => (compress {0} ({1} > 1) :> [{2}])[i] * 0.3))"};
    return define(Family::stated, {}, 4, volume(dims) * 16, pick_form(forms), x.name, marks, axes,
                  text(dims[0]));
  }
  static constexpr const char* forms[] = {
      "(let v = count ({1} > 0) let y = {0}[nonzero ({1} > 0)] :> [{2}] in for ..p => (sum i => y[i, ..p]) * "
      "0.2)",
      "(let v = count ({1} > 1) let y = {0}[nonzero ({1} > 1)] in let z = y :> [{2}] in for ..p => tanh (sum "
      "(i < v) => y[i, ..p] * z[i, ..p]))",
      "(let v = min ({1}[0 else 1]) ({3}) let y = {0}[: v] :> [{2}] in for ..p => (sum i => y[i, ..p]) * "
      "0.2)"};
  define(Family::stated, row, 4, volume(dims) * 16, pick_form(forms), x.name, marks, axes, text(dims[0]));
}

/// Below axes that the function does not name, or before them.
void Steps::stated_by_function(const Tensor& x) {
  const Dims& dims = x.dims;
  const std::string f = function_name();
  const bool last = below(2);
  const Dim axis = last ? dims.back() : dims[0];
  static constexpr const char* at_the_end[] = {
      "{0} (x : 't[..s, a]) (v : i64) : 't[..s, v] = x :> [.., v]",
      "{0} (x : 't[..s, a]) v = x :> 't[..s, v]",
      "{0} (x : [..s, a]) (v : i64) = let y = x :> [.., v] in for ..p (i < v) => y[..p, i] + x[..p, i]",
      "{0} x v = (x :> [.., v]) * 0.5"};
  static constexpr const char* in_front[] = {
      "{0} (x : 't[a, ..s]) (v : i64) : 't[v, ..s] = x :> [v, ..]",
      "{0} (x : 't[a, ..s]) v = x :> 't[v, ..s]",
      "{0} (x : [a, ..s]) (v : i64) = let y = x :> [v, ..] in for (i < v) ..p => y[i, ..p] + x[i, ..p]"};
  declare(fmt::format(fmt::runtime(last ? pick_form(at_the_end) : pick_form(in_front)), f));
  // What comes back has a size that the data decides: it is one that is known again when it is stated.
  define(Family::stated, dims, 3, volume(dims), "({0} {1} {2} :> [{3}]) * 0.5", f, x.name,
         "(" + datum(axis) + ")",
         dims.size() == 1 ? text(dims[0])
         : last           ? ".., " + text(axis)
                          : text(axis) + ", ..");
}

}  // namespace axon::differential
