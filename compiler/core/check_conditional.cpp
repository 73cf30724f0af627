// `if`: what its condition says in the branches, and the type of what it chooses.
//
// Both branches have the same type, but for sizes: where these differ, the result has a size of its own,
// which is that of the branch taken.
#include <algorithm>
#include <functional>

#include "core/check_expr.h"

namespace axon::core {

using shape::Dim;
using shape::Fact;
using Kind = Expr::Kind;

/// What a condition says of sizes when it holds, or when it does not.
void ExprChecker::condition(ExprId id, bool holds, std::vector<Fact>& out) const {
  const Expr& e = p_.exprs[id];
  if (e.kind == Kind::local)
    if (const ExprId named = known_.let_value(e.local); named.valid()) return condition(named, holds, out);
  if (e.kind != Kind::apply || e.args.size() < 2) return;
  const Expr& callee = p_.exprs[e.args[0]];
  if (callee.kind != Kind::global || p_.globals[callee.global].kind != Global::Kind::prim) return;
  const Prim prim = p_.globals[callee.global].prim;
  if (prim == Prim::not_) return condition(e.args[1], !holds, out);
  if (e.args.size() != 3) return;
  if (prim == (holds ? Prim::and_ : Prim::or_)) {
    condition(e.args[1], holds, out);
    condition(e.args[2], holds, out);
    return;
  }
  auto a = value_of(p_.exprs[e.args[1]].type), b = value_of(p_.exprs[e.args[2]].type);
  if (!a || !b) return;
  switch (prim) {
    case Prim::lt:
      return out.push_back(holds ? shape::less(*a, *b) : shape::at_least(*a, *b));
    case Prim::le:
      return out.push_back(holds ? shape::at_most(*a, *b) : shape::less(*b, *a));
    case Prim::gt:
      return out.push_back(holds ? shape::less(*b, *a) : shape::at_most(*a, *b));
    case Prim::ge:
      return out.push_back(holds ? shape::at_least(*a, *b) : shape::less(*a, *b));
    case Prim::eq:
      return out.push_back(holds ? shape::equal(*a, *b) : Fact{*a, shape::Relation::ne, *b});
    case Prim::ne:
      return out.push_back(holds ? Fact{*a, shape::Relation::ne, *b} : shape::equal(*a, *b));
    default:
      return;
  }
}

TypeId ExprChecker::infer_conditional(ExprId id, TypeId expected) {
  const Expr e = p_.exprs[id];
  const TypeId condition_type = infer(e.args[0]);
  const TypeId boolean = vars_.scalar(base::Elem::boolean);
  unifier_.unify(boolean, condition_type,
                 why(p_.exprs[e.args[0]].span, "the condition", boolean, condition_type, id));
  TypeId branches[2];
  for (int i = 0; i < 2; ++i) {
    const size_t context = solver_.enter_branch();
    std::vector<Fact> facts;
    condition(e.args[0], i == 0, facts);
    for (const Fact& f : facts) solver_.push(f);
    branches[i] = infer(e.args[static_cast<size_t>(i) + 1], expected);
    solver_.leave_branch(context);
  }
  choose_sizes(id, branches[0], branches[1]);
  unifier_.unify(branches[0], branches[1],
                 why(p_.exprs[e.args[2]].span, "the branch after `else`", branches[0], branches[1], id));
  return vars_.without_layouts(known_.common(branches[0], branches[1]));
}

/// Whether an axis of the result has a size of its own: the sizes in the branches are not one number. A size
/// that inference is still to find is found by making it equal, unless it belongs to a name around the `if`
/// and the other one is made of it or decided by the data.
bool ExprChecker::sizes_differ(const Dim& x, const Dim& y) const {
  if (x == y) return false;
  if (vars_.has_meta(x) || vars_.has_meta(y)) {
    const auto of_data = [&](const Dim& d) {
      const auto all = d.vars();
      return std::any_of(all.begin(), all.end(),
                         [&](shape::Var v) { return vars_.kind(v) == VarKind::opened; });
    };
    const auto all = x.vars();
    const bool shared = std::any_of(all.begin(), all.end(), [&](shape::Var v) { return y.contains(v); });
    return never_zero(x - y) || (shared && is_of_names(x - y)) ||
           ((of_data(x) || of_data(y)) && is_of_names(open_part(x - y)));
  }
  const Fact same = shape::equal(x, y);
  return shape::prove(solver_.facts_here(same), same).verdict != shape::Verdict::proved;
}

/// The sum of the variables that inference is still to find.
Dim ExprChecker::open_part(const Dim& d) const {
  Dim open(0);
  for (shape::Var v : d.vars())
    if (vars_.is_meta(v)) open = open + Dim(v);
  return open;
}

/// Whether the types of the names in scope mention all of the size.
bool ExprChecker::is_of_names(const Dim& d) const {
  Occurrences named;
  for (LocalId l : scope_)
    if (p_.locals[l].type.valid()) named.add(vars_, vars_.zonk(p_.locals[l].type));
  const auto all = d.vars();
  return std::all_of(all.begin(), all.end(), [&](shape::Var v) { return named.has(v); });
}

namespace {

/// Calls f for the sizes that two types both name, one by one from the front of each pair of tensors; what f
/// makes of them is in the types after that.
void each_size(Vars& vars, Unifier& unifier, TypeId& x, TypeId& y, const std::function<void(Dim&, Dim&)>& f) {
  const TypeId left = vars.zonk(unifier.shape_view(x)), right = vars.zonk(unifier.shape_view(y));
  Type a = vars[left], b = vars[right];
  if (left == right || a.kind != b.kind || a.items.size() != b.items.size()) return;
  bool changed = false;
  if (a.kind == Type::Kind::tuple || (a.kind == Type::Kind::record && a.fields == b.fields)) {
    for (size_t i = 0; i < a.items.size(); ++i) {
      const TypeId before = a.items[i];
      each_size(vars, unifier, a.items[i], b.items[i], f);
      changed |= a.items[i] != before;
    }
  } else if (a.kind == Type::Kind::tensor) {
    const bool fixed = known_rank(a.shape) && known_rank(b.shape);
    if (fixed && a.shape.size() != b.shape.size()) return;
    const Shape before = a.shape;
    for (size_t i = 0; i < std::min(a.shape.size(), b.shape.size()); ++i) {
      if (!is_dim(a.shape[i]) || !is_dim(b.shape[i])) break;
      f(a.shape[i].dim, b.shape[i].dim);
    }
    changed = !same(before, a.shape);
  }
  if (!changed) return;
  a.alias = b.alias = {};
  x = vars.add(std::move(a));
  y = vars.add(std::move(b));
}

}  // namespace

/// Gives both branches the same new size where their sizes differ: one for each pair of sizes, since one
/// condition chooses.
void ExprChecker::choose_sizes(ExprId id, TypeId& x, TypeId& y) {
  struct Chosen {
    Dim one, other, size;
  };
  std::vector<Chosen> all;
  const auto proved = [&](const Fact& f) {
    return shape::prove(solver_.facts_here(f), f).verdict == shape::Verdict::proved;
  };
  const auto size_between = [&](const Dim& n, const Dim& m) {
    for (const Chosen& c : all)
      if (c.one == n && c.other == m) return c.size;
    const Dim size = opened_.open("k", p_.exprs[id].span, ShownBy::result(id));
    const bool rises = proved(shape::at_most(n, m)), falls = !rises && proved(shape::at_most(m, n));
    solver_.assume(shape::at_most(size, rises ? m : falls ? n : shape::max(n, m)));
    solver_.assume(shape::at_least(size, rises ? n : falls ? m : shape::min(n, m)));
    all.push_back({n, m, size});
    return size;
  };
  each_size(vars_, unifier_, x, y, [&](Dim& one, Dim& other) {
    const Dim n = vars_.zonk(one), m = vars_.zonk(other);
    if (sizes_differ(n, m)) one = other = size_between(n, m);
  });
}

}  // namespace axon::core
