// Reads the operations of a tile program. Only parse.cpp includes this.
//
// In: lines behind the head of a text, whose names are known. Out: operations in the program's store.
// Invariant: what is read is well formed: ranks, extents of labels, types and spaces fit.
#pragma once
#include <map>
#include <string>

#include "shape/reader.h"
#include "tile/tile.h"

namespace axon::tile {

class OpsReader : protected shape::TextReader {
 protected:
  using TextReader::TextReader;

  /// The operations that stand so deep, 2 spaces each.
  std::vector<OpId> body(size_t depth);
  std::vector<OpId> roles();

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

  Program program_;
  std::map<std::string, TensorId> tensors_;
  std::map<std::string, TileId> tiles_;
  std::map<std::string, LayoutId> layouts_;

 private:
  static constexpr size_t most_nested = 32;

  OpId line(size_t depth);
  Op op(const std::string& word, size_t depth);
  bool checked(const Access& from);
  Op copy();
  Op store(const Use& from);
  void require_kind(Elem from, Elem to);
  void require_block(const Store&);
  Op view();
  Op prefetch();
  Op map();
  Op gemm();
  Op reduce();
  Op scan();
  Op scatter();
  Op check();
  Op loop(size_t depth);
  Use count();
  Order order();
  Op role();
  uint32_t number_below(size_t count, const char* what);
  TileId ring();

  Use use();           ///< new names become labels
  Use use_of_known();  ///< has no new labels
  Var label();
  Access access();
  Index index();
  Bounds bounds(Elem);
  Number literal_of(Elem);
  Pointwise monoid(Elem);
  uint32_t expr(Map&, size_t depth);
  uint32_t conversion(Map&, Elem to, size_t depth);
  uint32_t add(Map&, Expr);

  const Tile& tile(const Use& use) const { return program_.tiles[use.tile]; }
  void require(bool holds, const char* message) {
    if (!holds) fail(message);
  }
  void define(const Use&);  ///< an operation may write the tile
  bool has(const Use&, Var) const;
  bool all_in(const Use& part, const Use& whole) const;

  std::map<std::string, std::pair<Var, int64_t>> labels_;  ///< of the operation at hand, with extents
};

}  // namespace axon::tile
