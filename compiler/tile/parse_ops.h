// Reads the operations of a tile program. Only parse.cpp includes this.
//
// In: lines behind the head of a text, whose names are known. Out: operations in the program's store.
// Invariant: what is read is well formed: ranks, extents of labels, types and spaces fit.
#pragma once
#include <string>

#include "tile/parse_parts.h"

namespace axon::tile {

class OpsReader : protected PartsReader {
 protected:
  using PartsReader::PartsReader;

  /// The operations that stand so deep, 2 spaces each.
  std::vector<OpId> body(size_t depth);
  std::vector<OpId> roles();

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

  uint32_t expr(Map&, size_t depth);
  uint32_t conversion(Map&, Elem to, size_t depth);
  uint32_t add(Map&, Expr);
};

}  // namespace axon::tile
