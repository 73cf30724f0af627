// Types, schemes and programs as text in source syntax: `check --types`, `--emit=core`, and every message.
#pragma once
#include <map>
#include <set>
#include <string>

#include "core/core.h"

namespace axon::core {

/// Hands out names: each variable keeps the one it asks for when that is free, else the next letter that is.
/// Rigid names come first (keep()), so that what a user wrote is what is printed. No name stands for two
/// things among sizes, shapes and rests of records, but where a program was written so; `'t` is no `t`.
class Names {
 public:
  explicit Names(const TypeStore& types) : types_(types) {}
  const std::string& of(shape::Var v);
  const std::string& of(ShapeVarId v);
  const std::string& of(TypeVarId v);
  const std::string& rest(TypeVarId row);  ///< of a record that is open: `..r`
  void keep(shape::Var v, const std::string& name);
  void keep(ShapeVarId v, const std::string& name);
  void keep(TypeVarId v, const std::string& name);
  void prefer(ShapeVarId v, const std::string& name);  ///< takes it when it is free
  /// From now on these are `_` and `..`: any size, any axes. Those of the call before have names again.
  void hide(std::set<uint32_t> dims, std::set<uint32_t> shapes);

 private:
  std::string choose(const std::string& wanted, std::set<std::string>& used);
  const TypeStore& types_;
  std::map<uint32_t, std::string> dims_, shapes_, type_vars_;
  std::set<std::string> used_, used_types_;
  std::set<uint32_t> hidden_dims_, hidden_shapes_;
};

/// What a class of element types is called in a `where`; null for one that needs no saying.
const char* class_name(ElemClass cls);
std::string print(const TypeStore& types, TypeId t, Names& names);
std::string print(const Shape& s, Names& names);
std::string print(const shape::Dim& d, Names& names);
std::string print(const shape::Fact& f, Names& names);
/// `type   where ...`, as it can be written in a `val`; the constraints on a line of their own, indented,
/// where one line would be too long.
std::string print(const TypeStore& types, const Scheme& s, Names& names, size_t indent = 0);

/// Names for the variables of a declaration as the line of print_types() has them; to be called first.
void name_variables(const TypeStore& types, const Scheme& s, Names& names);
/// One `name : type where ...` per declaration of the file, names padded to one width.
std::string print_types(const Program& program);
/// The typed core of the file's own declarations.
std::string print_core(const Program& program);
/// That of one of them, which is no type.
std::string print_core(const Program& program, GlobalId declaration);
/// How an entry's sizes follow from its arguments, one line each.
std::string print_entry_sizes(const EntrySizes& sizes);

}  // namespace axon::core
