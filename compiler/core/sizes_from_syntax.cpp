// Written sizes and facts, and the names that stand for sizes. See type_lowering.h.
#include <fmt/format.h>

#include "core/type_lowering.h"

namespace axon::core {

using shape::Dim;
using source::Code;
using source::error;
using source::Span;
namespace stx = axon::syntax;

void TypeLowering::clear() {
  scope_.clear();
  shapes_.clear();
  type_names_.clear();
  bracketed_.clear();
}

void TypeLowering::declare_sizes(const std::vector<stx::SizeParam>& sizes) {
  DeclInfo& info = e_.infos[g_.index];
  info.declared = sizes;
  for (const stx::SizeParam& s : sizes) {
    switch (s.kind) {
      case stx::SizeParamKind::dim: {
        const Dim d = named_size(s.name.text, VarKind::rigid, s.name.span);
        if (auto v = d.as_var()) p_.globals[g_].sizes.emplace_back(s.name.text, *v);
        break;
      }
      case stx::SizeParamKind::shape: {
        const ShapeVarId v = e_.vars.shape(s.name.text, VarKind::rigid);
        shapes_[s.name.text] = {var_item(v)};
        info.declared_shapes.push_back(v);
        break;
      }
      case stx::SizeParamKind::element:
        if (entry_) {
          e_.entry_names.insert(s.name.text);
          auto fixed = e_.options.elems.find(s.name.text);
          const base::Elem elem = fixed == e_.options.elems.end() ? base::Elem::f32 : fixed->second;
          type_names_[s.name.text] = e_.vars.scalar(elem);
        } else {
          const TypeVarId v = e_.vars.type(s.name.text, ElemClass::any, VarKind::rigid);
          type_names_[s.name.text] = e_.vars.tensor({std::nullopt, v}, {});
          p_.globals[g_].elems.emplace_back(s.name.text, v);
        }
        break;
    }
  }
}

Dim TypeLowering::named_size(const std::string& name, VarKind kind, Span at) {
  if (entry_) {
    e_.entry_names.insert(name);
    auto fixed = e_.options.sizes.find(name);
    if (fixed != e_.options.sizes.end()) {
      Dim value(fixed->second);
      scope_.push_back({name, {}, value});
      return value;
    }
  }
  Dim d(e_.vars.dim(name, kind, true, at));
  scope_.push_back({name, {}, d});
  return d;
}

std::optional<Dim> TypeLowering::size_of(const ScopeEntry& entry) {
  if (entry.size) return entry.size;
  const Local& local = p_.locals[entry.local];
  if (local.kind == Local::Kind::rank) return std::nullopt;
  if (local.type.valid() && e_.vars[local.type].value) return e_.vars[local.type].value;
  auto it = e_.local_sizes.find(entry.local.index);
  if (it == e_.local_sizes.end())
    it = e_.local_sizes.emplace(entry.local.index, e_.vars.dim(entry.name, VarKind::meta, false)).first;
  return Dim(it->second);
}

Dim TypeLowering::dim(stx::DimId id) {
  const stx::Dim& d = file()[id];
  const Span at = d.span;
  return std::visit(
      stx::Overloaded{
          [&](const stx::ErrorDim&) { return Dim(e_.vars.dim("n")); },
          [&](const stx::NumberDim& n) { return Dim(n.value); },
          [&](const stx::NameDim& n) {
            if (const ScopeEntry* entry = find(n.name.text))
              if (auto size = size_of(*entry)) return *size;
            switch (unbound_) {
              case Unbound::rigid:
                return named_size(n.name.text, VarKind::rigid, at);
              case Unbound::meta:
                return named_size(n.name.text, VarKind::meta, at);
              case Unbound::refuse:
                break;
            }
            auto d = error(Code::E0405, at, fmt::format("nothing here names a size `{}`", n.name.text));
            d.text(
                "Sizes are named in the types of parameters or in brackets after the declared name; `_` asks "
                "for "
                "inference.");
            report(std::move(d));
            return Dim(e_.vars.dim(n.name.text));
          },
          [&](const stx::BinaryDim& b) {
            const Dim lhs = dim(b.lhs), rhs = dim(b.rhs);
            if ((b.op == stx::DimOp::floor_divide || b.op == stx::DimOp::modulo) && rhs.is(0)) {
              report(error(Code::E0321, at, "a size is divided by zero"));
              return Dim(e_.vars.dim("n"));
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
          },
          [&](const stx::CallDim& c) {
            const bool known = c.fn.text == "min" || c.fn.text == "max" || c.fn.text == "cdiv";
            if (!known || c.args.size() != 2) {
              report(error(Code::E0405, at,
                           fmt::format("`{}` with {} arguments is no operator on sizes", c.fn.text,
                                       c.args.size()))
                         .text("The operators on sizes are + - * / % and min, max, cdiv of two sizes."));
              return Dim(e_.vars.dim("n"));
            }
            const Dim lhs = dim(c.args[0]), rhs = dim(c.args[1]);
            if (c.fn.text == "min") return shape::min(lhs, rhs);
            if (c.fn.text == "max") return shape::max(lhs, rhs);
            return shape::cdiv(lhs, rhs);
          }},
      d.node);
}

void TypeLowering::lower_facts(const std::vector<stx::Fact>& facts, std::vector<FactAt>& out) {
  for (const stx::Fact& f : facts) {
    const Dim l = dim(f.lhs), r = dim(f.rhs);
    shape::Fact fact;
    switch (f.relation) {
      case stx::Relation::less_equal:
        fact = shape::at_most(l, r);
        break;
      case stx::Relation::greater_equal:
        fact = shape::at_least(l, r);
        break;
      case stx::Relation::less:
        fact = shape::less(l, r);
        break;
      case stx::Relation::greater:
        fact = shape::less(r, l);
        break;
      case stx::Relation::equal:
        fact = shape::equal(l, r);
        break;
      case stx::Relation::not_equal:
        fact = {l, shape::Relation::ne, r};
        break;
    }
    out.push_back({fact, f.span});
  }
}

}  // namespace axon::core
