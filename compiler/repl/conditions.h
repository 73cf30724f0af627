// Conditions about sizes as they are typed: those of a `where`, outside of a program.
//
// In: texts such as `n % 8 == 0, n < m`. Out: facts over variables, one for each name, in the order in which
// names are first mentioned. They belong to the arena that is current. Invariant: what is no condition is
// reported and changes nothing.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/written_sizes.h"
#include "shape/prover.h"
#include "source/render.h"

namespace axon::repl {

/// More than these are refused: what searches through values looks at each of them in turn.
constexpr size_t most_conditions = 64, most_sizes = 32;

class Conditions {
 public:
  explicit Conditions(source::RenderOptions render) : render_(render) {}

  /// Adds the conditions of a text. What is wrong with it, rendered; empty when it was read.
  std::string read(const std::string& text);

  const std::vector<shape::Fact>& facts() const { return facts_; }
  const std::vector<std::string>& texts() const { return texts_; }  ///< of each, as it was typed
  const std::vector<shape::Var>& sizes() const { return sizes_; }
  /// That a name stands for this size from now on.
  void name(const std::string& name, shape::Var size) { names_.emplace(name, size); }
  /// The facts, and that no size is negative.
  std::vector<shape::Fact> known() const;

 private:
  shape::Dim size_named(const std::string& name);

  source::RenderOptions render_;
  std::vector<shape::Fact> facts_;
  std::vector<std::string> texts_;
  std::vector<shape::Var> sizes_;
  std::map<std::string, shape::Var> names_;
};

/// A natural number for each of them.
std::vector<shape::Fact> not_negative(const std::vector<shape::Var>& sizes);
/// `a = 1, b = 2`, in the order of the sizes; those without a value are left out.
std::string values_text(const std::vector<shape::Var>& sizes, const shape::Assignment& values);

}  // namespace axon::repl
