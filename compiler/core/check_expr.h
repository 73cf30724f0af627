// Expressions: their types, and the sizes that integers are known to equal.
//
// In: an expression whose names are resolved, and the type that its place wants, where that is known. Out:
// its type, written to the expression, and constraints for the solver.
#pragma once
#include "core/bind_pattern.h"
#include "core/check_index.h"
#include "core/dependent.h"
#include "core/generalise.h"
#include "core/meet_layouts.h"

namespace axon::core {

class ExprChecker : InferencePart {
 public:
  ExprChecker(InferenceContext& c, Reporter& reporter, OpenedSizes& opened, LoopScopes& scopes,
              KnownValues& known, DependentFunctions& dependent, Instantiator& instantiator,
              PatternBinder& patterns, Generaliser& generaliser, SizeChecker& sizes, IndexChecker& indices,
              MetLayouts& met)
      : InferencePart(c),
        reporter_(reporter),
        opened_(opened),
        scopes_(scopes),
        known_(known),
        dependent_(dependent),
        instantiator_(instantiator),
        patterns_(patterns),
        generaliser_(generaliser),
        sizes_(sizes),
        indices_(indices),
        met_(met) {}

  /// The type of the expression; `expected` may be invalid, and is a hint: the caller unifies.
  TypeId infer(ExprId id, TypeId expected = {});

 private:
  TypeId infer_kind(ExprId id, TypeId expected);
  TypeId hole(TypeId expected);
  TypeId infer_local(ExprId id, ExprId application);
  TypeId infer_global(ExprId id, ExprId application);
  TypeId infer_number(ExprId id);
  /// The type of a function that is no callee: for all calls of the value.
  TypeId as_value(ExprId id, TypeId type, size_t opened);
  TypeId infer_lambda(ExprId id, TypeId expected);
  TypeId infer_lambda_value(ExprId id, TypeId expected);
  TypeId infer_apply(ExprId id, ExprId applied);
  void infer_arguments(const Expr& application);
  TypeId declared_type(ExprId callee, TypeId used) const;
  bool take_more(ExprId id, TypeId fn, const std::string& shown);
  bool is_no_function(const Expr& application, const Type& fn, TypeId result) const;
  bool pass_arguments(ExprId id, const Type& fn, const std::string& shown);
  void note_stack(const Expr& application, ExprId lambda);
  void learn_elements(ExprId lambda);
  void learn_ranges(const Pattern& pattern, TypeId stack);
  bool poisoned(const Expr& application);
  bool is_open(TypeId type) const;
  TypeId infer_dim(ExprId id);
  bool names_function(ExprId id) const;
  TypeId infer_let(ExprId id, TypeId expected);
  TypeId infer_conditional(ExprId id, TypeId expected);
  bool sizes_differ(const shape::Dim& x, const shape::Dim& y) const;
  shape::Dim open_part(const shape::Dim& d) const;
  bool is_of_names(const shape::Dim& d) const;
  void choose_sizes(ExprId id, TypeId& x, TypeId& y);
  TypeId infer_with_field(ExprId id);
  TypeId infer_list(ExprId id, TypeId expected);
  TypeId infer_check_as(ExprId id);
  Shape with_open_sizes(Shape);
  bool is_inferred(const shape::Dim& zonked) const;
  void check_size(const shape::Dim& wanted, const shape::Dim& found, WhyId w);
  bool names_integers(TypeId type) const;
  void name_argument(TypeId parameter, ExprId argument);
  void pass_value(TypeId parameter, TypeId argument, ExprId expr, std::vector<uint32_t> item = {});
  void type_literal(ExprId id, base::Elem elem);
  bool wraps_early(ExprId operand, Prim prim) const;
  std::optional<shape::Dim> arithmetic(ExprId id, TypeId result);
  std::optional<shape::Dim> converted(ExprId from, TypeId to, const shape::Dim& value) const;
  void condition(ExprId id, bool holds, std::vector<shape::Fact>& out) const;

  Reporter& reporter_;
  OpenedSizes& opened_;
  LoopScopes& scopes_;
  KnownValues& known_;
  DependentFunctions& dependent_;
  Instantiator& instantiator_;
  PatternBinder& patterns_;
  Generaliser& generaliser_;
  SizeChecker& sizes_;
  IndexChecker& indices_;
  MetLayouts& met_;
  std::map<ExprId, TypeId> stacks_;  ///< of lambdas that fold and scan call: the stack of their elements
  ExprId applied_;  ///< of what is inferred next: the expression that applies it; a `let` that names it
};

}  // namespace axon::core
