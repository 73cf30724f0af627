// Limits of what a type may say: axes, extents and elements of one tensor.
//
// Only what the type itself makes known is looked at; sizes that arguments decide are checked where they are
// known. One report for a declaration, at the first place in the text.
#include "source/limits.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

#include "core/check.h"
#include "core/number.h"

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

}  // namespace

/// Numbers that would wrap around, or become infinite, in the type that they have.
void Checker::check_numbers() {
  const DeclInfo& info = e_.infos[g_.index];
  for (uint32_t i = info.first_expr; i < info.end_expr; ++i) {
    const Expr& e = p_.exprs[{i}];
    if (e.kind != Expr::Kind::number || !e.type.valid()) continue;
    const Type t = vars_[vars_.zonk(e.type)];
    if (t.kind != Type::Kind::tensor || !t.elem.elem) continue;
    const NumberRange range = range_of(*t.elem.elem);
    const double value = std::strtod(e.text.c_str(), nullptr);
    if (range.holds(value)) continue;
    const std::string_view elem = base::elem_name(*t.elem.elem);
    reporter_.report(
        source::error(Code::E0320, e.span, fmt::format("`{}` does not fit into {}", e.text, elem))
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
  reporter_.pending().clear();  // they follow from it
  reporter_.report(source::error(found->code, at).text("The tensor here: " + found->what + "."));
  p_.globals[g_].has_error = true;
}

}  // namespace axon::core
