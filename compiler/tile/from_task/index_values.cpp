// See index_values.h. A quotient by a number is that of what all elements have in common, once for the block,
// and of a small rest: (s + v) / c is s / c + (s % c + v) / c. So what differs between elements is computed
// in 32 bits.
#include "tile/from_task/index_values.h"

#include <algorithm>

#include "tile/from_task/values.h"

namespace axon::tile {

namespace {

constexpr int64_t most_difference = int64_t{1} << 30, most_divisor = int64_t{1} << 20;

uint32_t pushed(Map& map, Expr e) {
  if (map.exprs.size() > most_exprs) throw Declined{"an expression is too large"};
  map.exprs.push_back(std::move(e));
  return static_cast<uint32_t>(map.exprs.size() - 1);
}
uint32_t index_in(Map& map, const Dim& d, Elem elem) {
  Expr e;
  e.kind = Expr::Kind::index;
  e.elem = elem;
  e.index = d;
  return pushed(map, std::move(e));
}
uint32_t cast_in(Map& map, uint32_t from, Elem elem) {
  Expr e;
  e.kind = Expr::Kind::cast;
  e.elem = elem;
  e.args = {from};
  return pushed(map, std::move(e));
}

}  // namespace

/// A number at each element of a block: `same` + `steps` + `rest`.
struct IndexValue::LaneNumber {
  Dim same;                      ///< without labels
  Dim steps;                     ///< labels times numbers
  std::optional<uint32_t> rest;  ///< an i32 of the map
  int64_t least = 0, most = 0;   ///< of steps + rest
  void add(int64_t factor, int64_t low, int64_t high) {
    const int64_t a = factor * low, b = factor * high;
    least += std::min(a, b);
    most += std::max(a, b);
  }
  bool is_small() const { return -most_difference < least && most < most_difference; }
};

/// Does the dimension move by steps where a label does?
bool moves_by_steps(const Dim& d, const std::vector<Var>& labels) {
  return std::all_of(labels.begin(), labels.end(), [&](Var v) { return d.linear_in(v).has_value(); });
}

/// nullopt where it is no sum of steps, which are numbers, and of quotients and remainders by numbers.
std::optional<IndexValue::LaneNumber> IndexValue::lane_number(const Dim& d) {
  LaneNumber out;
  for (const shape::Term& term : d.terms()) {
    const Dim alone = shape::dim_of(term);
    if (std::none_of(labels_.begin(), labels_.end(), [&](Var v) { return alone.contains(v); })) {
      out.same = out.same + alone;
      continue;
    }
    if (term.factors.size() != 1 || std::abs(term.coefficient) > most_divisor) return std::nullopt;
    const shape::Atom& atom = term.factors.front();
    if (atom.kind() == shape::AtomKind::var) {
      out.steps = out.steps + alone;
      out.add(term.coefficient, 0, last_);
      continue;
    }
    const auto part = divided(atom);
    if (!part) return std::nullopt;
    out.same = out.same + Dim(term.coefficient) * part->same;
    out.add(term.coefficient, part->least, part->most);
    uint32_t rest = *part->rest;
    if (term.coefficient != 1) {
      const uint32_t times = pushed(map_, of_number({0, term.coefficient}, Elem::i32));
      rest = pushed(map_, applied(Pointwise::mul, Elem::i32, {rest, times}));
    }
    out.rest = out.rest ? pushed(map_, applied(Pointwise::add, Elem::i32, {*out.rest, rest})) : rest;
    if (!out.is_small()) return std::nullopt;
  }
  return out.is_small() ? std::optional(out) : std::nullopt;
}

/// A quotient or remainder by a number.
std::optional<IndexValue::LaneNumber> IndexValue::divided(const shape::Atom& atom) {
  const bool is_quotient = atom.kind() == shape::AtomKind::floor_div;
  if (!is_quotient && atom.kind() != shape::AtomKind::mod) return std::nullopt;
  const auto by = atom.rhs().constant();
  if (!by || *by < 1 || *by > most_divisor) return std::nullopt;
  const auto of = lane_number(atom.lhs());
  if (!of) return std::nullopt;
  // Of what is not negative the quotient needs no rounding down.
  const Elem elem = of->least >= 0 ? Elem::u32 : Elem::i32;
  uint32_t dividend = index_in(map_, shape::mod(of->same, Dim(*by)) + of->steps, Elem::i32);
  if (of->rest) dividend = pushed(map_, applied(Pointwise::add, Elem::i32, {dividend, *of->rest}));
  if (elem != Elem::i32) dividend = cast_in(map_, dividend, elem);
  const uint32_t divisor = pushed(map_, of_number({0, *by}, elem));
  LaneNumber out;
  out.rest = pushed(map_, applied(is_quotient ? Pointwise::div : Pointwise::mod, elem, {dividend, divisor}));
  if (elem != Elem::i32) out.rest = cast_in(map_, *out.rest, Elem::i32);
  if (!is_quotient) {
    out.most = *by - 1;
    return out;
  }
  out.same = shape::floor_div(of->same, Dim(*by));
  out.least = of->least / *by - 1;
  out.most = (of->most + *by - 1) / *by + 1;
  return out;
}

/// A dimension as an i64. No operand of a minimum or a maximum leaves i64 where the element is one
/// (graph/integers.cpp); a sum may, on the way to what does not.
uint32_t IndexValue::number_of(const Dim& d) {
  if (moves_by_steps(d, labels_)) return index_in(map_, d, Elem::i64);
  const size_t before = map_.exprs.size();
  if (const auto lanes = lane_number(d)) {
    const uint32_t rest = cast_in(map_, *lanes->rest, Elem::i64);
    const Dim steps = lanes->same + lanes->steps;
    if (steps.is(0)) return rest;
    return pushed(map_, applied(Pointwise::add, Elem::i64, {rest, index_in(map_, steps, Elem::i64)}));
  }
  map_.exprs.resize(before);
  const auto is_choice = [&](const shape::Term& term) {
    const shape::AtomKind kind =
        term.factors.size() == 1 ? term.factors.front().kind() : shape::AtomKind::var;
    return (kind == shape::AtomKind::min || kind == shape::AtomKind::max) &&
           !moves_by_steps(shape::dim_of(term), labels_);
  };
  const auto found = std::find_if(d.terms().begin(), d.terms().end(), is_choice);
  if (found == d.terms().end()) throw Declined{"an index is divided by a size, or multiplied"};
  const shape::Atom& atom = found->factors.front();
  const Pointwise op = atom.kind() == shape::AtomKind::min ? Pointwise::min : Pointwise::max;
  const uint32_t lhs = number_of(atom.lhs()), rhs = number_of(atom.rhs());
  uint32_t value = pushed(map_, applied(op, Elem::i64, {lhs, rhs}));
  if (found->coefficient != 1) {
    const uint32_t times = pushed(map_, of_number({0, found->coefficient}, Elem::i64));
    value = pushed(map_, applied(Pointwise::mul, Elem::i64, {value, times}));
  }
  const Dim others = d - shape::dim_of(*found);
  if (others.is(0)) return value;
  return pushed(map_, applied(Pointwise::add, Elem::i64, {value, number_of(others)}));
}

}  // namespace axon::tile
