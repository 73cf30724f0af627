// What inference left open becomes part of a type scheme: variables, joins, `into`, facts; and gets its
// names.
#pragma once
#include <functional>

#include "core/opened_sizes.h"

namespace axon::core {

/// What a declaration states of sizes that only the data decides, of those that a type mentions and those
/// that the facts about them mention: its `val` and the definition may both state some.
struct StatedSizes {
  std::vector<shape::Var> sizes;
  std::vector<FactAt> facts;
};
StatedSizes stated_sizes_of(const DeclInfo& info, Vars& vars, TypeId type);

/// Gives an element type that nothing determines its default: f32, i64 where it is an integer, bool.
void default_element(Vars& vars, TypeVarId v);

class Generaliser : InferencePart {
 public:
  Generaliser(InferenceContext& c, Reporter& reporter, OpenedSizes& opened)
      : InferencePart(c), reporter_(reporter), opened_(opened) {}

  /// What is stated to broadcast stays in the scheme.
  void keep_into(IntoConstraint into) { stated_into_.push_back(std::move(into)); }
  /// The scheme of the declaration, whose type this is.
  Scheme generalise_top(TypeId type);
  /// Shapes were left that no use of the declaration could determine; that was reported.
  bool undetermined() const { return undetermined_; }
  /// The scheme of a function that `let` binds; `since` and `opened` are the solver's serial and the mark of
  /// opened sizes before it was inferred.
  void generalise_let(LocalId local, TypeId type, size_t since, size_t opened);

 private:
  /// Whether a constraint over these variables belongs to the scheme that is being made.
  using Mine = std::function<bool(const Occurrences&)>;
  std::vector<ShapeVarId> shapes_in(TypeId type);
  void take_joins(Scheme& scheme, const Mine& mine);
  void take_intos(Scheme& scheme, const Mine& mine);
  Occurrences conditions_of(const Constraint& c) const;
  void add_shape_vars(TypeId type, std::vector<shape::Var>& out) const;
  LeftToRun left_to_run(const Constraint& c) const;
  bool is_left(const Constraint& c) const;
  std::vector<Constraint> parked_facts(const Mine& mine);
  void make_sizes(TypeId type, const std::vector<Constraint>& facts);
  std::optional<shape::Fact> residual_of(const Constraint& c, const Occurrences& in_type, bool top);
  void take_facts(Scheme& scheme, const Mine& mine, bool top);
  void drop_implied(std::vector<Requirement>& where, size_t first) const;
  bool mentions_integer(const shape::Fact& fact) const;
  void refuse_fact(const shape::Fact& fact, const std::vector<shape::Fact>& known, WhyId why,
                   const shape::Answer& answer);
  std::optional<shape::Fact> without_indices(const shape::Fact& fact,
                                             const std::vector<shape::Fact>& facts) const;
  TypeId simplified(TypeId type, const std::vector<Requirement>& where);
  void refuse_leftovers();
  void follow_declared();
  void name_rests(Names& names, TypeId type) const;
  void name_variables(Scheme& scheme);
  void prefer_parameter_initials(Names& names, TypeId type);

  Reporter& reporter_;
  OpenedSizes& opened_;
  std::vector<IntoConstraint> stated_into_;
  bool undetermined_ = false;
};

}  // namespace axon::core
