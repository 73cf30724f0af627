// Reads what the operations of a tile program are made of: names, tiles with labels, places in tensors,
// bounds.
//
// In: a text, whose tensors, tiles and layouts are known. Out: parts of operations; new labels stand in the
// program's table of symbols and in `labels_`. Invariant: what is read is well formed: ranks, extents of
// labels and types fit.
#pragma once
#include <map>
#include <string>

#include "shape/reader.h"
#include "tile/tile.h"

namespace axon::tile {

class PartsReader : protected shape::TextReader {
 protected:
  using TextReader::TextReader;

  Dim size();  ///< a dimension that is not too large
  std::vector<Fact> conditions();
  Box box(size_t rank);
  Elem elem();
  template <class Id>
  Id known(const std::map<std::string, Id>& names, const char* what) {
    const std::string word = name();
    const auto found = names.find(word);
    if (found == names.end()) return fail(std::string("no ") + what + " is called `" + word + "`"), Id{0};
    return found->second;
  }
  std::string fresh_name(const char* what);  ///< that nothing has yet

  Use use();           ///< new names become labels
  Use use_of_known();  ///< has no new labels
  Var label();
  Index index();
  Access access();
  Bounds bounds(Elem);
  Number literal_of(Elem);
  Pointwise monoid(Elem);

  const Tile& tile(const Use& use) const { return program_.tiles[use.tile]; }
  void require(bool holds, const char* message) {
    if (!holds) fail(message);
  }
  void define(const Use&);  ///< an operation may write the tile
  bool has(const Use&, Var) const;
  bool all_in(const Use& part, const Use& whole) const;

  Program program_;
  std::map<std::string, TensorId> tensors_;
  std::map<std::string, TileId> tiles_;
  std::map<std::string, LayoutId> layouts_;
  std::map<std::string, std::pair<Var, int64_t>> labels_;  ///< of the operation at hand, with extents
};

}  // namespace axon::tile
