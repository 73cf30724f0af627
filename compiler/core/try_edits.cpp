// The trial of suggest.h: edits are made in a copy of the text, and the copy is checked.
#include <algorithm>
#include <map>
#include <set>

#include "core/drafts.h"
#include "core/elaborator.h"
#include "core/suggest.h"
#include "syntax/parse.h"

namespace axon::core {

using source::Diagnostic;
using source::Edit;
using source::Help;
using source::Span;

namespace {

constexpr size_t most_trials = 100;
constexpr size_t most_work = 100'000;  // expressions of the file, all trials together
constexpr size_t most_offered = 3;     // repairs shown for one error

/// Errors by declaration, counted from 0; what lies outside of any belongs to the one before it.
using Errors = std::map<size_t, std::multiset<std::string>>;

/// What tells an error from others of its declaration.
std::string words_of(const Diagnostic& d) {
  return std::string(code_name(d.code)) + std::string(d.headline());
}

size_t declaration_of(const syntax::File& file, Span at) {
  size_t index = 0;
  while (index + 1 < file.decls.size() && file.decls[index + 1].span.begin <= at.begin) ++index;
  return index;
}

/// Of the declarations that a diagnostic marks, the first that has errors: what is wrong in a call may stand
/// before it.
size_t declaration_with_errors(const syntax::File& file, const Diagnostic& d, const Errors& errors) {
  std::vector<source::Label> places = d.secondary;
  places.insert(places.begin(), d.primary);
  for (const source::Label& label : places)
    if (label.span.file == file.source)
      if (const auto it = errors.find(declaration_of(file, label.span));
          it != errors.end() && !it->second.empty())
        return it->first;
  return declaration_of(file, d.primary.span);
}

class Trial {
 public:
  Trial(const syntax::File& file, const source::SourceManager& sources, const Loader& loader,
        const Options& options)
      : file_(file), sources_(sources), loader_(loader), options_(options) {}

  bool allowed() const {
    const size_t size = std::max<size_t>(file_.exprs.size(), 1);
    return trials_ < most_trials &&
           (trials_ + 2) * size < most_work;  // the first compares with the file as it is
  }

  /// The errors of the file with an edit made in it.
  Errors errors(const Edit* edit) {
    ++trials_;
    std::string text(sources_[file_.source].text());
    if (edit) text.replace(edit->span.begin, edit->span.size(), edit->replacement);
    source::Diagnostics found;
    const auto changed = sources_.with(file_.source, std::move(text), found);
    const syntax::File tree = syntax::parse((*changed)[file_.source], found);
    Modules modules(*changed, loader_, found);
    const Module& own = modules.open_program({tree.source, {&tree}}, options_.root);
    Elaborator e(*changed, modules, own, found, options_);
    e.only_counting = true;
    e.run();
    Errors all;
    for (const Diagnostic& d : found.sorted())
      if (d.severity == source::Severity::error)
        all[declaration_of(tree, d.primary.span)].insert(words_of(d));
    return all;
  }

  /// Where the edit is made, errors go, this one among them, and none is new; elsewhere there are not more
  /// than before.
  bool repairs(const Edit& edit, const Diagnostic& d) {
    if (!before_) before_ = errors(nullptr);
    Errors after = errors(&edit), &before = *before_;
    const size_t here = declaration_with_errors(file_, d, before);
    const auto &left = after[here], &had = before[here];
    if (left.size() >= had.size() || !std::includes(had.begin(), had.end(), left.begin(), left.end()))
      return false;
    const std::string words = words_of(d);
    if (left.count(words) != 0 && left.count(words) == had.count(words)) return false;
    return std::all_of(after.begin(), after.end(), [&](const auto& each) {
      return each.first == here || each.second.size() <= before[each.first].size();
    });
  }

 private:
  const syntax::File& file_;
  const source::SourceManager& sources_;
  const Loader& loader_;
  const Options& options_;
  std::optional<Errors> before_;
  size_t trials_ = 0;
};

}  // namespace

void try_edits(const syntax::File& file, const source::SourceManager& sources, const Loader& loader,
               source::Diagnostics& diagnostics, const Options& options) {
  Trial trial(file, sources, loader, options);
  diagnostics.revise([&](Diagnostic& d) {
    std::vector<Help> kept;
    std::stable_sort(d.helps.begin(), d.helps.end(),
                     [](const Help& a, const Help& b) { return a.trial < b.trial; });
    size_t repairs = 0;
    uint8_t best = 0;  // the rank of the repairs found
    for (Help& help : d.helps) {
      if (help.trial != 0) {
        const bool ours =
            help.edit && help.edit->span.file == file.source && d.primary.span.file == file.source;
        const bool same = help.trial == best || help.trial == rank_of_type;
        const bool needed = repairs == 0 || (same && repairs < most_offered);
        if (!ours || !needed || !trial.allowed() || !trial.repairs(*help.edit, d)) continue;
        ++repairs;
        best = help.trial;
      }
      kept.push_back(std::move(help));
    }
    for (Help& help : kept) help.trial = 0;
    d.helps = std::move(kept);
  });
}

}  // namespace axon::core
