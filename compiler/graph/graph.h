// The tensor graph: pure, in index notation, ranks and element types concrete, sizes symbolic.
//
// In: core::Program (from_core.cpp evaluates one entry on symbolic tensors). Out: what tiling reads.
//
// A node computes whole tensors. Its meaning is written as scalar expressions over index variables:
//
//     %5 = compute [i < m, j < n] { out f32[m, n] = sum(k < d, load %1[i, k] * load %2[k, j]) }
//
// Node operators:
//   input    a parameter, an argument or a consumed state of the entry
//   empty    storage without contents (what a scan's emitted stack starts as, and what a value whose layout
//   is
//            stated is stored to); reading it is an error
//   compute  a domain of index variables, locals and outputs. An output is a fresh tensor, one element per
//   domain point
//            (shape = extents, in domain order), or an update of `base`: base with [at(domain)] = body, all
//            else kept. `at` is injective. Locals are tensors that exist only inside the node (fusion makes
//            them; tiling computes each over the box that a task needs); a local's body may read earlier
//            locals.
//   loop     runs its region for index = 0 .. extent-1, in order. The region's values may read any outer
//   value.
//            carried[c]: init (outer value), param (the value inside, at iteration start), result (inside, at
//            its end). Output c of the node is the last result, or init when extent is 0.
//            With a condition, a carried bool[], an iteration starts only when that holds; the extent is then
//            a variable of its own, which has a value when the loop has ended: how many iterations there
//            were.
// Nodes are hash-consed per region: equal operator, domain up to renaming, and arguments give the same node.
// As it is built, a node may have dynamic extents: they depend on index variables before the axis, or on a
// DynamicSize, which the data decides at each point or in each iteration. The memory of its outputs has
// bounds for extents; what lies past an extent is not specified, and nothing depends on it. The pass
// bound_dynamic_sizes makes the extents bounds, too.
//
// Invariants (verify.cpp): every load has one index per axis; reduce and online stand at the root of a body
// (under at most pointwise operators applied to its result only for online's projections); an order is all
// that its node computes; loads of integers used as indices go through `bounded`, are clamped,
// max(min(x, last), 0), inside of a select, or are positions in an order; values are defined before use in
// their region or an enclosing one; shapes agree.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/elem.h"
#include "base/ids.h"
#include "graph/op.h"
#include "layout/layout.h"
#include "shape/dim.h"
#include "shape/exact.h"
#include "shape/prover.h"

namespace axon::graph {

using base::Elem;
using shape::Dim;
using shape::Fact;
using shape::Var;

struct NodeTag;
struct ScalarTag;
struct RegionTag;
using NodeId = base::Id<NodeTag>;
using ScalarId = base::Id<ScalarTag>;
using RegionId = base::Id<RegionTag>;

/// One tensor-valued result: output `output` of `node`, or (node invalid) local number `output` of the
/// enclosing compute.
struct Value {
  NodeId node;
  uint32_t output = 0;
  bool is_local() const { return !node.valid(); }
  friend auto operator<=>(const Value&, const Value&) = default;
};
inline Value local_value(uint32_t number) { return {NodeId{}, number}; }

struct TensorType {
  Elem elem = Elem::f32;
  std::vector<Dim> shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Associative operators with a unit. argmax folds (value, index of the single binder) and yields the index,
/// 0 of nothing (i64).
enum class Monoid : uint8_t { sum, prod, max, min, all, any, argmax };
const char* monoid_name(Monoid);
/// What two values are combined with; nullopt of argmax, which is about values and their places.
std::optional<base::Pointwise> operator_of(Monoid);
const char* order_name(bool descending);

// Note: the online reduction. With s(r) the score and v_c(r) the values over the binders r,
//     m = max_r s(r)      component 0
//     l = sum_r B^(s(r) - m)                   component 1
//     a_c = sum_r B^(s(r) - m) * v_c(r)        component 2 + c
// is one monoid: (m1,l1,a1) . (m2,l2,a2) rescales both by B^(m_i - m). B is e (base2 = false) or 2, and the
// exponent may carry a positive constant `scale`: B^(scale * (s - m)). Attention, softmax cross-entropy and
// logsumexp are projections of it. Passes find it by algebra (passes/merge_online.cpp). Where every score is
// -inf, m is too, and l and a_c are NaN, or 0 with `or_zero`: there m is taken as 0 in the exponents.

// Note: the order. Of the keys key(j), j < n, in ascending order with NaNs last, or `descending` with NaNs
// first, -0 equal to +0 and equal ones in the order of their positions, the value is the position j of
// number i; 0 where there are not so many. One row of the node is sorted once, for all of its i: the number
// is the index variable of the last axis, which no key depends on, and the node computes nothing else:
//
//     %1 = compute [p < m, i < k] { out i64[m, k] = argsmallest(j < n; %0[p, j], {i}) }

/// An index variable with its range 0 <= var < extent.
struct Axis {
  Var var;
  Dim extent;
};

struct Scalar {
  Op op = Op::constant;
  Elem elem = Elem::f32;  ///< of the result
  std::vector<ScalarId> args;
  double number = 0;            ///< constant of float type
  int64_t integer = 0;          ///< constant of integer or bool type
  Dim dim;                      ///< index; bounded: the extent
  Value target;                 ///< load
  Monoid monoid = Monoid::sum;  ///< reduce
  std::vector<Axis> binders;    ///< reduce, online, order
  bool base2 = false;           ///< online
  double scale = 1;             ///< online
  bool or_zero = false;         ///< online: what a row of -inf alone has as its sums
  bool descending = false;      ///< order
  uint32_t component = 0;       ///< proj
  uint32_t check = 0;           ///< bounded, require: index into Graph::checks
};

/// A tensor that lives only inside one compute node.
struct Local {
  std::string name;
  Elem elem = Elem::f32;
  std::vector<Axis> domain;  ///< its own variables
  ScalarId body;
};

struct Output {
  TensorType type;  ///< of the whole result
  ScalarId body;
  std::optional<Value> base;  ///< update: the tensor whose other elements are kept
  std::vector<Dim> at;        ///< where each domain point is stored, one per axis of `type`. Fresh outputs: a
                        ///< bijection of the domain onto the shape (identity when the domain is the shape)
};

struct Carried {
  Value init;    ///< defined outside
  Value param;   ///< output of the loop node's region parameter node (NodeOp::param)
  Value result;  ///< defined inside (or the param itself, or an outer value)
};

enum class NodeOp : uint8_t { input, empty, compute, loop, param };

/// A data-dependent size with another value in each iteration of a loop, or at each point of a node.
struct DynamicSize {
  Var size;
  ScalarId value;  ///< i64, over loop indices and index variables in scope where the size is used
  Dim bound;       ///< over sizes of the entry: the most that it is
};

struct Node {
  NodeOp op = NodeOp::compute;
  std::string name;               ///< a hint for readers: the library function it came from; never a decision
  uint32_t source_begin = 0;      ///< byte offset in the entry's file, for messages; 0 when from the library
  uint32_t source_end = 0;        ///< where the expression ends; 0 when only its start is known
  RegionId region;                ///< where it stands
  std::vector<TensorType> types;  ///< one per output
  uint32_t input = 0;             ///< input: position in Graph::inputs
  std::optional<layout::Layout> place = std::nullopt;  ///< empty: where it lies, other than row-major
  std::vector<Axis> domain;                            ///< compute
  std::vector<Local> locals;                           ///< compute
  std::vector<Output> outputs;                         ///< compute
  std::vector<DynamicSize> dynamic_sizes;              ///< compute: all that it mentions
  /// compute: panels of a right operand, which its readers may read as well where it was (packed_choice in
  /// contraction.h); none where they have no depth.
  bool packs = false;
  bool guarded = false;          ///< compute: its loads need be in range in the branch only that it stands in
  Axis index;                    ///< loop: its index variable and trip count
  std::vector<Carried> carried;  ///< loop; node output c is carried c. param: output c is carried c inside
  std::optional<uint32_t> condition;  ///< loop: the carried value that is the exit condition
  std::string unending;               ///< loop with a condition: the words for when step_limit did not end it
  RegionId body;                      ///< loop
};

/// Iterations of a loop with a condition. One that would go on fails: no program runs for ever.
constexpr int64_t step_limit = int64_t{1} << 20;

struct Region {
  std::vector<NodeId> nodes;  ///< in an order in which every value is defined before it is used
  NodeId loop;                ///< the loop that owns it; invalid for the root
};

enum class InputKind : uint8_t { weight, argument, state, scalar_size };
/// weight: a leaf of a record parameter, prepared once by bind. argument: a tensor or scalar given at each
/// call. state: consumed (`*`): given, updated in place, handed back. scalar_size: an i64 whose value is the
/// size `size`.
struct Input {
  std::string path;  ///< parameter name and fields: "p.layers.wq"
  InputKind kind = InputKind::argument;
  TensorType type;
  std::optional<Var> size;
  /// Of an argument or a state: where it lies, which the program states, from its first element on, with one
  /// stride for each axis. None: row-major.
  std::optional<layout::Layout> place = std::nullopt;
};

struct Result {
  std::string path;  ///< "" for a single result, "0", "1" for tuples, field names for records
  Value value;
  std::optional<layout::Layout> place = std::nullopt;  ///< as that of an input
};

/// A size of the entry, and how it is found: by the host before anything runs, or, if it is data-dependent,
/// by the launch itself. Memory for a data-dependent size is laid out by the host for its bound; for one
/// without a bound, for a guess, and where that does not suffice the host launches again with more.
struct Size {
  Var var;
  std::string name;
  enum class From : uint8_t { parameter, axis, stride, scalar, data } from = From::axis;
  uint32_t input = 0, axis = 0;  ///< axis, stride: of that input, after solving `equation`; scalar: its value
  Dim equation;                  ///< axis, stride: its written dimension, coefficient * var^power + offset
  int power = 1;
  Value value = {};  ///< data: the i64[] that it is, made at the root before whatever mentions the size
  std::string message = {};  ///< data: said when the value does not lie in 0 .. `equation`, its bound
  /// What it can be: of an i64 that is no size, the integers that the facts allow (narrow_integers).
  shape::WideRange range = shape::size_range();
  bool is_integer() const { return !range.inside(shape::size_range()); }
  /// Is it a data-dependent size without a bound? Then its bound is written as the size itself.
  bool is_unbounded() const { return from == From::data && equation == Dim(var); }
};

/// Of a loop with a condition: the variable that its extent is.
inline Var steps_var(const Node& loop) { return loop.index.extent.vars().at(0); }

/// Something that must hold at run time, with the words for when it does not. `{lhs}` and `{rhs}` in them
/// stand for the two sides: of the fact, or what a `require` shows.
struct Check {
  std::optional<Fact> fact;  ///< over sizes: tested once per call, before anything runs
  Value value;               ///< or: every element of value lies in [0, bound)
  Dim bound;
  std::string message;  ///< names the source expression
  bool effect = false;  ///< `value` is computed for its checks alone, and always: nothing has to read it
};

/// debug "name" x. Under an `if` whose condition is one value, the condition stands before it, without a
/// name: a bool, or in loops one for each iteration, on the first axes of the value. What is shown of the
/// value is where it holds.
struct Debug {
  std::string name;
  Value value;
  bool is_condition = false;  ///< of the next one
};

/// What the check of an index adds to its message.
constexpr const char* index_words = ": {lhs} is not in 0 .. {rhs}";
/// Stands for an index that lies below the bound of an axis, but not in the axis. The host knows it too.
constexpr int64_t no_element = -(int64_t{1} << 62);

struct Graph {
  std::string name;  ///< the entry
  std::vector<Size> sizes;
  std::vector<Fact> facts;  ///< what holds of the sizes: n >= 0, solved `where`s (checks make them true)
  std::vector<Check> checks;
  std::vector<Input> inputs;
  std::vector<Result> results;
  base::Store<NodeTag, Node> nodes;
  base::Store<ScalarTag, Scalar> scalars;
  base::Store<RegionTag, Region> regions;
  RegionId root;
  std::vector<Debug> debugs;
  std::unordered_multimap<size_t, ScalarId> scalar_index;  ///< hash-consing: owned by make_scalar

  const TensorType& type(Value v) const { return nodes[v.node].types[v.output]; }
};

// ---- construction (build.cpp): scalars are hash-consed; constants fold where numerics allow it exactly ----
ScalarId make_scalar(Graph&, Scalar);
ScalarId constant_float(Graph&, Elem, double);
ScalarId constant_int(Graph&, Elem, int64_t);
ScalarId index_of(Graph&, const Dim&);  ///< i64
ScalarId load(Graph&, Value, std::vector<ScalarId> indices, Elem);
ScalarId apply(Graph&, Op, std::vector<ScalarId> args);  ///< pointwise; result type by the usual rules
ScalarId cast(Graph&, Elem, ScalarId);                   ///< the argument itself when it has the type
ScalarId reduce(Graph&, Monoid, std::vector<Axis> binders,
                ScalarId body);  ///< of the body's type; argmax: i64
ScalarId position_in_order(Graph&, bool descending, const Axis& binder, ScalarId key, ScalarId number);
/// Replaces index variables by Dims in an expression (also inside index, bounded, binders' extents).
ScalarId substitute(Graph&, ScalarId, const shape::Substitution&);
/// The same for integer scalars in place of index variables (indices that depend on data).
ScalarId substitute(Graph&, ScalarId, const std::map<Var, ScalarId>&);
/// Rewrites every load through `f`, which gets the (already rewritten) load and returns its replacement.
ScalarId rewrite_loads(Graph&, ScalarId, const std::function<ScalarId(ScalarId)>& f);
/// Everything that an expression consists of, under binders too, each once: in order of first occurrence,
/// users before their arguments.
std::vector<ScalarId> scalars_in(const Graph&, ScalarId);
/// All loads in an expression, each once, in order of first occurrence.
std::vector<ScalarId> loads_in(const Graph&, ScalarId);
/// Variables that occur free: index variables not bound by a reduce or online inside, loop indices, sizes.
std::vector<Var> free_vars(const Graph&, ScalarId);
/// Does the variable occur free? Locals show it in the indices of their loads.
bool depends_on(const Graph&, ScalarId, Var);
/// A product has at most so many factors, as it is taken apart: repeated squares would have 2^n.
inline constexpr size_t max_factors = 64;
/// The factors of a product of products, from left to right.
std::vector<ScalarId> factors_of(const Graph&, ScalarId);
/// The unit of a monoid in an element type (max: -inf, or the least integer). Not for argmax.
ScalarId unit_of(Graph&, Monoid, Elem);
/// What no element stands behind in an order, but equal ones at higher positions.
ScalarId last_in_order(Graph&, bool descending, Elem);
bool is_unit(const Graph&, ScalarId, Monoid);  ///< a constant that changes nothing; not for argmax
/// The axes 0..extent-1 of the shape as index expressions: the `at` of an output whose domain is its shape.
std::vector<Dim> identity_map(const std::vector<Axis>& domain);
/// The index of a load as a Dim when it is an `index` expression; nullopt when it depends on data. A constant
/// that no sum with sizes is sure to keep in i64 is data, too.
std::optional<Dim> affine_index(const Graph&, ScalarId index);

// ---- integers.cpp: where arithmetic on i64 is arithmetic on integers without bounds ----
/// The values that a variable of the graph can have: those of an integer, or those of sizes.
shape::WideRange range_of(const Graph&, Var);
/// Does the dimension mention an integer that is no size? Arithmetic on such may leave i64.
bool reads_integer(const Graph&, const Dim&);
/// Can nothing in the dimension leave i64? Of what is made of sizes alone limit_integers() makes it true.
bool is_exact(const Graph&, const Dim&);
/// The dimension as an index expression, if it is exact.
std::optional<ScalarId> exact_index(Graph&, const Dim&);
/// Is there no integer under a quotient, remainder, minimum or maximum of the fact?
bool nests_no_integer(const Graph&, const Fact&);
/// Can no operand of a quotient, remainder, minimum or maximum of the fact leave i64? What is inferred of
/// others need not hold of the values, which wrap: they are checked where they are used.
bool has_exact_operands(const Graph&, const Fact&);
/// Does the fact hold for no values that sizes and integers can have?
bool never_holds(const Graph&, const Fact&);
/// Makes a fact over sizes known: every call checks it, before anything runs. `message` as in Check.
void check_at_call(Graph&, const Fact&, std::string message);
/// Gives each integer the range that the facts leave it.
void narrow_integers(Graph&);
/// The largest integer that is made of sizes: sums of two such stay in i64.
constexpr int64_t largest_integer = int64_t{1} << 62;
/// The operands of quotients, remainders, minima and maxima that may leave i64, innermost first.
std::vector<Dim> inexact_operands(const Graph&, const Dim&);
/// Adds checks over sizes under which no dimension in the graph leaves i64, nor any part of one. Returns what
/// cannot be checked before anything runs, empty when there is nothing.
std::string limit_integers(Graph&);

/// The order that the node computes; nullptr where it computes anything else.
const Scalar* computed_order(const Graph&, const Node&);

/// Positions in Graph::sizes of the data-dependent ones; the k-th one's check has the number
/// checks.size() + (number of loops with a condition) + k.
std::vector<uint32_t> data_sizes(const Graph&);
bool reads_data(const Graph&, const Dim&);  ///< does it mention one of them?
/// The argument whose integers the host holds against the bound of a check, before anything runs; nullopt for
/// a check that the launch makes.
std::optional<uint32_t> input_checked_by_host(const Graph&, const Check&);
/// The most that an expression can be while the size is 0 .. bound; nullopt when no bound is known.
std::optional<Dim> at_most(const Dim&, Var size, const Dim& bound);
/// The same for all data-dependent sizes at once: over sizes that are known before the entry runs.
std::optional<Dim> at_most_before_data(const Graph&, const Dim&);
/// Does the node, with what is in it, mention the variable?
bool mentions(const Graph&, NodeId, Var);
/// The loops that run, whatever reads their results: they have a condition, and fail where they do not end,
/// or something in their bodies is computed for its checks alone.
std::set<NodeId> loops_with_effects(const Graph&);
/// Loops with a condition, in order of their nodes; the k-th one's check has the number checks.size() + k.
std::vector<NodeId> conditional_loops(const Graph&);

// ---- text (print.cpp, parse.cpp): print(parse(t)) == t ----
std::string print(const Graph&);
std::optional<Graph> parse(const std::string& text, std::string& error);

// ---- verify.cpp: empty when well formed, else what is wrong ----
/// dynamic: nodes may have dynamic extents and be guarded, as before the pass bound_dynamic_sizes.
enum class Extents : uint8_t { bounded, dynamic };
std::vector<std::string> verify(const Graph&, Extents = Extents::bounded);

}  // namespace axon::graph
