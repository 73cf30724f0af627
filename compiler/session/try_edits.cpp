// See try_edits.h.
#include "session/try_edits.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/drafts.h"

namespace axon::session {

using source::Diagnostic;
using source::Diagnostics;
using source::Edit;
using source::Help;

namespace {

constexpr size_t most_trials = 100;      // for all errors together
constexpr size_t most_work = 1'000'000;  // expressions that they check
constexpr size_t most_offered = 3;       // repairs shown for one error

/// What tells an error from others of its declaration.
std::string words_of(const Diagnostic& d) {
  return std::string(code_name(d.code)) + std::string(d.headline());
}

/// Errors by declaration, counted from 0; what lies outside of any belongs to the one before it.
using Errors = std::map<size_t, std::multiset<std::string>>;

class Trials {
 public:
  Trials(Session& session, const std::string& path, source::FileId file, const RunStep& run)
      : session_(session), path_(path), file_(file), run_(run), text_(whole().text()) {
    session_.check(path_);  // what holds of the text as it is need not be found out by each trial
    begins_ = begins();
    before_ = errors(text_);
  }

  /// Keeps of the drafts those that repair the error, where several do the likeliest.
  void keep_repairs(Diagnostic& d) {
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
        if (!ours || !needed || !repairs_it(*help.edit, d)) continue;
        ++repairs;
        best = std::exchange(help.trial, 0);
      } else if (ours && d.severity == source::Severity::error && !repairs_it(*help.edit, d)) {
        help.edit.reset();  // what it says is a hint all the same
      }
      kept.push_back(std::move(help));
    }
    d.helps = std::move(kept);
  }

 private:
  const source::SourceFile& whole() const {
    return session_.sources()[session_.documents().find(path_)->text().source];
  }

  /// Where the declarations of the text begin that the document has now.
  std::vector<uint32_t> begins() const {
    std::vector<uint32_t> out;
    for (const syntax::File* part : session_.documents().find(path_)->text().parts)
      for (const syntax::Decl& d : part->decls) out.push_back(session_.sources().in_whole(d.span).begin);
    return out;
  }

  static size_t declaration_of(const std::vector<uint32_t>& begins, uint32_t at) {
    const auto next = std::upper_bound(begins.begin(), begins.end(), at);
    return next == begins.begin() ? 0 : static_cast<size_t>(next - begins.begin()) - 1;
  }

  Errors errors(const std::string& text) {
    Errors all;
    size_t work = 0;
    run_([&] {
      all.clear();
      work = session_.with_text(path_, text, [&](const Diagnostics& found) {
        const std::vector<uint32_t> now = begins();
        for (const Diagnostic& d : found.sorted())
          if (d.severity == source::Severity::error && d.primary.span.file == whole().id())
            all[declaration_of(now, d.primary.span.begin)].insert(words_of(d));
      });
    });
    work_ += work;
    return all;
  }

  /// Of the declarations that a diagnostic marks, the first that has errors: what is wrong in a call may
  /// stand before it.
  size_t declaration_with_errors(const Diagnostic& d) const {
    std::vector<source::Label> places = d.secondary;
    places.insert(places.begin(), d.primary);
    for (const source::Label& label : places) {
      if (label.span.file != file_) continue;
      const auto had = before_.find(declaration_of(begins_, label.span.begin));
      if (had != before_.end() && !had->second.empty()) return had->first;
    }
    return declaration_of(begins_, d.primary.span.begin);
  }

  bool repairs_it(const Edit& edit, const Diagnostic& d) {
    if (trials_ == most_trials || work_ >= most_work) return false;
    ++trials_;
    std::string text = text_;
    text.replace(edit.span.begin, edit.span.size(), edit.replacement);
    Errors after = errors(text);
    const size_t here = declaration_with_errors(d);
    const auto &left = after[here], &had = before_[here];
    if (left.size() >= had.size() || !std::includes(had.begin(), had.end(), left.begin(), left.end()))
      return false;
    const std::string words = words_of(d);
    if (left.count(words) != 0 && left.count(words) == had.count(words)) return false;
    return std::all_of(after.begin(), after.end(), [&](const auto& each) {
      return each.first == here || each.second.size() <= before_[each.first].size();
    });
  }

  Session& session_;
  const std::string path_;
  const source::FileId file_;
  const RunStep& run_;
  const std::string text_;
  std::vector<uint32_t> begins_;
  Errors before_;
  size_t trials_ = 0, work_ = 0;
};

bool has_edits(const Diagnostics& diagnostics) {
  const auto& all = diagnostics.in_order_of_report();
  return std::any_of(all.begin(), all.end(), [](const Diagnostic& d) {
    return std::any_of(d.helps.begin(), d.helps.end(),
                       [](const Help& help) { return help.edit || help.trial != 0; });
  });
}

}  // namespace

void try_edits(Session& session, const std::string& path, source::FileId file, Diagnostics& diagnostics,
               const RunStep& run) {
  if (!has_edits(diagnostics)) return;
  Trials trials(session, path, file, run);
  diagnostics.revise([&](Diagnostic& d) { trials.keep_repairs(d); });
}

void try_edits(const std::string& path, std::string text, const std::vector<std::string>& library,
               const core::Options& options, source::FileId file, Diagnostics& diagnostics) {
  if (!has_edits(diagnostics)) return;
  Session session(library, options);
  session.documents().open(path, std::move(text));
  try_edits(session, path, file, diagnostics);
}

}  // namespace axon::session
