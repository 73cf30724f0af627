// The syntax tree: what was written, and where, with no meaning attached.
//
// In: one source file, through parse() in parse.h. Out: a File that owns flat stores of nodes which refer to
// each other by typed id; there are no owning pointers, so a tree of any shape is freed by freeing a few
// vectors.
//
// Invariants. Every node has a Span. Every id in the tree is valid unless its field says "invalid when ...";
// where the parser had to recover stands an error node (ErrorExpr, ErrorType, ...), and then an error has
// been reported: later stages stay silent about it. No tree is higher than source::limits::tree_height,
// counted over every kind of node, so plain recursion over it is safe.
//
// A node is a struct {span, node} with `node` a std::variant: take it apart with std::visit and `Overloaded`
// (a missing case does not compile), or ask for one kind with as<ApplyExpr>(expr).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "source/span.h"

namespace axon::syntax {

using source::Span;

using ExprId = base::Id<struct ExprTag>;
using TypeId = base::Id<struct TypeTag>;
using DimId = base::Id<struct DimTag>;
using PatternId = base::Id<struct PatternTag>;
using LayoutId = base::Id<struct LayoutTag>;

/// For std::visit: a set of lambdas, one per alternative.
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

/// The alternative `T` of a node, or null.
template <class T, class Node>
const T* as(const Node& node) {
  return std::get_if<T>(&node.node);
}

struct Name {
  std::string text;
  Span span;
};

// ---- Dimension expressions --------------------------------------------------------------------------------

enum class DimOp : uint8_t { add, subtract, multiply, floor_divide, modulo };
const char* dim_op_text(DimOp op);  ///< "+", "-", "*", "/", "%"

struct ErrorDim {};
struct NameDim {
  Name name;
};
struct NumberDim {
  uint64_t value;  ///< 2^63 at most, which only its negative is
};
struct BinaryDim {
  DimOp op;
  DimId lhs, rhs;
};
struct NegateDim {
  DimId of;
};
/// min, max, cdiv; other names are for the checker to refuse
struct CallDim {
  Name fn;
  std::vector<DimId> args;
};

struct Dim {
  Span span;
  std::variant<ErrorDim, NameDim, NumberDim, BinaryDim, NegateDim, CallDim> node;
};

/// `lhs <= rhs` in a `where` or after `?`.
enum class Relation : uint8_t { less_equal, greater_equal, not_equal, equal, less, greater };
const char* relation_text(Relation relation);
struct Fact {
  Span span;
  Relation relation;
  DimId lhs, rhs;
};

// ---- Shapes and types -------------------------------------------------------------------------------------

/// One element between the brackets of a shape or of type arguments.
struct DimItem {
  DimId dim;
};  ///< `n + 1`; a bare name among type arguments may also name a type
struct SpreadItem {
  Name name;
};                        ///< `..s`
struct AnySpreadItem {};  ///< `..`: any axes, inferred
struct JoinItem {
  std::vector<Name> names;
};                    ///< `..(a|b|c)`: at least two
struct InferItem {};  ///< `_`: one axis, inferred
struct TypeItem {
  TypeId type;
};  ///< `Layer[d]`, `'r`, ... : only as an argument of a named type
struct Item {
  Span span;
  std::variant<DimItem, SpreadItem, AnySpreadItem, JoinItem, InferItem, TypeItem> node;
};

/// `..w into [..s, n]`
struct IntoFact {
  Name shape;
  std::vector<Item> target;
};
/// `'t : float`
struct ClassFact {
  Name element, cls;
};
/// One part of a `where`.
struct Condition {
  Span span;
  std::variant<Fact, IntoFact, ClassFact> node;
};

struct TypeField {
  Name name;
  TypeId type;
};

struct ErrorType {};
/// `f32`, `f32[n, d]`, `Model[..]`, `nn.Layer[d]`. `path` has the qualifiers first; no brackets: `items` is
/// nullopt.
struct NamedType {
  std::vector<Name> path;
  std::optional<std::vector<Item>> items;
};
/// `'t`, `'t[..s, n]`; the name is kept without its quote.
struct VariableType {
  Name name;
  std::optional<std::vector<Item>> items;
};
struct ShapeType {
  std::vector<Item> items;
};  ///< `[n, d]`: element type inferred
struct TupleType {
  std::vector<TypeId> elements;
};  ///< none: unit; never exactly one
/// `(k : i64)`, and in a tuple `(k : i64, f32[k])`: an integer whose value is a size by name.
struct IntegerType {
  Name name;
  TypeId type;
};
struct RecordType {
  std::vector<TypeField> fields;
  std::optional<Name> rest;
};  ///< `{ a : t, ..r }`
struct ArrowType {
  TypeId from, to;
};
struct OwnedType {
  TypeId type;
};  ///< `*t`
struct WeightsType {
  TypeId type;
};  ///< `weights t`
struct PlacedType {
  TypeId type;
  LayoutId layout;
};  ///< `t @ layout`
/// `?k <= n. t`, `?k. t`. `names` are the sizes introduced: every bare name on the left side of a fact, once
/// each.
struct ExistsType {
  std::vector<Name> names;
  std::vector<Fact> facts;
  TypeId body;
};

struct Type {
  Span span;
  std::variant<ErrorType, NamedType, VariableType, ShapeType, TupleType, IntegerType, RecordType, ArrowType,
               OwnedType, WeightsType, PlacedType, ExistsType>
      node;
};

// ---- Layouts (written after `@` in a type and in `layout` declarations) -----------------------------------

struct Spot {
  Span span;
  DimId size;
  std::optional<Name> axis;
};                               ///< `8@m`
using Iter = std::vector<Spot>;  ///< `a`, `(a, b)`
struct NameLayout {
  Name name;
  std::vector<Spot> spots;
  bool bracketed;
};  ///< `l`, `S[16, 8@m]`
struct MapLayout {
  Name name;
  Iter from, to;
};  ///< `S[iter : iter]`
struct OffsetLayout {
  DimId amount;
  Name axis;
};  ///< `+ 4@m`
using LayoutPart = std::variant<NameLayout, MapLayout, OffsetLayout>;
struct Layout {
  Span span;
  std::vector<LayoutPart> parts;  ///< in source order, joined by `+`; empty where the parser recovered
};

// ---- Patterns ---------------------------------------------------------------------------------------------

struct ErrorPattern {};
struct NamePattern {
  Name name;
};
struct WildcardPattern {};  ///< `_`
struct TuplePattern {
  std::vector<PatternId> elements;
};  ///< none: `()`; never exactly one

struct Pattern {
  Span span;
  std::variant<ErrorPattern, NamePattern, WildcardPattern, TuplePattern> node;
  TypeId type;  ///< invalid when not annotated
};

// ---- Expressions ------------------------------------------------------------------------------------------

enum class BinaryOp : uint8_t {
  pipe,
  logical_or,
  logical_and,
  less,
  greater,
  less_equal,
  greater_equal,
  not_equal,
  equal,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  matmul
};
const char* binary_op_text(BinaryOp op);  ///< "|>", "||", ..., "@"

/// One element between index brackets, and of a list literal.
struct ElementIndex {
  ExprId value;
};
struct RestIndex {};  ///< `..`: all axes not named
struct SpreadIndex {
  Name name;
};  ///< `..p`
struct SliceIndex {
  ExprId first, last, step;
};  ///< `a:b:s`; each invalid when left out
struct Index {
  Span span;
  std::variant<ElementIndex, RestIndex, SpreadIndex, SliceIndex> node;
};

/// A binder of `for`: `i`, `..p`, `(i < bound)`. The name is empty where the parser recovered.
struct Binder {
  Span span;
  Name name;
  bool spread = false;
  ExprId bound;  ///< invalid when the range is inferred
};

struct FieldValue {
  Name name;
  ExprId value;
};

/// One `let`: a value (`params` empty), a local function, or a tuple pattern (then `params` is empty).
struct Let {
  Span span;
  PatternId pattern;
  std::vector<PatternId> params;
  TypeId result;  ///< invalid when not annotated
  std::vector<Condition> where;
  ExprId value;
};

struct ErrorExpr {};
struct NameExpr {
  std::string name;
};
struct NumberExpr {
  std::string text;
  bool is_float;
};  ///< as written: `1_000`, `1.0e-5`, `0x1f`
struct StringExpr {
  std::string value;
};  ///< escapes decoded
struct BoolExpr {
  bool value;
};
struct ApplyExpr {
  ExprId fn;
  std::vector<ExprId> args;
};  ///< `f x y`: at least one argument
struct TupleExpr {
  std::vector<ExprId> elements;
};  ///< none: unit; never exactly one
struct ListExpr {
  std::vector<Index> elements;
};  ///< `[a, b]`; `..p` occurs in axis lists of rearrange
struct RecordExpr {
  std::vector<FieldValue> fields;
};
struct LambdaExpr {
  std::vector<PatternId> params;
  ExprId body;
};  ///< at least one parameter
struct LetExpr {
  std::vector<Let> lets;
  ExprId body;
};  ///< one `in`; each let sees those before it
struct IfExpr {
  ExprId condition, then_value, else_value;
};
struct ForExpr {
  std::vector<Binder> binders;
  ExprId body;
};  ///< at least one binder
/// `head args => body`: a reduction over binders (`sum i j => ...`, `reduce f unit k => ...`: trailing names
/// of `args`
/// are the binders) or `rearrange x [t, h*k] => [h, t, k]`. `head` is a NameExpr, FieldExpr or IndexExpr on
/// one.
struct ReduceExpr {
  ExprId head;
  std::vector<ExprId> args;
  ExprId body;
};
struct WithIndexExpr {
  ExprId base;
  std::vector<Index> indices;
  ExprId value;
};  ///< `a with [i] = e`
struct WithFieldExpr {
  ExprId base;
  Name field;
  ExprId value;
};  ///< `r with f = e`
struct CheckExpr {
  ExprId value;
  TypeId type;
};  ///< `e :> t`
struct BinaryExpr {
  BinaryOp op;
  Span op_span;
  ExprId lhs, rhs;
};  ///< `x |> f` is op pipe
struct NegateExpr {
  ExprId value;
};
struct FieldExpr {
  ExprId base;
  Name field;
};  ///< `p.w`; also a name in a module: `nn.relu`
/// `x[i, .., a:b]`, `x[i else v]`; also size arguments: `heads[8, 64]`.
/// otherwise invalid without `else`
struct IndexExpr {
  ExprId base;
  std::vector<Index> indices;
  ExprId otherwise;
};

struct Expr {
  Span span;
  std::variant<ErrorExpr, NameExpr, NumberExpr, StringExpr, BoolExpr, ApplyExpr, TupleExpr, ListExpr,
               RecordExpr, LambdaExpr, LetExpr, IfExpr, ForExpr, ReduceExpr, WithIndexExpr, WithFieldExpr,
               CheckExpr, BinaryExpr, NegateExpr, FieldExpr, IndexExpr>
      node;
};

// ---- Declarations -----------------------------------------------------------------------------------------

/// Between the brackets after a declared name: `n`, `..s`, `'t`.
enum class SizeParamKind : uint8_t { dim, shape, element };
struct SizeParam {
  SizeParamKind kind;
  Name name;
};

/// `fun` and `entry`. A `val` or `prim` without a body is a SignatureDecl.
struct FunDecl {
  bool is_entry;
  std::vector<SizeParam> sizes;
  std::vector<PatternId> params;
  TypeId result;  ///< invalid when not annotated
  std::vector<Condition> where;
  ExprId body;
};
struct ValueDecl {
  ExprId body;
};  ///< `val pi = 3.14`
struct SignatureDecl {
  bool is_prim;
  TypeId type;
  std::vector<Condition> where;
};  ///< `val f : t`, `prim f : t`
struct TypeDecl {
  std::vector<SizeParam> params;
  TypeId type;
};
struct LayoutDecl {
  std::vector<SizeParam> params;
  LayoutId layout;
};
struct MeshDecl {
  std::vector<FieldValue> fields;
};
/// `import a.b`, `import a.b as c`, `import "file" as c`. The declared name is the alias or the last of the
/// path.
struct ImportDecl {
  std::vector<Name> path;
  std::optional<std::string> file;
};
struct TestDecl {
  std::string title;
  ExprId body;
};  ///< the declared name is empty
/// What could not be read. Where it has a name that is declared nevertheless, so that its uses stay silent.
struct ErrorDecl {
  enum class Of : uint8_t { value, type, layout, other };
  Of of = Of::other;
};

struct Decl {
  Span span;
  Name name;
  bool is_private = false;
  std::string doc;  ///< text of the `--|` comment before it, one line per line, without the markers
  std::variant<ErrorDecl, FunDecl, ValueDecl, SignatureDecl, TypeDecl, LayoutDecl, MeshDecl, ImportDecl,
               TestDecl>
      node;
};

// ---- Files ------------------------------------------------------------------------------------------------

/// A comment, for tools that write the source back. `text` includes the markers.
struct Comment {
  Span span;
  bool is_doc;
  bool own_line;  ///< nothing but white space before it on its line
};

/// The tree of one file: owns all nodes.
struct File {
  source::FileId source;
  std::string doc;                ///< the `--|` comment at its beginning that an empty line follows
  std::vector<Decl> decls;        ///< in source order
  std::vector<Comment> comments;  ///< in source order
  std::vector<Span> errors;       ///< where something was reported that is no part of a program
  base::Store<ExprTag, Expr> exprs;
  base::Store<TypeTag, Type> types;
  base::Store<DimTag, Dim> dims;
  base::Store<PatternTag, Pattern> patterns;
  base::Store<LayoutTag, Layout> layouts;

  const Expr& operator[](ExprId id) const { return exprs[id]; }
  const Type& operator[](TypeId id) const { return types[id]; }
  const Dim& operator[](DimId id) const { return dims[id]; }
  const Pattern& operator[](PatternId id) const { return patterns[id]; }
  const Layout& operator[](LayoutId id) const { return layouts[id]; }
};

/// A file that was read at once, or declaration by declaration (parts.h).
struct Text {
  source::FileId source;
  std::vector<const File*> parts;  ///< in order; together they hold all declarations
};

}  // namespace axon::syntax
