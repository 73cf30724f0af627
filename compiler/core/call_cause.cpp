// Why a call does not fit: what happens inside of the function that is called.
//
// A function without written types has the type that its body leaves open, and a call that does not fit it
// says little of the body. So the body is inferred once more, for parameters that are what the arguments are;
// the first failure there is what the call's error names, with the call as its primary place. Calls inside do
// the same, so that the innermost operation is named. Nothing is reported meanwhile, and the program is put
// back as it was.
#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "core/declaration_state.h"
#include "core/drafts.h"
#include "core/unsat_core.h"

namespace axon::core {

using source::Diagnostic;
using source::Span;
using Kind = Expr::Kind;

namespace {

constexpr uint32_t most_calls = 8;           // inside of each other
constexpr uint32_t most_expressions = 2000;  // of a body that is inferred once more

}  // namespace

std::optional<Diagnostic> Checker::first_failure(const std::vector<TypeId>& arguments, uint32_t depth) {
  const DeclInfo& info = e_.infos[g_.index];
  if (info.end_expr - info.first_expr > most_expressions) return std::nullopt;
  const DeclarationState kept(p_, info, g_);
  for (uint32_t e = info.first_expr; e < info.end_expr; ++e) p_.exprs[{e}].type = {};
  for (uint32_t l = info.first_local; l < info.end_local; ++l) p_.locals[{l}].scheme = {};
  PendingReport attempt;
  attempt.call_depth = depth;
  reporter_.attempt(&attempt);
  failed_ = true;  // so that what only a correct body is asked is not asked
  first_type_var_ = vars_.types.vars.size();
  given_ = arguments;
  try {
    check_body();
  } catch (const TooComplex&) {
    return std::nullopt;
  }
  return std::move(attempt.first);
}

/// The parameters are what the arguments are. What is written of them may not fit: then the call says enough.
bool Checker::take_given(const std::vector<TypeId>& params) {
  const Global& g = p_.globals[g_];
  for (size_t i = 0; i < params.size(); ++i) {
    const TypeId given = patterns_.kept(given_[i]);
    unifier_.unify(params[i], given, why(g.params[i].span, "the parameter", params[i], given));
  }
  solver_.settle();
  return solver_.take_failures().empty();
}

bool Reporter::report_within(const Failure& f, const Why& w) {
  const uint32_t depth = attempt_ ? attempt_->call_depth : 0;
  if (e_.only_counting || !w.expr.valid() || depth >= most_calls) return false;
  if (const auto said = explained_.find(w.expr.index); said != explained_.end()) {
    if (said->second < pending_.size()) pending_[said->second].others.insert(key_of(whys_[f.why]));
    return failed_ = true;
  }
  const Expr call = p_.exprs[w.expr];
  if (call.kind != Kind::apply || p_.exprs[call.args[0]].kind != Kind::global) return false;
  const GlobalId called = p_.exprs[call.args[0]].global;
  if (e_.infos[called.index].module->library || called == g_) return false;
  const GlobalId callee = e_.with_body(called);
  const Global& function = p_.globals[callee];
  const DeclInfo& info = e_.infos[callee.index];
  const bool inferred = function.kind == Global::Kind::function && function.body.valid() &&
                        function.checked && !function.has_error && !info.signature &&
                        function.params.size() + 1 == call.args.size();
  if (!inferred) return false;
  std::vector<TypeId> arguments;
  Occurrences all;
  for (size_t i = 1; i < call.args.size(); ++i) {
    const TypeId type = p_.exprs[call.args[i]].type;
    if (!type.valid()) return false;
    arguments.push_back(vars_.zonk(type));
    all.add(vars_, arguments.back());
  }
  // inference of the body must not decide what the caller leaves open
  for (shape::Var v : all.dims)
    if (vars_.is_meta(v)) return false;
  for (ShapeVarId v : all.shapes)
    if (vars_.is_meta(v)) return false;
  for (TypeVarId v : all.types)
    if (vars_.is_meta(v)) return false;
  auto cause = Checker(e_, callee).first_failure(arguments, depth + 1);
  if (!cause) return false;
  explained_.emplace(w.expr.index, pending_.size());
  const Span declaration = info.written->span, at = cause->primary.span;
  const std::string call_text = fmt::format("in this call of `{}`", function.name);
  const bool misread = cause->code == source::Code::E0305 && !cause->primary.text.empty();
  if (!misread && at.file == declaration.file && declaration.begin <= at.begin && at.end <= declaration.end) {
    const std::string text = cause->primary.text.empty() ? "here" : "here: " + cause->primary.text;
    cause->secondary.insert(cause->secondary.begin(), {at, text});
    cause->primary = {w.span, call_text};
  } else {  // what is wrong is a field that has another name, where that is set or read
    cause->also(w.span, call_text);
  }
  // Edits of the call come before those of what is called, which other calls may use too.
  std::erase_if(cause->helps, [](const source::Help& help) { return help.trial == 0 && help.edit; });
  if (cause->code != source::Code::E0305)
    for (source::Help& help : cause->helps)
      if (help.trial != 0 && help.trial < rank_of_type)
        help.trial = static_cast<uint8_t>(std::min(help.trial + 10, rank_of_type - 1));
  suggest(*cause, f, w);
  defer(*cause, f);
  return true;
}

}  // namespace axon::core
