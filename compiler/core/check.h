// Inference of one declaration: the order of its steps. inference.h lists the parts that take them.
#pragma once
#include <memory>

#include "core/check_expr.h"
#include "core/entry.h"
#include "core/hole.h"
#include "core/meet_layouts.h"
#include "core/write_back.h"

namespace axon::core {

class Checker : InferencePart {
 public:
  Checker(Elaborator& e, GlobalId g) : Checker(std::make_unique<InferenceContext>(e, g)) {}
  void run();

  /// The first failure of the body for parameters that are what these arguments are (call_cause.cpp): as it
  /// would be reported, with nothing reported. None where the arguments do not fit what is written of the
  /// parameters, and where there is no failure. `depth`: of calls inside of each other.
  std::optional<source::Diagnostic> first_failure(const std::vector<TypeId>& arguments, uint32_t depth);

  /// Infers a body with a hole in it, and asks while what is open is still open. What is inferred is of no
  /// use afterwards.
  void infer_around_hole(const std::function<void(Hole&)>& ask);

 private:
  explicit Checker(std::unique_ptr<InferenceContext> context)
      : InferencePart(*context), context_(std::move(context)) {}

  struct Stated {
    std::vector<TypeId> params;  ///< empty where no `val` states them
    std::optional<TypeId> result,
        second_result;  ///< both where the definition repeats the result of its `val`
    source::Span span;
  };
  void check_signature();
  Stated stated_types();
  TypeId expected_result(TypeId written, source::Span at);
  void follow_stated_names();  // stated_names.cpp
  void match_stated_sizes(TypeId stated, TypeId found);
  void match_stated_size(const shape::Dim& stated, const shape::Dim& found);
  void take_stated_modes(std::vector<TypeId>& params);
  /// What inference finds before anything is generalised.
  struct Inferred {
    Stated stated;
    std::vector<TypeId> params;
    TypeId body;
  };
  std::optional<Inferred> infer_body();
  void check_body();
  bool take_given(const std::vector<TypeId>& params);  // call_cause.cpp
  TypeId stated_part(TypeId type);
  void assume_sizes(TypeId type);
  void refuse_contradiction(const std::vector<FactAt>& where);
  void check_numbers();  // limits.cpp
  void check_limits();
  void check_consumed();  // consume.cpp

  // unsat_core.cpp
  /// Whether inference without some of the constraints still fails as the pending report says.
  bool still_fails(const PendingReport& pending);
  std::vector<std::string> find_core(PendingReport&, size_t attempts, size_t& used);
  void explain(PendingReport&, size_t attempts, size_t& used);
  void report_pending();

  // blame.cpp
  struct WrittenTensor;
  void find_written(TypeId type, const WrittenTensor& at, std::vector<WrittenTensor>& out) const;
  TypeId with_open(TypeId type, const std::vector<uint32_t>& items, size_t from, bool any_axes,
                   Shape& opened);
  std::set<std::string> failures_without(const WrittenTensor* tensor, bool any_axes, Shape& opened);
  ExprId mention(ExprId root, const std::string& path) const;
  bool named_once(shape::Var v) const;
  bool is_misspelt(const Shape& written, const Shape& fits) const;
  bool relates_names(const Shape& written, const Shape& fits) const;
  void name_culprit(PendingReport& pending, const WrittenTensor& tensor, const Shape& fits);
  /// Names the one tensor that disagrees with all the others, where there is one; at most so many attempts.
  void blame(PendingReport& pending, size_t attempts);

  std::unique_ptr<InferenceContext> context_;
  LoopScopes scopes_{*context_};
  Reporter reporter_{*context_};
  OpenedSizes opened_{*context_, reporter_, scopes_};
  KnownValues known_{*context_};
  DependentFunctions dependent_{*context_, reporter_, scopes_};
  Instantiator instantiator_{*context_, opened_, scopes_};
  PatternBinder patterns_{*context_, opened_, instantiator_};
  MetLayouts met_{*context_, reporter_};
  Generaliser generaliser_{*context_, reporter_, opened_};
  SizeChecker sizes_{*context_, opened_, scopes_, known_, exprs_};
  IndexChecker indices_{*context_, reporter_, opened_, scopes_, sizes_, exprs_};
  ExprChecker exprs_{*context_,     reporter_, opened_,      scopes_, known_,   dependent_,
                     instantiator_, patterns_, generaliser_, sizes_,  indices_, met_};
  WriteBack write_back_{*context_, reporter_, scopes_};
  EntryChecker entry_{*context_, reporter_};
  uint32_t first_type_var_ = 0;
  std::vector<TypeId> given_;  ///< of first_failure()
};

}  // namespace axon::core
