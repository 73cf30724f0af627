// The variables of inference that stand for sizes: kinds, origins and solutions. See vars.h.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>

#include "shape/dim.h"
#include "source/span.h"

namespace axon::core {

enum class VarKind : uint8_t {
  meta,
  rigid,
  index,
  opened,
  bound,  ///< an integer of an argument of a function that is a value: Type::bound
  failed  ///< stands for what an error has left open: nothing is said about it
};

class SizeVars {
 public:
  /// `size` variables are >= 0; others (the value of an i64 parameter) may be negative.
  shape::Var dim(const std::string& hint, VarKind kind = VarKind::meta, bool size = true,
                 source::Span origin = {});
  bool is_meta(shape::Var v) const;
  VarKind kind(shape::Var v) const;
  bool mentions_index(const shape::Dim& d) const;  ///< a variable of a `for`
  bool mentions_failed(const shape::Dim& d) const;
  bool is_size(shape::Var v) const;
  void make_size(shape::Var v);
  void make_rigid(shape::Var v);
  source::Span origin(shape::Var v) const;
  void solve(shape::Var v, shape::Dim d);
  shape::Dim zonk(const shape::Dim& d) const;
  bool has_meta(const shape::Dim& zonked) const;
  /// Never negative, seen from its form alone: coefficients and atoms are.
  bool plainly_nonnegative(const shape::Dim& zonked) const;
  /// The same where every variable is taken for a size: nothing is subtracted.
  bool subtracts_nothing(const shape::Dim& zonked) const { return nonnegative(zonked, true); }

  /// What 64 bits do not hold of an expression like this wraps when it runs: nothing in it is a size, of
  /// which that would be an error.
  bool may_wrap(const shape::Dim& d) const;

  bool changed = false;  ///< set by every solve(); whoever waits for solutions clears it

 protected:
  void note_solution() {
    ++solved_;
    changed = true;
  }
  uint64_t solved_ = 1;  ///< counts solutions

 private:
  bool nonnegative(const shape::Dim& zonked, bool all_are_sizes) const;
  struct DimInfo {
    VarKind kind = VarKind::rigid;
    bool size = true;
    std::optional<shape::Dim> solution;
    source::Span origin;
  };
  std::unordered_map<uint32_t, DimInfo> dims_;
};

}  // namespace axon::core
