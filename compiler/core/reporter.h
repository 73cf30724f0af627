// What the user reads: failures of the solver and the unifier, with both types aligned, where each came from,
// and drafts of repairs.
//
// In: a Failure or a Fact and the Why that it was stated with. Out: a diagnostic. The report of a size that
// cannot hold is held back until inference of the declaration ends, when unsat_core.cpp finds what it
// contradicts.
#pragma once
#include <map>
#include <set>
#include <tuple>

#include "core/inference.h"
#include "core/print.h"

namespace axon::core {

/// A failure whose report waits for its minimal unsatisfiable core (unsat_core.cpp).
struct PendingReport {
  source::Diagnostic diagnostic;
  Failure failure;
  std::string key;                 ///< of the failing constraint: key_of()
  std::set<std::string> without;   ///< keys of constraints that an attempt leaves out
  bool found = false;              ///< the attempt failed at the same constraint
  std::set<std::string> failures;  ///< of the attempt, by their constraints
  std::set<std::string> others;    ///< keys of failures that this report stands for as well
  uint32_t call_depth = 0;         ///< not 0: the attempt is one of call_cause.cpp, and wants
  std::optional<source::Diagnostic> first = std::nullopt;  ///< the first failure
};

/// The field of a record that was meant by a name that none of it has.
struct MeantField {
  std::string name;
  source::Span set;
  bool similar;  ///< the names are spelt nearly alike
};

/// What is known of a fact that is needed.
enum class Holds {
  never,       ///< no sizes and indices satisfy it together with what is known
  not_always,  ///< not for all indices, whatever the sizes are
  unknown
};

/// Whether an application is written with an operator.
bool is_infix(const Program& p, const Expr& application);
/// What a message calls argument i of an application, counted from 1: "the left operand".
std::string role_of(const Program& p, const Expr& application, size_t i);

class Reporter : InferencePart {
 public:
  explicit Reporter(InferenceContext& c) : InferencePart(c) {}

  void report(source::Diagnostic d);
  void report_failures();  ///< all that the solver has found
  void report_fact(const shape::Fact& fact, const std::vector<shape::Fact>& facts, WhyId why, Holds holds);

  /// One set of names for all messages of a declaration; what the user wrote keeps its name.
  Names& names();
  std::string show(TypeId t);
  /// Shapes of which nothing says how many axes they have.
  void report_undetermined(const Why& why);
  /// An expression as the subject of a sentence: its name or its text; "this" where that is long.
  std::string describe(ExprId id);

  std::vector<PendingReport>& pending() { return pending_; }
  /// From now on nothing is reported; only whether the failure of this attempt happens again is noted.
  void attempt(PendingReport* attempt) { attempt_ = attempt; }
  bool attempting() const { return attempt_ != nullptr; }

 private:
  void report_failure(const Failure& f);
  bool report_within(const Failure& f, const Why& w);  // call_cause.cpp
  void report_structure(const Failure& f, const Why& w);
  bool report_lacking_arguments(const Why& w);
  void report_field(const Failure& f, const Why& w);  // report_field.cpp
  bool is_misread(const std::string& field, source::Span read, const std::string& meant,
                  source::Span set) const;
  std::vector<std::string> not_read(const Type& record, const Type& other) const;
  size_t lacking(const Type& record, const Type& other, ExprId reading) const;
  std::optional<MeantField> meant_field(const Failure& f, const Why& w, const Type& record,
                                        const Type& other) const;
  void report_surplus_field(const Failure& f, const Why& w, const Type& expected, source::Span at);
  void hide_what_is_open(const Failure& f, const Why& w);
  void label_other_axis(source::Diagnostic& d, const Failure& f, const Why& w);
  bool mentions_bound(const Failure& f) const;
  bool mentions_open(const shape::Fact& fact) const;
  std::string expected_and_found(const Why& w);
  void report_dependent(const Failure& f, const Why& w);
  void report_shapes(const Failure& f, const Why& w);
  bool report_matmul(const Failure& f, const Why& w);
  bool report_loop(const Failure& f, const Why& w);
  void defer(source::Diagnostic& d, const Failure& f);
  void label_operands(source::Diagnostic& d, const Why& w);
  void note_any_type(source::Diagnostic& d, const Why& w) const;
  void offer_parentheses(source::Diagnostic& d, const Why& w) const;
  void note_class(source::Diagnostic& d, TypeId t);
  /// How to convert to the type that is expected, and what of integers that were computed too narrow.
  void note_conversion(source::Diagnostic& d, const Why& w);
  void note_sizes(source::Diagnostic& d, const shape::Dim& a, const shape::Dim& b);
  std::vector<shape::Fact> telling(std::vector<shape::Fact> facts, const shape::Fact& goal) const;
  std::string failing_sizes(const shape::Fact& goal, const std::vector<shape::Fact>& facts);
  void suggest(source::Diagnostic& d, const Failure& f, const Why& w);  // suggest.cpp

  std::optional<Names> names_;
  std::set<std::pair<uint32_t, std::string>> missing_fields_;               ///< reported: (type, field)
  std::set<std::tuple<source::FileId, uint32_t, uint32_t>> disagreements_;  ///< places of reported E0303
  std::map<uint32_t, size_t> explained_;  ///< calls whose cause is said, and where in pending_
  PendingReport* attempt_ = nullptr;
  std::vector<PendingReport> pending_;
};

}  // namespace axon::core
