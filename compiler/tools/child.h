// Evaluation in a child process: what a program does, be it a crash, memory or a loop without end, is not
// done to who asked.
//
// In: programs. Out: what they give (repl/evaluator.h). Invariant: no child is left when a call returns.
#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "repl/evaluator.h"

namespace axon::tools {

class ChildEvaluator : public repl::Evaluator {
 public:
  /// `interrupted` is set by a signal handler; the child then ends.
  ChildEvaluator(std::vector<std::string> library, const std::atomic<bool>& interrupted)
      : library_(std::move(library)), interrupted_(interrupted) {}
  repl::Evaluation evaluate(const repl::Program& program, const Said& said) override;
  repl::Evaluation stage(const repl::Program& program, const std::string& stage) override;

 private:
  repl::Evaluation compute(const repl::Program& program, const std::string& stage, std::string& found) const;
  repl::Evaluation in_child(const repl::Program& program, const std::string& stage, const Said& said);

  std::vector<std::string> library_;
  const std::atomic<bool>& interrupted_;
};

}  // namespace axon::tools
