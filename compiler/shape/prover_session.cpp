// See prover_session.h. Sessions nest as the declarations do that ask for each other; a thread has its own.
#include "shape/prover_session.h"

#include <algorithm>

#include "base/work.h"
#include "shape/arena.h"

namespace axon::shape {
namespace {

thread_local ProverMemory* innermost_memory = nullptr;
constexpr size_t max_answers = 10000;

constexpr size_t question_work = 8'000'000, session_work = 16'000'000;
/// No session spends more, whatever it asks for: about a second, of the two that an answer may take.
constexpr unsigned session_rlimit = 250'000;
thread_local size_t work_left = question_work;
thread_local bool counting = false;

}  // namespace

WorkScope::WorkScope() : outermost_(!counting), given_(question_work) {
  if (!outermost_) return;
  counting = true;
  if (innermost_memory) given_ = std::min(given_, innermost_memory->work_left_);
  work_left = given_;
}
WorkScope::~WorkScope() {
  if (!outermost_) return;
  counting = false;
  if (innermost_memory) innermost_memory->work_left_ -= given_ - work_left;
  work_left = question_work;
}

bool spend_work(size_t terms) {
  base::work(terms / 8);
  work_left -= std::min(terms, work_left);
  return work_left != 0;
}

ProverMemory::ProverMemory(unsigned z3_rlimit)
    : left_(std::min(z3_rlimit, session_rlimit)),
      work_left_(session_work),
      arena_(Arena::current().serial()) {}
ProverMemory* ProverMemory::current() {
  return innermost_memory && innermost_memory->arena_ == Arena::current().serial() ? innermost_memory
                                                                                   : nullptr;
}

const Answer* ProverMemory::find(const QuestionKey& key) const {
  auto found = answers_.find(key);
  return found == answers_.end() ? nullptr : &found->second;
}

void ProverMemory::keep(QuestionKey key, const Answer& answer) {
  if (answers_.size() < max_answers) answers_.emplace(std::move(key), answer);
}

ProverSession::ProverSession(unsigned z3_rlimit)
    : memory_(new ProverMemory(z3_rlimit)), outer_(innermost_memory) {
  innermost_memory = memory_.get();
}
ProverSession::~ProverSession() { innermost_memory = outer_; }

}  // namespace axon::shape
