// See check_size.h.
#include "core/check_size.h"

#include <functional>
#include <map>

#include "core/check_expr.h"

namespace axon::core {

using shape::Dim;
using source::Span;
using Kind = Expr::Kind;

std::string path_of(const Program& p, ExprId id) {
  std::string fields;
  for (; p.exprs[id].kind == Kind::field; id = p.exprs[id].args[0]) fields = "." + p.exprs[id].text + fields;
  const Expr& e = p.exprs[id];
  return e.kind == Kind::local ? std::to_string(e.local.index) + fields : "";
}

/// The operands of arithmetic: where its result is a size, so are they.
std::vector<ExprId> SizeChecker::size_operands(ExprId id) const {
  const Expr& e = p_.exprs[id];
  if (e.kind != Kind::apply || p_.exprs[e.args[0]].kind != Kind::global) return {};
  const Global& callee = p_.globals[p_.exprs[e.args[0]].global];
  if (callee.kind != Global::Kind::prim) return {};
  switch (callee.prim) {
    case Prim::add_:
    case Prim::sub_:
    case Prim::mul_:
    case Prim::div_:
    case Prim::mod_:
    case Prim::min_:
    case Prim::max_:
      return {e.args.begin() + 1, e.args.end()};
    default:
      return {};
  }
}

void SizeChecker::operands_are_sizes(ExprId id) {
  const Expr e = p_.exprs[id];
  if (e.kind == Kind::local && p_.locals[e.local].type.valid()) {
    const Type t = vars_[vars_.head(p_.locals[e.local].type)];
    if (t.kind == Type::Kind::var && vars_.is_meta(t.var)) as_size(id, exprs_.infer(id));
  }
  for (ExprId operand : size_operands(id)) operands_are_sizes(operand);
}

/// What an element is read by, where that is simple: `k[0]`, `m.lengths[i]`; else empty. The same elements
/// have the same key.
std::string SizeChecker::read_key(ExprId id) const {
  const Expr& e = p_.exprs[id];
  if (e.kind != Kind::index || e.args.size() != 1) return "";
  std::string key = path_of(p_, e.args[0]);
  for (const IndexItem& item : e.indices) {
    if (key.empty() || item.kind != IndexItem::Kind::point) return "";
    const Expr& at = p_.exprs[item.point];
    if (at.kind != Kind::number && at.kind != Kind::local) return "";
    key += at.kind == Kind::number ? "[" + at.text + "]" : "[_" + std::to_string(at.local.index) + "]";
  }
  return key;
}

TypeId SizeChecker::same_read(ExprId id, TypeId type) {
  const auto read = reads_.find(read_key(id));
  if (read == reads_.end() || read->second.count < 2) return type;
  Read& known = read->second;
  if (known.value && scopes_.in_scope(*known.value, id))
    return vars_.tensor(vars_[vars_.head(type)].elem, {}, Dim(*known.value));
  const TypeId named = opened_.name_value(type, "k", p_.exprs[id].span, ShownBy::integer(id));
  if (const auto value = value_of(named)) known.value = value->as_var();
  return named;
}

void SizeChecker::find_names_of_sizes() {
  const DeclInfo& info = e_.infos[g_.index];
  std::map<LocalId, ExprId> bound;
  for (uint32_t i = info.first_expr; i < info.end_expr; ++i)
    if (const Expr& e = p_.exprs[{i}]; e.kind == Kind::let && e.params[0].kind == Pattern::Kind::name)
      bound[e.params[0].local] = e.args[0];
  const std::function<void(ExprId)> is_size = [&](ExprId id) {
    if (!id.valid()) return;
    for (ExprId operand : size_operands(id)) is_size(operand);
    const Expr& e = p_.exprs[id];
    if (const std::string key = read_key(id); !key.empty()) ++reads_[key].count;
    if (e.kind != Kind::local || !names_of_sizes_.insert(e.local).second) return;
    if (const auto value = bound.find(e.local); value != bound.end()) is_size(value->second);
  };
  for (uint32_t i = info.first_expr; i < info.end_expr; ++i) {
    const Expr& e = p_.exprs[{i}];
    for (const Binder& b : e.binders) is_size(b.bound);
    for (const IndexItem& item : e.indices) {
      is_size(item.start);
      is_size(item.stop);
    }
  }
}

Dim SizeChecker::size_of(ExprId id) {
  operands_are_sizes(id);
  return as_size(id, exprs_.infer(id));
}

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

}  // namespace axon::core
