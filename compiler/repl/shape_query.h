// Questions about sizes alone: what is assumed of them, what follows, which sizes satisfy conditions.
//
// In: conditions as text. Out: answers. The assumptions are kept as text: every question is asked in an arena
// of its own, so answers depend on the assumptions and on nothing that was asked before, and nothing grows.
// Invariant: the assumptions do not contradict each other, as far as the prover can tell.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "repl/answer.h"
#include "repl/conditions.h"

namespace axon::repl {

class ShapeQuery {
 public:
  explicit ShapeQuery(source::RenderOptions render) : render_(render) {}

  Answer assume(const std::string& conditions);
  Answer facts() const;
  /// All, or those that are named by their numbers.
  Answer forget(const std::string& which);
  Answer prove(const std::string& conditions);
  Answer solve(const std::string& conditions);
  Answer more();
  /// Why the last answer of prove(), solve() or a refused assume() is what it is.
  Answer why() const;

  struct Assumed {
    std::vector<std::string> conditions;
    std::set<std::string> beside;  ///< sizes that these mention besides those that were asked for
  };
  /// What is assumed about these sizes, and about sizes that such an assumption mentions.
  Assumed assumed_of(const std::set<std::string>& sizes) const;
  /// The assumptions, as conditions over the names that the conditions have. Those that mention a size which
  /// is connected with none of the sizes there are left out.
  void add_assumptions(Conditions& conditions) const;

 private:
  /// What was asked last, as text: enough to derive the answer again.
  struct Question {
    enum class Kind : uint8_t { none, consistent, prove, solve } kind = Kind::none;
    std::string conditions;
    std::vector<std::string> assumed;
    size_t shown = 0;  ///< solve: of the solutions
  };
  Answer solutions(size_t from, size_t count);
  Answer why_of_proofs() const;
  Answer why_of_solutions() const;
  std::string read(Conditions& conditions, const Question& question) const;

  source::RenderOptions render_;
  std::vector<std::string> assumed_;
  Question last_;
};

}  // namespace axon::repl
