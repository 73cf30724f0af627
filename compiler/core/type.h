// Types of the core: element types and shapes as terms over variables, tuples, records with row variables,
// functions, stacks. Solved by the checker (check.cpp with shape/solver); printed by print.cpp in source
// syntax.
//
// A shape is a list of items: a dimension, a shape variable, or a join of shape variables. Dimensions are
// shape::Dim polynomials over shape::Var, so the checker's dimension variables, the graph's extents and the
// task extents are one notion. A scalar integer type may carry the Dim that its value is known to equal
// (`value`): that is how sizes flow through i64 values; `elements` and `range` say the same of vectors of
// sizes and of positions. These three refine a type and are no part of its equality: they hold of one
// expression, so what a type variable stands for has none of them (Unifier::plain). The exception are
// parameters of a dependent function, whose values are the variables that it binds. Invariant: a type reached
// from a Scheme or a checked Expr is fully resolved (no solved metas).
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/elem.h"
#include "base/ids.h"
#include "shape/dim.h"
#include "shape/prover.h"
#include "source/span.h"

namespace axon::core {

struct TypeTag;
struct TypeVarTag;
struct ShapeVarTag;
struct GlobalTag;
using TypeId = base::Id<TypeTag>;
using TypeVarId =
    base::Id<TypeVarTag>;  ///< stands for a type ('s in fold) or, in element position, an element type
using ShapeVarId = base::Id<ShapeVarTag>;  ///< `..s`
using GlobalId = base::Id<GlobalTag>;      ///< a declaration

struct ShapeItem {
  enum class Kind : uint8_t { dim, var, join } kind = Kind::dim;
  shape::Dim dim;
  ShapeVarId var;
  std::vector<ShapeVarId> join;  ///< ..(a|b|c): their broadcast
};
using Shape = std::vector<ShapeItem>;

struct ElemTerm {
  std::optional<base::Elem> elem;  ///< known
  TypeVarId var;                   ///< or a variable
};

/// A type that was written by the name of a declared one: `Model[n, d]`. For printing only; equality is
/// structural.
struct AliasArg {
  std::optional<shape::Dim> dim;
  std::optional<Shape> shape;
  TypeId type;  ///< an element type, as a scalar
};
struct Alias {
  GlobalId declared;  ///< invalid: not written by name
  std::vector<AliasArg> args;
  bool places = false;  ///< the layout is part of what is named
};

/// Where the elements of a tensor live, as written after `@`. It is a statement about a place and no part of
/// a type's equality: layouts.h says what it means.
struct LayoutSpot {
  shape::Dim size;
  std::string axis;  ///< empty: memory
};
struct LayoutPart {
  enum class Kind : uint8_t { name, map, offset } kind = Kind::name;
  std::string name;                  ///< `S`, `R` or a declared layout
  std::vector<LayoutSpot> from, to;  ///< `S[from]`, `S[from : to]`; of an offset: from[0]
  std::vector<LayoutPart> meaning;   ///< of a declared layout: what it stands for here
};
/// Every spot of the parts, and of what they stand for.
template <class Parts, class Function>
void each_spot(Parts& layout, const Function& f) {
  for (auto& part : layout) {
    for (auto* spots : {&part.from, &part.to})
      for (auto& spot : *spots) f(spot);
    each_spot(part.meaning, f);
  }
}

/// What is known of every element of an integer tensor: low <= element < high, and both ends occur.
struct ValueRange {
  shape::Dim low, high;
};

struct Type {
  enum class Kind : uint8_t { tensor, tuple, record, function, stack, var, string, error } kind = Kind::error;
  ElemTerm elem;                     ///< tensor
  Shape shape;                       ///< tensor
  std::optional<shape::Dim> value;   ///< rank-0 integer tensor: the size it equals
  std::vector<shape::Dim> elements;  ///< integer vector made from sizes: what each element equals
  std::optional<ValueRange> range;   ///< integer tensor of positions, such as iota gives
  std::vector<TypeId>
      items;  ///< tuple; record (with fields); function: parameters then result; stack: {element}
  std::vector<std::string> fields;  ///< record, in declaration order
  /// Record: where each field is set, `w` of `{w = e}`, or stated, `w : f32[n]` of a type; where it is only
  /// known to be there, an expression that reads it.
  std::vector<source::Span> places;
  TypeVarId row;     ///< record: the rest, when open
  TypeVarId var;     ///< var
  shape::Dim count;  ///< stack
  /// Function: the integers of its arguments that the rest of it mentions, `(k : i64) -> f32[k]`. Each is the
  /// `value` of one part of a parameter, and stands for another integer in each call: known in this type
  /// only.
  std::vector<shape::Var> bound;
  bool consumed = false;  ///< `*` on a parameter
  bool weights = false;   ///< `weights` on a parameter
  Alias alias;
  std::vector<LayoutPart> layout;  ///< empty: not stated
};

/// left into [right...]: the shape variable broadcasts into the given shape.
struct IntoConstraint {
  ShapeVarId var;
  Shape target;
};

/// By what evaluation raises an error where a fact that the checker could not prove does not hold.
enum class LeftToRun : uint8_t {
  never,       ///< by nothing: it must be proved
  by_index,    ///< by the index or slice, when it is about an integer that only the data decides, or about an
               ///< index below one, or in a branch about an integer that is no size
  by_size,     ///< by what makes the size, when it is about an integer that only the data decides
  by_call,     ///< by the call of a function that states it, when it is about such an integer and no size
  by_division  ///< by the division, whatever the divisor is
};

/// What must hold at each use of a scheme.
struct Requirement : shape::Fact {
  LeftToRun left_to_run = LeftToRun::never;
};

/// What is left of a type's constraints when it is generalised.
struct Scheme {
  TypeId type;
  std::vector<shape::Var> dims;
  std::vector<ShapeVarId> shapes;
  std::vector<TypeVarId> types;
  std::vector<IntoConstraint> into;
  std::vector<Requirement> where;
  std::vector<shape::Var>
      exists;  ///< `?k <= n. t` in the result: fresh at every use; their facts are in `where`
  std::vector<shape::Var> integers;  ///< of these, integers of the data, which what uses one checks
};

enum class ElemClass : uint8_t { any, num, flt, int_, bool_ };

struct TypeStore {
  base::Store<TypeTag, Type, std::deque<Type>> types;
  struct TypeVar {
    std::string name;
    ElemClass cls = ElemClass::any;
    bool stated = false;  ///< the class was written: nothing narrows it
  };
  struct ShapeVar {
    std::string name;
  };
  base::Store<TypeVarTag, TypeVar> vars;
  base::Store<ShapeVarTag, ShapeVar> shape_vars;
  /// How the program's file writes the declared types that it sees: `Cache`, and `rope.Table` of an import.
  /// The others, of modules that it does not import or private to one, have no name there.
  std::map<GlobalId, std::string> declared;
};

}  // namespace axon::core
