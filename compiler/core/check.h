// Inference of one declaration: states constraints while it walks the core, generalises what is left, writes
// types back.
//
// Hindley-Milner over structure and element types; sizes and shapes are constraints for the solver. Types are
// pushed down where they are known (parameters of a lambda that is an argument) and otherwise flow up. Files:
//   check.cpp          declarations                    check_expr.cpp     expressions
//   check_size.cpp     integers used as sizes          check_decided.cpp  sizes that only the data decides
//   check_index.cpp, check_select.cpp  index notation  generalise.cpp     schemes
//   errors.cpp         what the user reads             entry.cpp          how sizes follow from arguments
#pragma once
#include "core/elaborator.h"
#include "core/print.h"
#include "core/unify.h"

namespace axon::core {

/// A failure whose report waits until it is known which constraints clash.
struct Clash {
  source::Diagnostic diagnostic;
  Failure failure;
  std::string key;
  std::set<std::string> without;
  bool found = false;
};

class Checker {
 public:
  Checker(Elaborator& e, GlobalId g)
      : e_(e), p_(e.program), vars_(e.vars), solver_(vars_), unifier_(vars_, solver_), g_(g) {}
  void run();

 private:
  // ---- declarations and expressions (check.cpp)
  void check_signature();
  void check_body();
  TypeId stated_part(TypeId type);
  void assume_sizes(TypeId type);
  TypeId kept(TypeId type);
  void refuse_contradiction(const std::vector<FactAt>& where);
  TypeId refined(TypeId stated, TypeId found);
  TypeId bind(const Pattern& pattern, TypeId expected);
  TypeId infer(ExprId id, TypeId expected = {});
  TypeId infer_kind(ExprId id, TypeId expected);
  TypeId infer_local(ExprId id, ExprId application);
  TypeId infer_global(ExprId id, ExprId application);
  TypeId infer_number(ExprId id);
  TypeId infer_lambda(ExprId id, TypeId expected);
  TypeId infer_apply(ExprId id);
  bool poisoned(const Expr& application);
  TypeId infer_dim(ExprId id);
  TypeId infer_let(ExprId id, TypeId expected);
  TypeId infer_conditional(ExprId id, TypeId expected);
  TypeId infer_with_field(ExprId id);
  TypeId infer_list(ExprId id, TypeId expected);
  TypeId infer_check_as(ExprId id);
  void name_argument(TypeId parameter, ExprId argument);
  void pass_value(TypeId parameter, TypeId argument, source::Span at);
  void type_literal(ExprId id, base::Elem elem);
  std::optional<shape::Dim> arithmetic(ExprId id);
  void condition(ExprId id, bool holds, std::vector<shape::Fact>& out) const;
  std::optional<shape::Dim> value_of(TypeId t) const;
  shape::Dim size_of(ExprId id);
  std::vector<ExprId> size_operands(ExprId id) const;
  void operands_are_sizes(ExprId id);
  void find_names_of_sizes();
  shape::Dim as_size(ExprId id, TypeId t);
  /// Written types hold joins `..(a|b)`; inference sees a variable that is constrained to be the join.
  TypeId open(TypeId written, WhyId why);

  // ---- sizes that only the data decides (check_decided.cpp)
  shape::Dim decided(const std::string& hint, source::Span at, bool size = true);
  shape::Dim decided_size(const shape::Dim& value, source::Span at);
  bool reads_data(const shape::Dim& d) const;
  shape::Dim read_size(source::Span at);
  bool is_read(const shape::Dim& size) const;
  TypeId name_value(TypeId type, const std::string& hint, source::Span at);
  bool mentions_since(TypeId type, size_t mark);
  TypeId as_value(ExprId id, TypeId type, size_t mark);
  TypeId without_decided_values(TypeId type, size_t mark);
  void refuse_decided_parameters(TypeId type);
  static constexpr size_t most_bounds = 1000;  ///< that are looked for behind others
  std::vector<shape::Fact> given_without_others(const Occurrences& kept) const;
  void close_decided(Scheme& scheme, size_t mark);
  shape::Dim without_decided(const shape::Dim& d) const;

  // ---- instantiation and generalisation (generalise.cpp)
  struct Fresh {
    shape::Substitution dims;
    std::map<ShapeVarId, ShapeVarId> shapes;
    std::map<TypeVarId, TypeVarId> types;
    WhyId why;
  };
  TypeId instantiate(const Scheme& s, ExprId at, WhyId why);
  TypeId rename(TypeId t, Fresh& fresh);
  Shape rename(const Shape& s, Fresh& fresh);
  Scheme generalise_top(TypeId type);
  void generalise_let(LocalId local, TypeId type, size_t since, size_t opened);
  using Mine =
      std::function<bool(const Occurrences&)>;  ///< does a constraint belong to the scheme being made?
  std::vector<ShapeVarId> shapes_in(TypeId type);
  void take_joins(Scheme& scheme, const Mine& mine);
  void take_intos(Scheme& scheme, const Mine& mine);
  void take_facts(Scheme& scheme, const Mine& mine, bool top);
  void refuse_fact(const shape::Fact& fact, const std::vector<shape::Fact>& known, WhyId why,
                   const shape::Answer& answer);
  std::optional<shape::Fact> without_indices(const shape::Fact& fact,
                                             const std::vector<shape::Fact>& facts) const;
  TypeId simplified(TypeId type, const std::vector<shape::Fact>& where);
  void refuse_leftovers();
  void name_variables(Scheme& scheme);
  void prefer_parameter_initials(Names& names, TypeId type);
  void default_element(TypeVarId v);
  void write_back(const Scheme& scheme);
  void write_back(Pattern& pattern);
  void check_determined(ExprId id);
  void check_at_home(ExprId id);
  void refuse_stray(shape::Var v, source::Span at);
  std::optional<shape::Var> not_at_home_in(const Pattern& pattern, ExprId at) const;
  bool is_at_home(shape::Var v, ExprId at) const;
  std::optional<shape::Var> not_at_home(TypeId type, ExprId at) const;

  // ---- index notation (check_index.cpp)
  struct Use {
    shape::Dim index, axis;
    bool otherwise;
    source::Span span;
  };
  struct IndexBinder {
    shape::Var var;
    shape::Dim range;
    bool bare = false, given = false;
    std::vector<Use> uses;
  };
  struct RankBinder {
    ShapeVarId var;
    std::vector<Shape> indexed;
  };
  TypeId infer_for(ExprId id);
  TypeId tabulated(const Shape& axes, TypeId body, bool number, WhyId w);
  std::optional<ValueRange> tabulated_range(TypeId body);
  void find_range(LocalId local);
  std::optional<shape::Dim> extreme(const shape::Dim& d, bool greatest);
  std::optional<shape::Dim> range_of_use(const IndexBinder& b, const Use& u);
  TypeId infer_index(ExprId id);
  TypeId selected(ExprId id, TypeId base);
  std::optional<shape::Dim> element_of(ExprId id, const Type& vector) const;
  TypeId infer_with_index(ExprId id);
  TypeId infer_rearrange(ExprId id);
  TypeId infer_reshape(ExprId id);
  /// The shape that indexing selects; states what the base must be.
  Shape select(ExprId id, TypeId base, bool has_otherwise);
  IndexBinder* lone_binder(const IndexItem& item);
  void find_named_axes();
  std::string path_of(ExprId id) const;
  std::string read_key(ExprId id) const;
  TypeId same_read(ExprId id, TypeId type);
  std::vector<size_t> axes_of_parameters(ExprId callee) const;
  void settle_axes(TypeId base, size_t named, WhyId w);
  void select_point(const IndexItem& item, const shape::Dim& axis, bool has_otherwise, Shape& result,
                    WhyId why);
  void select_slice(const IndexItem& item, const shape::Dim& axis, Shape& result, WhyId why);
  void ends_in_range(const IndexItem& item, const shape::Dim& start, const shape::Dim& stop,
                     const shape::Dim& axis, WhyId why);
  void note_use(const shape::Dim& index, const shape::Dim& axis, bool otherwise, source::Span at);
  void in_range(const shape::Dim& index, const shape::Dim& axis, bool end_allowed, WhyId why);

  // ---- messages (errors.cpp)
  WhyId why(source::Span span, std::string what, TypeId expected = {}, TypeId found = {}, ExprId expr = {});
  void report_failures();
  void note_any_type(source::Diagnostic& d, const Why& w) const;
  void report_failure(const Failure& f);
  void report(source::Diagnostic d);
  void report_shapes(const Failure& f, const Why& w);
  void label_operands(source::Diagnostic& d, const Why& w);
  std::string failing_sizes(const shape::Fact& goal, const std::vector<shape::Fact>& facts);
  void note_class(source::Diagnostic& d, TypeId t);
  void note_sizes(source::Diagnostic& d, const shape::Dim& a, const shape::Dim& b);
  bool report_matmul(const Failure& f, const Why& w);
  void report_fact(const shape::Fact& fact, const std::vector<shape::Fact>& facts, WhyId why, bool never);
  std::string show(TypeId t);
  std::string show(const Constraint& c);
  std::string describe(ExprId id);
  Names& names();

  void explain_clashes();  // clash.cpp
  void note_clash(source::Diagnostic& d, const Failure& f);
  bool still_fails(const Clash& clash);
  void suggest(source::Diagnostic& d, const Failure& f, const Why& w);  // suggest.cpp
  void check_numbers();                                                 // limits.cpp
  void check_limits();

  void check_consumed();  // consume.cpp

  // ---- entries (entry.cpp)
  void check_entry(const Scheme& scheme);
  std::string words_of(source::Span part, source::Span whole) const;
  void observe(TypeId t, const std::string& path, source::Span at, EntrySizes& out);
  bool first_order(TypeId t, std::string& what);

  Elaborator& e_;
  Program& p_;
  Vars& vars_;
  Solver solver_;
  Unifier unifier_;
  GlobalId g_;
  base::Store<WhyTag, Why> whys_;
  std::vector<LocalId> scope_;
  std::map<LocalId, IndexBinder> index_binders_;
  std::map<LocalId, RankBinder> rank_binders_;
  std::vector<LocalId> open_binders_;
  std::map<LocalId, ExprId> let_values_;  ///< what a name stands for
  struct WhyFact {
    shape::Fact fact;
    source::Span span;
    source::Span within;  ///< the whole indexing or application; not valid when there is none
  };
  std::vector<WhyFact> fact_sources_;  ///< where what is left of the facts comes from
  std::vector<shape::Var> opened_;     ///< sizes and integers that only the data decides, as they appeared
  /// Variables that one iteration of a `for` decides: its indices, and what is opened in it. They are known
  /// inside of its body only.
  std::map<uint32_t, ExprId> for_of_;
  std::map<uint32_t, ExprId> around_;  ///< of an expression: the innermost `for` whose body it is in
  std::vector<ExprId> fors_;           ///< those around what is inferred now
  std::set<uint32_t> data_;            ///< of these, integers that may be negative
  std::set<uint32_t> read_;            ///< of these, integers that are used as sizes
  std::vector<std::pair<shape::Dim, shape::Dim>> decided_sizes_;  ///< a value, and the size that it is
  std::map<std::string, size_t> named_axes_;                      ///< by the indices of a value, at most
  std::map<std::string, size_t> given_axes_;  ///< by the functions that a value is given to, at most
  struct Read {
    int count = 0;
    std::optional<shape::Var> value;
  };
  std::map<std::string, Read> reads_;  ///< elements that are used as sizes: how often, and their value
  std::set<LocalId> sizes_;            ///< names that are used as sizes somewhere
  ExprId applied_;  ///< of what is inferred next: the expression that applies it; a `let` that names it
  std::set<std::pair<uint32_t, std::string>> missing_fields_;  ///< reported: (type, field)
  std::optional<Names> names_;
  uint32_t first_type_var_ = 0;
  Clash* clash_ = nullptr;  ///< set while looking for one: nothing is reported
  std::vector<Clash> clashes_;
  bool failed_ = false;
  bool uses_failed_ = false;  ///< a function with an error: what its result does not determine is no news
};

}  // namespace axon::core
