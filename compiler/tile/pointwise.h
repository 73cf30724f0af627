// The pointwise operators as tile programs use them: their names, types, and values rounded to a type.
//
// In: an operator of base/ops.def and numbers of one element type. Out: a number of the type of the result.
// Invariant: floats narrower than f32 are stored only; nothing is computed in them.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "tile/tile.h"

namespace axon::tile {

const char* op_name(Pointwise);
std::optional<Pointwise> find_op(std::string_view name);
size_t arity_of(Pointwise);
/// Of operands of these types; nullopt where it takes no such operands.
std::optional<Elem> result_elem(Pointwise, const std::vector<Elem>& args);

Number apply(Pointwise, Elem operands, std::span<const Number> args);
Number cast(const Number&, Elem from, Elem to);

/// The operators that reductions, scans and scatters fold with.
bool is_monoid(Pointwise);
/// Of a monoid: what changes nothing.
Number neutral(Pointwise, Elem);
/// acc + a * b, rounded once.
Number multiply_add(Elem, const Number& a, const Number& b, const Number& acc);
bool is_less(const Number&, const Number&, Elem);

}  // namespace axon::tile
