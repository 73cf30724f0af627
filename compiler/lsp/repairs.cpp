// See repairs.h.
#include "lsp/repairs.h"

#include <algorithm>
#include <utility>

namespace axon::lsp {

using session::TrialAllowance;
using session::Trials;
using source::Diagnostic;

void Repairs::begin(session::Session& session, const std::string& path, source::Diagnostics found,
                    const session::RunStep& run) {
  if (std::exchange(outdated_, false)) files_.clear();
  files_.erase(path);
  File file{Trials(session, path, session.documents().find(path)->text().source, run), {}};
  for (const Diagnostic& d : found.in_order_of_report()) file.all.push_back({d, !Trials::are_needed(d)});
  files_.emplace(path, std::move(file));
}

/// An allowance that others have spent of says nothing of the diagnostic: false where it ended the trials.
bool Repairs::repair(File& file, One& one, TrialAllowance& left) {
  const bool whole = left.trials == TrialAllowance().trials && left.work == TrialAllowance().work;
  Diagnostic repaired = file.trials.repaired(one.diagnostic, left);
  if (left.exhausted && !whole) return false;
  one = {std::move(repaired), true};
  return true;
}

bool Repairs::are_known(const std::string& path, const Wanted& wanted) const {
  const auto file = files_.find(path);
  return !outdated_ && file != files_.end() &&
         std::all_of(file->second.all.begin(), file->second.all.end(),
                     [&](const One& one) { return one.tried || !wanted(one.diagnostic); });
}

void Repairs::find(const std::string& path, const Wanted& wanted) {
  const auto file = files_.find(path);
  if (outdated_ || file == files_.end()) return;
  for (One& one : file->second.all) {
    if (one.tried || !wanted(one.diagnostic)) continue;
    TrialAllowance left;
    repair(file->second, one, left);
  }
}

void Repairs::look_ahead(const std::string& path, TrialAllowance left) {
  const auto file = files_.find(path);
  if (outdated_ || file == files_.end()) return;
  for (One& one : file->second.all)
    if (!one.tried && !repair(file->second, one, left)) return;
}

std::vector<Diagnostic> Repairs::of(const std::string& path, const Wanted& wanted) const {
  std::vector<Diagnostic> out;
  const auto file = files_.find(path);
  if (outdated_ || file == files_.end()) return out;
  for (const One& one : file->second.all)
    if (one.tried && wanted(one.diagnostic)) out.push_back(one.diagnostic);
  return out;
}

}  // namespace axon::lsp
