// See try_edits.h.
#include "session/try_edits.h"

#include <algorithm>
#include <utility>

#include "core/drafts.h"

namespace axon::session {

using source::Diagnostic;
using source::Diagnostics;
using source::Edit;
using source::Help;

namespace {

constexpr size_t most_offered = 3;  // repairs shown for one error

/// What tells an error from others of its declaration.
std::string words_of(const Diagnostic& d) {
  return std::string(code_name(d.code)) + std::string(d.headline());
}

size_t declaration_of(const std::vector<uint32_t>& begins, uint32_t at) {
  const auto next = std::upper_bound(begins.begin(), begins.end(), at);
  return next == begins.begin() ? 0 : static_cast<size_t>(next - begins.begin()) - 1;
}

}  // namespace

Trials::Trials(Session& session, std::string path, source::FileId file, RunStep run)
    : session_(session),
      path_(std::move(path)),
      file_(file),
      run_(std::move(run)),
      text_(whole().text()),
      begins_(begins()) {}

bool Trials::are_needed(const Diagnostic& d) {
  return std::any_of(d.helps.begin(), d.helps.end(),
                     [](const Help& help) { return help.edit || help.trial != 0; });
}

Diagnostic Trials::repaired(Diagnostic d, TrialAllowance& left) {
  if (!are_needed(d)) return d;
  std::vector<Help> kept;
  std::stable_sort(d.helps.begin(), d.helps.end(),
                   [](const Help& a, const Help& b) { return a.trial < b.trial; });
  size_t repairs = 0;
  uint8_t best = 0;  // the rank of the repairs found
  for (Help& help : d.helps) {
    const bool ours = help.edit && help.edit->span.file == file_ && d.primary.span.file == file_;
    if (help.trial != 0) {
      const bool same = help.trial == best || help.trial == core::rank_of_type;
      const bool needed = repairs == 0 || (same && repairs < most_offered);
      if (!ours || !needed || !repairs_it(*help.edit, d, left)) continue;
      ++repairs;
      best = std::exchange(help.trial, 0);
    } else if (ours && d.severity == source::Severity::error && !repairs_it(*help.edit, d, left)) {
      help.edit.reset();  // what it says is a hint all the same
    }
    kept.push_back(std::move(help));
  }
  d.helps = std::move(kept);
  return d;
}

const source::SourceFile& Trials::whole() const {
  return session_.sources()[session_.documents().find(path_)->text().source];
}

/// Where the declarations of the text begin that the document has now.
std::vector<uint32_t> Trials::begins() const {
  std::vector<uint32_t> out;
  for (const syntax::File* part : session_.documents().find(path_)->text().parts)
    for (const syntax::Decl& d : part->decls) out.push_back(session_.sources().in_whole(d.span).begin);
  return out;
}

/// Those of the text, and what it costs to find them.
Trials::Errors Trials::errors(const std::string& text, size_t& work) {
  Errors all;
  run_([&] {
    all.clear();
    work = session_.with_edited(path_, text, [&](const Diagnostics& found) {
      const std::vector<uint32_t> now = begins();
      for (const Diagnostic& d : found.sorted())
        if (d.severity == source::Severity::error && d.primary.span.file == whole().id())
          all[declaration_of(now, d.primary.span.begin)].insert(words_of(d));
    });
  });
  return all;
}

/// Of the declarations that a diagnostic marks, the first that has errors: what is wrong in a call may
/// stand before it.
size_t Trials::declaration_with_errors(const Diagnostic& d) const {
  std::vector<source::Label> places = d.secondary;
  places.insert(places.begin(), d.primary);
  for (const source::Label& label : places) {
    if (label.span.file != file_) continue;
    const auto had = before_.find(declaration_of(begins_, label.span.begin));
    if (had != before_.end() && !had->second.empty()) return had->first;
  }
  return declaration_of(begins_, d.primary.span.begin);
}

bool Trials::repairs_it(const Edit& edit, const Diagnostic& d, TrialAllowance& left) {
  size_t work = 0;
  if (!begun_) {
    before_ = errors(text_, work);
    begun_ = true;
  }
  left.exhausted |= left.trials == 0 || left.work == 0;
  if (left.exhausted) return false;
  std::string text = text_;
  text.replace(edit.span.begin, edit.span.size(), edit.replacement);
  Errors after = errors(text, work);
  --left.trials;
  left.work -= std::min(left.work, work);
  const size_t here = declaration_with_errors(d);
  const auto &remaining = after[here], &had = before_[here];
  if (remaining.size() >= had.size() ||
      !std::includes(had.begin(), had.end(), remaining.begin(), remaining.end()))
    return false;
  const std::string words = words_of(d);
  if (remaining.count(words) != 0 && remaining.count(words) == had.count(words)) return false;
  return std::all_of(after.begin(), after.end(), [&](const auto& each) {
    return each.first == here || each.second.size() <= before_[each.first].size();
  });
}

void try_edits(Session& session, const std::string& path, source::FileId file, Diagnostics& diagnostics) {
  Trials trials(session, path, file);
  TrialAllowance left;
  diagnostics.revise([&](Diagnostic& d) { d = trials.repaired(std::move(d), left); });
}

void try_edits(const std::string& path, std::string text, const std::vector<std::string>& library,
               const core::Options& options, source::FileId file, Diagnostics& diagnostics) {
  const auto& all = diagnostics.in_order_of_report();
  if (std::none_of(all.begin(), all.end(), Trials::are_needed)) return;
  Session session(library, options);
  session.documents().open(path, std::move(text));
  session.check(path);  // what holds of the text as it is need not be found out by each trial
  try_edits(session, path, file, diagnostics);
}

}  // namespace axon::session
