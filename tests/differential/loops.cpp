// Steps that are loops, and updates of one part of a tensor.
#include <algorithm>

#include "steps.h"

namespace axon::differential {

void Steps::loop() {
  const auto x = pick({2, 3});
  if (!x) return;
  if (below(4) == 0) return loop_of_states(*x);
  if (below(2)) return loop_over_layers(*x);
  const std::string& name = x->name;
  const Dims& dims = x->dims;
  const Dims row(dims.begin() + 1, dims.end());
  const Dim cost = volume(dims) * 4;
  switch (below(8)) {
    case 6:  // as often as the data says
      return define(Family::loop, dims, 5, cost * 4,
                    "while (fn (s, c) => c < {0}) (fn (s, c) => (tanh (s * 0.9 + 0.1 * {1}), c + 1)) "
                    "({1}, i64 0) |> (fn (s, c) => s)",
                    1 + below(4), name);
    case 7:  // every row as often as its sign says
      if (dims.size() != 2) return;
      return define(
          Family::loop, dims, 6, cost * 4,
          "(for i => while (fn (s, c) => c < 2 && sum {0}[i] > 0.0 || c < 1) "
          "(fn (s, c) => (tanh (s * 0.8 + 0.1 * {0}[i]), c + 1)) ({0}[i], i64 0) |> (fn (s, c) => s))",
          name);
    case 0:
      return define(Family::loop, row, 4, cost, "fold (fn s r => tanh (s * 0.5 + r)) {} {}",
                    of_shape(row).name, name);
    case 1:
      return define(Family::loop, dims, 4, cost,
                    "(let (last, all) = scan (fn s r => (s * 0.5 + r * 0.5, tanh s)) {} {} in all)",
                    of_shape(row).name, name);
    case 2:
      return define(Family::loop, dims, 3, cost, "iterate 3 (fn s => tanh (s * 0.9 + 0.1)) {}", name);
    case 3: {
      const Tensor w = weight({dims.back()});
      return define(Family::loop, dims, 5, cost * 2, "iterate 2 (fn s => rms_norm (s + 0.1) {} 0.2 * 0.8) {}",
                    w.name, name);
    }
    case 4:  // a pair is carried
      return define(Family::loop, row, 5, cost * 2,
                    "fold (fn (s, c) r => (tanh (s * 0.5 + r * c), c * 0.5 + 0.25)) ({}, 1.0) {} |> (fn (s, "
                    "c) => s * c)",
                    of_shape(row).name, name);
    case 5: {  // as often as a size says
      if (!small({dims[0]})) return;
      return define(Family::loop, dims, 4, cost * dims[0],
                    "iterate ({0}) (fn s => tanh (s * 0.9 + 0.1 * {1})) {1}", text(dims[0]), name);
    }
  }
}

/// A loop whose body is a program of its own, over everything in sight.
void Steps::loop_of_steps() {
  if (depth_ == 2) return;
  const auto state = pick({1, 2, 3});
  const auto stack = pick({2, 3});
  if (!state || !stack) return;
  enum { folded, scanned, iterated };
  const int form = below(3);
  const int64_t times = 1 + below(3);
  const Tensor s{fresh("s"), state->dims};
  const Tensor r{fresh("r"), Dims(stack->dims.begin() + 1, stack->dims.end())};
  const Body body = inside(form == iterated ? std::vector{s} : std::vector{s, r}, [&] {
    const int wanted = out_.operators + 2 + below(5);
    for (int tries = 0; out_.operators < wanted && tries < 40; ++tries) step();
  });
  const auto newest = [&](const std::function<bool(const Tensor&)>& fits) {
    const auto at = std::find_if(body.pool.rbegin(), body.pool.rend(),
                                 [&](const Tensor& t) { return t.name != s.name && fits(t); });
    return at == body.pool.rend() ? s : *at;
  };
  const Tensor next = newest([&](const Tensor& t) { return t.dims == s.dims; });
  const Tensor emitted = newest([&](const Tensor& t) { return t.dims.size() <= 2; });
  const std::string lets = body.text.empty() ? "" : "\n" + body.text + "  in ";
  const std::string result = fmt::format("tanh ({} * 0.75 + {} * 0.5)", next.name, s.name);
  if (form == iterated)
    return define(Family::loop, s.dims, 2, body.cost * times, "iterate {} (fn {} => {}{}) {}", times, s.name,
                  lets, result, state->name);
  const Dim cost = body.cost * stack->dims[0];
  if (form == folded)
    return define(Family::loop, s.dims, 2, cost, "fold (fn {} {} => {}{}) {} {}", s.name, r.name, lets,
                  result, state->name, stack->name);
  Dims all = emitted.dims;
  all.insert(all.begin(), stack->dims[0]);
  define(Family::loop, all, 2, cost, "(let (last, all) = scan (fn {} {} => {}({}, {})) {} {} in all)", s.name,
         r.name, lets, result, emitted.name, state->name, stack->name);
}

/// Contractions and norms over stacked weights.
void Steps::loop_over_layers(const Tensor& x) {
  const Dims& dims = x.dims;
  const Dim width = dims.back(), cost = volume(dims) * layers() * width;
  const Tensor w = weight({layers(), width, width});
  switch (below(6)) {
    case 0:
      return define(Family::loop, dims, 4, cost, "fold (fn s w => tanh (s @ w * 0.3)) {} {}", x.name, w.name);
    case 1: {
      const Tensor norm = weight({layers(), width});
      return define(Family::loop, dims, 8, cost * 2,
                    "fold (fn s (w, g) => s + tanh (rms_norm s g 0.1 @ w * 0.3) * 0.3) {} ({}, {})", x.name,
                    w.name, norm.name);
    }
    case 2: {
      Dims all = dims;
      all.pop_back();
      all.insert(all.begin(), layers());
      return define(
          Family::loop, all, 6, cost * 2,
          "(let (last, all) = scan (fn s w => let t = softmax (s @ w) in (s * 0.5 + t, tanh (sum s))) {} {} "
          "in all)",
          x.name, w.name);
    }
    case 3: {  // one weight in every iteration
      const Tensor square = weight({width, width});
      return define(Family::loop, dims, 5, cost * 3,
                    "iterate 3 (fn s => tanh (s @ {0} * 0.3 + {1} * 0.2)) {1}", square.name, x.name);
    }
    case 4:  // a loop in a loop
      return define(Family::loop, dims, 6, cost * 3,
                    "fold (fn s w => iterate 2 (fn t => tanh (t @ w * 0.3)) s * 0.7 + s * 0.3) {} {}", x.name,
                    w.name);
    case 5:
      if (dims.size() != 2) return;
      return define(Family::loop, dims, 9, cost * 2 + volume(dims) * dims[0] * layers(),
                    "fold (fn s w => let q = tanh (s @ w) in s * 0.5 + attention q s s * 0.5) {} {}", x.name,
                    w.name);
  }
}

/// Several values are carried, which read each other, neighbours of each other and what was just computed.
void Steps::loop_of_states(const Tensor& x) {
  const Dims& dims = x.dims;
  const Dims row(dims.begin() + 1, dims.end());
  const Dim cost = volume(dims) * 8, width = dims.back();
  const char* const neighbour = below(2) ? "i + 1" : "i - 1";
  switch (below(5)) {
    case 0:  // a stencil, and how much it changed
      return define(Family::loop, dims, 8, cost * 3,
                    "iterate 3 (fn (u, c) => let v = for i => tanh (u[i] * 0.5 + u[{} else 0.0] * 0.4) in "
                    "(v, c * 0.5 + mean (mean (abs (v - u))))) ({}, {}) |> (fn (u, c) => u + {})",
                    neighbour, x.name, dims.size() == 2 ? "0.0" : "zeros_like (mean (mean " + x.name + "))",
                    dims.size() == 2 ? "c" : "mean c");
    case 1:  // until it does not change
      if (dims.size() != 2) return;
      return define(
          Family::loop, dims, 8, cost * 3,
          "while (fn (u, c, k) => any (any (c > 0.01)) && k < 4) (fn (u, c, k) => let v = for j i => "
          "tanh (u[j, i] * 0.5 + u[j, {0} else 0.0] * 0.4) in (v, abs (v - u), k + 1)) ({1}, {1} * 0.0 "
          "+ 1.0, i64 0) |> (fn (u, c, k) => u + c)",
          neighbour, x.name);
    case 2:  // two that read each other
      return define(
          Family::loop, row, 8, cost,
          "fold (fn (m, s) v => (m * 0.5 + v, s * 0.5 + tanh (m * (m + v)))) ({0}, {0} * 0.5) {1} |> "
          "(fn (m, s) => m - s)",
          of_shape(row).name, x.name);
    case 3:  // the same with results of each step
      return define(
          Family::loop, dims, 8, cost,
          "(let (last, all) = scan (fn (m, s) v => let t = tanh (m + v * 0.5) in ((t, m), t * s + m)) "
          "({0}, {0} * 0.5) {1} in all)",
          of_shape(row).name, x.name);
    case 4: {  // gates that are parts of one product
      if (dims.size() != 3) return;
      const Tensor w = weight({width, width * Dim(2)}), u = weight({width, width * Dim(2)});
      return define(
          Family::loop, dims, 9, cost * width,
          "(let (last, all) = scan (fn h r => let z = r @ {0} * 0.3 + h @ {1} * 0.3 in let s = tanh "
          "z[.., 0 : {2}] * sigmoid z[.., {2} : 2*({2})] + h * 0.5 in (s, s * 0.5)) {3} {4} in all)",
          w.name, u.name, text(width), of_shape(row).name, x.name);
    }
  }
}

void Steps::update() {
  const auto x = pick({2});
  if (!x || !x->dims[0].as_var()) return;
  const Dims& dims = x->dims;
  const Dims row{dims[1]};
  switch (below(depth_ == 0 ? 5 : 3)) {
    case 0:
      at_least(dims[0], 1);
      return define(Family::move, dims, 1, 0, "({0} with [0] = tanh {1}) * 0.5 + {0} * 0.25", x->name,
                    of_shape(row).name);
    case 1: {  // two rows of what a loop carries
      at_least(dims[0], 2);
      const Tensor stack = input({layers(), dims[1]});
      return define(
          Family::loop, dims, 4, volume(dims) * layers(),
          "fold (fn s r => let t = s with [1] = tanh (s[0] + r) in t with [0] = t[1] * 0.5 - r * 0.25) {} {}",
          x->name, stack.name);
    }
    case 2:  // a column, and the old value after it
      if (!dims[1].as_var()) return;
      at_least(dims[1], 1);
      return define(Family::move, dims, 3, 0, "(let u = {0} with [:, 0] = {1} in u * 0.5 - {0} * 0.25)",
                    x->name, of_shape({dims[0]}).name);
    default:
      return update_state(*x);
  }
}

/// In place: a cache of which each layer writes a row, or rows pos .. pos + 1 of a state, where the caller
/// gives pos.
void Steps::update_state(const Tensor& x) {
  at_least(x.dims[0], 1);
  if (below(2)) {
    const std::string cache = state({layers(), x.dims[0], x.dims[1]});
    return define_with_state(
        Family::loop, x.dims, 5, volume(x.dims) * layers() * 6,
        fmt::format("scan (fn s c => let c = c with [0] = tanh s[0] in (s * 0.5 + c * 0.5, c)) {} {}", x.name,
                    cache));
  }
  const std::string rows = state(x.dims), pos = position(x.dims[0]), kept = fresh("t");
  define_result(
      Family::move, kept, 2, 0,
      fmt::format("{0} with [{1} : {1} + 1, :] = for (i < 1) j => {2}[{1}, j] * 0.5", rows, pos, x.name));
  define(Family::reduce, {x.dims[1]}, 2, volume(x.dims), "tanh (sum (transpose {}[0 : {} + 1, :]))", kept,
         pos);
}

}  // namespace axon::differential
