// What core expressions evaluate to: symbolic tensors and structures of them.
//
// An Array is a function from indices to a scalar expression, written as a template: `body` over one
// placeholder variable per axis. It may also mention the index variables in scope where it was made (inside a
// `for`). A tensor that is stored somewhere is an Array whose body is a load at its placeholders; a view is
// one whose indices are shifted. A stack of structures is the structure of stacked tensors: axis 0 of every
// leaf.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/core.h"
#include "graph/graph.h"

namespace axon::graph {

struct Array {
  Elem elem = Elem::f32;
  std::vector<Dim> shape;
  std::vector<Var> vars;  // one placeholder per axis
  ScalarId body;
  std::string name;  // where it comes from, for readers of the graph
};

struct Environment;
struct Closure;

struct Val {
  enum class Kind : uint8_t { error, array, tuple, record, closure, string } kind = Kind::error;
  std::shared_ptr<Array> array;     // shared: storing it once stores it for everyone who holds it
  std::vector<Val> items;           // tuple, record
  std::vector<std::string> fields;  // record
  std::shared_ptr<Closure> closure;
  std::string text;

  static Val of(Array a) {
    Val v;
    v.kind = Kind::array;
    v.array = std::make_shared<Array>(std::move(a));
    return v;
  }
  static Val tuple(std::vector<Val> items) {
    Val v;
    v.kind = Kind::tuple;
    v.items = std::move(items);
    return v;
  }
};

/// The place among the fields of a record value that has the name of field `i` of a type, or `i` itself.
inline size_t place_of_field(const Val& value, const std::vector<std::string>& fields, size_t i) {
  for (size_t f = 0; f < value.fields.size() && i < fields.size(); ++f)
    if (value.fields[f] == fields[i]) return f;
  return i;
}

/// The value with the fields of its records in the order of those of `like`. Types name fields; how a record
/// was written does not matter.
inline Val in_order_of(const Val& like, const Val& value) {
  Val v = value;
  for (size_t i = 0; i < v.items.size() && i < like.items.size(); ++i) {
    const size_t k = place_of_field(value, like.fields, i);
    v.items[i] = in_order_of(like.items[i], value.items[k]);
    if (!value.fields.empty()) v.fields[i] = value.fields[k];
  }
  return v;
}

/// A function with the arguments it has so far.
struct Closure {
  core::ExprId lambda;    // a lambda, with the environment it was made in
  core::GlobalId global;  // or a function or primitive
  std::shared_ptr<Environment> env;
  shape::Substitution dims;  // what the occurrence instantiates, in the graph's variables
  std::map<core::TypeVarId, Elem> elems;
  std::map<core::TypeVarId, core::TypeVarId> open_elems;  // the same, known where a name of it is used
  std::map<core::ShapeVarId, std::vector<Dim>> shapes;
  std::map<core::ShapeVarId, core::Shape> open_shapes;  // the same, known where a name of it is used
  std::optional<Elem> result_elem;                      // of the occurrence: what cast and real convert to
  std::vector<Val> args;
  std::vector<Val> choices;  // or what an `if` chooses between: two functions, both called
  ScalarId condition;
};

/// An integer of the data that the type checker calls by a variable: a size, where it is used as one.
struct OpenedInteger {
  ScalarId value;
  std::optional<Dim> bound;  // in the core's variables: the most that it is as a size
  std::string name;          // for messages
};

/// Names in scope during one call: values of locals, sizes of type variables, element types of type
/// variables.
struct Environment {
  std::shared_ptr<Environment> parent;
  std::map<core::LocalId, Val> locals;
  std::map<core::LocalId, std::vector<Axis>> ranks;  // rank binders: the index variables they stand for
  shape::Substitution dims;
  std::vector<std::pair<Dim, Dim>>
      opened;  // opened sizes: a dimension of the core (k - l), and its value here
  std::map<Var, OpenedInteger> integers;
  std::map<core::ShapeVarId, std::vector<Dim>> shapes;
  std::map<core::TypeVarId, Elem> elems;
  /// Of locals that are partial applications: what they are, and where that was evaluated.
  std::map<core::LocalId, std::pair<core::ExprId, std::shared_ptr<Environment>>> partial;
};
using EnvironmentPtr = std::shared_ptr<Environment>;

}  // namespace axon::graph
