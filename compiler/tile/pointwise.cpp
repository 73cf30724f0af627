// See pointwise.h.
#include "tile/pointwise.h"

#include <cmath>
#include <limits>

#include "base/round.h"

namespace axon::tile {

namespace {

enum class OpKind : uint8_t { arithmetic, rounding, function, comparison, logic, choice };
struct OpRow {
  Pointwise op;
  const char* name;
  size_t arity;
  OpKind kind;
};
constexpr OpRow rows[] = {
#define ARITHMETIC(name, arity) {Pointwise::name, #name, arity, OpKind::arithmetic},
#define ROUNDING(name) {Pointwise::name, #name, 1, OpKind::rounding},
#define UNARY(name, length) {Pointwise::name, #name, 1, OpKind::function},
#define BINARY(name, length) {Pointwise::name, #name, 2, OpKind::function},
#define COMPARISON(name) {Pointwise::name, #name, 2, OpKind::comparison},
#define LOGIC(name, word, arity) {Pointwise::name, word, arity, OpKind::logic},
#define CHOICE(name) {Pointwise::name, #name, 3, OpKind::choice},
#include "base/ops.def"
};
const OpRow& row(Pointwise op) { return rows[static_cast<size_t>(op)]; }

}  // namespace

const char* op_name(Pointwise op) { return row(op).name; }
size_t arity_of(Pointwise op) { return row(op).arity; }
std::optional<Pointwise> find_op(std::string_view name) {
  for (const OpRow& r : rows)
    if (name == r.name) return r.op;
  return std::nullopt;
}

std::optional<Elem> result_elem(Pointwise op, const std::vector<Elem>& args) {
  if (args.size() != row(op).arity) return std::nullopt;
  const Elem last = args.back();
  for (size_t i = row(op).kind == OpKind::choice ? 1 : 0; i < args.size(); ++i)
    if (args[i] != last) return std::nullopt;
  if (base::is_narrow(last)) return std::nullopt;
  const auto only_if = [](bool fits, Elem elem) { return fits ? std::optional(elem) : std::nullopt; };
  switch (row(op).kind) {
    case OpKind::arithmetic:
      return only_if(last != Elem::boolean, last);
    case OpKind::rounding:
    case OpKind::function:
      return only_if(base::is_float(last), last);
    case OpKind::comparison:
      return Elem::boolean;
    case OpKind::logic:
      return only_if(last == Elem::boolean, last);
    case OpKind::choice:
      return only_if(args[0] == Elem::boolean, last);
  }
  return std::nullopt;
}

Number apply(Pointwise op, Elem elem, std::span<const Number> args) {
  if (row(op).kind == OpKind::choice) return args[0].integer ? args[1] : args[2];
  const Number a = args[0], b = args.size() > 1 ? args[1] : Number();
  if (row(op).kind == OpKind::comparison)
    return {0, base::is_float(elem) ? base::compare(op, a.real, b.real)
                                    : base::compare(op, a.integer, b.integer)};
  if (base::is_float(elem)) return {base::round_to(elem, base::of_reals(op, a.real, b.real)), 0};
  return {0, base::wrap_to(elem, base::of_integers(op, a.integer, b.integer))};
}

Number cast(const Number& n, Elem from, Elem to) {
  if (base::is_float(to))
    return {base::round_to(to, base::is_float(from) ? n.real : base::real_of(to, n.integer)), 0};
  return {0, base::is_float(from) ? base::truncate_to(to, n.real) : base::wrap_to(to, n.integer)};
}

bool is_monoid(Pointwise op) {
  return op == Pointwise::add || op == Pointwise::mul || op == Pointwise::min || op == Pointwise::max ||
         op == Pointwise::and_ || op == Pointwise::or_;
}

Number neutral(Pointwise op, Elem elem) {
  if (op == Pointwise::mul || op == Pointwise::and_)
    return {base::is_float(elem) ? 1.0 : 0.0, !base::is_float(elem)};
  if (op != Pointwise::min && op != Pointwise::max) return {};
  const bool greatest = op == Pointwise::min;
  if (base::is_float(elem)) {
    const double inf = std::numeric_limits<double>::infinity();
    return {greatest ? inf : -inf, 0};
  }
  const auto range = base::range_of_integers(elem);
  return {0, greatest ? range.greatest : range.least};
}

Number multiply_add(Elem elem, const Number& a, const Number& b, const Number& acc) {
  if (elem == Elem::f32)
    return {std::fma(static_cast<float>(a.real), static_cast<float>(b.real), static_cast<float>(acc.real)),
            0};
  if (base::is_float(elem)) return {std::fma(a.real, b.real, acc.real), 0};
  return {0, base::wrap_to(elem, base::add_wrapping(acc.integer, base::mul_wrapping(a.integer, b.integer)))};
}

bool is_less(const Number& a, const Number& b, Elem elem) {
  return base::is_float(elem) ? a.real < b.real : a.integer < b.integer;
}

}  // namespace axon::tile
