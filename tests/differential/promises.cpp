// Sizes that are arguments of functions, and shapes that the program states: functions whose result has as
// many elements as an integer says, chosen and passed about, and `:>` where the types, a check before the
// launch or one at run time show that it holds.
#include "steps.h"

namespace axon::differential {

namespace {

/// Of tensor {0} with {1} rows; {2} and {3} are functions of a number of rows and a tensor; {4} decides.
constexpr const char* whole_forms[] = {
    "{2} ({1}) {0}",
    "(if {1} > 3 then {2} else {3}) ({1}) {0}",
    "(if {4} then {2} else {3}) ({1}) {0}",
    "(let f = {2} in f ({1}) {0} * 0.5 + {3} ({1}) {0} * 0.25)",
    "(let (f, g) = ({2}, {3}) in f ({1}) (g ({1}) {0}))",
    "(let f = fn (v : i64) => {3} (v + 1) {0} in (f ({1}))[1 :])",
    "(let f = if {4} then {2} else (fn (v : i64) y => {3} v y) in f ({1}) (f ({1}) {0}))",
    "(for (i < {1}) ..p => ({2} (i + 1) {0})[i, ..p])",
    "iterate 2 (fn s => tanh ({3} ({1}) s + 0.1)) {0}",
    "(if {4} then {2} ({1}) {0} else {0} * 0.5)"};

/// The same of the shape of one row, where {5} is a number of rows that the data decides.
constexpr const char* row_forms[] = {
    "(let k = {5} in for ..p => sum i => ({2} k {0})[i, ..p] * 0.1)",
    "(let k = {5} in if {4} then (for ..p => sum i => ({3} k {0})[i, ..p] * 0.1) else (for ..p => 0.25 * "
    "{0}[0, ..p else 0.5]))",
    "fold (fn s r => let y = {2} ({5}) {0} in tanh (s * 0.5 + (for ..p => sum i => y[i, ..p] * 0.05) + r * "
    "0.1)) "
    "(for ..p => {0}[0, ..p else 0.5]) {0}"};

/// Numbers, for {0} decided by the data and a truth value {1}.
constexpr const char* number_forms[] = {
    "real (sum ((if {1} then iota else (fn (v : i64) => for (i < v) => v - i)) ({0}))) * 0.01",
    "real (sum (let k = {0} in if {1} then iota k else (for (i < k) => 2))) * 0.01",
    "real (sum (let f = if {1} then iota else zeros in f ({0}))) * 0.01"};

/// The tensor {0} of type {1}; {2} is its type without elements and with `..` for its first axis, {3} a
/// number of rows that the data decides, {4} a truth value, {5} integers that are not negative, one for each
/// row.
constexpr const char* stated_forms[] = {
    "({0} :> {1})",
    "({0} :> {2}) * 0.5",
    "(if {4} then ({0} * 0.5 :> {1}) else {0})",
    "(let k = {3} in concat {0}[: k] {0}[k :] :> {1})",
    "({0}[nonzero ({5} >= 0)] :> {1})",
    "(let y = {0}[nonzero ({5} >= 0)] :> {1} in y * 0.5 + {0} * 0.25)",
    "(let k = {3} in {0} with [: k] = ({0}[nonzero ({5} >= 0)] :> {1})[: k] * 0.5)",
    "iterate 2 (fn s => tanh (s * 0.5 + ({0}[nonzero ({5} >= 0)] :> {1}) * 0.3)) {0}"};

/// The same, of the shape of one row.
constexpr const char* stated_row_forms[] = {
    "fold (fn s r => let y = {0}[nonzero ({5} >= 0)] :> {1} in tanh (s * 0.5 + r * 0.2 + (for ..p => sum i "
    "=> y[i, ..p]) * 0.1)) (for ..p => {0}[0, ..p else 0.5]) {0}"};

}  // namespace

/// The text of a condition on the data.
std::string Steps::truth() {
  static constexpr const char* forms[] = {"{}[{}] > 1", "{}[{}] % 2 == 0", "not ({}[{}] < 2)"};
  return fmt::format(fmt::runtime(pick_form(forms)), integers({3}, 4, "i64"), below(3));
}

void Steps::size_argument() {
  if (below(5) == 0) {
    const Dim axis = pool_.front().dims[0];
    const std::string length = clamped_datum(axis, 0), holds = truth();
    return define(Family::dependent, {}, 4, axis * 4, pick_form(number_forms), length, holds);
  }
  const auto x = pick_where([&](const Tensor& t) { return !t.dims.empty() && t.dims[0].as_var(); });
  if (!x) return;
  const Dims& dims = x->dims;
  const std::string one = declare("(k : i64) x = for (i < k) ..p => x[i, ..p else 0.25] * 0.75");
  const std::string other = declare("(k : i64) x = for (i < k) ..p => tanh x[k - 1 - i, ..p else 0.5]");
  const std::string length = text(dims[0]), holds = truth();
  if (below(2))
    return define(Family::dependent, dims, 4, volume(dims) * (depth_ ? 8 : 4), pick_form(whole_forms),
                  x->name, length, one, other, holds);
  const std::string decided = clamped_datum(dims[0], 0);
  define(Family::dependent, Dims(dims.begin() + 1, dims.end()), 5, volume(dims) * 4 * (dims[0] + 1),
         pick_form(row_forms), x->name, length, one, other, holds, decided);
}

void Steps::stated_shape() {
  const auto x = pick_where([&](const Tensor& t) { return !t.dims.empty() && t.dims[0].as_var(); });
  if (!x) return;
  const Dims& dims = x->dims;
  std::string rest;
  for (size_t a = 1; a < dims.size(); ++a) rest += ", " + text(dims[a]);
  const std::string whole = fmt::format("{}[{}{}]", out_.elem, text(dims[0]), rest), open = "[..",
                    closed = "]";
  const std::string decided = clamped_datum(dims[0], 0), holds = truth(), all = integers({dims[0]}, 3, "i64");
  const std::string below_first = open + rest + closed;
  if (below(3))
    return define(Family::stated, dims, 4, volume(dims) * 4, pick_form(stated_forms), x->name, whole,
                  below_first, decided, holds, all);
  define(Family::stated, Dims(dims.begin() + 1, dims.end()), 5, volume(dims) * (dims[0] + 1) * 4,
         pick_form(stated_row_forms), x->name, whole, below_first, decided, holds, all);
}

}  // namespace axon::differential
