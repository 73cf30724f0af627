// See size_vars.h.
#include "core/size_vars.h"

#include <algorithm>

namespace axon::core {

using shape::Dim;
using shape::Var;

Var SizeVars::dim(const std::string& hint, VarKind kind, bool size, source::Span origin) {
  Var v = shape::fresh_var(hint);
  dims_[v.id] = {kind, size, std::nullopt, origin};
  return v;
}
bool SizeVars::is_meta(Var v) const {
  auto it = dims_.find(v.id);
  return it != dims_.end() && it->second.kind == VarKind::meta && !it->second.solution;
}
VarKind SizeVars::kind(Var v) const {
  auto it = dims_.find(v.id);
  return it == dims_.end() ? VarKind::rigid : it->second.kind;
}
bool SizeVars::mentions_index(const Dim& d) const {
  const auto all = d.vars();
  return std::any_of(all.begin(), all.end(), [&](Var v) { return kind(v) == VarKind::index; });
}
bool SizeVars::mentions_failed(const Dim& d) const {
  const auto all = d.vars();
  return std::any_of(all.begin(), all.end(), [&](Var v) { return kind(v) == VarKind::failed; });
}
bool SizeVars::is_size(Var v) const {
  auto it = dims_.find(v.id);
  return it == dims_.end() || it->second.size;
}
void SizeVars::make_size(Var v) { dims_[v.id].size = true; }
void SizeVars::make_rigid(Var v) { dims_[v.id].kind = VarKind::rigid; }
source::Span SizeVars::origin(Var v) const {
  auto it = dims_.find(v.id);
  return it == dims_.end() ? source::Span{} : it->second.origin;
}
void SizeVars::solve(Var v, Dim d) {
  dims_[v.id].solution = std::move(d);
  note_solution();
}

Dim SizeVars::zonk(const Dim& d) const {
  if (d.constant()) return d;
  shape::Substitution solved;
  for (Var v : d.vars()) {
    auto it = dims_.find(v.id);
    if (it != dims_.end() && it->second.solution) solved.emplace(v, zonk(*it->second.solution));
  }
  return solved.empty() ? d : d.substitute(solved);
}
bool SizeVars::has_meta(const Dim& zonked) const {
  for (Var v : zonked.vars())
    if (is_meta(v)) return true;
  return false;
}

bool SizeVars::may_wrap(const Dim& d) const {
  const std::vector<Var> vars = d.vars();
  return !shape::too_complex(d) && std::none_of(vars.begin(), vars.end(), [&](Var v) { return is_size(v); });
}

bool SizeVars::plainly_nonnegative(const Dim& d) const { return nonnegative(d, false); }

bool SizeVars::nonnegative(const Dim& d, bool all_are_sizes) const {
  const auto part = [&](const Dim& inner) { return nonnegative(inner, all_are_sizes); };
  auto atom_ok = [&](const shape::Atom& a) {
    switch (a.kind()) {
      case shape::AtomKind::var:
        return all_are_sizes || kind(a.var()) == VarKind::index || is_size(a.var());
      case shape::AtomKind::floor_div:
        return part(a.lhs()) && part(a.rhs());
      case shape::AtomKind::mod:
        return part(a.rhs());
      case shape::AtomKind::min:
        return part(a.lhs()) && part(a.rhs());
      case shape::AtomKind::max:
        return part(a.lhs()) || part(a.rhs());
    }
    return false;
  };
  for (const shape::Term& t : d.terms()) {
    if (t.coefficient < 0) return false;
    if (!std::all_of(t.factors.begin(), t.factors.end(), atom_ok)) return false;
  }
  return true;
}

}  // namespace axon::core
