// Functions as values, each of whose calls has a size of its own: (k : i64) -> t that mentions k. They are
// made where tensors are in sight, named, chosen, put into records and tuples, composed, and given to
// functions whose parameters say what is expected.
#include "steps.h"

namespace axon::differential {

/// A dependent function: what it is, and the type that a parameter states for it.
struct Steps::Maker {
  std::string value;
  std::string type;
  std::function<Dim(const Dim&)> axis;  ///< the first axis of what it makes
  Dims rest;
};

namespace {

/// Bodies that make `k` rows of something, of rank 1; {0} is a vector.
constexpr const char* vector_bodies[] = {
    "for (i < k) => {0}[i else 0.5] * 0.5", "for (i < k) => tanh ({0}[k - 1 - i else 0.25])",
    "for (i < k) => sum j => {0}[j] * real (i % 3) * 0.1", "(for (i < k) => real (i * 3 % 7)) * 0.1"};
/// Of rows of {0}, of any rank above.
constexpr const char* row_bodies[] = {"for (i < k) ..p => {0}[i, ..p else 0.5] * 0.5",
                                      "for (i < k) ..p => tanh ({0}[i + 1, ..p else -0.5] + real (i % 2))",
                                      "for (i < k) ..p => (sum j => {0}[j, ..p]) * real (i % 3) * 0.1"};

/// What a function makes of `f`, called at k1 and k2.
struct Use {
  const char* body;
  int form;  ///< of the first axis: 0 as f k1, 1 as f (k1 + 1), 2 as f k1 and f k2 behind each other
};
constexpr Use uses[] = {{"tanh (f k1 + f k1 * 0.5)", 0},
                        {"concat (f k1) (f k2)", 2},
                        {"f (k1 + 1)", 1},
                        {"let (a, b) = (f k1, f (k1 + 1)) in b * 0.5", 1},
                        {"iterate 2 (fn s => tanh (s * 0.5 + f k1)) (f k1)", 0},
                        {"fold (fn s r => tanh (s * 0.5 + f k1 * r)) (f k1) [0.5, 0.25]", 0},
                        {"let g = f in concat (g k1) (g k2)", 2},
                        {"if k2 > 2 then f k1 else f k1 * 0.5", 0},
                        {"let h = fn j => f j in h k1 - f k1 * 0.25", 0},
                        {"(f k1) with [: dim (f k1) 0 / 2] = (f k1)[: dim (f k1) 0 / 2] * 0.5", 0},
                        {"let r = {make = f, size = k1} in r.make r.size", 0}};

}  // namespace

Steps::Maker Steps::maker() {
  Maker made;
  const auto x = pick({1, 2, 3});
  made.rest = Dims(x->dims.begin() + 1, x->dims.end());
  const int shape = below(3);
  const std::string body = fmt::format(
      fmt::runtime(made.rest.empty() ? pick_form(vector_bodies) : pick_form(row_bodies)), x->name);
  std::string rest;
  for (size_t a = 0; a < made.rest.size(); ++a) rest += fmt::format(", d{}", a);
  if (!rest.empty() && below(2)) rest = ", ..s";
  // A body has the element type of the tensor, or that of the place that wants it.
  switch (shape) {
    case 0:
      made.value = fmt::format("(fn (k : i64) => {})", body);
      made.axis = [](const Dim& k) { return k; };
      made.type = fmt::format("(k : i64) -> {}[k{}]", out_.elem, rest);
      break;
    case 1:
      made.value = fmt::format("(fn (k : i64) => let y = ({}) in concat y y)", body);
      made.axis = [](const Dim& k) { return k * 2; };
      made.type = fmt::format("(k : i64) -> {}[2*k{}]", out_.elem, rest);
      break;
    default: {
      const std::string one = of_shape(made.rest).name;
      made.value = fmt::format("(fn (k : i64) => concat (for (i < 1) ..p => {}[..p]) ({}))", one, body);
      made.axis = [](const Dim& k) { return k + 1; };
      made.type = fmt::format("(k : i64) -> {}[k + 1{}]", out_.elem, rest);
    }
  }
  return made;
}

void Steps::dependent() {
  const Maker f = maker();
  const auto in_scope = [&] { return pick({1, 2, 3})->dims.back(); };
  const Dim n = in_scope(), m = in_scope();
  const Use& use = uses[below(std::size(uses))];
  Dims dims = f.rest;
  dims.insert(dims.begin(), use.form == 0   ? f.axis(n)
                            : use.form == 1 ? f.axis(n + 1)
                                            : f.axis(n) + f.axis(m));
  if (!small({n, m, dims[0]})) return;
  const Dim cost = volume(dims) * 6 + volume(f.rest) * (n + m + 1) * 24;
  std::string given = f.value;
  switch (below(6)) {
    case 0: {  // chosen
      const std::string other = fresh("g");
      given = fmt::format("(let {0} = {1} let {0}b = if {2} > 2 then {0} else (fn j => {0} j) in {0}b)",
                          other, f.value, text(n));
      break;
    }
    case 1:
      given = fmt::format("({{a = {}, b = 0.5}}.a)", f.value);
      break;
    case 2:
      given = fmt::format("(let (g, h) = ({}, 0.5) in g)", f.value);
      break;
    default:
      break;
  }
  const std::string name = function_name();
  if (below(4) == 0) {  // no function of its own
    return define(Family::dependent, dims, 4, cost, "(let f = {} let k1 = {} let k2 = {} in {})", given,
                  text(n), text(m), use.body);
  }
  if (below(2)) {  // by a field
    declare(
        fmt::format("{} (p : {{make : {}, size : i64}}) (k2 : i64) = let f = p.make "
                    "let k1 = max 0 p.size in {}",
                    name, f.type, use.body));
    // The type of the record does not say which integer the size is: that is stated again.
    return define(Family::dependent, dims, 4, cost, "({} {{make = {}, size = {}}} ({}) :> [{}, ..])", name,
                  given, text(n), text(m), text(dims[0]));
  }
  declare(fmt::format("{} (f : {}) (k1 : i64) (k2 : i64) = {}", name, f.type, use.body));
  define(Family::dependent, dims, 4, cost, "{} {} ({}) ({})", name, given, text(n), text(m));
}

}  // namespace axon::differential
