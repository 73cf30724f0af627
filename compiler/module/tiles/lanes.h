// One vector of an operation: what its labels are in each lane, and which of the lanes a mask leaves.
//
// In: facts over labels. Out: masks, which are nothing where the facts are known to hold. Invariant: lanes
// whose register holds no element are left out: a vector of lanes may be shorter than the register.
#pragma once
#include "module/tiles/context.h"

namespace axon::module::tiles {

struct Lanes {
  std::vector<Substitution> labels;  ///< of each lane
  std::vector<unsigned> own;         ///< the lane of the register that it is
  unsigned width = 1;                ///< of the register
  unsigned size() const { return static_cast<unsigned>(labels.size()); }
};

/// Which lanes are inside: all where both are null.
struct Mask {
  Value* whole = nullptr;  ///< i1, of all lanes
  Value* each = nullptr;   ///< a vector of i1; of one lane null
  /// An i32, where `each` says: lanes before this number, none where it is negative. Of one thread alone.
  Value* end = nullptr;
  bool all() const { return !whole && !each; }
};

Mask mask_of(Context&, const std::vector<Fact>&, const Lanes&);
/// Is it known that none of the lanes is inside? Asked where a product has fewer rows than its registers.
bool are_outside(Context&, const std::vector<Fact>&, const Lanes&);
/// `values` of lane numbers: value(label) - value of lane 0, where these are numbers.
std::optional<std::vector<int64_t>> steps(const std::vector<Dim>& values);
Mask both(Context&, const Mask&, const Mask&);
/// As a condition for select: a vector, or an i1 of one lane.
Value* as_vector(Context&, const Mask&, unsigned lanes);
Value* in_lane(Context&, const Mask&, unsigned lane);
/// A number for each lane: an expression of labels.
Value* numbers(Context&, const std::vector<Dim>& values, llvm::Type* integer);
/// In the lanes of a register of that width; the other lanes are undefined.
Value* widened(Context&, Value*, const std::vector<unsigned>& lanes, unsigned width);

}  // namespace axon::module::tiles
