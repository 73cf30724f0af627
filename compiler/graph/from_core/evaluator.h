// The evaluation of one entry; see from_core.h. Split by idea:
//   entry.cpp      inputs, sizes, facts, results          call.cpp     closures, patterns, environments
//   expression.cpp one case per kind of expression        index.cpp    x[...]; update.cpp: with
//   for.cpp        for, rank binders, rearrange           finish.cpp   what nothing reads is dropped
//   prim.cpp       the primitives                         loop.cpp     fold, scan, iterate
//                                                          while.cpp    while
//   relax.cpp      what holds only where it is reached       data_size.cpp sizes that the data decides
//   emit.cpp       arrays to nodes, hash-consing          bounds.cpp   proofs that indices are in range
//
// Invariant: a reduction is always a node of its own; a closed `for` or pointwise call becomes a node as soon
// as anything but a single reduction reads it; with index variables free, it stays an expression.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <tuple>

#include "graph/from_core.h"
#include "graph/from_core/value.h"

namespace axon::graph {

/// Rebuilds a graph with only what its results, checks and debugs need; see finish.cpp.
Graph finish(const Graph& g);

class CoreEvaluator {
 public:
  CoreEvaluator(const core::Program& program, source::Diagnostics& diagnostics,
                const source::SourceManager* sources)
      : p(program), diagnostics_(diagnostics), sources_(sources) {}
  std::optional<Graph> run(core::GlobalId entry);

 private:
  const core::Program& p;
  Graph g;
  source::Diagnostics& diagnostics_;
  const source::SourceManager* sources_;
  bool failed_ = false;

  // ---- where evaluation stands ----
  std::vector<Axis> active_;                 // index variables of the enclosing `for`s, outermost first
  std::vector<Fact> guards_;                 // conditions that hold where an `if` has branched
  std::vector<ScalarId> conditions_;         // the same as scalars, those over data included
  std::vector<RegionId> regions_;            // the root, then the bodies of the loops around
  std::vector<Axis> loops_;                  // their indices
  std::vector<source::Span> spans_;          // the expressions being evaluated
  std::vector<core::GlobalId> calls_;        // the functions being evaluated
  source::FileId file_;                      // the entry's
  std::map<core::GlobalId, Val> constants_;  // `val` declarations
  int probing_ = 0;                          // evaluating only to learn shapes: nothing is kept
  std::map<core::LocalId, std::vector<std::vector<Dim>>> probed_;  // what a rank binder was seen to index

  // ---- entry.cpp ----
  void inputs(const core::Global& entry, Frame& frame);
  Val input_tree(core::TypeId type, const std::string& path, bool consumed, bool weight,
                 const std::vector<Dim>& lead);
  Val input_pattern(const core::Pattern& pattern, const std::string& path, Frame& frame);
  void sizes(const core::Global& entry);
  void facts(const core::Global& entry);
  bool is_size(Var v) const;
  struct Rewrite {
    shape::Atom atom;
    int64_t coefficient;
    Dim replacement;
  };
  std::vector<Rewrite> rewrites_;  // equalities among the facts, oriented
  void learn_rewrite(const Fact& fact);
  static Dim product_of(const shape::Term& term);
  Dim rewritten(const Dim& dim) const;
  void results(const Val& value, const std::string& path);
  std::map<std::string, uint32_t> input_numbers_;

  // ---- call.cpp ----
  Val call(const Val& fn, std::vector<Val> args);
  Val enter(const Closure& closure, const std::vector<core::Pattern>& params, core::ExprId body);
  void bind(const core::Pattern& pattern, const Val& value, Frame& frame);
  void match(core::TypeId type, const Val& value, Frame& frame, size_t lead = 0);
  void match_shape(const core::Shape& shape, const Array& array, Frame& frame, size_t lead);
  const Val* find(core::LocalId local) const;
  const std::vector<Axis>* find_rank(core::LocalId local) const;
  Dim resolve(const Dim& dim) const;
  std::optional<Dim> known_dim(Var v) const;
  Elem elem_of(const core::ElemTerm& term) const;
  std::optional<Elem> known_elem(core::TypeVarId v) const;
  void instantiate(const core::Expr& occurrence, Closure& closure) const;
  int uses_of(core::LocalId local, core::ExprId body);
  void count_uses(core::ExprId id);
  std::map<core::LocalId, int> uses_;
  std::set<core::ExprId> counted_;
  FramePtr frame_;

  // ---- expression.cpp ----
  Val evaluate(core::ExprId id);
  Val expression(const core::Expr& e);
  Val number(const core::Expr& e);
  Val in_branch(ScalarId condition, bool holds, const std::function<Val()>& branch);
  Val conditional(const core::Expr& e);
  std::optional<Array> chosen_update(ScalarId condition, const Array& changed, const Array& kept);
  Val choose(ScalarId condition, const Val& then_value, const Val& else_value);
  Val field(const Val& of, const std::string& name);
  Val list(const core::Expr& e);
  Val check_as(const core::Expr& e);
  Val global(const core::Expr& e);
  std::vector<Fact> facts_of(ScalarId condition, bool holds) const;

  // ---- index.cpp, for.cpp ----
  /// What x[...] selects: the axes of the result, and the index on every axis of x as a scalar over their
  /// variables.
  struct Selection {
    std::vector<Dim> shape;
    std::vector<Var> vars;
    std::vector<ScalarId> indices;
    /// Per axis of x: the elements from `start` on, `count` of them along `var`, or the one at `start`;
    /// nullopt for other selections.
    struct Run {
      ScalarId start;
      std::optional<Var> var;
      Dim count;
    };
    std::vector<std::optional<Run>> runs;
    ScalarId inside;  // with `else`: whether the indices were in range
  };
  Val index(const core::Expr& e);
  Val index_leaf(const core::Expr& e, const Val& of, const std::optional<Val>& otherwise);
  Selection select(const core::Expr& e, const Array& of, bool has_else);
  void select_point(core::ExprId point, const Dim& extent, bool has_else, const std::string& what,
                    Selection& out);
  void select_slice(const core::IndexItem& item, const Dim& extent, const std::string& what, Selection& out);
  void slice_by_data(ScalarId start, ScalarId stop, int64_t stride, const Dim& extent,
                     const std::string& what, Selection& out);
  void select_rank(core::LocalId rank, const std::vector<Dim>& axes, Selection& out);
  std::string words(const core::Expr& e, core::ExprId part) const;
  Val update(const core::Expr& e, const Val& of, const Val& value);
  Array updated(const core::Expr& e, const std::shared_ptr<Array>& of, const Array& value);
  struct Target;
  Array stored_at(const std::shared_ptr<Array>& of, Target target);
  bool is_certain(ScalarId index, const Dim& extent, const Selection& s) const;
  bool along_whole_axis(const Selection& s, size_t axis, const Dim& extent, Target& target);
  Val for_expr(const core::Expr& e);
  Val tabulate(const std::vector<Axis>& axes, const Val& body);
  std::vector<Dim> rank_shape(core::LocalId rank, const core::Expr& for_expr);
  void collect_rank_uses(core::LocalId rank, core::ExprId id, std::set<core::LocalId>& bound,
                         bool& needs_probe, std::vector<std::vector<Dim>>& shapes);
  std::vector<std::vector<Dim>> probe(core::LocalId rank, const core::Expr& for_expr);
  Val rearrange(const core::Expr& e);
  Val merged_view(const Array& of, const std::vector<Dim>& shape, const std::vector<Axis>& domain,
                  const std::vector<Dim>& target, ScalarId body);

  // ---- prim.cpp ----
  Val prim(core::Prim prim, const Closure& closure, std::vector<Val> args);
  Val pointwise(Op op, const std::vector<Val>& args, const std::string& name);
  Val convert(const Val& value, Elem to);
  Val reduction(Monoid monoid, const std::shared_ptr<Array>& of, const std::optional<ScalarId>& start);
  Val reduce_with(const std::vector<Val>& args);
  Val reduce_in_order(const Val& f, const Val& unit, const std::shared_ptr<Array>& of);
  void show(const std::string& name, Array array);
  std::vector<Dim> join(const std::vector<std::vector<Dim>>& shapes) const;
  ScalarId stretched(const Array& a, const std::vector<Dim>& shape, const std::vector<Var>& vars);

  // ---- loop.cpp ----
  struct LoopBuild;
  Val loop(core::Prim prim, const std::vector<Val>& args);
  LoopBuild begin_loop(const std::string& name, const Dim& extent);
  void enter_loop(const LoopBuild& build);
  void leave_loop(LoopBuild& build);
  Array carried_like(const Array& like, Value v, const LoopBuild& build);
  Val loop_results(const Val& like, const LoopBuild& build);
  Array where_it_goes_on(ScalarId here, const Array& next, const LoopBuild& build, uint32_t c);
  Val slices(const Val& stack, const Dim& at, LoopBuild& build, bool scanning);
  uint32_t carry(LoopBuild& build, Value init, TensorType type);
  Val carried_tree(const Val& init, LoopBuild& build);
  Val emitted_tree(const Val& value, LoopBuild& build, std::vector<std::function<void()>>& after);
  using Shown = std::vector<std::pair<std::string, Value>>;
  std::vector<Shown> shown_;  // per loop around: what `debug` shows of its iterations
  Shown traces(LoopBuild& build);
  uint32_t carry_storage(LoopBuild& build, const TensorType& type);
  using Step = std::function<Val(const Val& state)>;
  Val loop_while(const std::string& name, const Val& init, const Step& holds, const Step& step);
  struct Decision;
  Decision decide(const Array& holds, const LoopBuild& build);
  Val while_condition_holds(const std::vector<Val>& args);
  Val iterate_by_data(const std::vector<Val>& args);
  bool derives_from_state(Value v) const;
  bool derives_from_param(Value v) const;

  // ---- emit.cpp ----
  ScalarId element(const Array& a, const std::vector<ScalarId>& indices);
  ScalarId element_at(const Array& a, const std::vector<Dim>& indices);
  Array array_of(const TensorType& type, Value v, const std::vector<Dim>& lead = {},
                 const std::vector<Var>& named_like = {});
  Array fresh_array(Elem elem, std::vector<Dim> shape,
                    const std::function<ScalarId(const std::vector<Var>&)>& body,
                    const std::vector<Var>& named_like = {});
  Val scalar(ScalarId id);
  std::vector<Axis> free_axes(ScalarId id, const std::vector<Dim>& shape = {}) const;
  void force(Array& a);
  void force_all(const Val& v);
  std::optional<std::pair<Value, std::vector<Dim>>> place_of(const Array& a) const;
  Value store(Array& a, const std::vector<Axis>& lead, bool hoist = true);
  Value emit(std::vector<Axis> domain, ScalarId body, TensorType type, const std::string& name,
             std::optional<Value> base = std::nullopt, std::vector<Dim> at = {}, bool hoist = true);
  size_t region_for(const std::vector<Axis>& domain, const std::vector<ScalarId>& bodies,
                    std::optional<Value> base, const std::vector<Dim>& at) const;
  size_t depth_of(RegionId region) const;
  using NodeKey =
      std::tuple<uint32_t, uint32_t, std::vector<const shape::DimNode*>, uint64_t, uint32_t, uint32_t>;
  std::map<NodeKey, Value> known_nodes_;
  std::vector<NodeKey> known_log_;  // in order of insertion: probing takes the last ones back
  NodeKey key_of(RegionId region, const std::vector<Axis>& domain, ScalarId body, const TensorType& type,
                 const std::optional<Value>& base, const std::vector<Dim>& at);
  Var canonical(size_t position);
  std::vector<Var> canonical_;
  Array leaf(const Val& v);
  std::shared_ptr<Array> leaf_ptr(const Val& v);
  std::string name_here(const std::string& otherwise) const;

  // ---- bounds.cpp ----
  enum class Proof : uint8_t { always, guarded, unknown };
  std::vector<Fact> known_facts() const;
  Proof proof(const Fact& fact) const;
  bool require(const Fact& fact, const std::string& what);
  ScalarId safe_index(ScalarId index, const Dim& extent, const std::string& what);
  std::pair<ScalarId, ScalarId> guarded_index(ScalarId index, const Dim& extent);
  bool over_sizes(const Dim& d) const;
  ScalarId where_reached(ScalarId integer);
  bool reads_every_element(const Scalar& load) const;
  ScalarId data_index(ScalarId index, const Dim& extent, const std::string& what);
  // ---- relax.cpp ----
  /// A size that the data decides anew in each iteration of a loop, or for each point of a `for`.
  struct Decided {
    Var size;
    ScalarId value;  // i64, over the index variables in scope where it is decided
    Dim bound;
  };
  std::vector<Decided> decided_;
  const Decided* decided(Var v) const;
  bool is_indexed(const Dim& d) const;
  bool is_of_data(const Dim& d) const;
  bool is_decided(const Dim& d) const;
  std::optional<Dim> most_of(const Dim& d) const;
  void refuse_unbounded(const Val& value);
  ScalarId value_of(const Dim& d);
  ScalarId is_inside(const Axis& axis);
  Dim relaxed(const Dim& d) const;
  TensorType relaxed(TensorType type) const;
  void relax(std::vector<Axis>& domain, ScalarId& body, const std::vector<Dim>& at);
  bool is_relaxed(const std::vector<Axis>& domain, ScalarId body) const;
  bool is_in_range(ScalarId index, const Dim& extent, const std::vector<Fact>& facts) const;
  ScalarId relaxed_load(ScalarId load, const std::vector<Fact>& facts);

  // ---- data_size.cpp ----
  std::optional<Dim> size_anywhere(ScalarId integer, const Dim& bound, const std::string& what);
  bool is_positive(ScalarId integer) const;
  std::optional<Dim> upper_bound(ScalarId integer) const;
  std::optional<Dim> data_size(ScalarId integer, const std::string& what,
                               std::optional<Dim> bound = std::nullopt);
  bool is_index(Var v) const;
  bool is_known_here(Var v) const;
  void learn_decided(core::TypeId type, const Val& value);
  ScalarId difference(ScalarId a, ScalarId b);
  void learn_named(const Dim& range, core::ExprId body);
  std::optional<std::pair<core::LocalId, Dim>> slice_of_size(Var size, core::ExprId body) const;

  std::string source_text(source::Span span) const;
  source::Span span_here() const;
  Val fail(source::Code code, const std::string& message);
  Val unsupported(const std::string& what);
};

}  // namespace axon::graph
