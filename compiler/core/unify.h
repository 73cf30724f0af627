// Makes two types one: structure and element types here, sizes and shapes as constraints for the solver.
//
// Values that scalars are known to equal (Type::value) are refinements, not part of equality: they are
// dropped where a variable is bound, and the checker passes them at applications. A dependent function, whose
// result mentions an integer of its argument, agrees only with dependent functions of the same form: with the
// same parts of the parameters named, and one result for all values of these.
#pragma once
#include "core/solver.h"

namespace axon::core {

class Unifier {
 public:
  Unifier(Vars& vars, Solver& solver) : vars_(vars), solver_(solver) {}

  bool unify(TypeId expected, TypeId found, WhyId why);
  bool unify(ElemTerm expected, ElemTerm found, WhyId why);
  /// Restricts an element type to a class: num, flt, int_, bool_.
  bool restrict(ElemTerm e, ElemClass cls, WhyId why);
  /// The type of a field that is read at a place; makes the record have it when it is open. Invalid when it
  /// cannot.
  TypeId field(TypeId record, const std::string& name, WhyId why, source::Span at);
  /// The type with Stack pushed down to its leaves as far as the structure is known.
  TypeId shape_view(TypeId t);
  /// The type without what is known of the values of one expression that has it, but for the integers that a
  /// dependent function names. Invalid where a function in it takes no integer but a certain one: that may
  /// not be forgotten.
  TypeId plain(TypeId t);

 private:
  bool bind(TypeVarId v, TypeId t, WhyId why);
  bool occurs(TypeVarId v, TypeId t);
  TypeId plain_tensor(TypeId t);
  TypeId plain_function(TypeId t);
  bool plain_parameter(TypeId& t, const std::vector<shape::Var>& kept, std::vector<shape::Var>& bound);
  bool unify_records(TypeId a, TypeId b, WhyId why);
  bool lacks(TypeId record, TypeId other, const std::string& field, WhyId why, bool surplus);
  bool unify_functions(TypeId a, TypeId b, WhyId why);
  /// A function type in two: the first parameters, with the integers in them that are bound, and the rest.
  struct Split {
    std::vector<TypeId> params;
    std::vector<shape::Var> bound;
    TypeId rest;
  };
  std::optional<Split> split(const Type& fn, size_t params);
  void pair(TypeId a, TypeId b, const Split& left, const Split& right, shape::Substitution& names);
  bool unstack(const shape::Dim& count, TypeId element, TypeId whole, WhyId why);
  bool failed(Failure::Kind kind, WhyId why, std::string text = {});

  Vars& vars_;
  Solver& solver_;
};

/// The class that both allow; nullopt when there is none.
std::optional<ElemClass> meet(ElemClass a, ElemClass b);

}  // namespace axon::core
