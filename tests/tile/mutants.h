// Tile programs that are wrong in one place.
#pragma once
#include <string>
#include <vector>

namespace axon::tile {

enum class MutantKind { layout, order, bounds };

struct Mutant {
  MutantKind kind;
  std::string what;  ///< the line, before and after
  std::string text;
};
/// Those of one text: each row of a table of changes, at each place where it applies.
std::vector<Mutant> mutants_of(const std::string& text);

}  // namespace axon::tile
