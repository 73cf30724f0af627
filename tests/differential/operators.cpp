// Steps of the operator families. Forms are texts with {0}, {1}, ... for tensors and {} dimension texts.
#include <algorithm>

#include "steps.h"

namespace axon::differential {

namespace {

/// One tensor to one of the same shape.
constexpr const char* unary_forms[] = {"tanh {0}",
                                       "atan ({0} * 3.0)",
                                       "exp (min {0} 1.0)",
                                       "relu {0}",
                                       "sigmoid {0}",
                                       "silu {0} * 0.5",
                                       "abs {0} * 0.5",
                                       "sqrt (abs {0} + 0.1)",
                                       "gelu {0}",
                                       "gelu_tanh {0}",
                                       "sin {0}",
                                       "cos ({0} * 0.5)",
                                       "{0} * 0.5 - 0.25",
                                       "log (abs {0} + 1.0)",
                                       "rsqrt ({0} * {0} + 1.0)",
                                       "1.0 / (abs {0} + 1.0)",
                                       "exp2 (min {0} 1.0)",
                                       "floor ({0} * 0.0 + 1.5)",
                                       "pow (abs {0} + 0.5) 0.75",
                                       "softplus {0}",
                                       "clip (-0.5) 1.5 {0}",
                                       "-{0}",
                                       "reciprocal (square {0} + 1.0)",
                                       "erf {0}"};

/// Two tensors that broadcast.
constexpr const char* binary_forms[] = {"({0} + {1}) * 0.5", "{0} - {1} * 0.5", "tanh ({0} * {1})",
                                        "max {0} {1}",       "min {0} {1}",     "{0} / (abs {1} + 1.0)"};

/// Reductions of the last axis, to values of ordinary size.
constexpr const char* reduction_forms[] = {"tanh (sum {0})",
                                           "max (-10.0) (maximum {0})",
                                           "tanh (sum ({0} * 0.1))",
                                           "min 10.0 (minimum {0})",
                                           "mean {0}",
                                           "max (-10.0) (logsumexp {0})",
                                           "tanh (variance {0})",
                                           "tanh (prod ({0} * 0.02 + 1.0))",
                                           "max (-10.0) (reduce max (-4.0) {0})"};

/// Normalisations of the last axis.
constexpr const char* norm_forms[] = {"softmax {0}",
                                      "{0} * rsqrt (keep mean ({0} * {0}) + 0.1)",
                                      "log_softmax {0} * 0.2",
                                      "(let e = exp2 ({0} - keep maximum {0}) in e / keep sum e)",
                                      "softmax ({0} * 0.5 - 1.0) - {0} * 0.1",
                                      "{0} / (keep maximum (abs {0}) + 0.5)",
                                      "transpose (softmax (transpose {0}))",
                                      "softmax (causal 0 {0})",
                                      "{0} / sqrt (keep sum ({0} * {0}) + 0.5)"};

/// Queries, keys and values.
constexpr const char* attention_forms[] = {
    "attention {} {} {}",
    "softmax ({} @ transpose {} * 0.3) @ {}",
    "softmax (causal 0 ({} @ transpose {} * 0.3)) @ {}",
    "(let s = {} @ transpose {} * 0.3 let e = exp2 (s - keep maximum s) in (e @ {}) / keep sum e)",
    "softmax (for ..p i j => if j > i then ({} @ transpose {})[..p, i, j] * 0.3 else -1.0 / 0.0) @ {}",
    "tanh (softmax ({} @ transpose {}) @ {}) * 0.5"};

constexpr const char* integer_elems[] = {"i8", "u8", "i16", "i32", "u32", "i64"};
constexpr const char* index_elems[] = {"i32", "i64"};

}  // namespace

// ---- elementwise ----

void Steps::elementwise() {
  const auto x = pick({0, 1, 2, 3});
  const Dims& dims = x->dims;
  switch (below(9)) {
    case 0: {  // through another element type
      static constexpr const char* forms[] = {"{1} (f64 {0} * 0.5)", "{1} (f32 {0} + 0.25)"};
      return define(Family::elementwise, dims, 2, 0, pick_form(forms), x->name, out_.elem);
    }
    case 1: {  // an integer made of an input, where rounding flips nothing
      const auto given = pick_where([](const Tensor& t) { return t.input; });
      static constexpr const char* forms[] = {"tanh (real (i32 {}))", "real (i64 {} % 3) * 0.25",
                                              "real (max (i32 {}) 0 / 2) * 0.001"};
      return define(Family::elementwise, given->dims, 3, 0, pick_form(forms), given->name);
    }
    case 2:
      return define(Family::elementwise, dims, 1, 0, "{} * {} * 0.5", x->name, of_shape({}).name);
    case 3: {  // a choice that a size makes
      const Dim decisive = pool_.front().dims[0];
      return define(Family::elementwise, dims, 2, 0, "if {0} > 3 then {1} * 0.5 else tanh {1}",
                    text(decisive), x->name);
    }
    default:
      return define(Family::elementwise, dims, 1, 0, pick_form(unary_forms), x->name);
  }
}

void Steps::broadcast() {
  const auto x = pick({1, 2, 3});
  const Dims& dims = x->dims;
  switch (below(7)) {
    case 0: {  // a choice that an input makes
      const auto y = pick_where([&](const Tensor& t) { return t.input && t.dims == dims; });
      if (!y) return;
      return define(Family::elementwise, dims, 2, 0, "select ({0} > 0.25) {1} ({1} * 0.5)", y->name, x->name);
    }
    case 1:  // a literal 1 stretches
      return define(Family::elementwise, dims, 3, 0, "{0} - (for ..p (j < 1) => {0}[..p, 0 else 0.5]) * 0.25",
                    x->name);
    case 2: {
      Dims stretched = dims;
      stretched[static_cast<size_t>(below(static_cast<int>(dims.size())))] = 1;
      return define(Family::elementwise, dims, 2, 0, "max ({} * 0.5) {}", x->name, input(stretched).name);
    }
    default: {
      const auto y = pick_where([&](const Tensor& t) {
        return t.dims.size() <= dims.size() && std::equal(t.dims.rbegin(), t.dims.rend(), dims.rbegin());
      });
      return define(Family::elementwise, dims, 2, 0, pick_form(binary_forms), x->name, y->name);
    }
  }
}

void Steps::numbers() {
  if (depth_ > 0) return;
  const Dim rows = pick_size(), inner = pick_size(), columns = pick_size();
  const std::string a = integers({rows, inner}, 100, pick_form(integer_elems)), name = fresh("t");
  const std::string elem = out_.parameters.back().elem;
  const Dim cost = volume({rows, inner}) * 4;
  switch (below(6)) {
    case 0: {
      const std::string b = integers({inner, columns}, 100, elem.c_str());
      return define_result(Family::contract, name, 2, cost * columns, fmt::format("{} @ {} - 3", a, b));
    }
    case 1:
      return define_result(Family::elementwise, name, 3, cost, fmt::format("({0} * {0} * 13 - 7) / 4", a));
    case 2:
      return define_result(Family::elementwise, name, 4, cost, fmt::format("max ({0} - 50) (-{0}) % 7", a));
    case 3:
      return define_result(Family::reduce, name, 3, cost, fmt::format("sum ({0} * 3 - 5)", a));
    case 4:
      return define_result(Family::reduce, name, 3, cost, fmt::format("reduce max 1 (abs ({0} - 60))", a));
    default: {
      const auto x = pick_where([](const Tensor& t) { return t.input; });
      return define_result(Family::elementwise, name, 3, volume(x->dims) * 3,
                           fmt::format("not ({0} > 0.5) && {0} < 1.0 || {0} == 0.0", x->name));
    }
  }
}

// ---- contractions ----

void Steps::contract_vector(const Tensor& x) {
  if (below(2)) return define(Family::contract, x.dims, 4, 0, "tanh (dot {0} {0} * 0.1) + 0.0 * {0}", x.name);
  const Tensor w = weight({x.dims[0], pick_size()});
  define(Family::contract, {w.dims[1]}, 2, volume(w.dims), "tanh (for j => sum i => {}[i] * {}[i, j] * 0.2)",
         x.name, w.name);
}

void Steps::contract() {
  const auto x = pick({1, 2, 3});
  const Dims& dims = x->dims;
  if (dims.size() == 1) return contract_vector(*x);
  const Dim inner = dims.back(), columns = pick_size(), cost = volume(dims) * columns;
  Dims result = dims;
  result.back() = columns;
  switch (below(dims.size() == 2 ? 10 : 7)) {
    case 0: {
      const Tensor w = weight({inner, columns});
      return define(Family::contract, result, 2, cost, "tanh ({} @ {} * 0.2)", x->name, w.name);
    }
    case 1: {
      const Tensor w = weight({inner, columns});
      return define(Family::contract, result, 3, cost, "({} * 0.3) @ {} * 0.3", x->name, w.name);
    }
    case 2:
      result.back() = dims[dims.size() - 2];
      return define(Family::contract, result, 3, volume(dims) * result.back(),
                    "tanh ({0} @ transpose {0} * 0.1)", x->name);
    case 3: {
      const Tensor w = weight({columns, inner});
      return define(Family::contract, result, 2, cost,
                    "tanh (for ..p j => (sum i => {}[..p, i] * {}[j, i]) * 0.2)", x->name, w.name);
    }
    case 4: {
      const Tensor w = weight({inner, columns}), b = weight({columns});
      return define(Family::contract, result, 4, cost, "gelu (linear {} {} {} * 0.3)", x->name, w.name,
                    b.name);
    }
    case 5: {
      const Tensor gate = weight({inner, columns}), up = weight({inner, columns}),
                   down = weight({columns, inner});
      return define(Family::contract, dims, 7, cost * 3,
                    "tanh ((silu ({0} @ {1} * 0.3) * ({0} @ {2} * 0.3)) @ {3} * 0.3)", x->name, gate.name,
                    up.name, down.name);
    }
    case 6: {  // by a tensor of the same rank: a batch when there are three axes
      Dims other = dims;
      other[dims.size() - 2] = inner;
      other.back() = columns;
      return define(Family::contract, result, 2, cost, "tanh ({} @ {} * 0.2)", x->name, of_shape(other).name);
    }
    case 7:
      return define(Family::contract, {dims[1], dims[1]}, 3, volume(dims) * dims[1],
                    "tanh (for a b => (sum r => {0}[r, a] * {0}[r, b]) * 0.1)", x->name);
    case 8: {  // over two axes
      const Tensor w = weight({columns, dims[0], dims[1]});
      return define(Family::contract, {columns}, 3, cost,
                    "tanh (for j => (sum a b => {}[a, b] * {}[j, a, b]) * 0.1)", x->name, w.name);
    }
    case 9: {  // masked
      const Tensor w = weight({inner, columns});
      return define(Family::contract, {dims[0], columns}, 3, cost,
                    "tanh (for i c => sum j => if j <= i then {}[i, j] * {}[j, c] * 0.3 else 0.0)", x->name,
                    w.name);
    }
  }
}

void Steps::attend() {
  const auto q = pick({2, 3});
  if (!q) return;
  Dims key = q->dims, value = q->dims, result = q->dims;
  const Dim length = pick_size(), depth = q->dims.back(), columns = pick_size();
  key[key.size() - 2] = value[value.size() - 2] = length;
  value.back() = result.back() = columns;
  const Tensor k = below(3) == 0 ? of_shape({length, depth}) : of_shape(key), v = of_shape(value);
  const Dim cost = volume(q->dims) * length * 2 + volume(result) * length;
  define(Family::contract, result, 6, cost, pick_form(attention_forms), q->name, k.name, v.name);
  count(Family::reduce, 0, 0);
}

// ---- reductions ----

void Steps::reduce() {
  const auto x = pick({1, 2, 3});
  const Dim axis = x->dims.back();
  Dims dims = x->dims;
  switch (below(7)) {
    case 0:
    case 1:
      if (dims.size() < 2) return;
      return define(Family::reduce, dims, 4, volume(dims) * 4, pick_form(norm_forms), x->name);
    case 2: {
      const Tensor w = weight({axis}), b = weight({axis});
      return define(Family::reduce, dims, 6, volume(dims) * 4, "layer_norm {} {} {} 0.1", x->name, w.name,
                    b.name);
    }
    case 3:
      return define(Family::reduce, dims, 4, volume(dims) * 2, "rms_norm {} {} 0.1", x->name,
                    weight({axis}).name);
    case 4: {  // the first axis
      if (dims.size() < 2) return;
      dims.erase(dims.begin());
      static constexpr const char* forms[] = {"tanh (for ..p => sum i => {}[i, ..p])",
                                              "for ..p => max (-9.0) (maximum i => {}[i, ..p])"};
      return define(Family::reduce, dims, 2, volume(x->dims), pick_form(forms), x->name);
    }
    case 5: {  // counting what holds of an input
      const auto given = pick_where([](const Tensor& t) { return t.input && t.dims.size() == 2; });
      if (!given) return;
      static constexpr const char* forms[] = {
          "(for i => sum j => if {0}[i, j] > 0.5 then 0.1 else 0.0)",
          "(for i => if any ({0} > 1.0)[i] then 1.0 else -0.5)",
          "(for i => if all ({0} < 1.0)[i] then {0}[i, 0 else 0.5] else 0.25)"};
      return define(Family::reduce, {given->dims[0]}, 3, volume(given->dims), pick_form(forms), given->name);
    }
    default:
      dims.pop_back();
      return define(Family::reduce, dims, 2, volume(x->dims) * 2, pick_form(reduction_forms), x->name);
  }
}

// ---- moves ----

void Steps::move() {
  const auto x = pick({1, 2, 3});
  Dims dims = x->dims;
  const size_t rank = dims.size();
  const std::string& name = x->name;
  switch (below(8)) {
    case 0:
      if (rank < 2) return;
      std::swap(dims[rank - 1], dims[rank - 2]);
      return define(Family::move, dims, 1, 0, "transpose {}", name);
    case 1:
      return define(Family::move, dims, 1, 0, "for i ..p => {}[i - 1, ..p else 0.25]", name);
    case 2:
      return define(Family::move, dims, 1, 0, "for (i < dim {0} 0) ..p => {0}[dim {0} 0 - 1 - i, ..p]", name);
    case 3:
      if (rank != 3) return;
      if (below(2))
        return define(Family::move, {dims[1], dims[0], dims[2]}, 1, 0, "for j i c => {}[i, j, c]", name);
      return define(Family::move, {dims[2], dims[0], dims[1]}, 1, 0, "rearrange {} [a, b, c] => [c, a, b]",
                    name);
    case 4:
      if (rank < 2) return;
      return define(Family::move, dims, 1, 0, "tril {}", name);
    case 5: {  // an axis split into two heads
      const Dim width = pool_.front().dims[0];
      if (rank != 2) return;
      const Tensor w = weight({dims[1], 2 * width});
      return define(Family::move, {2, dims[0], width}, 3, volume(dims) * w.dims[1],
                    "heads[2, {}] (tanh ({} @ {} * 0.3))", text(width), name, w.name);
    }
    case 6:
      if (rank != 3 || !dims[0].constant()) return;
      return define(Family::move, {dims[1], dims[0] * dims[2]}, 1, 0, "merge_heads {}", name);
    case 7:
      dims[0] = dims[0] * 2;
      if (rank != 2 || !small(dims)) return;
      return define(Family::move, dims, 1, 0, "repeat 2 {}", name);
  }
}

void Steps::slice() {
  const auto x = pick({1, 2, 3});
  Dims dims = x->dims;
  const size_t rank = dims.size();
  const std::string& name = x->name;
  switch (below(9)) {
    case 0: {
      const auto y = pick_where([&](const Tensor& t) {
        return t.dims.size() == rank && std::equal(t.dims.begin() + 1, t.dims.end(), dims.begin() + 1);
      });
      dims[0] = dims[0] + y->dims[0];
      if (!small(dims)) return;
      return define(Family::move, dims, 2, 0, "concat {} {}", name, y->name);
    }
    case 1:
      if (!dims[0].as_var()) return;
      at_least(dims[0], 1);
      dims[0] = dims[0] - 1;
      return define(Family::move, dims, 1, 0, "{}[1:]", name);
    case 2:
      dims.back() = dims.back() + 2;
      if (!small({dims.back()})) return;
      return define(Family::move, dims, 1, 0, "for ..p (j < {}) => {}[..p, j - 1 else -0.5]",
                    text(dims.back()), name);
    case 3:
      if (!dims[0].as_var()) return;
      dims[0] = cdiv(dims[0], 2);
      return define(Family::move, dims, 1, 0, "{}[0 : {} : 2]", name, text(x->dims[0]));
    case 4:
      if (rank < 2 || !dims[0].as_var()) return;
      at_least(dims[0], 1);
      dims.erase(dims.begin());
      return define(Family::move, dims, 1, 0, below(2) ? "{}[-1]" : "{}[0]", name);
    case 5: {  // windows of three over padded rows
      if (rank != 2 || !small({dims[1]})) return;
      const Tensor w = weight({pick_size(), dims[0], 3});
      at_least(dims[1], 1);
      return define(Family::contract, {w.dims[0], dims[1]}, 4, volume(w.dims) * dims[1],
                    "tanh (conv1d (for c (t < {}) => {}[c, t - 1 else 0.0]) {} * 0.3)", text(dims[1] + 2),
                    name, w.name);
    }
    case 6: {  // the same without padding: defined from three columns on
      if (rank != 2 || !dims[1].as_var()) return;
      const Tensor w = weight({pick_size(), dims[0], 3});
      at_least(dims[1], 3);
      return define(Family::contract, {w.dims[0], dims[1] - 2}, 3, volume(w.dims) * dims[1],
                    "tanh (conv1d {} {} * 0.3)", name, w.name);
    }
    case 7: {  // over two axes
      if (rank != 3 || !dims[1].as_var() || !dims[2].as_var()) return;
      const Tensor w = weight({pick_size(), dims[0], 2, 2});
      at_least(dims[1], 2);
      at_least(dims[2], 2);
      return define(Family::contract, {w.dims[0], dims[1] - 1, dims[2] - 1}, 3, volume(dims) * w.dims[0] * 4,
                    "tanh (conv2d {} {} * 0.3)", name, w.name);
    }
    case 8:
      dims.insert(dims.begin(), 3);
      if (rank > 2) return;
      return define(Family::move, dims, 1, 0, "broadcast 3 {}", name);
  }
}

// ---- indices ----

void Steps::index() {
  const auto x = pick({1, 2, 3});
  Dims dims = x->dims;
  const std::string& name = x->name;
  const Dim length = pick_size(), axis = dims[0];
  switch (below(depth_ == 0 ? 12 : 11)) {
    case 11: {  // rows in order: positions themselves would show how a value is rounded
      static constexpr const char* forms[] = {
          "sort {} * 0.5", "for ..p i => {0}[..p, i] - (sort {0})[..p, i] * 0.25", "flip (sort (-{}))"};
      return define(Family::index, dims, 3, volume(dims) * 16, pick_form(forms), name);
    }
    case 10: {  // as many rows as the data says, in and out of sight again
      if (dims.size() != 2 || !small({axis})) return;
      const std::string marks = integers({axis}, 3, "i64");
      return define(Family::index, {dims[1]}, 4, volume(dims) * 48,
                    "tanh (sum (transpose (compress {} ({} > 1))) * 0.1)", name, marks);
    }
    case 9: {  // rows added up, or compared, where ids send them; some nowhere
      static constexpr const char* forms[] = {
          "tanh (for i ..p => {2}[i, ..p] + (sum j => if i64 {1}[j] == i then {0}[j, ..p] else 0.0) * 0.2)",
          ("(for i ..p => max {2}[i, ..p] "
           "(maximum j => if i + 1 == i64 {1}[j] && j % 3 != 1 then {0}[j, ..p] else -1.0 / 0.0))"),
          "tanh (scatter_add {1} {0} {2} * 0.2)", "scatter_max {1} {0} {2}",
          "tanh (for i ..p => {2}[i, ..p] * real (sum j => if i64 {1}[j] == i then 1 else 0) * 0.2)"};
      dims[0] = length;
      const std::string base = input(dims).name;
      return define(Family::index, dims, 3, volume(x->dims), pick_form(forms), name,
                    integers({axis}, 7, pick_form(index_elems)), base);
    }
    case 0:
      return define(Family::index, dims, 3, 0, "for i ..p => {}[i, ..p] + real (i % 3) * 0.1", name);
    case 1:
      return define(Family::index, dims, 3, 0,
                    "for i ..p => if (i + 1) % 3 == 1 then {0}[i, ..p] else {0}[i, ..p] * 0.5", name);
    case 2: {
      const std::string rows = indices({length}, axis, pick_form(index_elems));
      dims[0] = length;
      return define(Family::index, dims, 1, 0, "for i ..p => {}[{}[i], ..p]", name, rows);
    }
    case 3: {
      const std::string columns = indices({length}, dims.back(), pick_form(index_elems));
      dims.back() = length;
      return define(Family::index, dims, 1, 0, "for ..p j => {}[..p, {}[j]]", name, columns);
    }
    case 4: {
      if (dims.size() != 2 || !small({axis})) return;
      const std::string rows = indices({length}, axis, "i64");
      return define(Family::index, {length, dims[1]}, 3, volume(dims) * length,
                    "one_hot {0} ({2}) @ {1} + embedding {1} {0} * 0.5", rows, name, text(axis));
    }
    case 5: {  // the position of a maximum of an input
      const auto given = pick_where([](const Tensor& t) { return t.input && t.dims.size() == 2; });
      if (!given || given->dims[1].constant()) return;
      at_least(given->dims[1], 1);
      return define(Family::index, {given->dims[0]}, 3, volume(given->dims),
                    "for i => {0}[i, (argmax {0})[i]] * 0.5", given->name);
    }
    case 6: {
      if (dims.size() != 2) return;
      const std::string labels = indices({axis}, dims[1], "i64");
      return define(Family::index, {axis}, 5, volume(dims) * 4, "for i => (log_softmax {})[i, {}[i]] * 0.2",
                    name, labels);
    }
    case 7: {  // arithmetic on integers that are data, then an index again
      if (!small({axis})) return;
      const std::string rows = indices({length}, axis, pick_form(index_elems));
      dims[0] = length;
      return define(Family::index, dims, 4, 0,
                    "(let q = (i64 {1} * 3 - 5) / 2 in for i ..p => {0}[q[i] % ({2}), ..p])", name, rows,
                    text(axis));
    }
    case 8: {  // integers reduced
      const std::string given = integers({length, axis}, 7, pick_form(index_elems));
      static constexpr const char* forms[] = {
          "tanh (real (sum ({} - 3)) * 0.1)", "real (reduce max 1 {}) * 0.2",
          "real (sum ({0} * {0} % 5)) * 0.01", "real (reduce min 4 (-{})) * 0.1"};
      return define(Family::index, {length}, 3, axis * length, pick_form(forms), given);
    }
  }
}

}  // namespace axon::differential
