// Updates by slices where they happen again and again: in the steps of loops and in the elements of a `for`.
// Where a slice begins, and how long it is, is data; some positions are clamped, others are left to the
// check.
#include "steps.h"

namespace axon::differential {

/// One step: the next state made of the state `s`, an integer `q` of the data and, where `rows` says so, a
/// tensor `r` per step.
struct Steps::SliceStep {
  Dim bound;  ///< of q
  bool checked = false;
  std::optional<Dims> rows;
  std::string start;  ///< where the slice begins, made of q
  std::string next;   ///< refers to the start as `p`
  bool copies = false;
};

namespace {

/// A run of {0} rows from `p`, written over; {1} is a text of that many rows.
constexpr const char* slice_run_forms[] = {
    "s with [p : p + {0}] = {1}", "s with [p : p + {0}] = s[p : p + {0}] * 0.5 + {1} * 0.25",
    "(let u = s with [p : p + {0}] = {1} in u with [p : p + 1] = u[p : p + 1] * 0.5)"};
/// The same of the state alone.
constexpr const char* own_run_forms[] = {"s with [p : p + {0}] = s[p : p + {0}] * 0.5 + 0.25",
                                         "s with [p : p + {0}] = tanh (s[p : p + {0}])"};
/// Reads another part than it writes.
constexpr const char* copying_run_forms[] = {"s with [p : p + {0}] = s[0 : {0}]",
                                             "s * 0.5 + (s with [p : p + {0}] = s[0 : {0}]) * 0.25",
                                             "s with [::-1] = s * 0.75 + 0.0 * s[p]"};
/// Up to `p` and from it on, and every second row.
constexpr const char* slice_rest_forms[] = {
    "s with [: p] = s[: p] * 0.5", "s with [p :] = tanh (s[p :])",
    "(let u = s with [: p] = s[: p] + 0.25 in u with [p :] = u[p :] * 0.5)"};
constexpr const char* strided_forms[] = {"s with [::2] = s[::2] * 0.5 + 0.1 * real p",
                                         "s with [1::2] = tanh (s[1::2])"};
/// Columns, a part of one row, and a box.
constexpr const char* inner_forms[] = {"s with [:, p : p + {0}] = s[:, p : p + {0}] * 0.5 + 0.25",
                                       "s with [0, p : p + {0}] = s[0, p : p + {0}] * 0.5 - 0.25",
                                       "s with [1 :, p : p + {0}] = tanh (s[1 :, p : p + {0}])",
                                       "s with [:, p : p + {0}] = s[:, 0 : {0}]"};

}  // namespace

/// Where a slice of `width` begins: clamped, or just the integer.
std::string Steps::slice_start(const std::string& from, const Dim& axis, const Dim& width) {
  const auto constant = width.constant();
  if (!constant || below(2)) return from;
  return clamped(from, axis, static_cast<int>(*constant));
}

Steps::SliceStep Steps::slice_step(const Dims& dims) {
  const Dim axis = dims[0];
  const Dims row(dims.begin() + 1, dims.end());
  const int wide = 1 + below(3);
  const Dim other = pick_size();
  SliceStep step;
  const auto begin = [&](const Dim& of, const Dim& width) {
    step.start = slice_start("q", of, width);
    step.checked = step.start == "q";
    step.bound = step.checked ? of - width + 1 : of + 3;
  };
  switch (below(dims.size() > 1 && dims[1].as_var() ? 8 : 6)) {
    case 0: {  // rows that are given
      at_least(axis, wide);
      begin(axis, wide);
      step.rows = row;
      step.rows->insert(step.rows->begin(), wide);
      step.next = fmt::format(fmt::runtime(pick_form(slice_run_forms)), wide, "r");
      return step;
    }
    case 1: {  // as many as two sizes and the data say
      const std::string width = fmt::format("(min {} {})", text(axis), text(other));
      begin(axis, min(axis, other));
      step.rows = row;
      step.rows->insert(step.rows->begin(), other);
      step.next = fmt::format("(let h = {} in s with [p : p + h] = r[: h])", width);
      return step;
    }
    case 2:  // as many as the data says
      step.bound = axis + 1;
      step.start = fmt::format("min (max q 0) {}", text(axis));
      step.next = fmt::format(
          fmt::runtime(below(2) ? "(let h = {0} - p in s with [p : p + h] = s[p : p + h] * 0.5 + 0.25)"
                                : "(let h = min 2 ({0} - p) in s with [p : p + h] = s[p : p + h] * 0.5)"),
          text(axis));
      return step;
    case 3:
      step.bound = axis + 1;
      step.checked = true;
      step.start = "q";
      step.next = pick_form(slice_rest_forms);
      return step;
    case 4:
      at_least(axis, 1);
      step.bound = 4;
      step.start = "q";
      step.next = pick_form(strided_forms);
      return step;
    case 5:
      at_least(axis, wide);
      begin(axis, wide);
      step.copies = below(3) == 0;
      step.next = fmt::format(
          fmt::runtime(step.copies ? pick_form(copying_run_forms) : pick_form(own_run_forms)), wide);
      return step;
    default:
      at_least(axis, 1);
      at_least(dims[1], wide);
      begin(dims[1], wide);
      step.copies = true;
      step.next = fmt::format(fmt::runtime(pick_form(inner_forms)), wide);
      return step;
  }
}

void Steps::update_slices() {
  if (below(3) == 0) return update_slices_in_elements();
  const auto x = pick_where([&](const Tensor& t) { return !t.dims.empty() && t.dims[0].as_var(); });
  if (!x) return;
  const Dims& dims = x->dims;
  const Dims row(dims.begin() + 1, dims.end());
  const SliceStep step = slice_step(dims);
  const std::string places = step.checked ? checked_integers({layers()}, step.bound, "i64")
                                          : integers({layers()}, step.bound, "i64");
  std::string head = "q", stack = places;
  if (step.rows) {
    Dims all = *step.rows;
    all.insert(all.begin(), layers());
    if (all.size() > 4) return;
    head = "(q, r)";
    stack = fmt::format("({}, {})", places, weight(all).name);
  }
  const Dim cost = volume(dims) * layers() * 6;
  const std::string lets = fmt::format("let p = {}", step.start);
  if (depth_ == 0 && !step.copies && below(4) == 0)
    return define_result(
        Family::slice_update, fresh("t"), 4, cost,
        fmt::format("fold (fn s {} => {} in {}) {} {}", head, lets, step.next, state(dims), stack));
  switch (below(4)) {
    case 0: {
      Dims all = row;
      all.insert(all.begin(), layers());
      if (all.size() > 3) break;
      at_least(dims[0], 1);
      return define(Family::slice_update, all, 5, cost,
                    "(let (last, all) = scan (fn s {} => {} let u = {} in (u, u[0] - s[0])) {} {} in all)",
                    head, lets, step.next, x->name, stack);
    }
    case 1:
      return define(Family::slice_update, dims, 6, cost * 2,
                    "iterate 2 (fn t => fold (fn s {} => {} in {}) (t * 0.75) {}) {}", head, lets, step.next,
                    stack, x->name);
    case 2:  // as often as the data says, where every step finds its place
      if (step.rows) break;
      return define(
          Family::slice_update, dims, 6, cost,
          "while (fn (s, c) => c < {1}) (fn (s, c) => let q = {0}[c] {2} in ({3}, c + 1)) ({4}, i64 0) "
          "|> (fn (s, c) => s)",
          places, text(layers()), lets, step.next, x->name);
    default:
      break;
  }
  define(Family::slice_update, dims, 4, cost, "fold (fn s {} => {} in {}) {} {}", head, lets, step.next,
         x->name, stack);
}

/// Every row for itself, at a place of its own.
void Steps::update_slices_in_elements() {
  const auto x = pick_where([&](const Tensor& t) { return t.dims.size() >= 2 && t.dims[1].as_var(); });
  if (!x) return;
  const Dims& dims = x->dims;
  const Dim rows = dims[0];
  const Dims inner(dims.begin() + 1, dims.end());
  SliceStep step = slice_step(inner);
  const Dim cost = volume(dims) * 8;
  const std::string places =
      step.checked ? checked_integers({rows}, step.bound, "i64") : integers({rows}, step.bound, "i64");
  std::string lets = fmt::format("let s = {}[i] let q = {}[i]", x->name, places);
  if (step.rows) {
    Dims all = *step.rows;
    all.insert(all.begin(), rows);
    if (all.size() > 3) return;
    lets += fmt::format(" let r = {}[i]", of_shape(all).name);
  }
  lets += fmt::format(" let p = {}", step.start);
  switch (below(3)) {
    case 0:
      if (dims.size() == 2)
        return define(Family::slice_update, {rows}, 4, cost, "(for i => {} in sum ({}) * 0.2)", lets,
                      step.next);
      break;
    case 1:
      return define(Family::slice_update, dims, 6, cost * 3,
                    "(for i => {0} in fold (fn s v => (let u = {1} in u * 0.5 + v * 0.1)) s [0.5, 0.25])",
                    lets, step.next);
    default:
      break;
  }
  define(Family::slice_update, dims, 4, cost, "(for i => {} in {})", lets, step.next);
}

}  // namespace axon::differential
