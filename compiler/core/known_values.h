// What is known of the integers in values, as refinements of types: which parts of parameters the program
// uses as sizes, and what two values have in common.
//
// Such knowledge is about one name or one expression. It never goes through a type variable, which stands for
// the type of several (Unifier::plain), so an integer in a parameter of unknown type is named at the
// parameter.
#pragma once
#include <map>

#include "core/inference.h"

namespace axon::core {

class KnownValues : InferencePart {
 public:
  explicit KnownValues(InferenceContext& c) : InferencePart(c) {}

  /// The names of the pattern stand for parts of the expression's value.
  void note_let(const Pattern& pattern, ExprId value);
  /// What `let` binds the name to as a whole; invalid for other names.
  ExprId let_value(LocalId l) const;

  /// Whether the expression is a parameter or a part of one.
  bool is_part_of_parameter(ExprId id) const { return parameter_of(id).has_value(); }
  /// A variable for the integer that the expression is, where that is a part of a parameter, `n` or `p.n`:
  /// from here on the types of what it is a part of know it. Nothing for other expressions.
  std::optional<shape::Dim> name_part(ExprId id, ElemTerm elem);
  /// The same for each integer in a value of that type, which tuples and records of integers have.
  void name_parts(ExprId id, TypeId type);
  /// A parameter's type with the parts that were named while the body was inferred.
  TypeId with_parts(const Pattern& pattern, TypeId type);

  /// The first of two types that agree, with what is known of the values of both.
  TypeId common(TypeId a, TypeId b);
  /// A record's type with what is known of a new value of the field, whose type agrees with the old one.
  TypeId with_field(TypeId record, const std::string& field, TypeId value);

 private:
  using Steps = std::vector<std::string>;  ///< fields and positions, outermost first
  struct Part {
    Steps steps;
    shape::Dim value;
  };
  struct LetPart {
    ExprId value;
    Steps steps;  ///< the part of the value that a name stands for
  };
  void note_let(const Pattern& pattern, ExprId value, Steps steps);
  std::optional<std::pair<LocalId, Steps>> parameter_of(ExprId id) const;
  void name_parts(ExprId id, TypeId type, const std::string& hint, Steps& steps);
  void refine(ExprId id, Steps steps, const shape::Dim& value);
  TypeId refined(TypeId type, const Steps& steps, size_t done, const shape::Dim& value);

  std::map<LocalId, LetPart> lets_;
  std::map<LocalId, std::vector<Part>> parts_;  ///< of parameters
};

}  // namespace axon::core
