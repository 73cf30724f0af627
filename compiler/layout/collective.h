// The collectives that bring a tensor from its places on a mesh to others.
//
// In: two layouts of numbers over the axes of a mesh and memory, and the axes on which the copies of the
// first are partial sums. Out: steps, each one collective over a digit of one axis, that lead from the first
// to the second (shards.h runs them).
//
// Both layouts are cut into the digits of one refinement: a digit of the tensor is, in each, in memory or is
// one digit of a mesh axis; a digit of a mesh axis has, in each, a digit of the tensor, copies, partial sums,
// or one coordinate only. A step changes what one digit of the mesh has. Which steps there are follows from
// what it has and what it is to have; the first that applies is taken, those that move less come first.
// Invariant: the steps end where the second layout begins.
//
// Where there is no such refinement, of coordinates that do not count all of an axis in digits, elements are
// sent one by one: a single step, `send`.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "layout/layout.h"
#include "layout/outcome.h"

namespace axon::layout {

/// Digits of a mesh axis: `extent` coordinates that lie `weight` apart.
struct MeshDigit {
  Axis axis;
  int64_t weight = 1, extent = 1;
};
/// Digits of the tensor, row-major. Its steps in the memory that it comes from, and goes to.
struct TensorDigit {
  int64_t extent = 1, from = 0, to = 0;
};

/// What a digit of the mesh tells apart.
struct Content {
  enum class Kind : uint8_t { tensor, copies, partial, only } kind = Kind::copies;
  size_t digit = 0;        ///< tensor: which
  int64_t coordinate = 0;  ///< only: nobody else has anything
  friend bool operator==(const Content&, const Content&) = default;
};

struct CollectiveStep {
  enum class Kind : uint8_t {
    keep,            ///< of copies one is kept: nothing moves
    slice,           ///< of copies each keeps a part: nothing moves
    reduce_scatter,  ///< of the sum each has a part
    reduce,          ///< one has the sum
    all_reduce,      ///< all have it
    scatter,         ///< what one has is parted
    all_to_all,      ///< a part of the tensor is given for another
    relocate,        ///< what one has, another has
    move,            ///< what one digit of the mesh told apart, another does
    permute,         ///< the same of several that change places
    gather,          ///< parts are put together, at one
    all_gather,      ///< at all
    broadcast,       ///< what one has, all have
    send             ///< elements one by one
  } kind = Kind::send;
  size_t mesh = 0;                ///< the digit
  size_t in = 0, out = 0;         ///< digits of the tensor that leave memory for the mesh, and the reverse
  int64_t before = 0, after = 0;  ///< coordinates of who has it, where only one does
  size_t from_mesh = 0;           ///< move: the digit that has had it
  bool from_copies = false;       ///< move: each coordinate of `mesh` has had it, not `before` only
  bool at_one = false;            ///< move: of `from_mesh` only the coordinate `after` has it
  std::vector<size_t> digits;     ///< permute: digit i gets what digits[i] had
};
std::string name(CollectiveStep::Kind);

struct Collective {
  Layout from, to;
  std::vector<TensorDigit> tensor;
  std::vector<MeshDigit> mesh;
  std::vector<Content> before, after;  ///< of each digit of the mesh
  std::vector<CollectiveStep> steps;
  std::map<Axis, int64_t> counts;  ///< devices on each axis
  std::string by_elements;         ///< why elements are sent one by one; empty where they are not
};

/// `counts`: of every device axis of the mesh. Refused where the sizes differ, a layout is no layout of
/// numbers over those axes and `m`, two elements share a place after, or partial sums lie irregularly.
Outcome<Collective> collective(const Layout& from, const Layout& to, const std::map<Axis, int64_t>& counts,
                               const std::set<Axis>& partial_sums = {});

/// `all-gather on `x``; with the digit where it is not all of the axis.
std::string print(const Collective&, const CollectiveStep&);

}  // namespace axon::layout
