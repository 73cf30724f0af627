// The functional core: the program after names are resolved, sugar is gone and every type is inferred.
//
// In: syntax::File (decl_from_syntax.cpp). Out: Program, whose entries graph/from_core/ evaluates on symbolic
// tensors: functions are inlined at each call, so rank and element type become concrete by evaluation and
// never need a copy of the function. What evaluation cannot see (a size that only a type mentions) is passed
// explicitly: a Global or Local occurrence carries the sizes its scheme was instantiated with, as Dims over
// the variables of the enclosing scheme, and Size expressions read them. Element types and shapes are passed
// the same way. Sizes that depend on data are opened (OpenedSize): the expression or the name whose value
// shows one carries it. So evaluation runs with environments of variables and needs no inference.
//
// An index binder's Local::type is an i64 whose `value` is the binder's own variable, so dims inside the body
// mention it; Stack[n, t] and t with n before the shape of every leaf are the same type, written either way.
//
// Invariants: ids only, no owning pointers; every expression has a span and, after check, a type; operators
// are applications of globals: x + y is Apply(Global add, x, y), x @ y is Apply(Global matmul, x, y); `f a b
// => e` is Apply(f, For(a b => e)) with f applied once per binder (innermost last); `a |> f` is Apply(f, a).
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/elem.h"
#include "base/ids.h"
#include "core/alias_set.h"
#include "core/type.h"
#include "shape/dim.h"
#include "source/span.h"

namespace axon::core {

enum class Prim : uint8_t {
#define PRIM(name, word, arity) name,
#include "core/prims.def"
};
const char* prim_name(Prim);
int prim_arity(Prim);

/// A data-dependent size, and where it is found: in the value of an expression, once that has been evaluated,
/// or in the value of a name, once that is bound. A size may be opened at several places, where it is the
/// same number.
///
/// `number` is what the extent or the integer there equals: linear in `size`, with the factor 1 or -1; every
/// other variable in it is known before or stands earlier in the same list. The size is `bound` at most; that
/// is over sizes that do not depend on data, and follows from the type of what was called, from how the
/// integer is made, or from a check that the program makes where the size is used, so that it may not hold
/// where the size is not used.
struct OpenedSize {
  shape::Var size;
  std::vector<uint32_t>
      item;  ///< the part of the value: positions in tuples and records, the outermost first
  std::optional<uint32_t> axis;  ///< of the tensor there; none: it is an integer
  shape::Dim number;
  std::optional<shape::Dim> bound;  ///< none: nothing is known
};

/// A let-, lambda- or parameter-bound name, an index binder, or a rank binder (`..p`).
struct Local {
  std::string name;
  source::Span span;
  enum class Kind : uint8_t { value, index, rank } kind = Kind::value;
  TypeId type;                    ///< monomorphic, or the body of `scheme`
  Scheme scheme;                  ///< let-bound functions are generalised; no variables otherwise
  std::vector<OpenedSize> opens;  ///< sizes that the value of the name is: none, or it is an integer
};

/// A binding position: a name, `_`, `()`, or a tuple of patterns; with the annotation's type when one was
/// written.
struct Pattern {
  enum class Kind : uint8_t { name, wildcard, unit, tuple } kind = Kind::name;
  LocalId local;               ///< name
  std::vector<Pattern> items;  ///< tuple
  std::optional<TypeId> annotation;
  bool consumed = false;  ///< `*`: given up by the caller, updated in place
  bool weights = false;   ///< of an entry: bound once, from files, and not given at each call
  source::Span span;
};

/// What instantiates the size variables of a scheme at one occurrence: callee's variable -> Dim in the
/// caller's.
using Instantiation = std::vector<std::pair<shape::Var, shape::Dim>>;
/// The same for element types: what only a literal, a cast or a result mentions cannot be seen by evaluation.
using ElemInstantiation = std::vector<std::pair<TypeVarId, ElemTerm>>;
/// The same for shapes: every shape variable of the callee's scheme -> axes over the caller's variables.
using ShapeInstantiation = std::vector<std::pair<ShapeVarId, Shape>>;

/// One position of x[...]: a point, a slice, all of an axis, or the axes of a rank binder.
struct IndexItem {
  enum class Kind : uint8_t { point, slice, ellipsis, rank } kind = Kind::point;
  ExprId point;              ///< point
  ExprId start, stop, step;  ///< slice; invalid where left out
  LocalId rank;              ///< `..p`
};

/// An index binder: `i`, `(i < n)` or `..p`.
struct Binder {
  LocalId local;
  ExprId bound;  ///< invalid when the range is inferred from the indexing
  std::optional<shape::Dim>
      range;  ///< i, (i < n): the range found; over the enclosing scheme's variables. Not for ..p
  std::vector<Shape>
      joined;  ///< ..p: it ranges over the broadcast of these, over the enclosing scheme's variables
};

/// One axis of a rearrange pattern: the names multiplied together in it ([t, h*k] is {t}, {h, k}); "1" is a
/// unit axis;
/// {"..b"} stands for any number of axes.
using AxisGroup = std::vector<std::string>;

struct Expr {
  enum class Kind : uint8_t {
    local,        ///< local, instantiation, elems, shapes
    global,       ///< global, instantiation, elems, shapes (args: the explicit sizes of f[8, 64], already in
                  ///< instantiation)
    number,       ///< text: an int or float literal; its element type is in `type`
    boolean,      ///< flag
    string,       ///< text
    size,         ///< dim: an i64 whose value is a Dim over the enclosing scheme's variables (names in types)
    lambda,       ///< params, args[0] = body
    apply,        ///< args[0] applied to args[1..]
    let,          ///< params[0] = args[0] in args[1]; a let-bound function is a lambda bound to a name
    conditional,  ///< if args[0] then args[1] else args[2]
    tuple,        ///< args
    record,       ///< fields = args
    field,        ///< args[0] . text
    with_field,   ///< args[0] with text = args[1]
    with_index,   ///< args[0] with [indices] = args[1]
    index,        ///< args[0] [indices], args[1] = the else value when present
    for_,         ///< for binders => args[0]; flag: a fold's operand, whose body is one number
    rearrange,    ///< args[0], from => to; `instantiation` has one variable per axis name, found by its
                  ///< var_name(). `reshape [n, -1] x` is two of them: all axes as one, that as the target's
    list,         ///< [a, b, c]: a vector of scalars
    check_as,     ///< args[0] :> annotation
    error         ///< stands where recovery happened; never reaches the graph
  };
  Kind kind = Kind::error;
  source::Span span;
  TypeId type;
  std::vector<ExprId> args;
  LocalId local;
  GlobalId global;
  std::string text;
  bool flag = false;
  shape::Dim dim;
  Instantiation instantiation;
  ElemInstantiation elems;
  ShapeInstantiation shapes;
  std::vector<OpenedSize> opens;  ///< sizes that its value shows
  std::vector<Pattern> params;
  std::vector<std::string> fields;
  std::vector<source::Span> places;  ///< of a record, where each field is named
  std::vector<IndexItem> indices;
  std::vector<Binder> binders;
  std::vector<AxisGroup> from, to;
  std::optional<TypeId> annotation;
};

/// What an entry can see of its sizes: one axis of a tensor leaf of an argument, or the value of an integer
/// scalar.
struct Observation {
  std::string argument;          ///< path, as bound by weights and callers: "p.layers.wq", "x", "t.0"
  std::optional<uint32_t> axis;  ///< none: the scalar's value
  shape::Dim dim;                ///< what the type says it is
  source::Span span;
  bool stride = false;  ///< of the axis: its step in the memory of the argument, which its layout states
};

/// size = root_power((observed - offset) / coefficient), every step exact and checked; offset and coefficient
/// use only sizes of earlier forms and declared size parameters.
struct ClosedForm {
  shape::Var size;
  size_t observation = 0;
  shape::Dim coefficient{1}, offset{0};
  int power = 1;
};

/// A fact that could not be proved: checked once when the entry starts, where all its sizes are known.
struct SizeCheck {
  shape::Fact fact;
  std::string text;  ///< what needs it, in back-ticks: an expression, an argument, the entry that states it
  source::Span span;
  bool inferred = false;  ///< no `where` states it
};

/// How an entry's sizes follow from its arguments: forms in order, then every observation must equal its dim,
/// then the checks. Sizes in `given` are the declared size parameters that no argument determines.
struct EntrySizes {
  std::vector<Observation> observations;
  std::vector<ClosedForm> forms;
  std::vector<SizeCheck> checks;
  std::vector<std::pair<std::string, shape::Var>> given;
  std::vector<shape::Var> integers;  ///< i64 arguments that are no sizes: they may be negative
};

/// A top-level declaration: function, entry, value or primitive.
struct Global {
  enum class Kind : uint8_t { function, entry, value, prim, type } kind = Kind::function;
  std::string name, module;
  source::Span span;
  std::string doc;
  Prim prim = Prim::add;
  std::vector<std::pair<std::string, shape::Var>> sizes;  ///< declared size parameters, in order: f[h, k]
  std::vector<std::pair<std::string, TypeVarId>> elems;   ///< declared element-type parameters: f['t]
  std::vector<Pattern> params;
  ExprId body;  ///< invalid for prim and type
  Scheme scheme;
  std::optional<EntrySizes> entry_sizes;  ///< entries without errors
  std::optional<CallAliases> aliases;     ///< where it was checked without errors, and is no prim or type
  bool checked = false, has_error = false;
};

/// A `test "title" = e` is a value of this name, which nothing in a program can refer to; e is a bool.
std::string test_name(const std::string& title);

struct Program {
  base::Store<ExprTag, Expr> exprs;
  base::Store<LocalTag, Local> locals;
  base::Store<GlobalTag, Global, std::deque<Global>> globals;  ///< own, and what of the others is used
  TypeStore types;
  std::vector<GlobalId> own;                     ///< the declarations of the file itself, in source order
  GlobalId find(const std::string& name) const;  ///< invalid when absent
};

/// What callers call a parameter of an entry: its name, or its position where it is a tuple of names. The
/// parts of a structure follow behind points: "cache.k", "0.1".
inline std::string parameter_path(const Program& program, const Global& entry, size_t index) {
  const Pattern& p = entry.params[index];
  return p.kind == Pattern::Kind::name ? program.locals[p.local].name : std::to_string(index);
}

}  // namespace axon::core
