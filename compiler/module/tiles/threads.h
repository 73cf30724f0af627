// The threads that run a task together, as one of them sees them: which elements it has, and what it gets
// from others.
//
// In: layouts over the axes `lane` and `warp`. Out: indices as expressions of the thread's own numbers; code
// that exchanges registers within a warp. Invariant: all threads have their elements in the same registers,
// so that what holds of the first thread's registers holds of everyone's; why_not_in_threads() refuses the
// rest.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "module/frame.h"
#include "tile/tile.h"

namespace axon::module::tiles {

/// Why the code of one thread does not know its elements of such a tile; nullopt where it does.
std::optional<std::string> why_not_in_threads(const tile::Program&, const tile::Tile&);

class Threads {
 public:
  /// At the start of a program: the numbers of the thread get values here.
  Threads(Frame&, const tile::Program&);
  bool are_several() const { return p_.machine.threads() > 1; }

  /// By axis of the tile, what an index is more than that of the first thread's element in the same register.
  std::vector<Dim> offsets(tile::TileId) const;
  /// The same of the first thread of its warp.
  std::vector<Dim> offsets_of_warp(tile::TileId) const;
  /// A digit of the thread's number on an axis: (number / stride) % extent.
  Dim digit(const std::string& axis, int64_t stride, int64_t extent) const {
    return Dim(digits_.at({axis, stride, extent}));
  }
  /// Whether no thread before this one has its elements of the tile; null where none ever has.
  llvm::Value* is_first(tile::TileId);
  /// An index as it is in the first thread.
  Dim in_first(const Dim& d) const { return d.substitute(zeros_); }
  /// What the numbers of the thread run below.
  const std::map<Var, int64_t>& ranges() const { return ranges_; }

  /// The value that the thread has whose lane differs in these bits.
  llvm::Value* exchanged(llvm::Value*, unsigned bits);
  /// Behind it all threads see what others have done before it.
  void barrier();

 private:
  using Digit = std::tuple<std::string, int64_t, int64_t>;  ///< of the number on an axis: stride and extent
  void add_digits(const layout::Layout&);
  void add_digit(const Digit&);
  llvm::Value* word_of(llvm::Value*, unsigned bits);

  Frame& f_;
  const tile::Program& p_;
  std::map<std::string, llvm::Value*> numbers_;  ///< by axis
  std::map<Digit, Var> digits_;
  std::map<Var, int64_t> ranges_;
  shape::Substitution zeros_, lanes_;  ///< all digits, and those of lanes, as 0
};

}  // namespace axon::module::tiles
