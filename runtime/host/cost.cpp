// Choosing the number of workers (cost.h).
#include "host/cost.h"

#include <algorithm>

namespace axon::host {

double CostModel::predict(double work, double handoffs, uint32_t workers) const {
  return work / (rate * workers) + (workers > 1 ? handoffs * handoff : 0);
}

std::vector<uint32_t> worker_candidates(uint32_t most) {
  std::vector<uint32_t> candidates;
  for (uint32_t workers = 1; workers < most; workers *= 2) candidates.push_back(workers);
  candidates.push_back(most);
  return candidates;
}

bool WorkerChoice::fits(double work, uint32_t most) const {
  return most == most_ && work <= work_ * drift && work * drift >= work_ && launches_ < lifetime;
}

void WorkerChoice::settle_on(uint32_t workers, double work, uint32_t most) {
  trying_ = false;
  candidates_.clear();
  most_ = most;
  work_ = work;
  launches_ = 0;
  workers_ = workers;
}

uint32_t WorkerChoice::next(const CostModel& model, double work, double handoffs, uint32_t most) {
  if (most <= 1) return 1;
  if (!fits(work, most)) begin(model, work, handoffs, most);
  ++launches_;
  return workers_;
}

void WorkerChoice::begin(const CostModel& model, double work, double handoffs, uint32_t most) {
  candidates_.clear();
  for (const uint32_t workers : worker_candidates(most))
    candidates_.push_back({workers, model.predict(work, handoffs, workers), 0});
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.predicted < b.predicted; });
  const double least = candidates_[0].predicted;
  while (candidates_.back().predicted > least * close) candidates_.pop_back();
  most_ = most;
  work_ = work;
  launches_ = position_ = tried_ = 0;
  workers_ = candidates_[0].workers;
  trying_ = candidates_.size() > 1 && least < too_long;
}

void WorkerChoice::report(double nanoseconds) {
  if (!trying_) return;
  Candidate& candidate = candidates_[position_];
  if (nanoseconds > too_long && position_ == 0) {  // the model was far too low; trying more would be felt
    trying_ = false;
    return;
  }
  if (tried_ > 0) candidate.best = tried_ == 1 ? nanoseconds : std::min(candidate.best, nanoseconds);
  if (++tried_ < tries) return;
  tried_ = 0;
  if (++position_ == candidates_.size())
    settle();
  else
    workers_ = candidates_[position_].workers;
}

void WorkerChoice::settle() {
  trying_ = false;
  workers_ =
      std::min_element(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
        return a.best < b.best;
      })->workers;
}

}  // namespace axon::host
