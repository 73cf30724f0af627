// Views and what they are views of; see aliases.h.
#include "core/aliases.h"

#include <algorithm>

namespace axon::core {

bool overlap(const Place& a, const Place& b) {
  if (a.local != b.local) return false;
  const auto& [shorter, longer] =
      a.path.size() <= b.path.size() ? std::pair(a.path, b.path) : std::pair(b.path, a.path);
  return longer.starts_with(shorter) && (longer.size() == shorter.size() || longer[shorter.size()] == '.');
}

std::vector<Place> AliasSet::all() const {
  std::vector<Place> out = places;
  for (const auto& [name, set] : parts) {
    const auto inner = set.all();
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

AliasSet AliasSet::part(const std::string& name) const {
  if (auto it = parts.find(name); it != parts.end()) return it->second;
  AliasSet out;
  for (const Place& p : places) out.places.push_back({p.local, p.path + name});
  return out;
}

AliasSet AliasSet::renewed(ExprId by) const {
  AliasSet out = *this;
  for (Place& p : out.places) p.path += "@" + std::to_string(by.index);
  for (auto& [name, set] : out.parts) set = set.renewed(by);
  return out;
}

AliasSet AliasSet::renewed(ExprId by, const std::vector<Place>& which) const {
  AliasSet out = *this;
  for (Place& p : out.places) {
    const auto is_part = [&](const Place& whole) {
      return overlap(p, whole) && whole.path.size() <= p.path.size();
    };
    if (std::any_of(which.begin(), which.end(), is_part)) p.path += "@" + std::to_string(by.index);
  }
  for (auto& [name, set] : out.parts) set = set.renewed(by, which);
  return out;
}

void AliasSet::add(const AliasSet& other) {
  if (parts.empty() && places.empty()) {
    *this = other;
    return;
  }
  for (const auto& [name, set] : parts)
    if (!other.parts.count(name)) parts[name].add(other.part(name));
  for (const auto& [name, set] : other.parts) {
    if (!parts.count(name)) parts[name] = part(name);
    parts[name].add(set);
  }
  places.insert(places.end(), other.places.begin(), other.places.end());
}

std::optional<Place> Aliases::path_of(ExprId id) const {
  const Expr& e = p_.exprs[id];
  if (e.kind == Expr::Kind::local) return Place{e.local, {}};
  if (e.kind != Expr::Kind::field) return std::nullopt;
  auto base = path_of(e.args[0]);
  if (base) base->path += "." + e.text;
  return base;
}

void Aliases::bind(const Pattern& p, const AliasSet& aliases) {
  if (p.kind == Pattern::Kind::name) known_[p.local] = aliases;
  for (size_t i = 0; i < p.items.size(); ++i) bind(p.items[i], aliases.part("." + std::to_string(i)));
}

AliasSet Aliases::of(ExprId id) {
  const Expr& e = p_.exprs[id];
  const Type& type = p_.types.types[e.type];
  if (type.kind == Type::Kind::tensor && type.shape.empty()) return {};  // a number is read
  switch (e.kind) {
    case Expr::Kind::local: {
      auto it = known_.find(e.local);
      return it == known_.end() ? AliasSet{} : it->second;
    }
    case Expr::Kind::field:
      return of(e.args[0]).part("." + e.text);
    case Expr::Kind::tuple: {
      AliasSet out;
      for (size_t i = 0; i < e.args.size(); ++i) out.parts["." + std::to_string(i)] = of(e.args[i]);
      return out;
    }
    case Expr::Kind::record: {
      AliasSet out;
      for (size_t i = 0; i < e.args.size(); ++i) out.parts["." + e.fields[i]] = of(e.args[i]);
      return out;
    }
    case Expr::Kind::with_field: {
      AliasSet out = of(e.args[0]);
      const Type& record = p_.types.types[p_.exprs[e.args[0]].type];
      AliasSet split;
      for (const std::string& field : record.fields) split.parts["." + field] = out.part("." + field);
      split.parts["." + e.text] = of(e.args[1]);
      return split;
    }
    case Expr::Kind::let:
      if (p_.exprs[e.args[0]].kind == Expr::Kind::lambda && e.params[0].kind == Pattern::Kind::name)
        functions_[e.params[0].local] = e.args[0];
      bind(e.params[0], of(e.args[0]));
      return of(e.args[1]);
    case Expr::Kind::conditional: {
      AliasSet out = by_parts(of(e.args[1]), e.type);
      out.add(by_parts(of(e.args[2]), e.type));
      const auto gone = given_up_.find(id);
      return gone == given_up_.end() ? out : out.renewed(id, gone->second);
    }
    case Expr::Kind::index:
      return of_index(e);
    case Expr::Kind::rearrange:
    case Expr::Kind::check_as:
      return of(e.args[0]);
    case Expr::Kind::with_index:
      return of(e.args[0]).renewed(id);
    case Expr::Kind::for_:
      return reorders_axes(e) ? of(p_.exprs[e.args[0]].args[0]) : AliasSet{};
    case Expr::Kind::apply:
      return of_apply(id);
    default:
      return {};
  }
}

/// The same with each field and item on its own.
AliasSet Aliases::by_parts(const AliasSet& whole, TypeId type) const {
  const Type& t = p_.types.types[type];
  const bool record = t.kind == Type::Kind::record && !t.row.valid();
  if (!record && t.kind != Type::Kind::tuple) return whole;
  AliasSet out;
  for (size_t i = 0; i < t.items.size(); ++i) {
    const std::string name = "." + (record ? t.fields[i] : std::to_string(i));
    out.parts[name] = by_parts(whole.part(name), t.items[i]);
  }
  return out;
}

/// A point, a slice, `:` or `..` gives a view; a gather copies.
AliasSet Aliases::of_index(const Expr& e) {
  for (const IndexItem& i : e.indices) {
    if (i.kind != IndexItem::Kind::point) continue;
    const Type& t = p_.types.types[p_.exprs[i.point].type];
    if (t.kind != Type::Kind::tensor || !t.shape.empty()) return {};
  }
  return e.args.size() > 1 ? AliasSet{} : of(e.args[0]);
}

/// `for ..p j i => x[..p, i, j]`: each binder stands alone at one position of a name's index.
bool Aliases::reorders_axes(const Expr& e) const {
  const Expr& body = p_.exprs[e.args[0]];
  if (e.flag || body.kind != Expr::Kind::index || body.args.size() > 1 || !path_of(body.args[0]))
    return false;
  return std::all_of(body.indices.begin(), body.indices.end(), [&](const IndexItem& i) {
    if (i.kind == IndexItem::Kind::rank) return true;
    return i.kind == IndexItem::Kind::point && p_.exprs[i.point].kind == Expr::Kind::local &&
           p_.locals[p_.exprs[i.point].local].kind == Local::Kind::index;
  });
}

/// The body of a function, with its parameters bound to what the arguments alias.
AliasSet Aliases::of_body(const std::vector<Pattern>& params, ExprId body, ExprId at) {
  const Expr& call = p_.exprs[at];
  static constexpr int deepest = 64;
  if (depth_ >= deepest) {
    AliasSet out;
    for (size_t i = 1; i < call.args.size(); ++i) out.add(of(call.args[i]));
    return out;
  }
  std::vector<AliasSet> given;
  for (size_t i = 1; i < call.args.size(); ++i) given.push_back(of(call.args[i]));
  const auto outer = known_;
  for (size_t i = 0; i < params.size() && i < given.size(); ++i)
    bind(params[i], params[i].consumed ? given[i].renewed(at) : given[i]);
  ++depth_;
  AliasSet out = of(body);
  --depth_;
  known_ = outer;
  return out;
}

AliasSet Aliases::of_apply(ExprId id) {
  const Expr& e = p_.exprs[id];
  const Expr& callee = p_.exprs[e.args[0]];
  if (callee.kind == Expr::Kind::lambda) return of_body(callee.params, callee.args[0], id);
  if (callee.kind == Expr::Kind::local) {
    auto it = functions_.find(callee.local);
    if (it != functions_.end()) return of_body(p_.exprs[it->second].params, p_.exprs[it->second].args[0], id);
  }
  if (callee.kind == Expr::Kind::global) {
    const Global& g = p_.globals[callee.global];
    if (g.kind != Global::Kind::prim)
      return g.body.valid() && !g.params.empty() ? of_body(g.params, g.body, id) : AliasSet{};
    switch (g.prim) {
      case Prim::iterate_:  // no step may be taken
      case Prim::while_:
        return e.args.size() == 4 ? of(e.args[3]) : AliasSet{};
      case Prim::fold_:
        return e.args.size() == 4 ? of(e.args[2]) : AliasSet{};
      case Prim::scan_: {
        AliasSet out;
        if (e.args.size() == 4) out.parts[".0"] = of(e.args[2]);
        return out;
      }
      case Prim::debug_:
        return e.args.size() == 3 ? of(e.args[2]) : AliasSet{};
      default:
        return {};
    }
  }
  AliasSet out;
  for (size_t i = 1; i < e.args.size(); ++i) out.add(of(e.args[i]));
  return out;
}

}  // namespace axon::core
