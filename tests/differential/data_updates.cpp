// Updates where the data says: at a position, or a run of them, that an integer tensor decides.
#include "steps.h"

namespace axon::differential {

namespace {

/// At row {1} of {0}; {2} has the shape of one row.
constexpr const char* update_row_forms[] = {"{0} with [{1}] = {2}", "{0} with [{1}] = {0}[{1}] * 0.5 + 1.0",
                                            "{0} with [{1}] = tanh ({0}[{1}] + {2})",
                                            "({0} with [{1}] = {2}) * 0.5 + {0} * 0.25",
                                            "(let u = {0} with [{1}] = {2} in u with [0] = u[{1}] * 0.5)"};

/// Rows from {1}, which leaves two of them; {2} has the shape of one row.
constexpr const char* update_run_forms[] = {
    "(let f = {1} in {0} with [f : f + 2] = [{2}, {2} * 0.5])",
    "(let f = {1} in {0} with [f : f + 2] = {0}[f : f + 2] * 0.5 + 1.0)",
    "(let f = {1} in {0} with [f : f + 2] = tanh {0}[f : f + 2])",
    "(let f = {1} let u = {0} with [f : f + 2] = {0}[0 : 2] in u * 0.5 + {0} * 0.25)"};

/// Rows up to or from {1}, which may be all of them; {2} has the shape of {0}.
constexpr const char* update_rest_forms[] = {"(let f = {1} in {0} with [: f] = {2}[: f] * 0.5)",
                                             "(let f = {1} in {0} with [f :] = tanh ({2}[f :]))",
                                             "(let f = {1} in {0} with [: f] = {0}[: f] + {2}[: f] * 0.5)"};

/// In a step, where `p` is a position of the state `s` and `r` a row.
constexpr const char* step_forms[] = {"s with [p] = r", "s with [p] = s[p] * 0.5 + 1.0",
                                      "s with [p] = tanh (s[p] + r)",
                                      "(let u = s with [p] = s[p] * 0.5 in u with [0] = r * 0.25)"};

/// The same with an element read that is not the one that is changed, which takes a copy.
constexpr const char* copying_step_forms[] = {
    "(let u = s with [0] = s[p] in u with [p] = u[p] * 0.5 + r * 0.25)",
    "s with [p] = s[0] * 0.5 - r * 0.25"};

/// The same for two rows from `p`.
constexpr const char* step_run_forms[] = {"s with [p : p + 2] = [r, r * 0.5]",
                                          "s with [p : p + 2] = s[p : p + 2] * 0.5 + 0.25"};

constexpr const char* update_index_elems[] = {"i32", "i64"};

}  // namespace

/// The text of a position of `axis` that leaves `room` elements from it: made of the integer that `from` is.
std::string Steps::clamped(const std::string& from, const Dim& axis, int room) {
  static constexpr const char* forms[] = {"min (max ({0} - 2) 0) ({1} - {2})", "max (min {0} ({1} - {2})) 0",
                                          "min {0} ({1} - {2})", "min (max (3 - {0}) 0) ({1} - {2})"};
  at_least(axis, room);
  return fmt::format(fmt::runtime(pick_form(forms)), from, text(axis), room);
}

std::string Steps::clamped_datum(const Dim& axis, int room) {
  const char* const elem = pick_form(update_index_elems);
  const std::string given = integers({3}, axis + 3, elem);
  return clamped(fmt::format("(i64 {}[{}])", given, below(3)), axis, room);
}

void Steps::update_by_data() {
  const auto x = pick_where([&](const Tensor& t) { return !t.dims.empty() && t.dims[0].as_var(); });
  if (!x) return;
  if (below(2)) return update_by_data_in_loop(*x);
  const Dims& dims = x->dims;
  const Dim axis = dims[0];
  const Dims row(dims.begin() + 1, dims.end());
  const auto form = [&](const char* f, const std::string& at, const Dims& shape) {
    return define(Family::data_update, dims, 4, 0, f, x->name, at, of_shape(shape).name);
  };
  switch (below(6)) {
    case 0:
    case 1:
      return form(pick_form(update_row_forms), clamped_datum(axis, 1), row);
    case 2:
      return form(pick_form(update_run_forms), clamped_datum(axis, 2), row);
    case 3:
      return form(pick_form(update_rest_forms), clamped_datum(axis, 0), dims);
    case 4: {  // columns, and elements
      if (dims.size() != 2 || !dims[1].as_var()) return;
      const std::string at = clamped_datum(dims[1], 1);
      if (below(2)) return form("{0} with [:, {1}] = {2}", at, {axis});
      return define(Family::data_update, dims, 4, 0, "{0} with [{1}, {2}] = {0}[{1}, {2}] * 0.5 + 1.0",
                    x->name, clamped_datum(axis, 1), at);
    }
    default: {  // every row at a place of its own
      if (dims.size() != 2 || !dims[1].as_var()) return;
      const std::string places = integers({axis}, dims[1] + 3, "i64");
      const std::string at = clamped(places + "[i]", dims[1], 1);
      return define(Family::data_update, dims, 4, 0, "for i => {0}[i] with [{1}] = {0}[i, {1}] * 0.5 + 1.0",
                    x->name, at);
    }
  }
}

/// One position after the other, each with a row.
void Steps::update_by_data_in_loop(const Tensor& x) {
  const Dims& dims = x.dims;
  const Dims row(dims.begin() + 1, dims.end());
  Dims rows = row;
  rows.insert(rows.begin(), layers());
  const std::string given = of_shape(rows).name, places = integers({layers()}, dims[0] + 3, "i64");
  const bool run = below(3) == 0;
  const std::string at = clamped("q", dims[0], run ? 2 : 1);
  const bool in_place = depth_ == 0 && below(4) == 0;
  const std::string next = run                    ? pick_form(step_run_forms)
                           : in_place || below(2) ? pick_form(step_forms)
                                                  : pick_form(copying_step_forms);
  const Dim cost = volume(dims) * layers() * 4;
  if (in_place)
    return define_result(Family::data_update, fresh("t"), 5, cost,
                         fmt::format("fold (fn s (q, r) => let p = {} in {}) {} ({}, {})", at, next,
                                     state(dims), places, given));
  switch (below(3)) {
    case 0:
      return define(Family::data_update, dims, 5, cost, "fold (fn s (q, r) => let p = {} in {}) {} ({}, {})",
                    at, next, x.name, places, given);
    case 1:
      return define(
          Family::data_update, rows, 5, cost,
          "(let (last, all) = scan (fn s (q, r) => let p = {} let u = {} in (u, u[p])) {} ({}, {}) in all)",
          at, next, x.name, places, given);
    default:  // as often as the data says
      return define(Family::data_update, dims, 6, cost,
                    "while (fn (s, c) => c < 3) (fn (s, c) => let q = c * 2 let p = {} let r = s[p] * 0.5 in "
                    "({}, c + 1)) "
                    "({}, i64 0) |> (fn (s, c) => s)",
                    at, next, x.name);
  }
}

}  // namespace axon::differential
