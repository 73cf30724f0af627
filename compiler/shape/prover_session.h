// What the prover remembers while one ProverSession lives (see prover.h): answers, and what Z3 may still
// spend.
#pragma once
#include <map>

#include "shape/prover.h"

namespace axon::shape {

/// The work of elimination is counted in terms of rows. The outermost question gets an allowance, and takes
/// what it spends from that of the session; without any left, elimination gives up, which is an answer of
/// `unknown`.
class WorkScope {
 public:
  WorkScope();
  ~WorkScope();
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  bool outermost_;
  size_t given_;
};
bool spend_work(size_t terms);  ///< false when nothing is left

/// One question as the nodes it is made of: equal questions of one arena have equal keys.
using QuestionKey = std::vector<std::pair<const void*, uint8_t>>;

class ProverMemory {
 public:
  static ProverMemory* current();  ///< null also where the innermost session belongs to another arena

  const Answer* find(const QuestionKey&) const;
  void keep(QuestionKey, const Answer&);
  unsigned left() const { return left_; }
  void spend(unsigned resource) { left_ -= resource < left_ ? resource : left_; }

 private:
  friend class ProverSession;
  friend class WorkScope;
  explicit ProverMemory(unsigned z3_rlimit);
  std::map<QuestionKey, Answer> answers_;
  unsigned left_;
  size_t work_left_;
  uint64_t arena_;
};

}  // namespace axon::shape
