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
  if (!dims_.count(v.id)) dims_[v.id] = choose(name, used_dims_);
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
    if (!s.axis.empty() && size.find(' ') != std::string::npos) size = "(" + size + ")";
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

std::string print_type(const TypeStore& types, TypeId id, Names& names, const std::vector<Var>& matter,
                       const std::string& opened = {});

/// `(n : i64)`, `(a : i64, x : f32[a])`: a parameter with the integers whose values the rest of the type
/// mentions.
std::optional<std::string> named_integers(const TypeStore& types, TypeId id, Names& names,
                                          const std::vector<Var>& matter) {
  const Type& t = types.types[id];
  auto named = [&](const Type& item) -> std::optional<Var> {
    auto value = item.value ? item.value->as_var() : std::nullopt;
    return value && std::find(matter.begin(), matter.end(), *value) != matter.end() ? value : std::nullopt;
  };
  if (auto v = named(t)) return fmt::format("({} : {})", names.of(*v), print_type(types, id, names, matter));
  if (t.kind != Type::Kind::tuple || !t.alias.name.empty()) return std::nullopt;
  if (std::none_of(t.items.begin(), t.items.end(),
                   [&](TypeId i) { return named(types.types[i]).has_value(); }))
    return std::nullopt;
  std::string out;
  for (TypeId item : t.items) {
    const auto v = named(types.types[item]);
    out += (out.empty() ? "" : ", ") + (v ? names.of(*v) + " : " : "_ : ") +
           print_type(types, item, names, matter);
  }
  return "(" + out + ")";
}

/// `opened` stands before the result: `?k <= n. `.
std::string print_type(const TypeStore& types, TypeId id, Names& names, const std::vector<Var>& matter,
                       const std::string& opened) {
  const Type& t = types.types[id];
  auto each = [&](TypeId item) { return print_type(types, item, names, matter); };
  if (!opened.empty() && t.kind != Type::Kind::function) return opened + each(id);
  const std::string mode = t.consumed ? "*" : t.weights ? "weights " : "";
  std::string out;
  if (!t.alias.name.empty()) {
    for (const AliasArg& a : t.alias.args) {
      std::string text = a.dim ? print(*a.dim, names) : a.shape ? print(*a.shape, names) : each(a.type);
      if (a.shape && a.shape->size() == 1) text = text.substr(1, text.size() - 2);
      out += (out.empty() ? "" : ", ") + text;
    }
    out = t.alias.name + (out.empty() ? "" : "[" + out + "]");
    return mode + out + (t.alias.places ? "" : print_layout(t.layout, names));
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
        if (!last) text = named_integers(types, t.items[i], names, matter).value_or(text);
        out += (i ? " -> " : "") + (last ? opened : "") + text;
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
  return mode + out + print_layout(t.layout, names);
}

}  // namespace

std::string print(const TypeStore& types, TypeId t, Names& names) {
  std::vector<Var> matter;
  mentioned(types, t, matter);
  return print_type(types, t, names, matter);
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
  const std::string out = print_type(types, s.type, names, matter, print_opened(types, s, names, said));
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
