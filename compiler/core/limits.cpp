// Limits of what a type may say: axes, extents and elements of one tensor.
//
// Only what the type itself makes known is looked at; sizes that arguments decide are checked where they are
// known. One report for a declaration, at the first place in the text.
#include "source/limits.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/check.h"

namespace axon::core {

using source::Code;
using source::Span;
namespace limits = source::limits;

namespace {

struct Excess {
  Code code;
  std::string what;
};

/// What of a tensor is too large, if anything. The product stops at the limit, so it never overflows.
std::optional<Excess> excess(const Type& t) {
  size_t axes = 0;
  int64_t elements = 1;
  bool known = true, over = false;
  for (const ShapeItem& item : t.shape) {
    const auto size = is_dim(item) ? item.dim.constant() : std::nullopt;
    axes += is_dim(item);
    known &= size.has_value();
    if (!size) continue;
    if (*size > limits::extent)
      return Excess{Code::E0502, fmt::format("one of its axes has {} elements", *size)};
    if (*size <= 0) return std::nullopt;  // a negative one is another error
    over |= elements > limits::elements / *size;
    if (!over) elements *= *size;
  }
  if (axes > limits::rank) return Excess{Code::E0501, fmt::format("it has {} axes", axes)};
  if (known && over) return Excess{Code::E0503, "its sizes multiply to more than that"};
  return std::nullopt;
}

/// The numbers that an element type holds.
struct Range {
  double least, most;
  std::string text;
};
Range integers(base::Elem elem) {
  const int bits = 8 * base::elem_bytes(elem);
  const bool is_signed = elem != base::Elem::u8;
  const double end = std::ldexp(1.0, is_signed ? bits - 1 : bits), least = is_signed ? -end : 0;
  return {least, end - 1, fmt::format("{:.0f} to {:.0f}", least, end - 1)};
}
/// A number a little larger than the largest is rounded to it, up to half of the last place; half itself
/// where the format has no infinity, since there the largest number is even.
Range floats(base::Elem elem) {
  const base::FloatFormat format = base::float_format(elem);
  const double half = std::ldexp(0.5, std::ilogb(format.largest) - format.fraction_bits);
  const double end = format.largest + half;
  const double most = format.has_infinity ? std::nextafter(end, 0.0) : end;
  return {-most, most, fmt::format("-{0:.5g} to {0:.5g}", format.largest)};
}
Range range_of(base::Elem elem) {
  if (base::is_float(elem)) return floats(elem);
  if (base::is_integer(elem) && elem != base::Elem::i64) return integers(elem);
  // from_syntax.cpp refuses what is more than 64 bits
  return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), ""};
}

}  // namespace

/// Numbers that would wrap around, or become infinite, in the type that they have.
void Checker::check_numbers() {
  const DeclInfo& info = e_.infos[g_.index];
  for (uint32_t i = info.first_expr; i < info.end_expr; ++i) {
    const Expr& e = p_.exprs[{i}];
    if (e.kind != Expr::Kind::number || !e.type.valid()) continue;
    const Type t = vars_[vars_.zonk(e.type)];
    if (t.kind != Type::Kind::tensor || !t.elem.elem) continue;
    const Range range = range_of(*t.elem.elem);
    const double value = std::strtod(e.text.c_str(), nullptr);
    if (range.least <= value && value <= range.most) continue;
    const std::string_view elem = base::elem_name(*t.elem.elem);
    report(source::error(Code::E0320, e.span, fmt::format("`{}` does not fit into {}", e.text, elem))
               .text(fmt::format("{} holds {}.", elem, range.text)));
    p_.globals[g_].has_error = true;
  }
}

void Checker::check_limits() {
  check_numbers();
  std::optional<Excess> found;
  Span at;
  auto look = [&](TypeId id, Span span) {
    if (!id.valid() || (at.valid() && at.begin <= span.begin)) return;
    const Type t = vars_[vars_.zonk(unifier_.shape_view(id))];
    if (t.kind != Type::Kind::tensor) return;
    if (auto e = excess(t)) {
      found = std::move(e);
      at = span;
    }
  };
  const DeclInfo& info = e_.infos[g_.index];
  for (uint32_t i = info.first_local; i < info.end_local; ++i) look(p_.locals[{i}].type, p_.locals[{i}].span);
  for (uint32_t i = info.first_expr; i < info.end_expr; ++i) look(p_.exprs[{i}].type, p_.exprs[{i}].span);
  if (!found) return;
  clashes_.clear();  // they follow from it
  report(source::error(found->code, at).text("The tensor here: " + found->what + "."));
  p_.globals[g_].has_error = true;
}

}  // namespace axon::core
