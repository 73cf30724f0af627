// See written_sizes.h.
#include "core/written_sizes.h"

#include <fmt/format.h>

#include <limits>

namespace axon::core {

using shape::Dim;
using source::Code;
using source::error;
using source::Span;
namespace stx = axon::syntax;

static constexpr uint64_t most_positive = std::numeric_limits<int64_t>::max();

Dim WrittenSizes::dim(stx::DimId id) const {
  const stx::Dim& d = c_.file[id];
  return std::visit(stx::Overloaded{[&](const stx::ErrorDim&) { return c_.unknown(); },
                                    [&](const stx::NumberDim& n) { return number(n.value, d.span); },
                                    [&](const stx::NameDim& n) { return c_.named(n.name); },
                                    [&](const stx::BinaryDim& b) { return binary(b, d.span); },
                                    [&](const stx::NegateDim& n) {
                                      const auto* number = stx::as<stx::NumberDim>(c_.file[n.of]);
                                      const bool least = number && number->value == most_positive + 1;
                                      return least ? Dim(std::numeric_limits<int64_t>::min()) : -dim(n.of);
                                    },
                                    [&](const stx::CallDim& c) { return call(c, d.span); }},
                    d.node);
}

Dim WrittenSizes::number(uint64_t value, Span at) const {
  if (value <= most_positive) return Dim(static_cast<int64_t>(value));
  c_.report(error(Code::E0320, at, fmt::format("`{}` does not fit into 64 bits", c_.sources.text(at))));
  return c_.unknown();
}

Dim WrittenSizes::binary(const stx::BinaryDim& b, Span at) const {
  const Dim lhs = dim(b.lhs), rhs = dim(b.rhs);
  if ((b.op == stx::DimOp::floor_divide || b.op == stx::DimOp::modulo) && rhs.is(0)) {
    c_.report(error(Code::E0321, at, "a size is divided by zero"));
    return c_.unknown();
  }
  switch (b.op) {
    case stx::DimOp::add:
      return lhs + rhs;
    case stx::DimOp::subtract:
      return lhs - rhs;
    case stx::DimOp::multiply:
      return lhs * rhs;
    case stx::DimOp::floor_divide:
      return shape::floor_div(lhs, rhs);
    case stx::DimOp::modulo:
      return shape::mod(lhs, rhs);
  }
  return lhs;
}

Dim WrittenSizes::call(const stx::CallDim& c, Span at) const {
  const bool known = c.fn.text == "min" || c.fn.text == "max" || c.fn.text == "cdiv";
  if (!known || c.args.size() != 2) {
    c_.report(error(Code::E0405, at,
                    fmt::format("`{}` with {} arguments is no operator on sizes", c.fn.text, c.args.size()))
                  .text("The operators on sizes are + - * / % and min, max, cdiv of two sizes."));
    return c_.unknown();
  }
  const Dim lhs = dim(c.args[0]), rhs = dim(c.args[1]);
  if (c.fn.text == "min") return shape::min(lhs, rhs);
  if (c.fn.text == "max") return shape::max(lhs, rhs);
  return shape::cdiv(lhs, rhs);
}

shape::Fact WrittenSizes::fact(const stx::Fact& f) const {
  const Dim l = dim(f.lhs), r = dim(f.rhs);
  switch (f.relation) {
    case stx::Relation::less_equal:
      return shape::at_most(l, r);
    case stx::Relation::greater_equal:
      return shape::at_least(l, r);
    case stx::Relation::less:
      return shape::less(l, r);
    case stx::Relation::greater:
      return shape::less(r, l);
    case stx::Relation::equal:
      return shape::equal(l, r);
    case stx::Relation::not_equal:
      return {l, shape::Relation::ne, r};
  }
  return shape::equal(l, r);
}

}  // namespace axon::core
