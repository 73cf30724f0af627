// See bind_pattern.h.
#include "core/bind_pattern.h"

#include <fmt/format.h>

#include <algorithm>

namespace axon::core {

using shape::Dim;

TypeId PatternBinder::kept(TypeId id) {
  Type t = vars_[vars_.head(id)];
  if (!t.consumed && !t.weights) return id;
  t.consumed = t.weights = false;
  return vars_.add(std::move(t));
}

TypeId PatternBinder::refined(TypeId stated, TypeId found) {
  Type type = vars_[vars_.head(stated)];
  const Type known = vars_[vars_.zonk(found)];
  if (type.kind != known.kind || type.kind == Type::Kind::function) return stated;
  bool changed = false;
  for (size_t i = 0; i < type.items.size(); ++i) {
    const auto field =
        std::find(known.fields.begin(), known.fields.end(), type.fields.empty() ? "" : type.fields[i]);
    const size_t k = type.fields.empty() ? i : static_cast<size_t>(field - known.fields.begin());
    if (k >= known.items.size()) continue;
    const TypeId item = refined(type.items[i], known.items[k]);
    changed |= item != type.items[i];
    type.items[i] = item;
  }
  if (type.kind == Type::Kind::tensor && (known.value || !known.elements.empty() || known.range)) {
    changed = true;
    if (!type.value) type.value = known.value;
    if (type.elements.empty()) type.elements = known.elements;
    if (!type.range) type.range = known.range;
  }
  return changed ? vars_.add(std::move(type)) : stated;
}

TypeId PatternBinder::bind(const Pattern& p, TypeId expected, bool by_caller) {
  TypeId type = expected, passed;
  if (p.annotation) {
    const WhyId w = why(p.span, "the annotation", *p.annotation, expected);
    type = instantiator_.open(*p.annotation, w);
    if (expected.valid()) {
      unifier_.unify(type, expected, w);
      const auto own = value_of(type);
      auto known = value_of(expected);
      if (own && !known && by_caller && vars_[vars_.head(expected)].kind == Type::Kind::tensor) {
        known = opened_.open(p_.locals[p.local].name, p.span, ShownBy::name(p.local), false);
        passed = expected;
      }
      if (own && known) solver_.equal(*own, *known, w);
      type = refined(type, expected);
    }
  }
  switch (p.kind) {
    case Pattern::Kind::name: {
      if (auto size = e_.local_sizes.find(p.local.index); size != e_.local_sizes.end()) {
        // a name that a type uses as a size
        if (!type.valid()) {
          type = vars_.scalar(base::Elem::i64, Dim(size->second));
        } else {
          type = opened_.name_value(type, p_.locals[p.local].name, p.span, ShownBy::name(p.local));
          auto value = value_of(type);
          if (!value) value = opened_.open("k", p.span, ShownBy::name(p.local));
          if (opened_.reads_data(*value))
            value = opened_.size_of_value(*value, p.span, ShownBy::name(p.local));
          const WhyId w = why(p.span, fmt::format("the size `{}`", p_.locals[p.local].name));
          solver_.equal(Dim(size->second), *value, w);
        }
      }
      if (!type.valid()) type = vars_.fresh("t");
      p_.locals[p.local].type =
          opened_.name_value(kept(type), p_.locals[p.local].name, p.span, ShownBy::name(p.local));
      scope_.push_back(p.local);
      return passed.valid() ? passed : type;  // the value is that of one call
    }
    case Pattern::Kind::wildcard:
      return type.valid() ? type : vars_.fresh("t");
    case Pattern::Kind::unit:
    case Pattern::Kind::tuple: {
      std::vector<TypeId> items;
      const Type shape = type.valid() ? vars_[unifier_.shape_view(type)] : Type{};
      const bool known = shape.kind == Type::Kind::tuple && shape.items.size() == p.items.size();
      const bool poisoned = type.valid() && shape.kind == Type::Kind::error;
      for (size_t i = 0; i < p.items.size(); ++i)
        items.push_back(bind(p.items[i], known ? shape.items[i] : poisoned ? type : TypeId{}, by_caller));
      const TypeId tuple = vars_.tuple(items);
      if (type.valid() && !known) unifier_.unify(tuple, type, why(p.span, "the pattern", tuple, type));
      return tuple;
    }
  }
  return type;
}

}  // namespace axon::core
