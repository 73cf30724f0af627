// Compares two types in source syntax for meaning: names may differ, sums may be in another order, and what
// the `where` says may be said in other words. The texts are those of `etcc check --types` and of the corpus.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "shape/prover.h"

namespace axon::corpus {

/// A type as a skeleton of words with the sizes taken out, the sizes in order, and all that is said of them.
struct TypeText {
  std::vector<std::string> skeleton;
  std::vector<shape::Dim> sizes;
  std::vector<shape::Fact> facts;
  std::map<std::string, shape::Var> names;
  std::string problem;  ///< why the text could not be read; empty when it could
};
TypeText read_type(const std::string& text);

/// `k <= n, n % 2 == 0` over the names of a type that was read.
std::vector<shape::Fact> read_facts(const std::string& text, TypeText& scope);

/// Does each list of facts follow from the other, for all sizes >= 0? Empty, or what does not follow.
std::string compare_facts(const std::vector<shape::Fact>& expected, const std::vector<shape::Fact>& found,
                          const std::map<std::string, shape::Var>& names);

/// Empty when the texts mean the same type; else the first difference.
std::string compare_types(const std::string& expected, const std::string& found);

}  // namespace axon::corpus
