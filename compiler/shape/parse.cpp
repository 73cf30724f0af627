// parse_dim(): the grammar of parse_expr.h over Dims.
#include "shape/parse.h"

#include "shape/parse_expr.h"

namespace axon::shape {
namespace {

struct DimAlgebra {
  using Value = Dim;
  const NameLookup& lookup;

  Dim number(int64_t value) { return value; }
  std::optional<Dim> name(std::string_view text) { return lookup(text); }
  Dim add(const Dim& a, const Dim& b) { return a + b; }
  Dim subtract(const Dim& a, const Dim& b) { return a - b; }
  Dim multiply(const Dim& a, const Dim& b) { return a * b; }
  Dim divide(const Dim& a, const Dim& b) { return floor_div(a, b); }
  Dim modulo(const Dim& a, const Dim& b) { return mod(a, b); }
  std::optional<Dim> call(std::string_view name, const std::vector<Dim>& arguments) {
    if (name == "cdiv" && arguments.size() == 2) return cdiv(arguments[0], arguments[1]);
    if ((name != "min" && name != "max") || arguments.size() < 2) return std::nullopt;
    Dim result = arguments[0];
    for (size_t i = 1; i < arguments.size(); ++i)
      result = name == "min" ? min(result, arguments[i]) : max(result, arguments[i]);
    return result;
  }
};

}  // namespace

std::optional<Dim> parse_dim_prefix(std::string_view text, size_t& position, const NameLookup& lookup,
                                    DimParseError* error) {
  DimAlgebra algebra{lookup};
  ExprParser<DimAlgebra> parser(text, position, algebra);
  auto value = parser.sum();
  if (!value && error) *error = parser.error();
  if (value) position = parser.position();
  return value;
}

std::optional<Dim> parse_dim(std::string_view text, const NameLookup& lookup, DimParseError* error) {
  size_t position = 0;
  auto value = parse_dim_prefix(text, position, lookup, error);
  if (!value) return value;
  while (position < text.size() && (text[position] == ' ' || text[position] == '\n')) ++position;
  if (position == text.size()) return value;
  if (error) *error = {position, "nothing more is expected after the dimension"};
  return std::nullopt;
}

}  // namespace axon::shape
