// Which names stand for sizes, by how they are used: as the range of a binder, the end of a slice, an
// argument where the parameter's type names an integer, a name in a written type.
//
// In: a lowered declaration whose callees are checked. Out: the names, and fields of names, that are integers
// used as sizes somewhere in it. That is found before inference, so the order of uses makes no difference:
// what is computed of `k` before `k` is seen to be a size is a size, too. Sums, `let`, `if`, tuples, records,
// lists and functions that a `let` names are looked through.
#pragma once
#include <map>
#include <set>

#include "core/inference.h"

namespace axon::core {

/// The name of a value or of a field in one: `a`, `m.embed`; empty for what is computed. The same values have
/// the same path.
std::string path_of(const Program& p, ExprId id);

class SizeNames : InferencePart {
 public:
  explicit SizeNames(InferenceContext& c) : InferencePart(c) {}

  /// Called once, before inference.
  void find();
  /// Whether the expression is a name, or a field of one, that stands for a size.
  bool stands_for_size(ExprId id) const;
  /// What an element that is a size is read by, where that is simple: `k[0]`, `m.lengths[i + 1]`; else empty.
  /// Elements with the same key are the same number.
  std::string read_key(ExprId id) const;
  /// How many expressions read the element of this key as a size.
  size_t reads(const std::string& key) const;

 private:
  /// Fields and positions, outermost first.
  using Steps = std::vector<std::string>;
  /// A part of the value of an expression.
  struct Part {
    ExprId expr;
    Steps steps;
  };
  void add_lets(const Pattern& pattern, ExprId value, const Steps& steps);
  void look_at(ExprId id);
  void look_at_arguments(const Expr& application);
  void named_integers(TypeId parameter, const Part& argument);
  void sizes_of_pattern(const Pattern& pattern, const Part& argument);
  void add(Part part);
  void take(const Part& part);
  void take_whole(ExprId id);
  void take_step(const Part& part);
  void add_name(LocalId name, const Steps& steps);
  std::string read_key(ExprId id, int depth) const;
  std::string integer_key(ExprId id, int depth) const;
  ExprId let_value(ExprId id) const;
  ExprId operand_of_cast(ExprId id) const;
  std::vector<ExprId> operands(ExprId id) const;

  std::map<LocalId, Part> lets_;                   ///< what `let` binds a name to
  std::set<std::string> paths_;                    ///< of names that stand for sizes
  std::map<std::string, std::set<ExprId>> reads_;  ///< by key
  std::vector<Part> todo_;
};

}  // namespace axon::core
