// The variables of inference: what each one stands for, once that is known, and types with all of that filled
// in.
//
// One table for a whole elaboration. A meta variable waits for a solution; a rigid one is a name the user
// wrote, for which the body must hold at every value; an index variable is bound by `for`; an opened one is
// the size of a result that only the data decides; a bound one is an integer of an argument of a function
// that is a value. zonk() replaces solved metas everywhere; it never changes what a type means.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "core/size_vars.h"
#include "core/type.h"
#include "source/span.h"

namespace axon::core {

/// Thrown where a declaration needs more than a limit allows; the elaborator reports it and goes on with the
/// next.
struct TooComplex {
  source::Span span;  ///< invalid: the declaration as a whole
};

class Vars : public SizeVars {
 public:
  explicit Vars(TypeStore& types) : types(types) {}
  TypeStore& types;

  using SizeVars::is_meta;
  using SizeVars::make_rigid;
  using SizeVars::solve;
  using SizeVars::zonk;

  // ---- Shapes.
  ShapeVarId shape(const std::string& hint, VarKind kind = VarKind::meta);
  bool is_meta(ShapeVarId v) const;
  void make_rigid(ShapeVarId v);
  void solve(ShapeVarId v, Shape s);
  Shape zonk(const Shape& s) const;

  // ---- Types and element types; one variable is used as one or as the other.
  TypeVarId type(const std::string& hint, ElemClass cls = ElemClass::any, VarKind kind = VarKind::meta);
  bool is_meta(TypeVarId v) const;
  void make_rigid(TypeVarId v);
  void solve(TypeVarId v, TypeId t);
  void solve(TypeVarId v, ElemTerm e);
  ElemTerm zonk(ElemTerm e) const;
  TypeId head(TypeId t) const;  ///< follows solved type variables at the root only
  TypeId zonk(TypeId t);
  ElemClass elem_class(ElemTerm zonked) const;

  // ---- Fields of records.
  /// Two places under which types carry fields (Type::places) are of one field.
  void note_same_field(source::Span a, source::Span b) {
    if (a.valid() && b.valid() && a != b) same_fields_.emplace_back(a, b);
  }
  const std::vector<std::pair<source::Span, source::Span>>& same_fields() const { return same_fields_; }

  // ---- Building.
  TypeId tensor(ElemTerm e, Shape s, std::optional<shape::Dim> value = std::nullopt);
  TypeId scalar(base::Elem e, std::optional<shape::Dim> value = std::nullopt);
  TypeId function(std::vector<TypeId> params, TypeId result, std::vector<shape::Var> bound = {});
  TypeId tuple(std::vector<TypeId> items);
  TypeId variable(TypeVarId v);
  TypeId stack(shape::Dim count, TypeId element);
  TypeId error();
  TypeId string();
  TypeId fresh(const std::string& hint) { return variable(type(hint)); }
  /// Replaces every size that the type itself holds (not those of its items).
  static void each_size(Type& t, const std::function<shape::Dim(const shape::Dim&)>& change);
  /// The type of what an operator makes of it: without the layouts that its tensors have where they lie.
  TypeId without_layouts(TypeId t);
  /// The type with other sizes in place of variables; one that a function inside binds is another variable.
  TypeId substituted(TypeId t, const shape::Substitution& sizes);
  TypeId add(Type t) {
    if (types.types.size() - first_type_ > most_types_) throw TooComplex();
    return types.types.add(std::move(t));
  }
  const Type& operator[](TypeId t) const { return types.types[t]; }

  // ---- Limits, of one declaration. What walks a type counts: a type may name its parts more often than it
  // has any.
  void begin_declaration();
  void after_too_complex();  ///< its types stay in the store: the next ones have less room
  void work() const {
    base::poll();
    if (++work_ > most_work) throw TooComplex();
  }

 private:
  struct ShapeInfo {
    VarKind kind = VarKind::rigid;
    std::optional<Shape> solution;
  };
  struct TypeInfo {
    VarKind kind = VarKind::rigid;
    std::optional<TypeId> type;
    std::optional<ElemTerm> elem;
  };
  TypeId zonk_anew(TypeId t);

  static constexpr size_t most_work = 4'000'000;
  std::vector<ShapeInfo> shapes_;
  std::vector<TypeInfo> infos_;
  std::vector<std::pair<source::Span, source::Span>> same_fields_;
  std::vector<std::pair<uint64_t, TypeId>>
      zonked_;    ///< by type: when it was last filled in, and what it became
  TypeId error_;  ///< one for all: a text may have an error in each of its declarations
  mutable size_t work_ = 0;
  size_t first_type_ = 0, most_types_ = 200'000;
};

/// The type of the value alone, wherever it lies.
inline void forget_layout(Type& t) {
  t.layout.clear();
  if (t.alias.places) t.alias = {};
}
inline ShapeItem dim_item(shape::Dim d) {
  ShapeItem item;
  item.dim = std::move(d);
  return item;
}
inline ShapeItem var_item(ShapeVarId v) {
  ShapeItem item;
  item.kind = ShapeItem::Kind::var;
  item.var = v;
  return item;
}
inline bool is_dim(const ShapeItem& i) { return i.kind == ShapeItem::Kind::dim; }
inline bool is_var(const ShapeItem& i) { return i.kind == ShapeItem::Kind::var; }
/// Where a field of a record is set, stated or read (Type::places); not valid where there is none.
source::Span place_of_field(const Type& record, const std::string& field);
inline bool last_is_dim(const Shape& s) { return !s.empty() && is_dim(s.back()); }
/// The variable, when the shape is just one.
std::optional<ShapeVarId> lone(const Shape& s);
bool known_rank(const Shape& s);
bool same(const Shape& a, const Shape& b);
shape::Dim atom_dim(const shape::Atom& a);  ///< the atom as an expression of its own

/// Every variable that occurs, each once, in order of first occurrence; without those that functions inside
/// bind.
struct Occurrences {
  std::vector<shape::Var> dims;
  std::vector<ShapeVarId> shapes;
  std::vector<TypeVarId> types;
  void add(const shape::Dim& d);
  void add(const Shape& s);
  void add(ElemTerm e);
  void add(const Vars& vars, TypeId zonked);
  bool has(shape::Var v) const;
  bool has(ShapeVarId v) const;
  bool has(TypeVarId v) const;
};

}  // namespace axon::core
