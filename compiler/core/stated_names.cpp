// A `val` and the definition behind it both name sizes, and each has names of its own: what is called `n` in
// one may be `m` in the other. Unification finds which is which, but where a type does not determine that, as
// with `h*k` beside `h*k`, or a size that no parameter mentions. There, those of one name are one. A stated
// size that only the data decides, `?k`, is found by form: in `l - k` it stands where it stands in the
// body's.
#include <algorithm>

#include "core/check.h"

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Var;

namespace {

/// The names of a definition in an equation, each as the one of its `val` that is called the same; nothing
/// where that is no solution.
std::optional<shape::Substitution> by_name(const Vars& vars, const Dim& zero) {
  shape::Substitution names;
  const std::vector<Var> all = zero.vars();
  for (Var open : all) {
    if (!vars.is_meta(open)) continue;
    const auto stated = std::find_if(all.begin(), all.end(), [&](Var v) {
      return vars.kind(v) == VarKind::rigid && shape::var_name(v) == shape::var_name(open);
    });
    if (stated == all.end()) return std::nullopt;
    names.emplace(open, Dim(*stated));
  }
  return zero.substitute(names).is(0) ? std::optional(names) : std::nullopt;
}

/// Open sizes of an equation as sizes that the data decides, so that both sides have one form.
bool by_form(const Dim& zero, const std::vector<Var>& open, const std::vector<Var>& opened,
             shape::Substitution& sizes) {
  if (sizes.size() == open.size()) return zero.substitute(sizes).is(0);
  for (Var v : opened) {
    if (std::any_of(sizes.begin(), sizes.end(), [&](const auto& s) { return s.second == Dim(v); })) continue;
    const Var next = open[sizes.size()];
    sizes.emplace(next, Dim(v));
    if (by_form(zero, open, opened, sizes)) return true;
    sizes.erase(next);
  }
  return false;
}

}  // namespace

StatedSizes stated_sizes_of(const DeclInfo& info, Vars& vars, TypeId type) {
  Occurrences reach;
  reach.add(vars, vars.zonk(type));
  StatedSizes out;
  const auto mentions = [&](const Fact& f) {
    return std::any_of(out.sizes.begin(), out.sizes.end(),
                       [&](Var v) { return f.lhs.contains(v) || f.rhs.contains(v); });
  };
  for (bool grew = true; grew;) {
    grew = false;
    for (Var v : info.exists)
      if (reach.has(v) && std::find(out.sizes.begin(), out.sizes.end(), v) == out.sizes.end()) {
        out.sizes.push_back(v);
        grew = true;
      }
    for (const FactAt& f : info.exists_facts)
      if (grew && mentions(f.fact)) {
        reach.add(f.fact.lhs);
        reach.add(f.fact.rhs);
      }
  }
  for (const FactAt& f : info.exists_facts)
    if (mentions(f.fact)) out.facts.push_back(f);
  return out;
}

void Checker::follow_stated_names() {
  solver_.settle();
  for (size_t i = 0; i < solver_.parked().size(); ++i) {
    const Constraint c = solver_.parked()[i];
    if (c.kind != Constraint::Kind::equal_dims) continue;
    const auto names = by_name(vars_, vars_.zonk(c.dims[0]) - vars_.zonk(c.dims[1]));
    if (!names || names->empty()) continue;
    for (const auto& [open, stated] : *names) vars_.solve(open, stated);
  }
  const DeclInfo& info = e_.infos[g_.index];
  Occurrences stated;
  stated.add(vars_, vars_.zonk(*info.signature));
  for (const FactAt& f : info.where) {
    stated.add(vars_.zonk(f.fact.lhs));
    stated.add(vars_.zonk(f.fact.rhs));
  }
  const auto& declared = p_.globals[g_].sizes;
  const auto is_taken = [&](Var v) {
    return std::any_of(declared.begin(), declared.end(),
                       [&](const auto& size) { return vars_.zonk(Dim(size.second)) == Dim(v); });
  };
  for (const auto& [name, size] : declared)
    for (Var v : stated.dims)
      if (vars_.is_meta(size) && vars_.kind(v) == VarKind::rigid && shape::var_name(v) == name &&
          !is_taken(v))
        vars_.solve(size, Dim(v));
  solver_.settle();
}

void Checker::match_stated_sizes(TypeId stated, TypeId found) {
  const Type a = vars_[vars_.zonk(unifier_.shape_view(stated))];
  const Type b = vars_[vars_.zonk(unifier_.shape_view(found))];
  const bool same_axes = a.shape.size() == b.shape.size();
  for (size_t i = 0; same_axes && i < a.shape.size(); ++i)
    if (is_dim(a.shape[i]) && is_dim(b.shape[i])) match_stated_size(a.shape[i].dim, b.shape[i].dim);
  const bool same_items = a.items.size() == b.items.size() && a.fields == b.fields;
  for (size_t i = 0; same_items && i < a.items.size(); ++i) match_stated_sizes(a.items[i], b.items[i]);
}

void Checker::match_stated_size(const Dim& stated, const Dim& found) {
  constexpr size_t most = 3;  // sizes of one axis
  const Dim zero = vars_.zonk(stated) - vars_.zonk(found);
  std::vector<Var> open, opened;
  for (Var v : zero.vars()) {
    if (vars_.is_meta(v)) open.push_back(v);
    if (vars_.kind(v) == VarKind::opened) opened.push_back(v);
  }
  if (stated.as_var() || open.empty() || open.size() > most || opened.size() > most) return;
  shape::Substitution sizes;
  if (!by_form(zero, open, opened, sizes)) return;
  for (const auto& [size, as] : sizes) vars_.solve(size, as);
}

}  // namespace axon::core
