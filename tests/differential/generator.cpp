// See generator.h. A program is a chain of `let`s over a pool of tensors; each step picks an operator that some tensor
// of the pool fits, and everything that nothing reads is a result. Comparisons that choose values look at indices,
// integers and inputs only, so that rounding cannot flip them; products are damped and sums squashed, so that values
// and their errors stay small.
#include "generator.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <functional>
#include <random>
#include <set>

namespace axon::differential {

const char* family_name(Family family) {
  switch (family) {
    case Family::elementwise: return "elementwise";
    case Family::contract: return "contract";
    case Family::reduce: return "reduce";
    case Family::move: return "move";
    case Family::index: return "index";
    case Family::loop: return "loop";
  }
  return "?";
}

namespace {

using Dims = std::vector<Dim>;

struct Tensor {
  std::string name;
  Dims dims;
  bool input = false;               ///< given, so every executor sees the same bits
};

/// Forms of one tensor with the same shape as a result.
constexpr const char* unary_forms[] = {
    "tanh {0}", "exp (min {0} 1.0)", "relu {0}", "sigmoid {0}", "silu {0} * 0.5", "abs {0} * 0.5",
    "sqrt (abs {0} + 0.1)", "gelu {0}", "gelu_tanh {0}", "sin {0}", "cos ({0} * 0.5)", "{0} * 0.5 - 0.25",
    "log (abs {0} + 1.0)", "rsqrt ({0} * {0} + 1.0)", "1.0 / (abs {0} + 1.0)", "exp2 (min {0} 1.0)",
    "floor ({0} * 0.0 + 1.5)", "pow (abs {0} + 0.5) 0.75", "softplus {0}", "clip (-0.5) 1.5 {0}", "-{0}",
    "reciprocal (square {0} + 1.0)", "erf {0}"};
/// Forms of two tensors that broadcast.
constexpr const char* binary_forms[] = {"({0} + {1}) * 0.5", "{0} - {1} * 0.5", "tanh ({0} * {1})", "max {0} {1}",
                                        "min {0} {1}", "{0} / (abs {1} + 1.0)"};
/// Reductions of the last axis, to values of ordinary size.
constexpr const char* reduction_forms[] = {
    "tanh (sum {0})", "max (-10.0) (maximum {0})", "tanh (sum ({0} * 0.1))", "min 10.0 (minimum {0})", "mean {0}",
    "max (-10.0) (logsumexp {0})", "tanh (variance {0})", "tanh (prod ({0} * 0.02 + 1.0))",
    "max (-10.0) (reduce max (-4.0) {0})"};
/// Normalisations of the last axis.
constexpr const char* norm_forms[] = {
    "softmax {0}", "{0} * rsqrt (keep mean ({0} * {0}) + 0.1)", "log_softmax {0} * 0.2",
    "(let e = exp2 ({0} - keep maximum {0}) in e / keep sum e)", "softmax ({0} * 0.5 - 1.0) - {0} * 0.1",
    "{0} / (keep maximum (abs {0}) + 0.5)", "transpose (softmax (transpose {0}))", "softmax (causal 0 {0})",
    "{0} / sqrt (keep sum ({0} * {0}) + 0.5)"};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed * 7919 + 17) {
    out_.seed = seed;
    out_.name = fmt::format("p{}", seed);
    constexpr const char* elems[] = {"f64", "bf16", "f16"};
    const int kind = below(12);
    out_.elem = kind < 3 ? elems[kind] : "f32";
  }

  Generated run() {
    for (const char* name : {"n", "m", "k", "l"}) out_.sizes.emplace_back(name, shape::fresh_var(name));
    for (int i = 0; i < 3; ++i) input(pick_dims(i == 0 ? 2 : 1 + below(2)));
    const int wanted = 5 + below(26);
    for (int tries = 0; out_.operators < wanted && tries < 400; ++tries) step();
    out_.source = header() + " =\n" + body_ + "  in (" + results() + ")\n";
    return std::move(out_);
  }

 private:
  // ---- choices ----

  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  template <size_t N>
  const char* pick_form(const char* const (&forms)[N]) {
    return forms[below(static_cast<int>(N))];
  }
  Dim size(int i) const { return out_.sizes[static_cast<size_t>(i)].second; }
  Dim pick_size() { return size(below(3)); }
  Dims pick_dims(int rank) {
    Dims dims;
    for (int a = 0; a < rank; ++a) dims.push_back(pick_size());
    return dims;
  }

  /// A tensor of one of the ranks; the newest is likelier, so that programs grow deep.
  std::optional<Tensor> pick(std::initializer_list<size_t> ranks) {
    return pick_where([&](const Tensor& t) { return std::find(ranks.begin(), ranks.end(), t.dims.size()) != ranks.end(); });
  }
  std::optional<Tensor> pick_where(const std::function<bool(const Tensor&)>& fits) {
    std::vector<const Tensor*> fit;
    for (const Tensor& t : pool_)
      if (fits(t)) fit.push_back(&t);
    if (fit.empty()) return std::nullopt;
    const Tensor& t = below(2) ? *fit.back() : *fit[static_cast<size_t>(below(static_cast<int>(fit.size())))];
    read_.insert(t.name);
    return t;
  }
  /// A tensor of exactly this shape, made an input when there is none.
  Tensor of_shape(const Dims& dims) {
    const auto found = pick_where([&](const Tensor& t) { return t.dims == dims; });
    return found ? *found : input(dims);
  }

  // ---- text ----

  static std::string text(const Dim& d) { return d.str(); }
  static std::string type(const std::string& elem, const Dims& dims) {
    std::vector<std::string> parts;
    for (const Dim& d : dims) parts.push_back(text(d));
    return parts.empty() ? elem : fmt::format("{}[{}]", elem, fmt::join(parts, ", "));
  }
  std::string header() const {
    std::string text = "entry " + out_.name, weights;
    for (const Parameter& p : out_.parameters) {
      if (p.kind == Parameter::Kind::weight) {
        weights += fmt::format("{}{} : {}", weights.empty() ? "" : ", ", p.path.substr(p.path.find('.') + 1), type(p.elem, p.dims));
        continue;
      }
      const char* mode = p.kind == Parameter::Kind::state ? "*" : "";
      text += fmt::format(" ({} : {}{})", p.path, mode, type(p.elem, p.dims));
    }
    return weights.empty() ? text : fmt::format("{} ({} : {{ {} }})", text, record(), weights);
  }
  std::string record() const { return fmt::format("w{}", out_.seed); }
  std::string results() const {
    std::vector<std::string> names = extra_results_;
    for (const Tensor& t : pool_)
      if (!t.input && !read_.contains(t.name)) names.push_back(t.name);
    if (names.empty()) names.push_back(pool_.back().name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  // ---- declarations ----

  std::string fresh(const char* prefix) { return fmt::format("{}{}", prefix, next_++); }
  Tensor input(const Dims& dims) {
    out_.parameters.push_back({fresh("x"), Parameter::Kind::argument, out_.elem, dims, {}});
    return pool_.emplace_back(Tensor{out_.parameters.back().path, dims, true});
  }
  /// A matrix that is a field of the record of weights, or an argument.
  Tensor weight(const Dims& dims) {
    if (below(3) == 0) return input(dims);
    out_.parameters.push_back({record() + "." + fresh("a"), Parameter::Kind::weight, out_.elem, dims, {}});
    return {out_.parameters.back().path, dims, true};
  }
  /// `length` integers below `bound`.
  std::string ids(const Dims& dims, const Dim& bound, const char* elem) {
    out_.parameters.push_back({fresh("i"), Parameter::Kind::argument, elem, dims, bound});
    at_least(bound, 1);
    return out_.parameters.back().path;
  }
  /// The program is defined only when the dimension, a positive combination of sizes, is at least `value`.
  void at_least(const Dim& d, int64_t value) {
    for (const auto& [name, var] : out_.sizes)
      if (d.contains(var)) out_.least[name] = std::max(out_.least[name], value);
  }
  static Dim volume(const Dims& dims) {
    Dim product = 1;
    for (const Dim& d : dims) product = product * d;
    return product;
  }

  Tensor define(Family family, Dims dims, const std::string& expression, int operators, const Dim& cost) {
    const std::string name = fresh("t");
    body_ += fmt::format("  let {} = {}\n", name, expression);
    out_.operators += operators;
    ++out_.used[family];
    out_.cost = out_.cost + cost + volume(dims) * operators;
    return pool_.emplace_back(Tensor{name, std::move(dims)});
  }
  template <class... Args>
  Tensor define(Family family, const Dims& dims, int operators, const Dim& cost, const char* form, const Args&... args) {
    return define(family, dims, fmt::format(fmt::runtime(form), args...), operators, cost);
  }

  void step() {
    switch (below(12)) {
      case 0: return elementwise();
      case 1: return broadcast();
      case 2:
      case 3: return contract();
      case 4: return attend();
      case 5: return reduce();
      case 6: return move();
      case 7: return slice();
      case 8: return index();
      case 9: return loop();
      case 10: return update();
      case 11: return loop_of_steps();
    }
  }

  // ---- families ----

  void elementwise() {
    const auto x = pick({0, 1, 2, 3});
    switch (below(8)) {
      case 0: {  // through another element type
        static constexpr const char* forms[] = {"{1} (f64 {0} * 0.5)", "{1} (f32 {0} + 0.25)"};
        return void(define(Family::elementwise, x->dims, 2, 0, pick_form(forms), x->name, out_.elem));
      }
      case 1: {  // an integer made of an input, where rounding flips nothing
        const auto given = pick_where([](const Tensor& t) { return t.input; });
        static constexpr const char* forms[] = {"tanh (real (i32 {}))", "real (i64 {} % 3) * 0.25", "real (max (i32 {}) 0 / 2) * 0.001"};
        return void(define(Family::elementwise, given->dims, 3, 0, pick_form(forms), given->name));
      }
      case 2: return void(define(Family::elementwise, x->dims, 1, 0, "{} * {} * 0.5", x->name, of_shape({}).name));
      default: define(Family::elementwise, x->dims, 1, 0, pick_form(unary_forms), x->name);
    }
  }

  void broadcast() {
    const auto x = pick({1, 2, 3});
    if (below(5) == 0) {  // a choice that an input makes
      const auto y = pick_where([&](const Tensor& t) { return t.input && t.dims == x->dims; });
      if (y) define(Family::elementwise, x->dims, 2, 0, "select ({0} > 0.25) {1} ({1} * 0.5)", y->name, x->name);
      return;
    }
    if (below(4) == 0) {  // a literal 1 stretches
      if (below(2)) return void(define(Family::elementwise, x->dims, 3, 0, "{0} - (for ..p (j < 1) => {0}[..p, 0 else 0.5]) * 0.25", x->name));
      Dims stretched = x->dims;
      stretched[static_cast<size_t>(below(static_cast<int>(stretched.size())))] = 1;
      return void(define(Family::elementwise, x->dims, 2, 0, "max ({} * 0.5) {}", x->name, input(stretched).name));
    }
    const auto y = pick_where([&](const Tensor& t) {
      return t.dims.size() <= x->dims.size() && std::equal(t.dims.rbegin(), t.dims.rend(), x->dims.rbegin());
    });
    define(Family::elementwise, x->dims, 2, 0, pick_form(binary_forms), x->name, y->name);
  }

  void contract() {
    const auto x = pick({1, 2, 3});
    const Dims& dims = x->dims;
    const Dim inner = dims.back(), columns = pick_size();
    if (dims.size() == 1) {
      const Tensor w = weight({inner, columns});
      const char* form = below(2) ? "tanh (for j => sum i => {}[i] * {}[i, j] * 0.2)" : "tanh (dot {0} {0} * 0.1) + 0.0 * {0}";
      if (form[6] == 'd') return void(define(Family::contract, dims, 4, 0, form, x->name));
      return void(define(Family::contract, {columns}, 2, volume(w.dims), form, x->name, w.name));
    }
    Dims result = dims;
    result.back() = columns;
    const Dim cost = volume(dims) * columns;
    switch (below(dims.size() == 2 ? 10 : 7)) {
      case 0:
        return void(define(Family::contract, result, 2, cost, "tanh ({} @ {} * 0.2)", x->name, weight({inner, columns}).name));
      case 1:
        return void(define(Family::contract, result, 3, cost, "({} * 0.3) @ {} * 0.3", x->name, weight({inner, columns}).name));
      case 2: {
        result.back() = dims[dims.size() - 2];
        return void(define(Family::contract, result, 3, volume(dims) * result.back(), "tanh ({0} @ transpose {0} * 0.1)", x->name));
      }
      case 3:
        return void(define(Family::contract, result, 2, cost, "tanh (for ..p j => (sum i => {}[..p, i] * {}[j, i]) * 0.2)",
                           x->name, weight({columns, inner}).name));
      case 4: {
        const Tensor w = weight({inner, columns}), b = weight({columns});
        return void(define(Family::contract, result, 4, cost, "gelu (linear {} {} {} * 0.3)", x->name, w.name, b.name));
      }
      case 5: {
        const Tensor gate = weight({inner, columns}), up = weight({inner, columns}), down = weight({columns, inner});
        return void(define(Family::contract, dims, 7, cost * 3, "tanh ((silu ({0} @ {1} * 0.3) * ({0} @ {2} * 0.3)) @ {3} * 0.3)",
                           x->name, gate.name, up.name, down.name));
      }
      case 6: {
        Dims other = dims;
        other[dims.size() - 2] = inner;
        other.back() = columns;
        return void(define(Family::contract, result, 2, cost, "tanh ({} @ {} * 0.2)", x->name, of_shape(other).name));
      }
      case 7:
        return void(define(Family::contract, {dims[1], dims[1]}, 3, volume(dims) * dims[1],
                           "tanh (for a b => (sum r => {0}[r, a] * {0}[r, b]) * 0.1)", x->name));
      case 8:
        return void(define(Family::contract, {columns}, 3, cost, "tanh (for j => (sum a b => {}[a, b] * {}[j, a, b]) * 0.1)",
                           x->name, weight({columns, dims[0], dims[1]}).name));
      case 9:
        return void(define(Family::contract, {dims[0], columns}, 3, cost,
                           "tanh (for i c => sum j => if j <= i then {}[i, j] * {}[j, c] * 0.3 else 0.0)", x->name,
                           weight({inner, columns}).name));
    }
  }

  /// Attention in several spellings, masked or not.
  void attend() {
    const auto q = pick({2, 3});
    if (!q) return;
    Dims key = q->dims, value = q->dims, result = q->dims;
    const Dim length = pick_size(), depth = q->dims.back(), columns = pick_size();
    key[key.size() - 2] = value[value.size() - 2] = length;
    value.back() = result.back() = columns;
    const Tensor k = below(3) == 0 ? of_shape({length, depth}) : of_shape(key), v = of_shape(value);
    static constexpr const char* forms[] = {
        "attention {} {} {}",
        "softmax ({} @ transpose {} * 0.3) @ {}",
        "softmax (causal 0 ({} @ transpose {} * 0.3)) @ {}",
        "(let s = {} @ transpose {} * 0.3 let e = exp2 (s - keep maximum s) in (e @ {}) / keep sum e)",
        "softmax (for ..p i j => if j > i then ({} @ transpose {})[..p, i, j] * 0.3 else -1.0 / 0.0) @ {}",
        "tanh (softmax ({} @ transpose {}) @ {}) * 0.5"};
    define(Family::contract, result, 6, volume(q->dims) * length * 2 + volume(result) * length, pick_form(forms), q->name,
           k.name, v.name);
    ++out_.used[Family::reduce];
  }

  void reduce() {
    const auto x = pick({1, 2, 3});
    const Dim axis = x->dims.back();
    Dims dims = x->dims;
    switch (below(7)) {
      case 0:
      case 1: {
        if (dims.size() < 2) return;
        return void(define(Family::reduce, dims, 4, volume(dims) * 4, pick_form(norm_forms), x->name));
      }
      case 2: {
        const Tensor w = weight({axis}), b = weight({axis});
        return void(define(Family::reduce, dims, 6, volume(dims) * 4, "layer_norm {} {} {} 0.1", x->name, w.name, b.name));
      }
      case 3:
        return void(define(Family::reduce, dims, 4, volume(dims) * 2, "rms_norm {} {} 0.1", x->name, weight({axis}).name));
      case 4: {  // the first axis
        if (dims.size() < 2) return;
        dims.erase(dims.begin());
        const char* form = below(2) ? "tanh (for ..p => sum i => {}[i, ..p])" : "for ..p => max (-9.0) (maximum i => {}[i, ..p])";
        return void(define(Family::reduce, dims, 2, volume(x->dims), form, x->name));
      }
      case 5: {  // counting what holds of an input
        const auto given = pick_where([](const Tensor& t) { return t.input && t.dims.size() == 2; });
        if (!given) return;
        static constexpr const char* forms[] = {
            "(for i => sum j => if {0}[i, j] > 0.5 then 0.1 else 0.0)", "(for i => if any ({0} > 1.0)[i] then 1.0 else -0.5)",
            "(for i => if all ({0} < 1.0)[i] then {0}[i, 0 else 0.5] else 0.25)"};
        return void(define(Family::reduce, {given->dims[0]}, 3, volume(given->dims), pick_form(forms), given->name));
      }
      default:
        dims.pop_back();
        define(Family::reduce, dims, 2, volume(x->dims) * 2, pick_form(reduction_forms), x->name);
    }
  }

  void move() {
    const auto x = pick({1, 2, 3});
    Dims dims = x->dims;
    const std::string& name = x->name;
    switch (below(8)) {
      case 0:
        if (dims.size() < 2) return;
        std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
        return void(define(Family::move, dims, 1, 0, "transpose {}", name));
      case 1: return void(define(Family::move, dims, 1, 0, "for i ..p => {}[i - 1, ..p else 0.25]", name));
      case 2: return void(define(Family::move, dims, 1, 0, "for (i < dim {0} 0) ..p => {0}[dim {0} 0 - 1 - i, ..p]", name));
      case 3:
        if (dims.size() != 3) return;
        if (below(2)) return void(define(Family::move, {dims[1], dims[0], dims[2]}, 1, 0, "for j i c => {}[i, j, c]", name));
        return void(define(Family::move, {dims[2], dims[0], dims[1]}, 1, 0, "rearrange {} [a, b, c] => [c, a, b]", name));
      case 4:
        if (dims.size() < 2) return;
        return void(define(Family::move, dims, 1, 0, "tril {}", name));
      case 5: {  // split an axis into 2 heads and work on them
        if (dims.size() != 2) return;
        const Dim k = size(2);
        const Tensor w = weight({dims[1], 2 * k});
        define(Family::move, {2, dims[0], k}, 3, volume(dims) * 2 * k, "heads[2, {}] (tanh ({} @ {} * 0.3))", text(k), name, w.name);
        return;
      }
      case 6:
        if (dims.size() != 3) return;
        if (!dims[0].constant()) return;
        return void(define(Family::move, {dims[1], dims[0] * dims[2]}, 1, 0, "merge_heads {}", name));
      case 7:
        if (dims.size() != 2) return;
        dims[0] = dims[0] * 2;
        if (!small(dims)) return;
        return void(define(Family::move, dims, 1, 0, "repeat 2 {}", name));
    }
  }

  /// Sums of at most two multiples of sizes: composite extents do not grow without end, and are expressions as well.
  static bool small(const Dims& dims) {
    for (const Dim& d : dims) {
      if (d.terms().size() > 2) return false;
      for (const auto& term : d.terms())
        if (std::abs(term.coefficient) > 4 || (!term.factors.empty() && term.factors[0].kind() != shape::AtomKind::var)) return false;
    }
    return true;
  }

  void slice() {
    const auto x = pick({1, 2, 3});
    Dims dims = x->dims;
    const std::string& name = x->name;
    switch (below(8)) {
      case 0: {
        const auto y = pick_where([&](const Tensor& t) {
          return t.dims.size() == dims.size() && std::equal(t.dims.begin() + 1, t.dims.end(), dims.begin() + 1);
        });
        dims[0] = dims[0] + y->dims[0];
        if (!small(dims)) return;
        return void(define(Family::move, dims, 2, 0, "concat {} {}", name, y->name));
      }
      case 1:
        if (!dims[0].as_var()) return;
        at_least(dims[0], 1);
        dims[0] = dims[0] - 1;
        return void(define(Family::move, dims, 1, 0, "{}[1:]", name));
      case 2:
        dims.back() = dims.back() + 2;
        if (!small({dims.back()})) return;
        return void(define(Family::move, dims, 1, 0, "for ..p (j < {}) => {}[..p, j - 1 else -0.5]", text(dims.back()), name));
      case 3:
        if (!dims[0].as_var()) return;
        dims[0] = floor_div(dims[0] + 1, 2);
        return void(define(Family::move, dims, 1, 0, "{}[0 : {} : 2]", name, text(x->dims[0])));
      case 4:
        if (dims.size() < 2 || !dims[0].as_var()) return;
        at_least(dims[0], 1);
        dims.erase(dims.begin());
        return void(define(Family::move, dims, 1, 0, below(2) ? "{}[-1]" : "{}[0]", name));
      case 5: {  // a window of three over padded rows
        if (dims.size() != 2 || !small({dims[1]})) return;
        const Dim out = pick_size();
        const Tensor w = weight({out, dims[0], 3});
        at_least(dims[1], 1);
        define(Family::contract, {out, dims[1]}, 4, volume(dims) * out * 3,
               "tanh (conv1d (for c (t < {}) => {}[c, t - 1 else 0.0]) {} * 0.3)", text(dims[1] + 2), name, w.name);
        return;
      }
      case 6: {  // the same without padding: defined from three columns on
        if (dims.size() != 2 || !dims[1].as_var()) return;
        const Dim out = pick_size();
        const Tensor w = weight({out, dims[0], 3});
        at_least(dims[1], 3);
        define(Family::contract, {out, dims[1] - 2}, 3, volume(dims) * out * 3, "tanh (conv1d {} {} * 0.3)", name, w.name);
        return;
      }
      case 7:
        dims.insert(dims.begin(), 3);
        if (dims.size() > 3) return;
        return void(define(Family::move, dims, 1, 0, "broadcast 3 {}", name));
    }
  }

  void index() {
    const auto x = pick({1, 2, 3});
    Dims dims = x->dims;
    const std::string& name = x->name;
    const Dim length = pick_size();
    switch (below(9)) {
      case 7: {  // arithmetic on integers that are data, then an index again
        if (!small({dims[0]})) return;
        const std::string rows = ids({length}, dims[0], below(2) ? "i32" : "i64");
        dims[0] = length;
        return void(define(Family::index, dims, 4, 0, "(let q = (i64 {1} * 3 - 5) / 2 in for i ..p => {0}[q[i] % {2}, ..p])", name, rows,
                           text(x->dims[0])));
      }
      case 8: {  // integers reduced
        const std::string numbers = ids({length, dims[0]}, 7, below(2) ? "i32" : "i64");
        static constexpr const char* forms[] = {"tanh (real (sum ({} - 3)) * 0.1)", "real (reduce max 1 {}) * 0.2",
                                                "real (sum ({0} * {0} % 5)) * 0.01", "real (reduce min 4 (-{})) * 0.1"};
        return void(define(Family::index, {length}, 3, volume(dims) * length, pick_form(forms), numbers));
      }
      case 0: return void(define(Family::index, dims, 3, 0, "for i ..p => {}[i, ..p] + real (i % 3) * 0.1", name));
      case 1:
        return void(define(Family::index, dims, 3, 0, "for i ..p => if (i + 1) % 3 == 1 then {0}[i, ..p] else {0}[i, ..p] * 0.5", name));
      case 2: {
        const std::string rows = ids({length}, dims[0], below(2) ? "i32" : "i64");
        dims[0] = length;
        return void(define(Family::index, dims, 1, 0, "for i ..p => {}[{}[i], ..p]", name, rows));
      }
      case 3: {
        const std::string columns = ids({length}, dims.back(), below(2) ? "i32" : "i64");
        dims.back() = length;
        return void(define(Family::index, dims, 1, 0, "for ..p j => {}[..p, {}[j]]", name, columns));
      }
      case 4: {
        if (dims.size() != 2 || !small({dims[0]})) return;
        const std::string rows = ids({length}, dims[0], "i64");
        return void(define(Family::index, {length, dims[1]}, 3, volume(dims) * length, "one_hot {0} ({2}) @ {1} + embedding {1} {0} * 0.5",
                           rows, name, text(dims[0])));
      }
      case 5: {  // the position of a maximum of an input
        const auto given = pick_where([](const Tensor& t) { return t.input && t.dims.size() == 2; });
        if (!given || !given->dims[1].as_var()) return;
        at_least(given->dims[1], 1);
        return void(define(Family::index, {given->dims[0]}, 3, volume(given->dims), "for i => {0}[i, (argmax {0})[i]] * 0.5",
                           given->name));
      }
      case 6: {
        if (dims.size() != 2) return;
        const std::string labels = ids({dims[0]}, dims[1], "i64");
        return void(define(Family::index, {dims[0]}, 5, volume(dims) * 4, "for i => (log_softmax {})[i, {}[i]] * 0.2", name, labels));
      }
    }
  }

  void loop() {
    const auto x = pick({2, 3});
    if (!x) return;
    const std::string& name = x->name;
    const Dims row(x->dims.begin() + 1, x->dims.end());
    const Dim cost = volume(x->dims) * 4;
    if (below(2) == 0) return layers_loop(*x);
    switch (below(5)) {
      case 0:
        return void(define(Family::loop, row, 4, cost, "fold (fn s r => tanh (s * 0.5 + r)) {} {}", of_shape(row).name, name));
      case 1:
        return void(define(Family::loop, x->dims, 4, cost, "(let (last, all) = scan (fn s r => (s * 0.5 + r * 0.5, tanh s)) {} {} in all)",
                           of_shape(row).name, name));
      case 2: return void(define(Family::loop, x->dims, 3, cost, "iterate 3 (fn s => tanh (s * 0.9 + 0.1)) {}", name));
      case 3:
        return void(define(Family::loop, x->dims, 5, cost * 2, "iterate 2 (fn s => rms_norm (s + 0.1) {} 0.2 * 0.8) {}",
                           weight({x->dims.back()}).name, name));
      case 4:
        return void(define(Family::loop, row, 5, cost * 2,
                           "fold (fn (s, c) r => (tanh (s * 0.5 + r * c), c * 0.5 + 0.25)) ({}, 1.0) {} |> (fn (s, c) => s * c)",
                           of_shape(row).name, name));
    }
  }

  /// A loop whose body is a program of its own, over everything in sight.
  void loop_of_steps() {
    if (depth_ == 2) return;
    const auto state = pick({1, 2, 3});
    const auto stack = pick({2, 3});
    if (!state || !stack) return;
    const std::string s = fresh("s"), r = fresh("r");
    const int form = below(3);  // fold, scan, iterate
    const int64_t times = 1 + below(3);
    const std::vector<Tensor> outside = pool_;
    const std::string text_outside = std::exchange(body_, "");
    const Dim cost_outside = std::exchange(out_.cost, 0);
    pool_.push_back({s, state->dims});
    if (form != 2) pool_.push_back({r, Dims(stack->dims.begin() + 1, stack->dims.end())});
    ++depth_;
    const int wanted = out_.operators + 2 + below(5);
    for (int tries = 0; out_.operators < wanted && tries < 40; ++tries) step();
    --depth_;
    const auto find = [&](const std::function<bool(const Tensor&)>& fits) {
      const auto at = std::find_if(pool_.rbegin(), pool_.rend(), [&](const Tensor& t) { return t.name != s && fits(t); });
      return at == pool_.rend() ? Tensor{s, state->dims} : *at;
    };
    const Tensor next = find([&](const Tensor& t) { return t.dims == state->dims; });
    const Tensor emitted = find([&](const Tensor& t) { return t.dims.size() <= 2; });
    const std::string result = fmt::format("tanh ({} * 0.75 + {} * 0.5)", next.name, s);
    const std::string lets = std::exchange(body_, text_outside), in = lets.empty() ? "" : lets + "  in ";
    const Dim trips = form == 2 ? Dim(times) : stack->dims[0];
    const Dim inner = std::exchange(out_.cost, cost_outside) * trips;
    std::vector<Tensor> inputs;
    for (const Tensor& t : pool_)
      if (t.input && std::none_of(outside.begin(), outside.end(), [&](const Tensor& o) { return o.name == t.name; })) inputs.push_back(t);
    pool_ = outside;
    pool_.insert(pool_.end(), inputs.begin(), inputs.end());
    Dims all = emitted.dims;
    all.insert(all.begin(), stack->dims[0]);
    switch (form) {
      case 0:
        return void(define(Family::loop, state->dims, 2, inner, "fold (fn {} {} =>\n{}{}) {} {}", s, r, in, result, state->name, stack->name));
      case 1:
        return void(define(Family::loop, all, 2, inner, "(let (last, all) = scan (fn {} {} =>\n{}({}, {})) {} {} in all)", s, r, in,
                           result, emitted.name, state->name, stack->name));
      case 2:
        return void(define(Family::loop, state->dims, 2, inner, "iterate {} (fn {} =>\n{}{}) {}", times, s, in, result, state->name));
    }
  }

  /// Loops over stacked weights: contractions and norms inside.
  void layers_loop(const Tensor& x) {
    const Dim layers = size(3), width = x.dims.back();
    const Tensor w = weight({layers, width, width});
    const Dim cost = volume(x.dims) * layers * width;
    switch (below(6)) {
      case 0:
        return void(define(Family::loop, x.dims, 4, cost, "fold (fn s w => tanh (s @ w * 0.3)) {} {}", x.name, w.name));
      case 1: {
        const Tensor norm = weight({layers, width});
        return void(define(Family::loop, x.dims, 8, cost * 2, "fold (fn s (w, g) => s + tanh (rms_norm s g 0.1 @ w * 0.3) * 0.3) {} ({}, {})",
                           x.name, w.name, norm.name));
      }
      case 2: {
        Dims all = x.dims;
        all.pop_back();
        all.insert(all.begin(), layers);
        return void(define(Family::loop, all, 6, cost * 2,
                           "(let (last, all) = scan (fn s w => let t = softmax (s @ w) in (s * 0.5 + t, tanh (sum s))) {} {} in all)",
                           x.name, w.name));
      }
      case 3: {
        const Tensor square = weight({width, width});
        return void(define(Family::loop, x.dims, 5, cost * 3, "iterate 3 (fn s => tanh (s @ {} * 0.3 + {} * 0.2)) {}", square.name,
                           x.name, x.name));
      }
      case 4: {
        return void(define(Family::loop, x.dims, 6, cost * 3,
                           "fold (fn s w => iterate 2 (fn t => tanh (t @ w * 0.3)) s * 0.7 + s * 0.3) {} {}", x.name, w.name));
      }
      case 5: {
        if (x.dims.size() != 2) return;
        return void(define(Family::loop, x.dims, 9, cost * 2 + volume(x.dims) * x.dims[0] * layers,
                           "fold (fn s w => let q = tanh (s @ w) in s * 0.5 + attention q s s * 0.5) {} {}", x.name, w.name));
      }
    }
  }

  /// One part written anew: a copy, a row after row of a loop, or a state in place.
  void update() {
    const auto x = pick({2});
    if (!x) return;
    const Dims row(x->dims.begin() + 1, x->dims.end());
    const Dim layers = size(3);
    switch (below(depth_ == 0 ? 6 : 3)) {
      case 0:
        if (!x->dims[0].as_var()) return;
        at_least(x->dims[0], 1);
        return void(define(Family::move, x->dims, 1, 0, "({0} with [0] = tanh {1}) * 0.5 + {0} * 0.25", x->name, of_shape(row).name));
      case 1: {
        if (!x->dims[0].as_var()) return;
        at_least(x->dims[0], 2);
        const Tensor stack = input({layers, x->dims[1]});
        read_.insert(stack.name);
        return void(define(Family::loop, x->dims, 4, volume(x->dims) * layers,
                           "fold (fn s r => let t = s with [1] = tanh (s[0] + r) in t with [0] = t[1] * 0.5 - r * 0.25) {} {}",
                           x->name, stack.name));
      }
      case 2: {  // a column, and the old value after it
        if (!x->dims[1].as_var()) return;
        at_least(x->dims[1], 1);
        return void(define(Family::move, x->dims, 3, 0, "(let u = {0} with [:, 0] = {1} in u * 0.5 - {0} * 0.25)", x->name,
                           of_shape({x->dims[0]}).name));
      }
      case 3: {  // a cache: each layer writes one row and reads all up to it
        const std::string state = fresh("c");
        out_.parameters.push_back({state, Parameter::Kind::state, out_.elem, {layers, x->dims[0], x->dims[1]}, {}});
        const std::string kept = fresh("t"), result = fresh("t");
        at_least(x->dims[0], 1);
        if (!x->dims[0].as_var()) return void(out_.parameters.pop_back());
        body_ += fmt::format("  let ({0}, {1}) = scan (fn s c => let c = c with [0] = tanh s[0] in (s * 0.5 + c * 0.5, c)) {2} {3}\n",
                             result, kept, x->name, state);
        out_.operators += 5;
        ++out_.used[Family::loop];
        out_.cost = out_.cost + volume(x->dims) * layers * 6;
        extra_results_.push_back(kept);
        pool_.push_back({result, x->dims});
        return;
      }
      default: {  // rows pos .. pos+1 of a state; pos is a size that the caller gives
        const std::string state = fresh("c"), kept = fresh("t");
        if (!x->dims[0].as_var()) return;
        at_least(x->dims[0], 1);
        out_.parameters.push_back({state, Parameter::Kind::state, out_.elem, x->dims, {}});
        out_.parameters.push_back({fresh("pos"), Parameter::Kind::size, "i64", {}, x->dims[0]});
        const std::string pos = out_.parameters.back().path;
        body_ += fmt::format("  let {0} = {1} with [{2} : {2} + 1, :] = for (i < 1) j => {3}[{2}, j] * 0.5\n", kept, state, pos, x->name);
        define(Family::loop, row, 2, volume(x->dims), "tanh (sum (transpose {}[0 : {} + 1, :]))", kept, pos);
        --out_.used[Family::loop];
        ++out_.used[Family::move];
        extra_results_.push_back(kept);
        return;
      }
    }
  }

  std::mt19937_64 random_;
  Generated out_;
  std::vector<Tensor> pool_;
  std::set<std::string> read_;                ///< tensors that a later one reads
  std::vector<std::string> extra_results_;    ///< states handed back
  std::string body_;
  int next_ = 0;
  int depth_ = 0;                             ///< of loops around the next step
};

}  // namespace

Generated generate(uint64_t seed) { return Generator(seed).run(); }

}  // namespace axon::differential
