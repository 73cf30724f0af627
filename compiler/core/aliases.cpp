// Views and what they are views of; see aliases.h.
#include "core/aliases.h"

#include <algorithm>

namespace axon::core {

namespace {

/// Any of these, and any parts of them.
AliasSet mixed(const std::vector<AliasSet>& sets) {
  AliasSet out;
  out.mixed = true;
  for (const AliasSet& set : sets) out.add(set.all());
  return out;
}

/// Which argument the result of a primitive may be, or begin with.
std::optional<size_t> kept_argument(Prim prim) {
  switch (prim) {
    case Prim::iterate:  // no step may be taken
    case Prim::while_:
      return 2;
    case Prim::fold:
    case Prim::scan:
    case Prim::debug:
      return 1;
    case Prim::cast:
    case Prim::real:
    case Prim::dim:
    case Prim::reduce:
    case Prim::argmax:
    case Prim::argsmallest:
    case Prim::arglargest:
#define PRIM(name, word, arity)
#define POINTWISE(name, word, arity) case Prim::name:
#define SWAPPED(name, of) case Prim::name:
#include "core/prims.def"
      break;
  }
  return std::nullopt;
}

}  // namespace

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

void Aliases::bind_let(const Expr& let) {
  if (let.params[0].kind == Pattern::Kind::name) bound_[let.params[0].local] = let.args[0];
  bind(let.params[0], of(let.args[0]));
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
    case Expr::Kind::tuple:
    case Expr::Kind::record:
    case Expr::Kind::with_field:
      return of_structure(e);
    case Expr::Kind::let:
      bind_let(e);
      return of(e.args[1]);
    case Expr::Kind::lambda:
      return of_call(id, {}, id);
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
    case Expr::Kind::global:
    case Expr::Kind::number:
    case Expr::Kind::boolean:
    case Expr::Kind::string:
    case Expr::Kind::size:
    case Expr::Kind::list:
    case Expr::Kind::error:
      return {};
  }
  return {};
}

/// A tuple or record, by fields and items.
AliasSet Aliases::of_structure(const Expr& e) {
  AliasSet out;
  if (e.kind == Expr::Kind::with_field) {
    const AliasSet before = of(e.args[0]);
    const Type& record = p_.types.types[p_.exprs[e.args[0]].type];
    for (const std::string& field : record.fields) out.parts["." + field] = before.part("." + field);
    out.parts["." + e.text] = of(e.args[1]);
    return out;
  }
  for (size_t i = 0; i < e.args.size(); ++i) {
    const std::string name = e.kind == Expr::Kind::record ? e.fields[i] : std::to_string(i);
    out.parts["." + name] = of(e.args[i]);
  }
  return out;
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

/// The body of a function, with its first parameters bound to what is given and the others to what aliases
/// nothing; what is given beyond them is given to its result.
AliasSet Aliases::of_body(const std::vector<Pattern>& params, ExprId body, const std::vector<AliasSet>& given,
                          ExprId at) {
  const auto outer = known_;
  for (size_t i = 0; i < params.size(); ++i) {
    const AliasSet argument = i < given.size() ? given[i] : AliasSet{};
    bind(params[i], params[i].consumed ? argument.renewed(at) : argument);
  }
  AliasSet out = given.size() > params.size()
                     ? of_call(body, {given.begin() + static_cast<long>(params.size()), given.end()}, at)
                     : of(body);
  known_ = outer;
  return out;
}

std::vector<AliasSet> Aliases::of_arguments(const Expr& call) {
  std::vector<AliasSet> out;
  for (size_t i = 1; i < call.args.size(); ++i) out.push_back(of(call.args[i]));
  return out;
}

AliasSet Aliases::of_apply(ExprId id) {
  const Expr& e = p_.exprs[id];
  const Expr& callee = p_.exprs[e.args[0]];
  if (callee.kind == Expr::Kind::global) {
    const Global& g = p_.globals[callee.global];
    if (g.kind == Global::Kind::prim && !kept_argument(g.prim)) return {};
  }
  return of_call(e.args[0], of_arguments(e), id);
}

/// What the function makes of what is given to it. Where it takes long to find out, that may be anything.
AliasSet Aliases::of_call(ExprId callee, std::vector<AliasSet> given, ExprId at) {
  static constexpr int deepest = 64, most_calls = 10'000;
  if (depth_ == 0) calls_ = 0;
  if (depth_ >= deepest || ++calls_ > most_calls) {
    for (const auto& [local, aliases] : known_) given.push_back(aliases);
    return mixed(given);
  }
  ++depth_;
  AliasSet out = of_known_call(callee, std::move(given), at);
  --depth_;
  return out;
}

AliasSet Aliases::of_known_call(ExprId callee, std::vector<AliasSet> given, ExprId at) {
  using Kind = Expr::Kind;
  const Expr& e = p_.exprs[callee];
  if (e.kind == Kind::lambda) return of_body(e.params, e.args[0], given, at);
  if (e.kind == Kind::global) return of_global(p_.globals[e.global], given, at);
  if (e.kind == Kind::let) {
    bind_let(e);
    return of_call(e.args[1], std::move(given), at);
  }
  if (e.kind == Kind::apply) {
    std::vector<AliasSet> all = of_arguments(e);
    all.insert(all.end(), given.begin(), given.end());
    return of_call(e.args[0], std::move(all), at);
  }
  if (e.kind == Kind::conditional) {
    AliasSet out = of_call(e.args[1], given, at);
    out.add(of_call(e.args[2], given, at));
    return out;
  }
  const auto bound = e.kind == Kind::local ? bound_.find(e.local) : bound_.end();
  if (bound != bound_.end()) return of_call(bound->second, std::move(given), at);
  given.push_back(of(callee));
  return mixed(given);
}

namespace {

/// How many arguments can be given to a value of this type, one after the other.
size_t arguments_of(const TypeStore& types, TypeId type) {
  size_t out = 0;
  for (const Type* t = &types.types[type]; t->kind == Type::Kind::function; t = &types.types[t->items.back()])
    out += t->items.size() - 1;
  return out;
}

}  // namespace

CallAliases Aliases::of_calls(const Global& g) {
  CallAliases out;
  out.arguments = arguments_of(p_.types, g.scheme.type);
  std::vector<AliasSet> given(out.arguments);
  for (uint32_t i = 0; i < given.size(); ++i) given[i].places = {Place{LocalId{i}, {}}};
  calls_ = 0;
  ++depth_;  // one limit for all calls in it
  out.result = g.params.empty() ? of_call(g.body, given, g.body) : of_body(g.params, g.body, given, g.body);
  --depth_;
  out.result.forget_changes();
  return out;
}

/// The result of a call, from what is known of all calls of the function.
AliasSet Aliases::of_result(const AliasSet& result, const std::vector<AliasSet>& given, ExprId at) const {
  AliasSet out;
  for (const Place& p : result.places)
    if (p.local.index < given.size()) out.add(given[p.local.index].at_path(p.path, at));
  for (const auto& [name, part] : result.parts) {
    AliasSet one;
    one.parts[name] = of_result(part, given, at);
    out.add(one);
  }
  return result.mixed ? mixed({out}) : out;
}

AliasSet Aliases::of_global(const Global& g, const std::vector<AliasSet>& given, ExprId at) {
  if (g.kind != Global::Kind::prim) {
    if (!g.aliases) return mixed(given);
    const AliasSet result = of_result(g.aliases->result, given, at);
    if (given.size() <= g.aliases->arguments) return result;
    std::vector<AliasSet> rest(given.begin() + static_cast<long>(g.aliases->arguments), given.end());
    rest.push_back(result);
    return mixed(rest);
  }
  const auto kept = kept_argument(g.prim);
  const auto arity = static_cast<size_t>(prim_arity(g.prim));
  if (kept && given.size() != arity) return mixed(given);
  AliasSet out;
  if (kept && g.prim == Prim::scan)
    out.parts[".0"] = given[*kept];
  else if (kept)
    out = given[*kept];
  return out;
}

}  // namespace axon::core
