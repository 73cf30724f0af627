// Printing of types and the naming of their variables; see print.h.
#include "core/print.h"

#include <fmt/format.h>

#include <algorithm>

namespace axon::core {

using shape::Dim;
using shape::Var;

// ---- Names
// ------------------------------------------------------------------------------------------------------

std::string Names::choose(const std::string& wanted, std::set<std::string>& used) {
  std::string name = wanted.empty() ? "a" : wanted;
  if (used.insert(name).second) return name;
  if (name.size() == 1 && name[0] >= 'a' && name[0] <= 'z') {
    for (int step = 1; step < 26; ++step) {
      const std::string next(1, static_cast<char>('a' + (name[0] - 'a' + step) % 26));
      if (used.insert(next).second) return next;
    }
  }
  for (int i = 2;; ++i)
    if (std::string next = name + std::to_string(i); used.insert(next).second) return next;
}

const std::string& Names::of(Var v) {
  auto it = dims_.find(v.id);
  return it != dims_.end() ? it->second : dims_[v.id] = choose(shape::var_name(v), used_dims_);
}
const std::string& Names::of(ShapeVarId v) {
  auto it = shapes_.find(v.index);
  return it != shapes_.end() ? it->second
                             : shapes_[v.index] = choose(types_.shape_vars[v].name, used_shapes_);
}
const std::string& Names::of(TypeVarId v) {
  auto it = type_vars_.find(v.index);
  return it != type_vars_.end() ? it->second : type_vars_[v.index] = choose(types_.vars[v].name, used_types_);
}
void Names::keep(Var v, const std::string& name) {
  dims_[v.id] = name;
  used_dims_.insert(name);
}
void Names::keep(ShapeVarId v, const std::string& name) {
  shapes_[v.index] = name;
  used_shapes_.insert(name);
}
void Names::keep(TypeVarId v, const std::string& name) {
  type_vars_[v.index] = name;
  used_types_.insert(name);
}
void Names::prefer(ShapeVarId v, const std::string& name) {
  if (!shapes_.count(v.index) && used_shapes_.insert(name).second) shapes_[v.index] = name;
}

// ---- Types
// ------------------------------------------------------------------------------------------------------

std::string print(const Dim& d, Names& names) {
  return d.str([&](Var v) { return names.of(v); });
}

std::string print(const shape::Fact& f, Names& names) {
  const char* relation = "=";
  switch (f.relation) {
    case shape::Relation::eq:
      relation = "==";
      break;
    case shape::Relation::ne:
      relation = "!=";
      break;
    case shape::Relation::le:
      relation = "<=";
      break;
    case shape::Relation::lt:
      relation = "<";
      break;
  }
  return fmt::format("{} {} {}", print(f.lhs, names), relation, print(f.rhs, names));
}

std::string print(const Shape& s, Names& names) {
  std::string out = "[";
  for (size_t i = 0; i < s.size(); ++i) {
    if (i) out += ", ";
    switch (s[i].kind) {
      case ShapeItem::Kind::dim:
        out += print(s[i].dim, names);
        break;
      case ShapeItem::Kind::var:
        out += ".." + names.of(s[i].var);
        break;
      case ShapeItem::Kind::join:
        out += "..(";
        for (size_t j = 0; j < s[i].join.size(); ++j) out += (j ? "|" : "") + names.of(s[i].join[j]);
        out += ")";
        break;
    }
  }
  return out + "]";
}

namespace {

/// The size variables that a type mentions outside of scalar values: only those make a scalar parameter's
/// name matter.
void mentioned(const TypeStore& types, TypeId id, std::vector<Var>& out) {
  const Type& t = types.types[id];
  for (const ShapeItem& i : t.shape)
    if (i.kind == ShapeItem::Kind::dim) i.dim.collect_vars(out);
  if (t.kind == Type::Kind::stack) t.count.collect_vars(out);
  for (TypeId item : t.items) mentioned(types, item, out);
}

std::string print_type(const TypeStore& types, TypeId id, Names& names, const std::vector<Var>& matter) {
  const Type& t = types.types[id];
  auto each = [&](TypeId item) { return print_type(types, item, names, matter); };
  std::string out;
  if (!t.alias.name.empty()) {
    for (const AliasArg& a : t.alias.args) {
      std::string text = a.dim ? print(*a.dim, names) : a.shape ? print(*a.shape, names) : each(a.type);
      if (a.shape) text = text.substr(1, text.size() - 2);
      out += (out.empty() ? "" : ", ") + text;
    }
    out = t.alias.name + (out.empty() ? "" : "[" + out + "]");
    return t.consumed ? "*" + out : out;
  }
  switch (t.kind) {
    case Type::Kind::tensor:
      out = t.elem.elem ? std::string(base::elem_name(*t.elem.elem)) : "'" + names.of(t.elem.var);
      if (!t.shape.empty()) out += print(t.shape, names);
      break;
    case Type::Kind::tuple:
      for (size_t i = 0; i < t.items.size(); ++i) out += (i ? ", " : "") + each(t.items[i]);
      out = "(" + out + ")";
      break;
    case Type::Kind::record:
      for (size_t i = 0; i < t.items.size(); ++i)
        out += fmt::format("{}{} : {}", i ? ", " : "", t.fields[i], each(t.items[i]));
      if (t.row.valid()) out += (t.items.empty() ? ".." : ", ..") + names.of(t.row);
      out = "{" + out + "}";
      break;
    case Type::Kind::function:
      for (size_t i = 0; i < t.items.size(); ++i) {
        const Type& item = types.types[t.items[i]];
        std::string text = each(t.items[i]);
        const bool last = i + 1 == t.items.size();
        if (item.kind == Type::Kind::function && !last) text = "(" + text + ")";
        auto value = item.value ? item.value->as_var() : std::nullopt;
        if (!last && value && std::find(matter.begin(), matter.end(), *value) != matter.end())
          text = fmt::format("({} : {})", names.of(*value), text);
        out += (i ? " -> " : "") + text;
      }
      break;
    case Type::Kind::stack:
      out = fmt::format("Stack[{}, {}]", print(t.count, names), each(t.items[0]));
      break;
    case Type::Kind::var:
      out = "'" + names.of(t.var);
      break;
    case Type::Kind::string:
      out = "string";
      break;
    case Type::Kind::error:
      out = "?";
      break;
  }
  return t.consumed ? "*" + out : out;
}

}  // namespace

std::string print(const TypeStore& types, TypeId t, Names& names) {
  std::vector<Var> matter;
  mentioned(types, t, matter);
  return print_type(types, t, names, matter);
}

std::string print(const TypeStore& types, const Scheme& s, Names& names, size_t indent) {
  std::vector<Var> matter;
  mentioned(types, s.type, matter);
  for (const shape::Fact& f : s.where) {
    f.lhs.collect_vars(matter);
    f.rhs.collect_vars(matter);
  }
  std::string out = print_type(types, s.type, names, matter);
  // `?k <= n. t` stands before the result and says what is known of k alone
  std::vector<bool> said(s.where.size(), false);
  std::string unknown;
  for (Var v : s.exists) {
    std::string known;
    for (size_t i = 0; i < s.where.size(); ++i) {
      const shape::Fact& f = s.where[i];
      if (said[i] || f.lhs.as_var() != v || f.relation == shape::Relation::eq) continue;
      said[i] = true;
      known += (known.empty() ? "" : ", ") + print(f, names);
    }
    unknown += "?" + (known.empty() ? names.of(v) : known) + ". ";
  }
  if (!unknown.empty()) {
    const size_t arrow = out.rfind(" -> ");
    out.insert(arrow == std::string::npos ? 0 : arrow + 4, unknown);
  }
  std::string facts;
  for (const IntoConstraint& i : s.into)
    facts +=
        fmt::format("{}..{} into {}", facts.empty() ? "" : ", ", names.of(i.var), print(i.target, names));
  for (size_t i = 0; i < s.where.size(); ++i)
    if (!said[i]) facts += (facts.empty() ? "" : ", ") + print(s.where[i], names);
  if (facts.empty()) return out;
  if (indent + out.size() + facts.size() + 9 <= 110) return out + "   where " + facts;
  return out + "\n" + std::string(indent, ' ') + "where " + facts;
}

/// Types and tests declare nothing that has a type to show.
static bool shown(const Global& g) { return g.kind != Global::Kind::type && !g.name.starts_with("test \""); }

std::string print_types(const Program& p) {
  size_t width = 0;
  for (GlobalId g : p.own)
    if (shown(p.globals[g])) width = std::max(width, p.globals[g].name.size());
  std::string out;
  for (GlobalId id : p.own) {
    const Global& g = p.globals[id];
    if (!shown(g)) continue;
    out += fmt::format("{:<{}} : ", g.name, width);
    if (!g.scheme.type.valid()) {
      out += "?\n";
      continue;
    }
    Names names(p.types);
    for (Var v : g.scheme.dims) names.of(v);
    for (ShapeVarId v : g.scheme.shapes) names.of(v);
    for (TypeVarId v : g.scheme.types) names.of(v);
    out += print(p.types, g.scheme, names, width + 3) + "\n";
  }
  return out;
}

}  // namespace axon::core
