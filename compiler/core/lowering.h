// Lowering of one declaration: names to ids, sugar to applications, written types to types over variables.
//
// Names of values, of sizes and of dimensions in types share one scope (language reference, "Types and
// shapes"); shape variables and type variables are spelt apart (`..s`, `'t`) and live for the whole
// declaration.
#pragma once
#include "core/elaborator.h"

namespace axon::core {

class Lowering {
 public:
  Lowering(Elaborator& e, GlobalId g) : e_(e), p_(e.program), g_(g), module_(e.infos[g.index].module) {
    file_ = module_->file;
  }
  void run();

 private:
  /// What a name in a type that nothing binds yet becomes.
  enum class Unbound : uint8_t { rigid, meta, refuse };

  // declarations
  void lower_function(const syntax::FunDecl& f);
  void prepare_signature();
  void lower_value(syntax::ExprId value);
  void lower_alias(const syntax::TypeDecl& d);
  void lower_layout(const syntax::LayoutDecl& d);
  void declare_sizes(const std::vector<syntax::SizeParam>& sizes);
  void lower_facts(const std::vector<syntax::Fact>& facts, std::vector<FactAt>& out);
  shape::Dim named_size(const std::string& name, VarKind kind, source::Span at);

  // types (types_from_syntax.cpp)
  TypeId type(syntax::TypeId t);
  TypeId named_type(const syntax::NamedType& n, source::Span at);
  TypeId alias(GlobalId g, const std::vector<syntax::Item>* items, source::Span at);
  TypeId record_type(const syntax::RecordType& r);
  Shape shape_of(const std::vector<syntax::Item>& items);
  shape::Dim dim(syntax::DimId d);
  ShapeVarId shape_name(const syntax::Name& n);
  TypeId type_variable(const std::string& name);
  ElemTerm elem_of(TypeId t, source::Span at);
  GlobalId find_type(const std::vector<syntax::Name>& path, source::Span at);
  std::vector<LayoutPart> layout(syntax::LayoutId id);  // layouts_from_syntax.cpp
  void check_layout_name(const syntax::Name& name, bool mapped, size_t given);
  void check_layout_axis(const syntax::Name& axis);
  void collect_bracketed(const syntax::File& file, syntax::TypeId t);

  // patterns and expressions (from_syntax.cpp)
  void names_differ(const std::vector<syntax::PatternId>& patterns);
  Pattern pattern(syntax::PatternId id, bool parameter);
  LocalId add_local(const std::string& name, source::Span at, Local::Kind kind = Local::Kind::value);
  ExprId expr(syntax::ExprId id);
  ExprId name(const std::string& text, source::Span at);
  ExprId global(GlobalId g, source::Span at);
  ExprId prim(const std::string& name, source::Span at);
  ExprId prelude(const std::string& name, source::Span at);
  ExprId imported(const std::string& qualifier, const syntax::Name& field, source::Span at);
  ExprId cast_to(base::Elem elem, source::Span at);
  ExprId apply(ExprId fn, std::vector<ExprId> args, source::Span at);
  ExprId lets(const syntax::LetExpr& l, size_t from, source::Span at);
  ExprId let_value(const syntax::Let& l);
  ExprId binary(const syntax::BinaryExpr& b, source::Span at);
  ExprId number(const std::string& text, bool is_float, source::Span at);
  ExprId reduction(const syntax::ReduceExpr& r, source::Span at);
  ExprId rearrange(const syntax::ReduceExpr& r, source::Span at);
  ExprId reshape(ExprId target, ExprId value, source::Span at);
  bool is_reshape(syntax::ExprId fn);
  std::vector<AxisGroup> axis_groups(const syntax::ListExpr& l);
  bool axis_factors(syntax::ExprId id, AxisGroup& out);
  ExprId for_expr(const std::vector<syntax::Binder>& binders, syntax::ExprId body, source::Span at);
  std::vector<IndexItem> indices(const std::vector<syntax::Index>& list);
  ExprId index(const syntax::IndexExpr& i, source::Span at);
  ExprId list(const syntax::ListExpr& l, source::Span at);
  ExprId explicit_sizes(GlobalId g, const syntax::IndexExpr& i, source::Span at);
  GlobalId find_global(syntax::ExprId id);
  size_t reduction_arity(GlobalId g);

  // scope
  struct Entry {
    std::string name;
    LocalId local;                   ///< or
    std::optional<shape::Dim> size;  ///< the name of a size
  };
  const Entry* find(const std::string& name) const;       ///< a value or a size
  const Entry* find_axes(const std::string& name) const;  ///< `..p` of a `for`; a name space of its own
  GlobalId find_value(const std::string& name) const;
  std::optional<shape::Dim> size_of(const Entry& e);
  void unknown_name(const std::string& name, source::Span at);

  ExprId add(Expr::Kind kind, source::Span at);
  Expr& at(ExprId id) { return p_.exprs[id]; }
  const syntax::File& file() const { return *file_; }
  void report(source::Diagnostic d);

  Elaborator& e_;
  Program& p_;
  GlobalId g_;
  Module* module_;
  const syntax::File* file_;
  std::vector<Entry> scope_;
  std::map<std::string, Shape> shapes_;
  std::map<std::string, TypeId> type_names_;
  std::set<std::string> bracketed_;  ///< type variables used with a shape: they stand for element types
  std::vector<GlobalId> open_aliases_;
  Unbound unbound_ = Unbound::rigid;
  bool top_level_ = true;
  bool entry_ = false;
  std::vector<shape::Var>* exists_ = nullptr;
  std::vector<FactAt>* exists_facts_ = nullptr;
};

}  // namespace axon::core
