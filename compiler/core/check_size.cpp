// See check_size.h.
#include "core/check_size.h"

#include "core/check_expr.h"

namespace axon::core {

using shape::Dim;
using source::Span;

/// A name of a size is one wherever it stands: where its type is open, it is an integer that is known by it.
void SizeChecker::name_integer(ExprId id) {
  if (!names_.stands_for_size(id)) return;
  const Type t = vars_[vars_.head(p_.exprs[id].type)];
  if (t.kind != Type::Kind::var || !vars_.is_meta(t.var) || !known_.is_part_of_parameter(id)) return;
  vars_.solve(t.var, vars_.scalar(base::Elem::i64));
  known_.name_part(id, {base::Elem::i64, {}});
}

TypeId SizeChecker::same_read(ExprId id, TypeId type) {
  const std::string key = names_.read_key(id);
  if (names_.reads(key) < 2) return type;
  std::optional<shape::Var>& value = reads_[key];
  if (value && scopes_.in_scope(*value, id))
    return vars_.tensor(vars_[vars_.head(type)].elem, {}, Dim(*value));
  const TypeId named = opened_.name_value(type, "k", p_.exprs[id].span, ShownBy::integer(id));
  if (const auto known = value_of(named)) value = known->as_var();
  return named;
}

Dim SizeChecker::size_of(ExprId id) { return as_size(id, exprs_.infer(id)); }

/// An integer used as a size. One that is not made from sizes is a size that only the data decides.
Dim SizeChecker::as_size(ExprId id, TypeId t) {
  const Span at = p_.exprs[id].span;
  t = vars_.head(t);
  const Type type = vars_[t];
  if (type.kind == Type::Kind::error) return Dim(vars_.dim("n", VarKind::failed, true, at));
  if (type.kind == Type::Kind::var && vars_.is_meta(type.var)) {
    vars_.solve(type.var, vars_.scalar(base::Elem::i64));
    const auto part = known_.name_part(id, {base::Elem::i64, {}});
    return part ? *part : opened_.size_of_unknown(at, ShownBy::integer(id));
  }
  const TypeId wanted = vars_.tensor({std::nullopt, vars_.type("t", ElemClass::int_)}, {});
  const WhyId w = why(at, "a size", wanted, t, id);
  unifier_.unify(wanted, t, w);
  if (type.kind == Type::Kind::tensor && !vars_.zonk(type.elem).elem &&
      vars_.elem_class(vars_.zonk(type.elem)) == ElemClass::int_ && vars_.is_meta(vars_.zonk(type.elem).var))
    unifier_.unify(type.elem, {base::Elem::i64, {}}, w);
  if (auto value = value_of(t)) {
    if (shape::too_complex(*value)) throw TooComplex{at};
    return opened_.reads_data(*value) ? opened_.size_of_value(*value, at, ShownBy::integer(id)) : *value;
  }
  if (failed_) return Dim(vars_.dim("n", VarKind::failed, true, at));  // perhaps for that reason
  return opened_.size_of_unknown(at, ShownBy::integer(id));
}

void SizeChecker::require_sizes(TypeId type, source::Span at) {
  const Type t = vars_[vars_.zonk(type)];
  if (t.kind == Type::Kind::function) return;
  for (TypeId item : t.items) require_sizes(item, at);
  for (const ShapeItem& item : t.shape) {
    if (!is_dim(item)) continue;
    const Dim size = vars_.zonk(item.dim);
    const auto all = size.vars();
    const bool of_one_element = std::any_of(all.begin(), all.end(), [&](shape::Var v) {
      return vars_.kind(v) == VarKind::index || vars_.kind(v) == VarKind::bound;
    });
    const bool is_checked = opened_.depends_on_integer(size, true);  // when the program runs
    if (!of_one_element && !is_checked && !vars_.plainly_nonnegative(size))
      solver_.require(shape::at_least(size, 0), why(at, "an axis of the result"));
  }
}

}  // namespace axon::core
