// Minimal unsatisfiable cores: which constraints cannot hold together with the one that failed.
//
// A failure names the constraint at which inference noticed; what contradicts it may stand far away. The
// declaration is inferred again with constraints left out: one without which the failure goes away belongs to
// the core, the others do not. Nothing is reported meanwhile, and the tree is put back as it was. The core is
// minimal in the sense of inclusion: without any one of its constraints this failure does not happen.
#include "core/unsat_core.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "core/declaration_state.h"

namespace axon::core {

using source::Diagnostic;
using source::Span;

namespace {

constexpr size_t most_core_work = 30'000;  // expressions inferred for one declaration, all attempts together
constexpr size_t most_shown = 3;           // places of a core that are marked

/// Whether marks of both would stand under each other.
bool begins_there(Span mark, Span place) { return mark.file == place.file && mark.begin == place.begin; }

/// Marks the places of the core that the message does not show yet.
void mark_core(Diagnostic& d, const std::vector<Why>& core, const Why& failing,
               const source::SourceManager& sources) {
  size_t shown = 0;
  for (const Why& w : core) {
    const bool same_place = failing.expr.valid() && w.expr == failing.expr;
    const bool marked = std::any_of(d.secondary.begin(), d.secondary.end(),
                                    [&](const source::Label& l) { return begins_there(l.span, w.span); });
    if (same_place || marked || begins_there(d.primary.span, w.span) || !w.span.valid() ||
        shown == most_shown)
      continue;
    d.also(w.span,
           fmt::format("together with {}",
                       w.what == "the size" ? fmt::format("the size `{}`", sources.text(w.span)) : w.what));
    ++shown;
  }
}

}  // namespace

std::string key_of(const Why& why) { return fmt::format("{}:{}:{}", why.span.begin, why.span.end, why.what); }

/// Reported at the end of the declaration, with its unsatisfiable core.
void Reporter::defer(Diagnostic& d, const Failure& f) {
  failed_ = true;
  if (attempt_) return report(std::move(d));
  PendingReport& pending = pending_.emplace_back();
  pending.diagnostic = std::move(d);
  pending.failure = f;
  pending.key = key_of(whys_[f.why]);
}

bool Checker::still_fails(const PendingReport& pending) {
  const DeclInfo info = e_.infos[g_.index];
  const DeclarationState kept(p_, info, g_);
  for (uint32_t e = info.first_expr; e < info.end_expr; ++e) p_.exprs[{e}].type = {};
  for (uint32_t l = info.first_local; l < info.end_local; ++l) p_.locals[{l}].scheme = {};
  PendingReport attempt = pending;
  Checker again(e_, g_);
  again.reporter_.attempt(&attempt);
  again.solver_.limit_to_steps_of(solver_);
  again.failed_ = true;  // so that what only a correct body is asked is not asked
  again.first_type_var_ = vars_.types.vars.size();
  again.solver_.leaves_out = [&](WhyId why) {
    return why.valid() && attempt.without.count(key_of(again.whys_[why])) != 0;
  };
  again.check_body();
  return attempt.found;
}

/// The keys of constraints that the failure needs, as far as that many attempts find out.
std::vector<std::string> Checker::find_core(PendingReport& pending, size_t attempts, size_t& used) {
  std::vector<std::string> core;
  for (uint32_t i = 0; i < whys_.size(); ++i)
    if (std::string key = key_of(whys_[WhyId{i}]);
        key != pending.key && std::find(core.begin(), core.end(), key) == core.end())
      core.push_back(std::move(key));
  // What is left out may be what kept the rest simple: then it is kept, and few more are tried.
  const auto fails_without = [&](const PendingReport& attempt) {
    ++used;
    try {
      return still_fails(attempt);
    } catch (const TooComplex&) {
      used += attempts / 2;
      return false;
    }
  };
  // Large pieces first: most constraints of a declaration have nothing to do with it.
  for (size_t piece = std::max<size_t>(1, core.size() / 2); used < attempts; piece /= 2) {
    for (size_t at = 0; at < core.size() && used < attempts;) {
      const size_t end = std::min(at + piece, core.size());
      PendingReport attempt = pending;
      attempt.without.insert(core.begin() + static_cast<long>(at), core.begin() + static_cast<long>(end));
      if (fails_without(attempt)) {
        pending.without = std::move(attempt.without);
        core.erase(core.begin() + static_cast<long>(at), core.begin() + static_cast<long>(end));
      } else {
        at = end;
      }
    }
    if (piece == 1) break;
  }
  return core;
}

/// Adds to the report what contradicts the constraint that failed.
void Checker::explain(PendingReport& pending, size_t attempts, size_t& used) {
  if (!still_fails(pending)) return;
  std::vector<Why> places;
  for (const std::string& key : find_core(pending, attempts, used))
    for (uint32_t i = 0; i < whys_.size(); ++i)
      if (key_of(whys_[WhyId{i}]) == key) {
        places.push_back(whys_[WhyId{i}]);
        break;
      }
  mark_core(pending.diagnostic, places, whys_[pending.failure.why], e_.sources);
  if (used < attempts) blame(pending, attempts - used);
}

void Checker::report_pending() {
  const DeclInfo info = e_.infos[g_.index];
  if (reporter_.attempting() || info.not_read) return;
  const size_t attempts = most_core_work / std::max<size_t>(1, info.end_expr - info.first_expr);
  size_t used = 0;
  for (PendingReport& pending : reporter_.pending()) {
    const bool shown =
        !e_.only_counting && e_.diagnostics->error_count() <= source::limits::diagnostics_shown;
    vars_.begin_declaration();  // what explains an error has an allowance of its own
    try {
      if (shown) explain(pending, attempts, used);
    } catch (const TooComplex&) {  // the error is said without what contradicts it
      used = attempts;
    }
    reporter_.report(std::move(pending.diagnostic));
  }
  reporter_.pending().clear();
}

}  // namespace axon::core
