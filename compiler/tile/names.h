// Names of the variables of a tile program, and of its operations and tiles in words.
//
// In: a program. Out: the text of dims, facts, boxes and uses. Invariant: sizes, coordinates and loops have
// different names, and so have the labels of one operation.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>

#include "tile/tile.h"

namespace axon::tile {

class Names {
 public:
  explicit Names(const Program&);
  /// Names for labels, which hold until the next call.
  void begin_labels(const Op&);

  std::string operator()(Var) const;
  std::string operator()(const Dim&) const;
  std::string operator()(const std::vector<Dim>&) const;
  std::string operator()(const Box&) const;
  std::string operator()(const Use&) const;
  /// " if m <= 1 and 1 <= n"; "" without facts.
  std::string operator()(const char* word, const std::vector<Fact>&) const;

 private:
  static void give(Var, std::map<Var, std::string>&, std::set<std::string>& used);

  const Program& p_;
  std::map<Var, std::string> names_, labels_;
  std::set<std::string> used_;
};

/// A number as literals are written: the shortest that is read back as the same number.
std::string literal(const Number&, Elem);

/// The uses of tiles that an operation names, those that it defines first; ops in a body are not looked at.
std::vector<const Use*> uses(const Op&);
/// The access that an operation goes through; null where it has none.
const Access* access_of(const Op&);
/// All tiles that it names, those that it reads or adds to by an access included.
std::vector<TileId> tiles(const Op&);
/// Gives every tile that it names, those that a loop carries and rings included, another id.
void rename_tiles(Op&, const std::function<TileId(TileId)>& renamed);
/// Those that it writes.
std::vector<TileId> defined_tiles(const Op&);
/// Does the data say which iterations it has?
inline bool is_counted(const Loop& loop) { return loop.first || loop.count; }
const std::vector<OpId>* body(const Op&);  ///< of a loop or a role
/// How many lanes the vectors have that a scan folds in steps: those of one thread's registers that have the
/// elements of a tile of one axis in their order. 1 of all other tiles, whose elements are folded one by one.
int64_t lanes_of_scan(const Program&, const Scan&);

}  // namespace axon::tile
