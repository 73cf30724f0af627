// Written types, sizes, facts and layouts to types over variables.
//
// types_from_syntax.cpp has types and sizes, layouts_from_syntax.cpp what is written after `@`.
#pragma once
#include "core/lowering.h"
#include "core/written_sizes.h"

namespace axon::core {

class TypeLowering : LoweringPart {
 public:
  explicit TypeLowering(LoweringContext& c) : LoweringPart(c) {}

  /// An invalid id is a type that was left out: a fresh variable.
  TypeId type(syntax::TypeId t);
  /// The type stands where `weights` may begin it: on a parameter of an entry.
  void allow_weights(syntax::TypeId t) { may_be_weights_.insert({file_, t}); }
  /// The type of a `val` or `prim`: what its parameters name is named in all of it.
  TypeId signature(syntax::TypeId t);
  shape::Dim dim(syntax::DimId d);
  FactAt fact(const syntax::Fact& fact);
  /// A `where`: into the declaration, but for the classes of element types, which are marked.
  void lower_where(const std::vector<syntax::Condition>& where, DeclInfo& info);
  std::vector<LayoutPart> layout(syntax::LayoutId id);

  /// The parameters in brackets after the declared name come into scope.
  void declare_sizes(const std::vector<syntax::SizeParam>& sizes);
  /// Which type variables are used with a shape: those stand for element types wherever they occur. Called
  /// for all types of a declaration before the first of them is lowered.
  void collect_bracketed(const syntax::File& file, syntax::TypeId t);
  void collect_bracketed(const std::vector<syntax::Condition>& where);
  /// The size that a name in scope stands for; nullopt for `..p`.
  std::optional<shape::Dim> size_of(const ScopeEntry& e);
  /// Forgets every name of a size, a shape or a type: another type of the declaration begins.
  void clear();

 private:
  WrittenSizes sizes();
  shape::Dim dim_of(const syntax::Name& name);
  shape::Dim named_size(const syntax::Name& name, VarKind kind);
  ShapeVarId shape_name(const syntax::Name& n);
  void add_size(const syntax::Name& n, const shape::Dim& size,
                ScopeEntry::Seen seen = ScopeEntry::Seen::anywhere);
  void note_named(Use::Kind kind, const syntax::Name& n);
  Shape shape_of(const std::vector<syntax::Item>& items);
  TypeId type_variable(const std::string& name);
  ElemTerm elem_of(const std::string& variable, TypeId t, source::Span at);
  TypeId weights_type(syntax::TypeId id, const syntax::WeightsType& written);
  bool gives_up(TypeId id) const;
  TypeId named_type(const syntax::NamedType& n, source::Span at);
  TypeId alias(GlobalId g, const std::vector<syntax::Item>* items, source::Span at);
  TypeId record_type(const syntax::RecordType& r);
  TypeId arrow(const syntax::ArrowType& a, bool outermost);
  TypeId named_integer(const syntax::IntegerType& n, source::Span at);
  TypeId exists(const syntax::ExistsType& x, source::Span at);
  void lower_class(const syntax::ClassFact& c);
  GlobalId find_type(const std::vector<syntax::Name>& path, source::Span at);
  TypeId placed_type(const syntax::PlacedType& p, syntax::TypeId id);
  void check_placed(const Type& placed, source::Span at);
  GlobalId find_layout(const syntax::Name& name, bool mapped, size_t given);
  std::vector<LayoutPart> meaning_of(GlobalId declared, const std::vector<LayoutSpot>& sizes);
  void check_layout_axis(const syntax::Name& axis);
  LayoutPart layout_part(const syntax::LayoutPart& written, Unbound strides);

  std::map<std::string, Shape> shapes_;
  std::map<std::string, TypeId> type_names_;
  std::map<std::string, TypeVarId> rows_;                            ///< `..r` of records
  std::map<std::pair<Use::Kind, std::string>, source::Span> named_;  ///< where they are named first
  std::set<uint32_t> integer_names_;  ///< variables of named integers: those that are axes are sizes
  std::set<std::string> bracketed_;  ///< type variables with a shape or a class: they stand for element types
  std::vector<GlobalId> open_aliases_;
  std::set<std::pair<const syntax::File*, syntax::TypeId>> may_be_weights_;
};

}  // namespace axon::core
