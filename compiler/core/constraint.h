// Constraints between sizes and shapes, with where they came from: what the checker says and the solver
// answers.
//
// The checker never decides anything about a shape; it states constraints, each with a Why. The solver never
// looks at a program; it returns bindings, constraints that are left over, and failures, which name the Why
// they came with. A constraint prints, so that a run of the solver can be read (--emit=constraints in tests).
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/vars.h"

namespace axon::core {

struct ExprTag;
struct WhyTag;
using WhyId = base::Id<WhyTag>;

/// Where a constraint comes from, in the user's terms.
struct Why {
  source::Span span;
  std::string what;        ///< "argument 2 of `f`", "the operands of `+`", "the axis that `i` indexes"
  TypeId expected, found;  ///< the two whole types that were compared; invalid for other constraints
  base::Id<ExprTag> expr;  ///< the application or indexing, for labels on its parts
  std::string stated;      ///< of a `where` of what is called: how it is written there
  LeftToRun left_to_run = LeftToRun::never;
  /// Of a `where` that a % b is 0: a and b here.
  std::optional<std::pair<shape::Dim, shape::Dim>> remainder = std::nullopt;
};

struct Constraint {
  enum class Kind : uint8_t {
    equal_dims,    ///< dims[0] = dims[1]
    equal_shapes,  ///< shapes[0] = shapes[1]
    join,          ///< shapes[0] = broadcast of shapes[1..]
    into,          ///< shapes[0] broadcasts into shapes[1]
    holds          ///< fact, under context
  };
  Kind kind;
  std::vector<shape::Dim> dims;
  std::vector<Shape> shapes;
  shape::Fact fact;
  std::vector<shape::Fact> context;
  WhyId why;
  bool done = false;
  size_t serial = 0;       ///< order of statement
  bool in_branch = false;  ///< stated in a branch of an `if`, which may not be taken
  bool of_size = false;    ///< that what becomes the size of an axis is at least 0
};

/// A constraint that cannot hold, or two types that can never be one.
struct Failure {
  enum class Kind : uint8_t {
    structure,  ///< a function where a tensor is wanted, ...
    element,    ///< element types differ, or are of the wrong class
    rank,       ///< numbers of axes differ
    size,       ///< two sizes differ: lhs, rhs
    broadcast,  ///< two sizes neither of which is the literal 1: lhs, rhs
    infinite,   ///< a type would contain itself
    dependent,  ///< a function whose result mentions an integer of its argument, where any function is wanted
    field       ///< the record has no field `text`
  };
  Kind kind;
  WhyId why;
  shape::Dim lhs, rhs;
  std::string text;
  WhyId stating = {};    ///< of what was stated when it failed; another one when that only woke it
  TypeId record = {};    ///< field: what lacks it
  TypeId other = {};     ///< field: the record that has it; not valid where an expression reads it
  bool surplus = false;  ///< field: what lacks it is the type that is expected
};

std::string print(const Constraint& c, const Vars& vars);
std::string print_shape(const Shape& s, const Vars& vars);
std::string print_dim(const shape::Dim& d);

}  // namespace axon::core
