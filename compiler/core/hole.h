// A place of a declaration where something is to be written: its hole.
//
// In: inference of a declaration in whose text one name is empty, and stands for anything. Out: the type that
// is wanted there, and of each value whether it can stand there. Invariants: a value that does not fit there
// would be an error of types or shapes; nothing that is tried leaves a trace in what is tried next. What a
// `where` says of sizes is not asked, so that some that fit are refused later.
#pragma once
#include <functional>

#include "core/instantiate.h"

namespace axon::core {

class Hole : InferencePart {
 public:
  /// After inference of the rest of the declaration.
  explicit Hole(InferenceContext& c);

  enum class Kind : uint8_t {
    none,   ///< the text around the hole could not be read
    value,  ///< an expression
    field,  ///< what is selected, `p.`
    with    ///< what is replaced, `p with _ = e`
  };
  Kind kind() const { return kind_; }
  /// The type that a value has to have; of a field, its type.
  TypeId wanted() const { return wanted_; }
  /// What the field is one of.
  TypeId record() const { return record_; }

  enum class Fit : uint8_t {
    open,    ///< anything can stand there, as far as is known
    no,      ///< it is an error there
    called,  ///< what a call of it gives can stand there
    whole    ///< it can stand there as it is
  };
  Fit fit(GlobalId value);  ///< one that is checked, or given
  Fit fit(LocalId value);
  Fit fit(TypeId type);  ///< a value of this type

 private:
  struct Trial;
  Fit attempt(const std::function<TypeId(Trial&)>& found);
  void find_constraints();
  bool mentions_variable(const Constraint& c, Occurrences& others) const;

  Kind kind_ = Kind::none;
  ExprId at_;
  bool is_called_ = false;   ///< the hole is applied to something
  bool is_indexed_ = false;  ///< it stands before brackets
  TypeId wanted_, record_;
  Occurrences open_;                     ///< the variables of what is wanted that are not solved
  std::vector<Constraint> constraints_;  ///< what is known of these
};

}  // namespace axon::core
