// Types of one table of variables, made anew in another one.
//
// In: schemes and types that are fully resolved, of a table and the arena that its sizes live in. Out: the
// same in another table; its arena is the current one. Invariant: variables keep their names, kinds and
// origins, and the order of their numbers, so that both print the same.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "core/vars.h"
#include "shape/arena.h"

namespace axon::core {

class TypeCopier {
 public:
  /// `declared`: which declaration of the other table's program one of this is.
  TypeCopier(const Vars& from, shape::Arena& arena, Vars& to, std::function<GlobalId(GlobalId)> declared)
      : from_(from), arena_(arena), to_(to), declared_(std::move(declared)) {}

  /// Every variable that is copied has to be mentioned by one of these first.
  void mention(const Scheme& scheme);
  void mention(shape::Var v) { dims_.insert(v); }
  void mention(TypeVarId v) { types_.insert(v); }
  uint32_t make_variables();  ///< gives how many of sizes there are

  Scheme copy(const Scheme& scheme);
  TypeId copy(TypeId type);
  shape::Var copy(shape::Var v) const { return new_dims_.at(v); }
  TypeVarId copy(TypeVarId v) const { return new_types_.at(v); }

 private:
  void mention(TypeId type);
  void mention(const Shape& shape);
  void mention(const shape::Dim& d);
  shape::Dim copy(const shape::Dim& d) const;
  Shape copy(const Shape& shape) const;
  shape::Fact copy(const shape::Fact& fact) const;
  Alias copy(const Alias& alias);
  template <class V>
  std::vector<V> copy(const std::vector<V>& all) const;
  ShapeVarId copy(ShapeVarId v) const { return new_shapes_.at(v); }

  const Vars& from_;
  shape::Arena& arena_;
  Vars& to_;
  std::function<GlobalId(GlobalId)> declared_;
  std::set<shape::Var> dims_;
  std::set<ShapeVarId> shapes_;
  std::set<TypeVarId> types_;
  std::set<TypeId> seen_;
  std::map<shape::Var, shape::Var> new_dims_;
  std::map<ShapeVarId, ShapeVarId> new_shapes_;
  std::map<TypeVarId, TypeVarId> new_types_;
  std::map<TypeId, TypeId> new_;
};

}  // namespace axon::core
