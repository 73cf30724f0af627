// A value marked `*` is given up by the caller, and its owner gives it up at most once.
//
// In: a checked body. Walks it in evaluation order with the aliases of every name: which parts of which owned
// values it may share storage with. Slices, rearrangements, `for` that only reorders axes, fields and items
// of a tuple are views and alias; calls alias what the function's body says (aliases.h); anything computed
// aliases nothing. Passing an owned value to a `*` parameter gives it up; `a with [i] = e` takes over the
// storage of an owned a. Any later use of the value or of a view of it is an error that shows both places.
// Inside a lambda or a `for`, which may run many times, nothing from outside can be given up. The branches of
// a conditional are alternatives.
#include <fmt/format.h>

#include <algorithm>

#include "core/aliases.h"
#include "core/check.h"

namespace axon::core {

using source::Code;
using source::error;
using source::Span;

namespace {

class ConsumeWalk {
 public:
  ConsumeWalk(const Program& p, source::Diagnostics& diagnostics)
      : p_(p), diagnostics_(diagnostics), aliases_(p) {}

  void own(const Pattern& p) {
    if (p.consumed) own_all(p);
    for (const Pattern& item : p.items) own(item);
  }

  void walk(ExprId id) {
    if (!id.valid()) return;
    const Expr& e = p_.exprs[id];
    switch (e.kind) {
      case Expr::Kind::local:
      case Expr::Kind::field:
        if (aliases_.path_of(id)) return use(id);
        return walk(e.args[0]);
      case Expr::Kind::lambda:
        ++depth_;
        for (const Pattern& p : e.params) own(p);
        walk(e.args[0]);
        --depth_;
        return;
      case Expr::Kind::for_:
        for (const Binder& b : e.binders) walk(b.bound);
        ++depth_;
        walk(e.args[0]);
        --depth_;
        return;
      case Expr::Kind::let:
        walk(e.args[0]);
        aliases_.bind_let(e);
        return walk(e.args[1]);
      case Expr::Kind::conditional:
        return walk_conditional(id);
      case Expr::Kind::apply:
        return walk_apply(e);
      case Expr::Kind::with_index:
        return walk_update(id);
      default:
        for (ExprId a : e.args) walk(a);
        walk_indices(e);
    }
  }

  bool failed = false;

 private:
  struct Gone {
    Place place;
    std::string name;  ///< as it was written where it was given up
    Span at;
    bool update;  ///< by `with [i] = e`
  };

  void own_all(const Pattern& p) {
    if (p.kind == Pattern::Kind::name) {
      owned_[p.local] = depth_;
      aliases_.set(p.local, {{Place{p.local, {}}}, {}});
    }
    for (const Pattern& item : p.items) own_all(item);
  }

  void walk_indices(const Expr& e) {
    for (const IndexItem& i : e.indices)
      for (ExprId part : {i.point, i.start, i.stop, i.step}) walk(part);
  }

  std::string text(ExprId id) const {
    auto path = aliases_.path_of(id);
    return path ? fmt::format("`{}{}`", p_.locals[path->local].name, path->path) : "the value";
  }

  void use(ExprId id) {
    for (const Place& place : aliases_.of(id).all()) {
      auto gone =
          std::find_if(gone_.begin(), gone_.end(), [&](const Gone& g) { return overlap(g.place, place); });
      if (gone == gone_.end()) continue;
      const Span at = p_.exprs[id].span;
      if (!reported_.insert({at.begin, gone->at.begin}).second) return;
      const std::string name = text(id), given = gone->name;
      if (gone->update) {
        fail(error(Code::E0324, gone->at, fmt::format("updating {} here would copy it", given))
                 .also(at, name == given
                               ? fmt::format("{} is used after the update", name)
                               : fmt::format("{} shares its storage and is used after the update", name))
                 .text(fmt::format("`{}` is marked `*`, so it is updated in place.",
                                   p_.locals[place.local].name))
                 .help("use what the update gives, or read what is needed before it"));
      } else {
        fail(error(Code::E0316, at,
                   name == given
                       ? fmt::format("{} is used after it was given up", name)
                       : fmt::format("{} shares its storage with {}, which was given up", name, given))
                 .also(gone->at, "given up here"));
      }
      return;
    }
  }

  void walk_conditional(ExprId id) {
    const Expr& e = p_.exprs[id];
    walk(e.args[0]);
    const auto before = gone_;
    walk(e.args[1]);
    const auto after_then = gone_;
    gone_ = before;
    walk(e.args[2]);
    const auto since = static_cast<ptrdiff_t>(before.size());
    gone_.insert(gone_.end(), after_then.begin() + since, after_then.end());
    std::vector<Place> places;
    for (auto gone = gone_.begin() + since; gone != gone_.end(); ++gone) places.push_back(gone->place);
    aliases_.give_up_in(id, std::move(places));
  }

  /// Gives up what the expression aliases of what is owned here.
  void give_up(ExprId id, Span at, bool update) {
    bool many = false;
    std::vector<Gone> gone;
    for (const Place& place : aliases_.of(id).all()) {
      auto owner = owned_.find(place.local);
      if (owner == owned_.end()) continue;
      many |= owner->second < depth_;
      gone.push_back({place, text(id), at, update});
    }
    if (!many) gone_.insert(gone_.end(), gone.begin(), gone.end());
    if (!many || !reported_.insert({at.begin, 0}).second) return;
    fail(
        error(update ? Code::E0324 : Code::E0316, at,
              update ? fmt::format("updating {} here would copy it", text(id))
                     : fmt::format("{} is given up where it may be needed again", text(id)))
            .text("This part runs once for every element or step, and the value can be given up only once."));
  }

  void walk_update(ExprId id) {
    const Expr& e = p_.exprs[id];
    for (ExprId a : e.args) walk(a);
    walk_indices(e);
    give_up(e.args[0], p_.exprs[e.args[0]].span, true);
  }

  void walk_apply(const Expr& e) {
    for (ExprId a : e.args) walk(a);
    const Type& fn = p_.types.types[p_.exprs[e.args[0]].type];
    if (fn.kind != Type::Kind::function) return;
    auto consumes = [&](size_t i) { return i < fn.items.size() && p_.types.types[fn.items[i - 1]].consumed; };
    for (size_t i = 1; i < e.args.size(); ++i) {
      if (!consumes(i)) continue;
      for (size_t j = 1; j < e.args.size(); ++j)
        if (j != i && !(consumes(j) && j < i)) refuse_shared(e.args[i], e.args[j], consumes(j));
      give_up(e.args[i], p_.exprs[e.args[i]].span, false);
    }
  }

  /// Two arguments of one call, the first of which is given up.
  void refuse_shared(ExprId given, ExprId other, bool both) {
    for (const Place& a : aliases_.of(given).all()) {
      if (!owned_.count(a.local)) continue;
      for (const Place& b : aliases_.of(other).all()) {
        if (!overlap(a, b) ||
            !reported_.insert({p_.exprs[given].span.begin, p_.exprs[other].span.begin}).second)
          continue;
        fail(error(Code::E0316, p_.exprs[given].span,
                   fmt::format("`{}` is given up and {} by the same call", text(given),
                               both ? "given up again" : "used"))
                 .also(p_.exprs[other].span, text(given) == text(other)
                                                 ? "here, too"
                                                 : fmt::format("`{}` shares its storage", text(other))));
        return;
      }
    }
  }

  void fail(source::Diagnostic d) {
    failed = true;
    diagnostics_.report(std::move(d));
  }

  const Program& p_;
  source::Diagnostics& diagnostics_;
  Aliases aliases_;
  std::map<LocalId, int> owned_;  ///< and the depth of the function that owns it
  std::vector<Gone> gone_;
  std::set<std::pair<uint32_t, uint32_t>> reported_;
  int depth_ = 0;
};

bool owns(const Pattern& p) { return p.consumed || std::any_of(p.items.begin(), p.items.end(), owns); }

}  // namespace

void Checker::check_consumed() {
  const Global& g = p_.globals[g_];
  const DeclInfo& info = e_.infos[g_.index];
  bool any = std::any_of(g.params.begin(), g.params.end(), owns);
  for (uint32_t i = info.first_expr; i < info.end_expr && !any; ++i)
    any = std::any_of(p_.exprs[{i}].params.begin(), p_.exprs[{i}].params.end(), owns);
  if (!any) return;
  ConsumeWalk walk(p_, *e_.diagnostics);
  for (const Pattern& p : g.params) walk.own(p);
  walk.walk(g.body);
  if (walk.failed) failed_ = true;
}

}  // namespace axon::core
