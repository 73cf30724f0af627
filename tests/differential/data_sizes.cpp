// Loops in whose steps the data decides a size: a part of a row, and what makes of it a state that keeps its
// shape. Marks decide, which are integers, or a given row itself, so that rounding never decides.
#include "steps.h"

namespace axon::differential {

namespace {

/// What decides a size, and a part that has it. In the texts {0} is a truth value per element of the row `r`,
/// {1} what the part is of; `c` counts, where the loop carries an integer.
struct SizeSource {
  const char* lets;
  const char* part;
};

constexpr SizeSource size_sources[] = {{"let h = count ({0})", "{1}[: h]"},
                                       {"let h = count ({0})", "{1}[h :]"},
                                       {"let ids = nonzero ({0})", "{1}[ids]"},
                                       {"let ids = nonzero ({0})", "{1}[ids]"},
                                       {"let h = min (2 * count ({0})) (dim r 0)", "{1}[: h]"},
                                       {"let h = dim r 0 - count ({0}) let g = min h 2", "{1}[: g]"}};

/// The same where the loop carries `c`.
constexpr SizeSource counted_size_sources[] = {
    {"let h = min c (dim r 0)", "{1}[: h]"},
    {"let h = min (c + count ({0})) (dim r 0)", "{1}[: h]"},
    {"let h = min (2 * c) (dim r 0)", "{1}[h :]"},
    {"let ids = nonzero (for i => ({0})[i] && i % 3 <= c)", "{1}[ids]"}};

/// Of a part {0} of a row of numbers, a number.
constexpr const char* size_number_forms[] = {
    "sum ({0} * 0.2)",
    "dot (softmax {0}) {0}",
    "max (-2.0) (maximum {0})",
    "mean (concat [0.5] {0})",
    "sum (concat {0} (tanh {0})) * 0.1",
    "dot {0} {0} * 0.1",
    "real (dim {0} 0) * 0.1",
    "sum (rms_norm {0} {0} 0.1) * 0.1",
    "fold (fn t v => tanh (t * 0.5 + v)) 0.25 {0}",
    "(let (t, all) = scan (fn t v => (t * 0.5 + v * 0.5, t)) 0.0 {0} in t + 0.1 * sum all)"};

/// The same where the numbers are given: rounding does not change their order.
constexpr const char* given_number_forms[] = {
    "(sort (concat [0.5, -0.25] {0}))[0]", "(sort (concat [0.5, -0.25] {0}))[1]",
    "real (argmax (concat [0.75] {0})) * 0.1", "real (count ({0} > 0.75)) * 0.1"};

/// Of a part {0} of rows {1}, something of the shape of one row; {2} is the state, of that shape.
constexpr const char* size_row_forms[] = {
    "sum (transpose {0}) * 0.2",
    "fold (fn t v => tanh (t * 0.5 + v)) {2} {0}",
    "sum (softmax (transpose {0}) * transpose {0})",
    "sum (transpose (softmax {0}))",
    "max (-2.0) (maximum (transpose {0}))",
    ("(let (t, all) = scan (fn t v => (tanh (t + v), t * 0.5)) {2} {0} in t + "
     "sum (transpose all) * 0.1)"),
    "(let y = {0} in softmax (for i => dot y[i] {2} * 0.2) |> (fn p => for j => sum i => p[i] * y[i, j]))"};

/// Of the same, something of the shape of {1}, whose first axis has {3} elements.
constexpr const char* size_whole_forms[] = {"(concat {0} {1})[: {3}]",
                                            "(let y = {0} in for (i < {3}) ..p => y[i, ..p else 0.25])",
                                            "(let y = concat {0} {1} in for (i < {3}) ..p => y[i, ..p])"};

}  // namespace

/// What the state is, and the next one less the part that stays.
struct Steps::Reduced {
  Dims dims;
  Dim cost;
  std::string next;
};

/// Of a part of the row `r`, which has these dimensions; the state is called `s`. `of` makes the text of the
/// part of another tensor that has the first axis of the row.
Steps::Reduced Steps::reduce_part(const Dims& row, bool given,
                                  const std::function<std::string(const std::string&)>& of) {
  const std::string part = of("r"), length = text(row[0]);
  const auto form = [&](const char* f) { return fmt::format(fmt::runtime(f), part, "r", "s", length); };
  const Dim width = pick_size();
  const auto weighted = [&] { return of(weight({row[0], width}).name); };
  if (row.size() == 1) {
    switch (below(given ? 8 : 6)) {
      case 0:
        return {{width}, volume(row) * width, fmt::format("([{}] @ {})[0] * 0.3", part, weighted())};
      case 1:
        return {row, volume(row) * 4, form(pick_form(size_whole_forms))};
      case 6:
      case 7:
        return {{}, volume(row) * 60, form(pick_form(given_number_forms))};
      default:
        return {{}, volume(row) * 6, form(pick_form(size_number_forms))};
    }
  }
  const Dim inner = row.back();
  switch (below(7)) {
    case 0:
      return {{inner, width}, volume(row) * width, fmt::format("transpose {} @ {} * 0.2", part, weighted())};
    case 1:
      return {{inner, inner}, volume(row) * inner, form("transpose {0} @ {0} * 0.2")};
    case 2:
      return {{width, inner}, volume(row) * width * 3, form("attention {2} {0} {0}")};
    case 3:
      return {row, volume(row) * 4, form(pick_form(size_whole_forms))};
    default:
      return {{inner}, volume(row) * 6, form(pick_form(size_row_forms))};
  }
}

void Steps::sizes_in_loop() {
  if (below(3) == 0) return sizes_in_counted_loop();
  const auto x = pick_where(
      [&](const Tensor& t) { return (t.dims.size() == 2 || t.dims.size() == 3) && small({t.dims[1]}); });
  if (!x) return;
  const Dims row(x->dims.begin() + 1, x->dims.end());
  const bool by_itself = x->input && row.size() == 1 && below(2);
  const std::string marks = by_itself ? "" : integers({x->dims[0], row[0]}, 3, "i64");
  const bool counted = below(3) == 0;
  const SizeSource& d =
      counted ? counted_size_sources[1 + below(3)] : size_sources[below(std::size(size_sources))];
  const std::string holds = by_itself ? "r > 0.25" : below(2) ? "q > 0" : "q != 1";
  const auto filled = [&](const char* f, const std::string& of) {
    return fmt::format(fmt::runtime(f), holds, of);
  };
  const Reduced reduced =
      reduce_part(row, x->input, [&](const std::string& of) { return filled(d.part, of); });
  const Dim cost = x->dims[0] * (reduced.cost + volume(reduced.dims) * 4 + row[0] * 16);
  const std::string start = of_shape(reduced.dims).name, element = by_itself ? "r" : "(r, q)";
  const std::string stack = by_itself ? x->name : fmt::format("({}, {})", x->name, marks);
  const std::string lets = filled(d.lets, "r"), next = fmt::format("tanh (s * 0.5 + {} * 0.5)", reduced.next);
  if (counted)
    return define(Family::data_size, reduced.dims, 6, cost,
                  "fold (fn (s, c) {} => {} in ({}, (c + 1) % 5)) ({}, i64 1) {} |> (fn (s, c) => s)",
                  element, lets, next, start, stack);
  if (below(2))
    return define(Family::data_size, reduced.dims, 5, cost, "fold (fn s {} => {} in {}) {} {}", element, lets,
                  next, start, stack);
  Dims all = reduced.dims;
  all.insert(all.begin(), x->dims[0]);
  if (all.size() > 3) return;
  define(Family::data_size, all, 5, cost,
         "(let (last, all) = scan (fn s {} => {} let u = {} in (u, u - s)) {} {} in all)", element, lets,
         next, start, stack);
}

/// One tensor of which each step takes another part.
void Steps::sizes_in_counted_loop() {
  const auto x = pick_where(
      [&](const Tensor& t) { return (t.dims.size() == 1 || t.dims.size() == 2) && small({t.dims[0]}); });
  if (!x) return;
  const std::string marks = integers({x->dims[0]}, 4, "i64");
  const SizeSource& d = counted_size_sources[below(std::size(counted_size_sources))];
  const auto filled = [&](const char* f, const std::string& of) {
    return fmt::format(fmt::runtime(f), marks + " > c", of);
  };
  const Reduced reduced =
      reduce_part(x->dims, x->input, [&](const std::string& of) { return filled(d.part, of); });
  const Dim cost = (reduced.cost + volume(reduced.dims) * 4 + x->dims[0] * 16) * 3;
  static constexpr const char* forms[] = {
      "while (fn (s, c) => c < 3) (fn (s, c) => let r = {0} {1} in ({2}, c + 1)) ({3}, i64 0) |> (fn (s, c) "
      "=> s)",
      "iterate 3 (fn (s, c) => let r = {0} {1} in ({2}, c + 1)) ({3}, i64 0) |> (fn (s, c) => s)"};
  define(Family::data_size, reduced.dims, 5, cost, pick_form(forms), x->name, filled(d.lets, "r"),
         fmt::format("tanh (s * 0.5 + {} * 0.5)", reduced.next), of_shape(reduced.dims).name);
}

}  // namespace axon::differential
