// Positions in sorted order: `argsmallest` and `arglargest`.
//
// In: a number and an array. Out: an element of a node that sorts the last axis, over the free index
// variables and the other axes. Where the number is an index variable, as in `for (i < k) => argsmallest i
// x`, its range is how much of the order the node keeps; otherwise that is all of it, and the number a
// checked index.
#include <algorithm>

#include "graph/from_core/evaluator.h"

namespace axon::graph {

/// The number as an index variable of a `for` around, when it is one that neither the keys nor how many there
/// are depend on, and that is sure to be less than these.
std::optional<Axis> PrimitiveEvaluator::number_axis(const Array& number, const Array& of) const {
  const auto index = affine_index(g, number.body);
  const auto var = index ? index->as_var() : std::nullopt;
  const auto is_it = [&](const Axis& a) { return a.var == *var; };
  const auto axis = var ? std::find_if(active_.begin(), active_.end(), is_it) : active_.end();
  if (axis == active_.end()) return std::nullopt;
  const std::vector<Axis> others = builder_.free_axes(of.body, of.shape);
  if (std::any_of(others.begin(), others.end(), is_it)) return std::nullopt;
  const bool is_inside = bounds_.proof(shape::less(*index, of.shape.back())) == Proof::always;
  return is_inside ? std::optional(*axis) : std::nullopt;
}

Val PrimitiveEvaluator::order(bool descending, const Array& number, const std::shared_ptr<Array>& of) {
  if (failed_) return {};
  if (of->shape.empty()) return fail(source::Code::E0602, "an order needs an axis to sort");
  const std::optional<Axis> known = number_axis(number, *of);
  const Dim extent = of->shape.back();
  const std::string name = order_name(descending);
  const Axis last = known.value_or(Axis{shape::fresh_var("i"), extent});
  std::vector<Dim> decides = of->shape;
  decides.push_back(last.extent);
  std::vector<Axis> domain = builder_.free_axes(of->body, decides);
  std::vector<ScalarId> at;
  for (const Axis& a : domain) at.push_back(index_of(g, Dim(a.var)));
  for (size_t i = 0; i + 1 < of->shape.size(); ++i) domain.push_back({of->vars[i], of->shape[i]});
  domain.push_back(last);
  TensorType type{Elem::i64, {}};
  for (const Axis& a : domain) type.shape.push_back(a.extent);
  const Var binder = shape::fresh_var(shape::var_name(of->vars.back()));
  const ScalarId key = substitute(g, of->body, {{of->vars.back(), Dim(binder)}});
  const ScalarId body = position_in_order(g, descending, {binder, extent}, key, index_of(g, Dim(last.var)));
  const Value sorted = builder_.emit(domain, body, type, name_here(name));
  const ScalarId place =
      known ? number.body : checked_.safe_index(number.body, extent, context_.quoted(context_.span_here()));
  if (failed_) return {};
  const std::vector<Dim> shape(of->shape.begin(), of->shape.end() - 1);
  return Val::of(builder_.fresh_array(
      Elem::i64, shape,
      [&](const std::vector<Var>& vars) {
        std::vector<ScalarId> indices = at;
        for (Var v : vars) indices.push_back(index_of(g, Dim(v)));
        indices.push_back(place);
        return load(g, sorted, indices, Elem::i64);
      },
      of->vars));
}

}  // namespace axon::graph
