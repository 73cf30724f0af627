// See bound_names.h.
#include "core/bound_names.h"

namespace axon::core {

void each_part(const Expr& e, const std::function<void(ExprId)>& f) {
  const auto part = [&](ExprId id) {
    if (id.valid()) f(id);
  };
  for (ExprId a : e.args) part(a);
  for (const Binder& b : e.binders) part(b.bound);
  for (const IndexItem& i : e.indices)
    for (ExprId id : {i.point, i.start, i.stop, i.step}) part(id);
}

namespace {

class Mentions {
 public:
  Mentions(const Program& p, const BoundNames& names) : p_(p), names_(names) {}
  bool in(ExprId id) {
    BoundNames own;
    own.add(p_, id);
    return in(id, own);
  }

 private:
  bool in(ExprId id, const BoundNames& own) {
    const Expr& e = p_.exprs[id];
    bool found = e.kind == Expr::Kind::local && is_one(e.local, own);
    for (const IndexItem& i : e.indices) found |= i.rank.valid() && is_one(i.rank, own);
    each_part(e, [&](ExprId part) { found = found || in(part, own); });
    return found;
  }
  bool is_one(LocalId l, const BoundNames& own) {
    if (own.all.count(l) || !names_.all.count(l)) return false;
    const auto let = names_.lets.find(l);
    if (let == names_.lets.end()) return true;
    const auto [known, is_new] = known_.emplace(l, false);
    if (is_new) known_[l] = in(let->second);
    return known_[l];
  }

  const Program& p_;
  const BoundNames& names_;
  std::map<LocalId, bool> known_;  ///< of names of `let`
};

}  // namespace

void BoundNames::add(const Pattern& pattern) {
  if (pattern.local.valid()) all.insert(pattern.local);
  for (const Pattern& item : pattern.items) add(item);
}

void BoundNames::add(const Program& p, ExprId id) {
  const Expr& e = p.exprs[id];
  for (const Pattern& pattern : e.params) add(pattern);
  for (const Binder& b : e.binders) all.insert(b.local);
  if (e.kind == Expr::Kind::let && e.params[0].kind == Pattern::Kind::name)
    lets.emplace(e.params[0].local, e.args[0]);
  each_part(e, [&](ExprId part) { add(p, part); });
}

bool depends_on(const Program& p, ExprId id, const BoundNames& names) { return Mentions(p, names).in(id); }

}  // namespace axon::core
