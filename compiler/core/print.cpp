// Printing of types and the naming of their variables; see print.h.
#include "core/print.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/vars.h"

namespace axon::core {

using shape::Dim;
using shape::Var;

// ---- Names ----

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

void Names::hide(std::set<uint32_t> dims, std::set<uint32_t> shapes) {
  hidden_dims_ = std::move(dims);
  hidden_shapes_ = std::move(shapes);
}

const std::string& Names::of(Var v) {
  static const std::string any = "_";
  if (hidden_dims_.count(v.id)) return any;
  auto it = dims_.find(v.id);
  return it != dims_.end() ? it->second : dims_[v.id] = choose(shape::var_name(v), used_);
}
const std::string& Names::of(ShapeVarId v) {
  static const std::string any;
  if (hidden_shapes_.count(v.index)) return any;
  auto it = shapes_.find(v.index);
  return it != shapes_.end() ? it->second : shapes_[v.index] = choose(types_.shape_vars[v].name, used_);
}
const std::string& Names::of(TypeVarId v) {
  auto it = type_vars_.find(v.index);
  return it != type_vars_.end() ? it->second : type_vars_[v.index] = choose(types_.vars[v].name, used_types_);
}
const std::string& Names::rest(TypeVarId v) {
  auto it = type_vars_.find(v.index);
  return it != type_vars_.end() ? it->second : type_vars_[v.index] = choose(types_.vars[v].name, used_);
}
void Names::keep(Var v, const std::string& name) {
  if (!dims_.count(v.id)) dims_[v.id] = choose(name, used_);
}
void Names::keep(ShapeVarId v, const std::string& name) {
  shapes_[v.index] = name;
  used_.insert(name);
}
void Names::keep(TypeVarId v, const std::string& name) {
  type_vars_[v.index] = name;
  used_types_.insert(name);
}
void Names::prefer(ShapeVarId v, const std::string& name) {
  if (!shapes_.count(v.index) && used_.insert(name).second) shapes_[v.index] = name;
}

// ---- Types ----

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

std::string print_spots(const std::vector<LayoutSpot>& spots, Names& names) {
  std::string out;
  for (const LayoutSpot& s : spots) {
    std::string size = print(s.size, names);
    if (size.find(' ') != std::string::npos) size = "(" + size + ")";
    out += (out.empty() ? "" : ", ") + size + (s.axis.empty() ? "" : "@" + s.axis);
  }
  return out;
}

/// ` @ S[(8, n):(4@lane, 1)] + 5@warp`; nothing where no layout is stated.
std::string print_layout(const std::vector<LayoutPart>& layout, Names& names) {
  std::string out;
  for (const LayoutPart& part : layout) {
    out += out.empty() ? " @ " : " + ";
    auto several = [&](const std::vector<LayoutSpot>& spots) {
      return spots.size() == 1 ? print_spots(spots, names) : "(" + print_spots(spots, names) + ")";
    };
    switch (part.kind) {
      case LayoutPart::Kind::offset:
        out += print_spots(part.from, names);
        break;
      case LayoutPart::Kind::map:
        out += part.name + "[" + several(part.from) + ":" + several(part.to) + "]";
        break;
      case LayoutPart::Kind::name:
        out += part.name + (part.from.empty() ? "" : "[" + print_spots(part.from, names) + "]");
        break;
    }
  }
  return out;
}

/// Prints the parts of one type. An integer of a parameter is `(k : i64)` where a size beside it is made of
/// it; a number of an element type that nothing shows to be one is `'t[]`.
class TypePrinter {
 public:
  TypePrinter(const TypeStore& types, Names& names, std::vector<Var> matter, std::set<TypeVarId> elements)
      : types_(types), names_(names), matter_(std::move(matter)), elements_(std::move(elements)) {}

  /// `opened` stands before the result: `?k <= n. `.
  std::string print(TypeId id, const std::string& opened = {}) const {
    if (types_.types[id].kind == Type::Kind::function) return function(types_.types[id], opened);
    return opened + other(id, false);
  }

 private:
  std::string function(const Type& t, const std::string& opened) const {
    std::string out;
    for (size_t i = 0; i + 1 < t.items.size(); ++i) {
      const bool nested = types_.types[t.items[i]].kind == Type::Kind::function;
      out += (nested ? "(" + print(t.items[i]) + ")" : other(t.items[i], true)) + " -> ";
    }
    return mode(t) + out + print(t.items.back(), opened);
  }

  static std::string mode(const Type& t) { return t.consumed ? "*" : t.weights ? "weights " : ""; }

  /// No function. `parameter`: a part of one, whose integers may have names.
  std::string other(TypeId id, bool parameter) const {
    const Type& t = types_.types[id];
    if (const auto name = types_.declared.find(t.alias.declared); name != types_.declared.end())
      return mode(t) + applied(name->second, t.alias) +
             (t.alias.places ? "" : print_layout(t.layout, names_));
    if (const auto v = parameter ? named(t) : std::nullopt)
      return fmt::format("({} : {}{})", names_.of(*v), mode(t), tensor(t));
    return mode(t) + bare(t, parameter) + print_layout(t.layout, names_);
  }
  std::string part(TypeId id, bool parameter) const {
    return types_.types[id].kind == Type::Kind::function ? print(id) : other(id, parameter);
  }
  std::optional<Var> named(const Type& t) const {
    const auto v = t.value ? t.value->as_var() : std::nullopt;
    return v && std::find(matter_.begin(), matter_.end(), *v) != matter_.end() ? v : std::nullopt;
  }

  std::string tensor(const Type& t) const {
    if (t.elem.elem)
      return std::string(base::elem_name(*t.elem.elem)) +
             (t.shape.empty() ? "" : core::print(t.shape, names_));
    const bool shown = !t.shape.empty() || !elements_.count(t.elem.var);
    return "'" + names_.of(t.elem.var) + (shown ? core::print(t.shape, names_) : "");
  }

  std::string bare(const Type& t, bool parameter) const {
    std::string out;
    switch (t.kind) {
      case Type::Kind::tensor:
        return tensor(t);
      case Type::Kind::tuple:
        for (TypeId item : t.items) {
          std::string text = part(item, parameter);
          if (parameter && named(types_.types[item])) text = text.substr(1, text.size() - 2);
          out += (out.empty() ? "" : ", ") + text;
        }
        return "(" + out + ")";
      case Type::Kind::record:
        for (size_t i = 0; i < t.items.size(); ++i)
          out += fmt::format("{}{} : {}", i ? ", " : "", t.fields[i], part(t.items[i], parameter));
        if (t.row.valid()) out += (t.items.empty() ? ".." : ", ..") + names_.rest(t.row);
        return "{" + out + "}";
      case Type::Kind::stack:
        return fmt::format("Stack[{}, {}]", core::print(t.count, names_), part(t.items[0], false));
      case Type::Kind::var:
        return "'" + names_.of(t.var);
      case Type::Kind::string:
        return "string";
      case Type::Kind::function:
      case Type::Kind::error:
        break;
    }
    return "?";
  }

  std::string applied(const std::string& name, const Alias& a) const {
    std::string out;
    for (const AliasArg& arg : a.args) {
      std::string text = arg.dim     ? core::print(*arg.dim, names_)
                         : arg.shape ? core::print(*arg.shape, names_)
                                     : part(arg.type, false);
      if (arg.shape && arg.shape->size() == 1) text = text.substr(1, text.size() - 2);
      out += (out.empty() ? "" : ", ") + text;
    }
    return name + (out.empty() ? "" : "[" + out + "]");
  }

  const TypeStore& types_;
  Names& names_;
  std::vector<Var> matter_;
  std::set<TypeVarId> elements_;  ///< that their own form shows to be element types
};

/// The variables of element types; `by_shape`: those that something beside a bare `'t` shows to be such.
void elements_in(const TypeStore& types, TypeId id, bool by_shape, std::set<TypeVarId>& out) {
  const Type& t = types.types[id];
  if (t.kind == Type::Kind::tensor && !t.elem.elem && !(by_shape && t.shape.empty())) out.insert(t.elem.var);
  for (TypeId item : t.items) elements_in(types, item, by_shape, out);
}

/// The variables of element types with a class, in order of first occurrence.
void classed_elements(const TypeStore& types, TypeId id, std::vector<TypeVarId>& out) {
  const Type& t = types.types[id];
  if (t.kind == Type::Kind::tensor && !t.elem.elem && class_name(types.vars[t.elem.var].cls) &&
      std::find(out.begin(), out.end(), t.elem.var) == out.end())
    out.push_back(t.elem.var);
  for (TypeId item : t.items) classed_elements(types, item, out);
}

}  // namespace

const char* class_name(ElemClass cls) {
  switch (cls) {
    case ElemClass::num:
      return "num";
    case ElemClass::flt:
      return "float";
    case ElemClass::int_:
      return "int";
    case ElemClass::any:
    case ElemClass::bool_:
      break;
  }
  return nullptr;
}

std::string print(const TypeStore& types, TypeId t, Names& names) {
  std::vector<Var> matter;
  mentioned(types, t, matter);
  std::set<TypeVarId> elements;
  elements_in(types, t, false, elements);
  return TypePrinter(types, names, std::move(matter), std::move(elements)).print(t);
}

/// `?k <= n, k >= 1. `: each size that only the data decides, with what is known of it and of those before
/// it. An integer of the data that is no size has no name here, so what is known of it is not said.
static std::string print_opened(const TypeStore& types, const Scheme& s, Names& names,
                                std::vector<bool>& said) {
  std::vector<Var> shown;
  mentioned(types, s.type, shown);
  auto is_shown = [&](Var v) { return std::find(shown.begin(), shown.end(), v) != shown.end(); };
  auto mentions_hidden = [&](const shape::Fact& f) {
    return std::any_of(s.exists.begin(), s.exists.end(),
                       [&](Var v) { return !is_shown(v) && (f.lhs.contains(v) || f.rhs.contains(v)); });
  };
  std::vector<Var> later = s.exists;
  std::string out;
  for (Var v : s.exists) {
    later.erase(later.begin());
    std::string known;
    bool introduced = false;
    for (size_t i = 0; i < s.where.size(); ++i) {
      const shape::Fact& f = s.where[i];
      if (said[i] || !(f.lhs.contains(v) || f.rhs.contains(v))) continue;
      if (std::any_of(later.begin(), later.end(),
                      [&](Var o) { return f.lhs.contains(o) || f.rhs.contains(o); }))
        continue;
      said[i] = true;
      if (mentions_hidden(f)) continue;
      const bool turned = f.rhs.as_var() == v && f.relation == shape::Relation::le;
      introduced |= turned || f.lhs.as_var() == v;
      known += (known.empty() ? "" : ", ") +
               (turned ? fmt::format("{} >= {}", names.of(v), print(f.lhs, names)) : print(f, names));
    }
    if (!is_shown(v)) continue;
    if (!introduced && !known.empty()) known = names.of(v) + " >= 0, " + known;
    out += "?" + (known.empty() ? names.of(v) : known) + ". ";
  }
  return out;
}

std::string print(const TypeStore& types, const Scheme& s, Names& names, size_t indent) {
  std::vector<Var> matter;
  mentioned(types, s.type, matter);
  for (const shape::Fact& f : s.where) {
    f.lhs.collect_vars(matter);
    f.rhs.collect_vars(matter);
  }
  std::vector<bool> said(s.where.size(), false);
  std::set<TypeVarId> elements;
  std::vector<TypeVarId> classed;
  elements_in(types, s.type, true, elements);
  classed_elements(types, s.type, classed);
  elements.insert(classed.begin(), classed.end());
  const std::string out = TypePrinter(types, names, std::move(matter), std::move(elements))
                              .print(s.type, print_opened(types, s, names, said));
  std::string facts;
  for (const IntoConstraint& i : s.into)
    facts +=
        fmt::format("{}..{} into {}", facts.empty() ? "" : ", ", names.of(i.var), print(i.target, names));
  for (size_t i = 0; i < s.where.size(); ++i)
    if (!said[i]) facts += (facts.empty() ? "" : ", ") + print(s.where[i], names);
  for (TypeVarId v : classed)
    facts += fmt::format("{}'{} : {}", facts.empty() ? "" : ", ", names.of(v), class_name(types.vars[v].cls));
  if (facts.empty()) return out;
  if (indent + out.size() + facts.size() + 9 <= 110) return out + "   where " + facts;
  return out + "\n" + std::string(indent, ' ') + "where " + facts;
}

void name_variables(const TypeStore& types, const Scheme& s, Names& names) {
  for (Var v : s.dims) names.of(v);
  for (ShapeVarId v : s.shapes) names.keep(v, types.shape_vars[v].name);
  for (TypeVarId v : s.types) names.keep(v, types.vars[v].name);
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
    name_variables(p.types, g.scheme, names);
    out += print(p.types, g.scheme, names, width + 3) + "\n";
  }
  return out;
}

}  // namespace axon::core
