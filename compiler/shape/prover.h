// Deciding statements about dimensions: facts entail a goal, or a counter-example, or not decided.
//
// The fragment. Where facts and goal are linear in their variables - sums, multiples by numbers, floor,
// remainder and rounding up by a number >= 1, min and max - the answer is proved or refuted, never unknown:
// proved when no integers break the goal, refuted with values that were put in and do. Outside of it
// (products of variables, division by one) what is proved is true and what is refuted has such values too,
// but a true statement may stay unknown. Limits cut both short: six case splits before Z3, and for Z3 5,000
// nodes, depth 200 and a resource limit; a clock never decides.
//
// Cheap rules first (normal form, facts, intervals, linear combinations, products of facts with what is >= 0,
// simplify()), then a search for small models, then Z3. Every answer says who gave it.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shape/dim.h"

namespace axon::shape {

enum class Relation : uint8_t { eq, ne, le, lt };  // ge and gt are written with the sides exchanged
struct Fact {
  Dim lhs;
  Relation relation = Relation::eq;
  Dim rhs;
  std::string str() const;
};
const char* sign_of(Relation);  ///< `==`, `!=`, `<=`, `<`
/// " when m <= 1 and 1 <= n", where `text` gives the sides; "" without facts.
std::string conditions(const char* word, const std::vector<Fact>&,
                       const std::function<std::string(const Dim&)>& text);
/// Does the relation hold between two numbers?
bool holds(Relation, Wide lhs, Wide rhs);
/// Does the fact hold for these values? nullopt when a side has none: a variable without a value, a division
/// by zero, an overflow of 128 bits.
std::optional<bool> holds(const Fact&, const Assignment&);
/// Is a side of one of them too large for the normal form?
bool any_overflowed(const std::vector<Fact>&);
inline Fact equal(Dim a, Dim b) { return {a, Relation::eq, b}; }
inline Fact less(Dim a, Dim b) { return {a, Relation::lt, b}; }
inline Fact at_most(Dim a, Dim b) { return {a, Relation::le, b}; }
inline Fact at_least(Dim a, Dim b) { return {b, Relation::le, a}; }

enum class Verdict : uint8_t { proved, refuted, unknown };
struct Answer {
  Verdict verdict = Verdict::unknown;
  Assignment counter_example;  ///< refuted: values that satisfy the facts and break the goal
  std::string by;              ///< "normal form", "interval", "linear", "z3 (780)", ...
};

struct ProverLimits {
  unsigned z3_rlimit = 500000;
  unsigned max_terms = 5000;  ///< nothing larger is shown to Z3
};

class ProverMemory;
/// While it lives, this thread's answers are kept and all of its questions share one allowance for Z3. One
/// session for one declaration: what is said of it then depends neither on what was asked before nor on how
/// often it is asked.
class ProverSession {
 public:
  explicit ProverSession(unsigned z3_rlimit = ProverLimits().z3_rlimit);
  ~ProverSession();
  ProverSession(const ProverSession&) = delete;
  ProverSession& operator=(const ProverSession&) = delete;

 private:
  std::unique_ptr<ProverMemory> memory_;
  ProverMemory* outer_;
};

/// Does the conjunction of facts entail the goal, over all integers?
Answer prove(const std::vector<Fact>& facts, const Fact& goal, const ProverLimits& = {});
/// Are the facts contradictory together (nothing satisfies them)? proved = contradictory; refuted = a model
/// exists.
Answer prove_empty(const std::vector<Fact>& facts, const ProverLimits& = {});
/// Is a disjunction of goals entailed? (events: one of several orders holds)
Answer prove_any(const std::vector<Fact>& facts, const std::vector<Fact>& goals, const ProverLimits& = {});

/// Rewrites with the facts: mod and floor that are decided (i < n gives i % n = i), min/max that are decided.
Dim simplify(const Dim&, const std::vector<Fact>& facts);
/// Lower and upper bound of an expression under the facts, as Dims over the variables in `keep` (all others
/// are eliminated through their bounds); nullopt when no bound is found. Used for regions and required boxes.
struct Bounds {
  std::optional<Dim> low, high;  ///< inclusive
};
Bounds bounds_of(const Dim&, const std::vector<Fact>& facts, const std::function<bool(Var)>& keep);

}  // namespace axon::shape
