// See size_names.h.
#include "core/size_names.h"

#include <algorithm>

namespace axon::core {

using Kind = Expr::Kind;

std::string path_of(const Program& p, ExprId id) {
  std::string fields;
  for (; p.exprs[id].kind == Kind::field; id = p.exprs[id].args[0]) fields = "." + p.exprs[id].text + fields;
  const Expr& e = p.exprs[id];
  return e.kind == Kind::local ? std::to_string(e.local.index) + fields : "";
}

bool SizeNames::stands_for_size(ExprId id) const {
  const Kind kind = p_.exprs[id].kind;
  return (kind == Kind::local || kind == Kind::field) && paths_.count(path_of(p_, id)) > 0;
}

std::string SizeNames::read_key(ExprId id) const { return read_key(id, 0); }

std::string SizeNames::read_key(ExprId id, int depth) const {
  const Expr& e = p_.exprs[id];
  if (e.kind != Kind::index || e.args.size() != 1) return "";
  std::string key = path_of(p_, e.args[0]);
  for (const IndexItem& item : e.indices) {
    if (key.empty() || item.kind != IndexItem::Kind::point) return "";
    const std::string at = integer_key(item.point, depth + 1);
    if (at.empty()) return "";
    key += "[" + at + "]";
  }
  return key;
}

/// The same for an integer that an element is read at: a number, a name, a size, another such element, or
/// what arithmetic makes of these; empty for all else. Equal keys are equal numbers, since arithmetic gives
/// the same for the same operands, also where it wraps.
std::string SizeNames::integer_key(ExprId id, int depth) const {
  constexpr int deepest = 8;
  const Expr& e = p_.exprs[id];
  if (depth > deepest) return "";
  if (e.kind == Kind::number) return e.text;
  if (e.kind == Kind::index) return read_key(id, depth);
  if (e.kind == Kind::size) {
    const auto name = e.dim.as_var();
    return name ? "#" + std::to_string(name->id) : e.dim.constant() ? std::to_string(*e.dim.constant()) : "";
  }
  if (const ExprId named = let_value(id); named.valid())
    if (std::string key = integer_key(named, depth + 1); !key.empty()) return key;
  if (const std::string path = path_of(p_, id); !path.empty()) return "_" + path;
  std::vector<std::string> keys;
  for (ExprId operand : operands(id)) keys.push_back(integer_key(operand, depth + 1));
  if (keys.empty() || std::find(keys.begin(), keys.end(), "") != keys.end()) return "";
  const Prim prim = p_.globals[p_.exprs[e.args[0]].global].prim;
  if (prim != Prim::sub && prim != Prim::div && prim != Prim::mod) std::sort(keys.begin(), keys.end());
  std::string key = prim_name(prim);
  for (const std::string& k : keys) key += "(" + k + ")";
  return key;
}

size_t SizeNames::reads(const std::string& key) const {
  const auto read = reads_.find(key);
  return read == reads_.end() ? 0 : read->second.size();
}

void SizeNames::find() {
  const DeclInfo& info = e_.infos[g_.index];
  for (uint32_t i = info.first_expr; i < info.end_expr; ++i)
    if (const Expr& e = p_.exprs[{i}]; e.kind == Kind::let) add_lets(e.params[0], e.args[0], {});
  for (uint32_t i = info.first_local; i < info.end_local; ++i)
    if (e_.local_sizes.count(i)) add_name({i}, {});
  size_t before = 0;
  do {  // a function that is named may be found to take sizes
    before = paths_.size();
    for (uint32_t i = info.first_expr; i < info.end_expr; ++i) look_at({i});
  } while (paths_.size() != before);
}

void SizeNames::add_lets(const Pattern& p, ExprId value, const Steps& steps) {
  if (p.kind == Pattern::Kind::name) lets_[p.local] = {value, steps};
  for (size_t i = 0; i < p.items.size(); ++i) {
    Steps inner = steps;
    inner.push_back(std::to_string(i));
    add_lets(p.items[i], value, inner);
  }
}

/// Where an expression uses a part of it as a size.
void SizeNames::look_at(ExprId id) {
  const Expr& e = p_.exprs[id];
  for (const Binder& b : e.binders) add({b.bound, {}});
  for (const IndexItem& item : e.indices)
    for (ExprId end : {item.start, item.stop}) add({end, {}});
  if (e.kind == Kind::global)
    for (ExprId given : e.args) add({given, {}});
  if (e.kind == Kind::rearrange && e.args.size() == 2 && p_.exprs[e.args[1]].kind == Kind::list)
    for (ExprId size : p_.exprs[e.args[1]].args) add({size, {}});
  if (e.kind == Kind::apply) look_at_arguments(e);
  while (!todo_.empty()) {
    const Part part = std::move(todo_.back());
    todo_.pop_back();
    take(part);
  }
}

void SizeNames::look_at_arguments(const Expr& e) {
  size_t before = 0;  // arguments that a partial application gave
  ExprId id = e.args[0];
  for (ExprId named = let_value(id); named.valid(); named = let_value(id)) {
    id = named;
    if (p_.exprs[id].kind != Kind::apply) continue;
    before += p_.exprs[id].args.size() - 1;
    id = p_.exprs[id].args[0];
  }
  const Expr& callee = p_.exprs[id];
  const TypeId scheme = callee.kind == Kind::global ? p_.globals[callee.global].scheme.type : TypeId{};
  const Type fn = scheme.valid() ? vars_[vars_.head(scheme)] : Type{};
  for (size_t i = 1; i < e.args.size(); ++i) {
    const size_t parameter = before + i - 1;
    if (fn.kind == Type::Kind::function && parameter + 1 < fn.items.size())
      named_integers(fn.items[parameter], {e.args[i], {}});
    if (callee.kind == Kind::lambda && parameter < callee.params.size())
      sizes_of_pattern(callee.params[parameter], {e.args[i], {}});
  }
}

/// What `let` binds the name to as a whole; invalid for other expressions.
ExprId SizeNames::let_value(ExprId id) const {
  const Expr& e = p_.exprs[id];
  const auto let = e.kind == Kind::local ? lets_.find(e.local) : lets_.end();
  return let != lets_.end() && let->second.steps.empty() ? let->second.expr : ExprId{};
}

/// The integers that the type of a parameter names are sizes in its argument.
void SizeNames::named_integers(TypeId parameter, const Part& argument) {
  const Type& t = vars_[vars_.head(parameter)];
  if (t.kind == Type::Kind::tensor && t.value && t.elem.elem == base::Elem::i64) return add(argument);
  if (t.kind != Type::Kind::tuple && t.kind != Type::Kind::record) return;
  for (size_t i = 0; i < t.items.size(); ++i) {
    Part part = argument;
    part.steps.push_back(t.fields.empty() ? std::to_string(i) : t.fields[i]);
    named_integers(t.items[i], part);
  }
}

/// What a pattern binds that is a size is one in its argument.
void SizeNames::sizes_of_pattern(const Pattern& p, const Part& argument) {
  if (p.kind == Pattern::Kind::name && paths_.count(std::to_string(p.local.index))) add(argument);
  for (size_t i = 0; i < p.items.size(); ++i) {
    Part part = argument;
    part.steps.push_back(std::to_string(i));
    sizes_of_pattern(p.items[i], part);
  }
}

void SizeNames::add(Part part) {
  if (part.expr.valid()) todo_.push_back(std::move(part));
}

/// A part of a value is a size: so is what it is made of.
void SizeNames::take(const Part& part) {
  const Expr& e = p_.exprs[part.expr];
  if (e.kind == Kind::local) return add_name(e.local, part.steps);
  if (e.kind == Kind::field) {
    Steps steps = part.steps;
    steps.insert(steps.begin(), e.text);
    return add({e.args[0], std::move(steps)});
  }
  if (e.kind == Kind::let) return add({e.args[1], part.steps});
  if (e.kind == Kind::conditional) {
    add({e.args[1], part.steps});
    return add({e.args[2], part.steps});
  }
  return part.steps.empty() ? take_whole(part.expr) : take_step(part);
}

void SizeNames::take_whole(ExprId id) {
  for (ExprId operand : operands(id)) add({operand, {}});
  const Expr& e = p_.exprs[id];
  if (const ExprId converted = operand_of_cast(id); converted.valid())
    if (const std::string key = read_key(converted); !key.empty()) reads_[key].insert(converted);
  if (e.kind != Kind::index) return;
  if (const std::string key = read_key(id); !key.empty()) reads_[key].insert(id);
  const ExprId named = let_value(e.args[0]), list = named.valid() ? named : e.args[0];
  if (p_.exprs[list].kind == Kind::list)
    for (ExprId element : p_.exprs[list].args) add({element, {}});
}

void SizeNames::take_step(const Part& part) {
  const Expr& e = p_.exprs[part.expr];
  const std::string& step = part.steps.front();
  const Steps rest(part.steps.begin() + 1, part.steps.end());
  if (e.kind == Kind::with_field)
    return e.text == step ? add({e.args[1], rest}) : add({e.args[0], part.steps});
  for (size_t i = 0; i < e.args.size(); ++i) {
    const bool item = e.kind == Kind::tuple && std::to_string(i) == step;
    const bool field = e.kind == Kind::record && e.fields[i] == step;
    if (item || field) add({e.args[i], rest});
  }
}

void SizeNames::add_name(LocalId name, const Steps& steps) {
  std::string path = std::to_string(name.index);
  for (const std::string& step : steps) path += "." + step;
  if (!paths_.insert(path).second) return;
  const auto let = lets_.find(name);
  if (let == lets_.end()) return;
  Part part = let->second;
  part.steps.insert(part.steps.end(), steps.begin(), steps.end());
  add(std::move(part));
}

/// What a conversion converts: an integer keeps its value, but what it converts may be no integer. Invalid
/// for other expressions.
ExprId SizeNames::operand_of_cast(ExprId id) const {
  const Expr& e = p_.exprs[id];
  if (e.kind != Kind::apply || e.args.size() != 2 || p_.exprs[e.args[0]].kind != Kind::global) return {};
  const Global& callee = p_.globals[p_.exprs[e.args[0]].global];
  return callee.kind == Global::Kind::prim && callee.prim == Prim::cast ? e.args[1] : ExprId{};
}

/// The operands of arithmetic: where its result is a size, so are they.
std::vector<ExprId> SizeNames::operands(ExprId id) const {
  const Expr& e = p_.exprs[id];
  if (e.kind != Kind::apply || p_.exprs[e.args[0]].kind != Kind::global) return {};
  const Global& callee = p_.globals[p_.exprs[e.args[0]].global];
  if (callee.kind != Global::Kind::prim) return {};
  constexpr Prim arithmetic[] = {Prim::add, Prim::sub, Prim::mul, Prim::div,
                                 Prim::mod, Prim::neg, Prim::min, Prim::max};
  if (std::find(std::begin(arithmetic), std::end(arithmetic), callee.prim) == std::end(arithmetic)) return {};
  return {e.args.begin() + 1, e.args.end()};
}

}  // namespace axon::core
