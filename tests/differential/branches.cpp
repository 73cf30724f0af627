// Branches: an `if` over sizes of which one side is defined only where the condition holds. The sizes that
// are chosen for a program make conditions false as well as true.
#include "steps.h"

namespace axon::differential {

namespace {

/// For tensor {0}, whose first axis has {1} elements, where it has {2} of them, {3} of them being the last:
/// something of the shape of one of its rows.
constexpr const char* branch_row_forms[] = {"(for ..p => sum i => {0}[{2} :][i, ..p] * 0.2)",
                                            "{0}[{3}] * 0.5",
                                            "{0}[-{2}]",
                                            "tanh ({0}[0] + {0}[{1} - {2}])",
                                            "(for ..p => maximum i => {0}[{3} :][i, ..p])",
                                            "fold (fn s r => tanh (s * 0.5 + r)) {0}[0] {0}[{3} :]"};

/// The same, of the shape of the tensor; {4} has the shape of one row.
constexpr const char* branch_whole_forms[] = {
    "concat {0}[{2} :] {0}[: {2}]",
    "concat {0}[{1} - {2} :] {0}[: {1} - {2}] * 0.5",
    "{0} with [{3}] = {4}",
    "{0} with [-{2}] = {0}[{3}] * 0.5 + 0.25",
    "{0} with [{3} :] = {0}[: {1} - {3}]",
    "{0} * 0.5 + {0}[{3}] * 0.25",
    "{0} - tanh ({0}[{3}] + {0}[0])",
    "(for (i < {1}) ..p => if i < {1} - {3} then {0}[i + {3}, ..p] else {0}[0, ..p])"};

/// For the same tensor and a position {1}, whose condition is that {1} + 2 elements are there, {2} being of
/// the shape of one row.
constexpr const char* row_at_forms[] = {"{0}[{1}] * 0.5", "{0}[{1} : {1} + 2][1]",
                                        "(for ..p => sum i => {0}[{1} : {1} + 2][i, ..p] * 0.3)",
                                        "({0} with [{1}] = {2})[{1} + 1]"};
constexpr const char* whole_at_forms[] = {
    "{0} with [{1}] = {2}", "{0} with [{1} : {1} + 2] = [{2}, {2} * 0.5]", "{0} * 0.5 + {0}[{1} + 1] * 0.25",
    "{0} with [{1} : {1} + 2] = tanh {0}[{1} : {1} + 2]", "concat {0}[{1} :] {0}[: {1}]"};

/// Conditions that {0} is at least {1}.
constexpr const char* enough_forms[] = {"{0} >= {1}", "{1} <= {0}", "{0} > {1} - 1", "not ({0} < {1})"};

}  // namespace

void Steps::branch() {
  switch (below(4)) {
    case 0:
      return branch_at_position();
    case 1:
      return branch_on_two_sizes();
    default:
      return branch_on_size();
  }
}

/// if CONDITION then A else B, in either order.
void Steps::define_branch(const Dims& dims, const Dim& cost, const std::string& condition,
                          const std::string& a, const std::string& b) {
  if (below(4) == 0)
    return define(Family::branch, dims, 3, cost, "if not ({}) then {} else {}", condition, b, a);
  define(Family::branch, dims, 3, cost, "if {} then {} else {}", condition, a, b);
}

void Steps::branch_on_size() {
  const auto x = pick_where([&](const Tensor& t) { return !t.dims.empty() && small({t.dims[0]}); });
  if (!x) return;
  const Dims row(x->dims.begin() + 1, x->dims.end());
  const bool whole = below(2);
  const int least = below(6) == 0 ? 64 : 1 + below(3);
  const Dims dims = whole ? x->dims : row;
  const std::string length = text(x->dims[0]), other = of_shape(dims).name, value = of_shape(row).name;
  const std::string condition = fmt::format(fmt::runtime(pick_form(enough_forms)), length, least);
  const std::string a =
      fmt::format(fmt::runtime(whole ? pick_form(branch_whole_forms) : pick_form(branch_row_forms)), x->name,
                  length, least, least - 1, value);
  out_.conditions.push_back(shape::at_least(x->dims[0], least));
  define_branch(dims, volume(x->dims) * 2, condition, a, other);
}

void Steps::branch_at_position() {
  const auto x = pick_where([&](const Tensor& t) { return !t.dims.empty() && small({t.dims[0]}); });
  if (!x) return;
  const Dims row(x->dims.begin() + 1, x->dims.end());
  const bool whole = below(2);
  const Dims dims = whole ? x->dims : row;
  const std::string at = position(x->dims[0] + 3), other = of_shape(dims).name, value = of_shape(row).name;
  static constexpr const char* conditions[] = {"{0} + 2 <= {1}", "{1} >= {0} + 2", "{0} < {1} - 1",
                                               "{0} + 2 <= {1} && {1} > 2"};
  const std::string a = fmt::format(fmt::runtime(whole ? pick_form(whole_at_forms) : pick_form(row_at_forms)),
                                    x->name, at, value);
  define_branch(dims, volume(x->dims) * 2,
                fmt::format(fmt::runtime(pick_form(conditions)), at, text(x->dims[0])), a, other);
}

/// Two tensors that differ in their first axis.
void Steps::branch_on_two_sizes() {
  const auto x = pick_where([&](const Tensor& t) { return !t.dims.empty() && small({t.dims[0]}); });
  if (!x) return;
  Dims other = x->dims;
  other[0] = pick_size();
  if (other == x->dims) return;
  const std::string y = of_shape(other).name, length = text(x->dims[0]), shorter = text(other[0]);
  const Dim cost = volume(x->dims) * 2 + volume(other) * 2;
  const auto form = [&](const char* f) { return fmt::format(fmt::runtime(f), x->name, y, length, shorter); };
  const std::string fits = form(below(2) ? "{3} <= {2}" : "{2} >= {3}");
  switch (below(5)) {
    case 0: {
      static constexpr const char* forms[] = {"{0}[: {3}] * 0.5 + {1} * 0.5", "{0}[{2} - {3} :]",
                                              "tanh ({0}[{2} - {3} :] - {1})",
                                              "(for (i < {3}) ..p => {0}[i, ..p] * {1}[i, ..p])"};
      out_.conditions.push_back(shape::at_most(other[0], x->dims[0]));
      return define_branch(other, cost, fits, form(pick_form(forms)), y);
    }
    case 1: {
      static constexpr const char* forms[] = {"{0} with [: {3}] = {1}", "{0} with [{2} - {3} :] = {1} * 0.5",
                                              "{0} with [: {3}] = tanh ({0}[: {3}] + {1})"};
      out_.conditions.push_back(shape::at_most(other[0], x->dims[0]));
      return define_branch(x->dims, cost, fits, form(pick_form(forms)), "tanh " + x->name);
    }
    case 2:
      if ((x->dims[0] - other[0]).constant()) return;  // known never to be
      out_.conditions.push_back(shape::equal(other[0], x->dims[0]));
      return define_branch(x->dims, cost, form("{2} == {3}"), form("({0} + {1}) * 0.5"), x->name);
    case 3:  // one inside of the other
      out_.conditions.push_back(shape::at_least(x->dims[0], 2));
      return define(
          Family::branch, x->dims, 5, cost, "{}",
          form("if {2} >= 2 then (if {3} > 0 then {0} * 0.5 + {1}[0] * {0}[1] else {0} - {0}[1]) else {0}"));
    default:
      out_.conditions.push_back(shape::at_least(other[0], 1));
      return define_branch(Dims(other.begin() + 1, other.end()), cost, form("{2} >= 2 && {3} >= 1"),
                           form("tanh ({0}[1] + {1}[-1])"),
                           of_shape(Dims(other.begin() + 1, other.end())).name);
  }
}

}  // namespace axon::differential
