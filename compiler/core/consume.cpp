// A parameter marked `*` is given up by the caller, and its owner gives it up at most once.
//
// Walks a checked body in evaluation order. Passing a `*` parameter to a `*` parameter gives it up; any later
// use of the name is an error that shows both places. Inside a lambda or a `for`, which may run many times, a
// name from outside cannot be given up. The two branches of a conditional are alternatives.
#include <fmt/format.h>

#include "core/check.h"

namespace axon::core {

using source::Code;
using source::error;
using source::Span;

namespace {

class ConsumeWalk {
 public:
  ConsumeWalk(const Program& p, source::Diagnostics& diagnostics) : p_(p), diagnostics_(diagnostics) {}

  void own(const Pattern& p) {
    if (p.consumed && p.kind == Pattern::Kind::name) owned_[p.local] = depth_;
    for (const Pattern& item : p.items) own(item);
  }

  void walk(ExprId id) {
    if (!id.valid()) return;
    const Expr& e = p_.exprs[id];
    switch (e.kind) {
      case Expr::Kind::local:
        return use(e.local, e.span);
      case Expr::Kind::lambda:
        ++depth_;
        for (const Pattern& p : e.params) own(p);
        for (ExprId a : e.args) walk(a);
        --depth_;
        return;
      case Expr::Kind::for_:
        for (const Binder& b : e.binders) walk(b.bound);
        ++depth_;
        for (ExprId a : e.args) walk(a);
        --depth_;
        return;
      case Expr::Kind::conditional:
        return walk_conditional(e);
      case Expr::Kind::apply:
        return walk_apply(e);
      default:
        for (ExprId a : e.args) walk(a);
        for (const IndexItem& i : e.indices)
          for (ExprId part : {i.point, i.start, i.stop, i.step}) walk(part);
    }
  }

  bool failed = false;

 private:
  void use(LocalId local, Span at) {
    auto given = given_up_.find(local);
    if (given == given_up_.end()) return;
    report(error(Code::E0316, at, fmt::format("`{}` is used after it was given up", p_.locals[local].name))
               .also(given->second, "given up here"));
  }

  void walk_conditional(const Expr& e) {
    walk(e.args[0]);
    const auto before = given_up_;
    walk(e.args[1]);
    auto after_then = given_up_;
    given_up_ = before;
    walk(e.args[2]);
    given_up_.merge(after_then);
  }

  void walk_apply(const Expr& e) {
    for (ExprId a : e.args) walk(a);
    const Type& fn = p_.types.types[p_.exprs[e.args[0]].type];
    if (fn.kind != Type::Kind::function) return;
    for (size_t i = 1; i < e.args.size() && i < fn.items.size(); ++i) {
      const Expr& arg = p_.exprs[e.args[i]];
      if (!p_.types.types[fn.items[i - 1]].consumed || arg.kind != Expr::Kind::local) continue;
      auto owned = owned_.find(arg.local);
      if (owned == owned_.end()) continue;
      if (owned->second < depth_) {
        report(error(Code::E0316, arg.span,
                     fmt::format("`{}` is given up where it may be needed again", p_.locals[arg.local].name))
                   .text("This part runs once for every element, and the value can be given up only once."));
      }
      given_up_[arg.local] = arg.span;
    }
  }

  void report(source::Diagnostic d) {
    failed = true;
    diagnostics_.report(std::move(d));
  }

  const Program& p_;
  source::Diagnostics& diagnostics_;
  std::map<LocalId, int> owned_;  ///< and the depth of the function that owns it
  std::map<LocalId, Span> given_up_;
  int depth_ = 0;
};

}  // namespace

void Checker::check_consumed() {
  ConsumeWalk walk(p_, e_.diagnostics);
  const Global& g = p_.globals[g_];
  for (const Pattern& p : g.params) walk.own(p);
  walk.walk(g.body);
  if (walk.failed) failed_ = true;
}

}  // namespace axon::core
