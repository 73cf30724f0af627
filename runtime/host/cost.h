// How many workers a launch should use. A model first, then measurement where the model cannot be sure.
//
// Model: time(n) = work / (rate * n) + (n > 1 ? handoffs * handoff : 0). The rate is a constant, the cost of
// a handoff is measured once per pool. Where candidates are predicted within a small factor of each other,
// the next launches try each of them a few times and the fastest stays, until the work changes much or a long
// time has passed: two cores sometimes share a cache and sometimes do not, and no model knows. Results never
// depend on the choice, by construction of the plans.
#pragma once
#include <cstdint>
#include <vector>

namespace axon::host {

struct CostModel {
  double rate = 60;      ///< work units per nanosecond and worker
  double handoff = 400;  ///< nanoseconds from one worker's notification to another's going on, and back
  double predict(double work, double handoffs, uint32_t workers) const;
};

/// The numbers of workers that are considered: powers of two, and all.
std::vector<uint32_t> worker_candidates(uint32_t most);

class WorkerChoice {
 public:
  /// For the next launch; `most` >= 1. Cheap when nothing changed.
  uint32_t next(const CostModel&, double work, double handoffs, uint32_t most);
  /// Whether the launch should be timed and reported.
  bool wants_time() const { return trying_; }
  void report(double nanoseconds);
  /// Is what was chosen for about so much work?
  bool fits(double work, uint32_t most) const;
  /// From now on so many, for about so much work; nothing is tried.
  void settle_on(uint32_t workers, double work, uint32_t most);

 private:
  struct Candidate {
    uint32_t workers = 1;
    double predicted = 0, best = 0;
  };
  void begin(const CostModel&, double work, double handoffs, uint32_t most);
  void settle();

  static constexpr uint32_t tries = 6;            ///< the first of them only warms up
  static constexpr double close = 4;              ///< factor within which candidates are tried
  static constexpr double too_long = 20e6;        ///< nanoseconds; such launches are not experimented with
  static constexpr double drift = 1.5;            ///< factor of work after which all begins again
  static constexpr uint32_t lifetime = 1u << 14;  ///< launches, likewise

  std::vector<Candidate> candidates_;  ///< to be tried, best prediction first
  uint32_t most_ = 0, workers_ = 1, position_ = 0, tried_ = 0, launches_ = 0;
  double work_ = -1;
  bool trying_ = false;
};

}  // namespace axon::host
