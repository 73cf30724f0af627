// See evaluate_ranges_first.h.
#include "core/evaluate_ranges_first.h"

#include <algorithm>

#include "core/bound_names.h"

namespace axon::core {

namespace {

using Kind = Expr::Kind;

/// Moves parts of the body of one `for` in front of it.
class RangesFirst {
 public:
  RangesFirst(Program& p, ExprId loop) : p_(p), loop_(loop) {}

  /// `opened`: what the data decides in the declaration.
  void run(const std::set<shape::Var>& opened) {
    const std::vector<Binder> binders = p_.exprs[loop_].binders;
    const auto by_data = [&](const Binder& b) {
      const auto all = b.range && !b.bound.valid() ? b.range->vars() : std::vector<shape::Var>{};
      return std::any_of(all.begin(), all.end(), [&](shape::Var v) { return opened.count(v) > 0; });
    };
    if (std::none_of(binders.begin(), binders.end(), by_data)) return;
    names_.add(p_, loop_);
    const ExprId body = p_.exprs[loop_].args[0];
    for (const Binder& b : binders)
      if (by_data(b) && !is_found_by_use(b.local, body))
        for (shape::Var v : b.range->vars())
          if (opened.count(v)) sizes_.insert(v);
    if (!sizes_.empty()) hoist_openings(body);
    for (; !moved_.empty(); moved_.pop_back()) enclose(moved_.back().first, moved_.back().second);
  }

 private:
  /// What a binder indexes that stands alone says its range: whether something does that is in front of the
  /// loop, perhaps since now.
  bool is_found_by_use(LocalId binder, ExprId body) {
    std::vector<ExprId> indexed;
    collect_indexed(binder, body, indexed);
    for (ExprId id : indexed)
      if (is_in_front(id)) return true;
    for (ExprId id : indexed)
      if (hoist(id)) return true;
    return false;
  }
  void collect_indexed(LocalId binder, ExprId id, std::vector<ExprId>& out) const {
    const Expr& e = p_.exprs[id];
    for (const IndexItem& i : e.indices)
      if (i.kind == IndexItem::Kind::point && p_.exprs[i.point].kind == Kind::local &&
          p_.exprs[i.point].local == binder)
        out.push_back(value_of(e.args[0]));
    each_part(e, [&](ExprId part) { collect_indexed(binder, part, out); });
  }
  bool is_in_front(ExprId id) const {
    const Expr& e = p_.exprs[id];
    if (e.kind == Kind::field) return is_in_front(e.args[0]);
    return e.kind == Kind::local && !names_.all.count(e.local);
  }
  /// What shows a size that a range mentions.
  void hoist_openings(ExprId id) {
    const Expr e = p_.exprs[id];
    if (shows(e.opens) && hoist(id)) return;
    if (e.kind == Kind::let && e.params[0].local.valid() && shows(p_.locals[e.params[0].local].opens))
      hoist(e.args[0]);
    each_part(e, [&](ExprId part) { hoist_openings(part); });
  }
  bool shows(const std::vector<OpenedSize>& opens) const {
    return std::any_of(opens.begin(), opens.end(), [&](const OpenedSize& o) { return sizes_.count(o.size); });
  }
  /// The expression that a name of the body is a name of.
  ExprId value_of(ExprId id) const {
    for (;;) {
      const Expr& e = p_.exprs[id];
      const auto let = e.kind == Kind::local ? names_.lets.find(e.local) : names_.lets.end();
      if (let == names_.lets.end()) return id;
      id = let->second;
    }
  }

  /// Moves the expression where all iterations agree in it; returns whether they do.
  bool hoist(ExprId id) {
    if (depends_on(p_, id, names_)) return false;
    move_value(id);
    return true;
  }
  /// Moves the expression, with the names of `let` that it mentions; a new name stands in its place.
  LocalId move_value(ExprId id) {
    if (const auto known = name_of_.find(id); known != name_of_.end()) return known->second;
    BoundNames own;
    own.add(p_, id);
    name_names(id, own);
    Local local;
    local.name = "indexed";
    local.span = p_.exprs[id].span;
    local.type = p_.exprs[id].type;
    const LocalId name = p_.locals.add(std::move(local));
    Expr use;
    use.kind = Kind::local;
    use.span = p_.exprs[id].span;
    use.type = p_.exprs[id].type;
    use.local = name;
    const ExprId value = p_.exprs.add(p_.exprs[id]);
    p_.exprs[id] = std::move(use);
    name_of_[id] = name;
    moved_.emplace_back(name, value);
    return name;
  }
  void name_names(ExprId id, const BoundNames& own) {
    const Expr e = p_.exprs[id];
    if (e.kind == Kind::local && !own.all.count(e.local))
      if (const auto let = names_.lets.find(e.local); let != names_.lets.end())
        p_.exprs[id].local = move_value(let->second);
    each_part(e, [&](ExprId part) { name_names(part, own); });
  }

  /// loop becomes `let name = value in loop`.
  void enclose(LocalId name, ExprId value) {
    Expr let;
    let.kind = Kind::let;
    let.span = p_.exprs[loop_].span;
    let.type = p_.exprs[loop_].type;
    Pattern pattern;
    pattern.local = name;
    pattern.span = p_.locals[name].span;
    let.params = {pattern};
    const ExprId loop = p_.exprs.add(p_.exprs[loop_]);
    let.args = {value, loop};
    p_.exprs[loop_] = std::move(let);
  }

  Program& p_;
  ExprId loop_;
  BoundNames names_;
  std::set<shape::Var> sizes_;  ///< that ranges mention which no use says
  std::map<ExprId, LocalId> name_of_;
  std::vector<std::pair<LocalId, ExprId>> moved_;  ///< in the order of evaluation
};

void collect(const Program& p, ExprId id, std::set<shape::Var>& opened, std::vector<ExprId>& loops) {
  const Expr& e = p.exprs[id];
  for (const OpenedSize& o : e.opens) opened.insert(o.size);
  for (const Pattern& pattern : e.params)
    if (pattern.local.valid())
      for (const OpenedSize& o : p.locals[pattern.local].opens) opened.insert(o.size);
  each_part(e, [&](ExprId part) { collect(p, part, opened, loops); });
  if (e.kind == Kind::for_) loops.push_back(id);
}

}  // namespace

void evaluate_ranges_first(Program& p, ExprId body) {
  std::set<shape::Var> opened;
  std::vector<ExprId> loops;  // inner ones first
  collect(p, body, opened, loops);
  if (opened.empty()) return;
  for (ExprId loop : loops) RangesFirst(p, loop).run(opened);
}

}  // namespace axon::core
