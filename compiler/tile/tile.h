// Tile programs: what one task of a type does on one machine.
//
// In: a text (parse.cpp), or what the passes of a machine make. Out: tiles and the operations on them, from
// which code is generated. Invariant: verify() proves for all sizes that satisfy facts and guard what
// interpret() checks for the sizes of a run. The text stands alone: it names no graph and no task type.
//
// Tensors are in global memory; their sizes are open. A tensor's place is a layout over its shape, rounded up
// per axis. The boxes `reads` and `writes` are all that one task touches, over its coordinates.
//
// Tiles have constant extents and one element type. A tile is in registers or in scratch memory, placed by a
// layout that never changes; or it is a ring, `depth` slots of scratch that are filled and drained in turn;
// or a view, which has no storage: its elements are read where they lie. An operation writes all elements of
// the tile that it defines; a scatter and a store of a block leave the others alone. Each task begins with
// undefined tiles.
//
// Labels name the axes of tiles in an operation, as index variables do in the language: `s[i, j]`. Two uses
// with one label have equal indices there. A label that only operands have is summed over. So a permutation
// of axes is an order of labels.
//
// Bounds say which elements an operation is about, facts over labels, coordinates, loops and sizes; all
// others get the fill or, without one, are undefined. What is undefined may be computed with: its results are
// undefined, and storing them is an error. An element whose bounds hold lies inside of its tensor.
//
// Only a copy changes a layout or narrows a type. In the other operations each thread and each lane of a
// vector (`v`) finds the elements of all operands in registers of its own. A reduction may cross lanes of a
// warp and of a vector; a gemm by an instruction takes the operands that are tilings of its atoms.
//
// The order of sums is that of the program. A gemm goes through the summed labels in ascending order, the
// last fastest, and each step is one fused multiply-add; steps of which a view fills an operand are left out.
// A reduction sums, in each thread and lane of a vector, its elements in ascending order; then it adds the
// upper half of the partial sums to the lower half until one is left (of an odd number, the last one first to
// the one before it). A scan is ascending; a scatter goes through its source in row-major order.
//
// A row of any length is ordered by a loop that says what its keys are: iterations run where keys are asked
// for, so that nothing but the row itself takes memory.
//
// A check is numbered by the program's list, and says of elements inside of bounds what has to be true of
// data. Where it is not, the first of these elements in row-major order is noted with two numbers that
// explain it, unless another check has failed before; the launch then fails when all has run. So code behind
// a check may not rely on it: an access by an index that was checked is somewhere inside of the axis, or
// nowhere. The interpreter ends with an error where a check fails.
//
// Waits and notifications are numbered by the program's lists: one for each tensor that is read, and one for
// each that is written. A wait returns when what it guards is written; a notification says what has been.
//
// Rings belong to the worker: fills of its next task may run while this one drains. A fill takes the next
// free slot and copies asynchronously; an acquire waits until the next slot has arrived, which from then on
// is what the ring's name reads; a release gives back the slot that was acquired first. A role is a range of
// warps with operations of its own; rings alone tie roles together. An asynchronous gemm has read its
// operands, and its accumulators can be read, once a `settle` leaves fewer gemms behind it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/elem.h"
#include "base/ids.h"
#include "base/pointwise.h"
#include "layout/swizzle.h"
#include "shape/prover.h"
#include "tile/machine.h"

namespace axon::tile {

using base::Elem;
using base::Pointwise;
using shape::Dim;
using shape::Fact;
using shape::Var;

struct LayoutTag;
struct TensorTag;
struct TileTag;
struct OpTag;
using LayoutId = base::Id<LayoutTag>;
using TensorId = base::Id<TensorTag>;
using TileId = base::Id<TileTag>;
using OpId = base::Id<OpTag>;

/// A value of an element type: floats in `real`, integers and truth values in `integer`.
struct Number {
  double real = 0;
  int64_t integer = 0;
  friend bool operator==(const Number&, const Number&) = default;
};

struct Interval {
  Dim low, high;  ///< [low, high)
};
using Box = std::vector<Interval>;

struct NamedLayout {
  std::string name;
  layout::Swizzled layout;
  std::string atom;  ///< `mma.m16n8k16.acc`: the operand of an instruction that it is; empty: of none
};

struct Tensor {
  std::string name;
  Elem elem = Elem::f32;
  std::vector<Dim> shape;
  std::vector<int64_t> multiples;  ///< the place is over the shape rounded up to these
  int64_t align = 1;               ///< bytes that divide the base and the stride of each row
  std::optional<Box> reads, writes;
  /// The caller says where it lies, and the host has checked that the elements are in the caller's memory
  /// and, where the tensor is written, that each has a place of its own.
  bool stated = false;
  layout::Layout place;
};

/// A task is named by its coordinates, 0 .. extent - 1, in row-major order.
struct Coordinate {
  Var var;
  Dim extent;  ///< >= 1
};

/// What a wait guards, or a notification announces.
struct Announcement {
  TensorId tensor;
  Box box;
};

enum class Space : uint8_t { registers, scratch, ring, view };

struct Tile {
  std::string name;
  Space space = Space::registers;
  Elem elem = Elem::f32;
  std::vector<int64_t> shape;
  LayoutId layout;     ///< none of a view
  int64_t offset = 0;  ///< scratch and rings: bytes
  int64_t depth = 1;   ///< slots of a ring
};

// ---- Operations ----

/// A tile with a label for each axis.
struct Use {
  TileId tile;
  std::vector<Var> labels;
};

struct Bounds {
  std::vector<Fact> facts;
  std::optional<Number> fill;
};

/// An index: an expression of labels, coordinates, loops and sizes, plus an element of an index tile. Where
/// the sum with that lies outside of the axis, the bounds count as not satisfied.
struct Index {
  std::optional<Use> table;
  Dim dim;
};

/// Elements of a tensor or of a tile, one for each value of the labels.
struct Access {
  TensorId tensor;
  TileId tile;  ///< where there is no tensor
  std::vector<Index> at;
  /// Elements that index tiles choose mostly lie next to each other, in order, as those of a slice do: a
  /// hint.
  bool in_runs = false;
};

/// tile[labels] = from. Into a ring: a fill.
struct Copy {
  Use to;
  Access from;
  Bounds bounds;
  /// Index tiles have indices of the axes, as checks before it say: where one has not, the element is any.
  bool checked = false;
};
/// to = tile[labels]. Into a tensor: only where the bounds hold. Into a tile in scratch: a block of it, whose
/// first axes are indexed by expressions without labels and whose others are all labels in their order; what
/// is undefined may be kept there, and other blocks are left alone.
struct Store {
  Use from;
  Access to;
  std::vector<Fact> bounds;  ///< none of a block
  bool streaming = false;    ///< past the caches
};
/// A name for elements that lie elsewhere.
struct View {
  Use to;
  Access from;
  Bounds bounds;
  bool checked = false;  ///< as of a copy
};

/// Asks for the elements of a tensor that some labels name, all that are below their extents: they are read
/// soon. A hint, which waits for nothing; indices may leave the tensor, and then nothing is asked for, or
/// what lies there. Where the facts do not hold, which no label decides, it asks for nothing.
///
/// With `along`, the first label goes along the depth of the gemm that follows, which asks step by step.
struct Prefetch {
  struct Label {
    Var var;
    int64_t extent;
  };
  std::vector<Label> labels;
  TensorId tensor;
  std::vector<Dim> at;
  std::vector<Fact> facts;  ///< none of what goes along
  bool along = false;
};

struct Expr {
  enum class Kind : uint8_t { tile, constant, index, cast, apply } kind = Kind::constant;
  Elem elem = Elem::f32;
  Use use;                     ///< tile
  Number number;               ///< constant
  Dim index;                   ///< as an integer of type `elem`
  Pointwise op{};              ///< apply
  std::vector<uint32_t> args;  ///< earlier ones
};
struct Map {
  Use to;
  std::vector<Expr> exprs;  ///< the last one is the value
  Bounds bounds;
};

/// acc += a * b, summed over the labels that acc lacks.
struct Gemm {
  Use acc, a, b;
  Elem in = Elem::f32;  ///< the type of the sums
  std::string by;       ///< the instruction; empty: multiply-adds of vectors
  bool async = false;
};
struct Reduce {
  Pointwise monoid{};
  Use to, from;
  Elem in = Elem::f32;
};
/// Along the axis `along` of `from`, each element included; `start` comes before the first. Elements are
/// folded one after another, but those of a vector (lanes_of_scan() in names.h) in steps of 1, 2, 4, ..
/// lanes: each step folds a lane with the one so many before it. Then what comes before the vector is folded
/// with each.
struct Scan {
  Pointwise monoid{};
  Use to, from;
  Var along;
  std::optional<Use> start;
  Elem in = Elem::f32;
};
/// to = to `monoid` from, at elements of a tile in scratch; others are left alone.
struct Scatter {
  Pointwise monoid{};
  Use from;
  Access to;
  std::vector<Fact> bounds;
};

/// Where the bounds hold, `of` has indices of an axis of this extent. Or `of` is true there, and `found` and
/// `wanted` say why it is not; of an index they are that and the greatest one.
struct Check {
  uint32_t number = 0;
  Use of;
  std::optional<Dim> extent;
  Index found, wanted;  ///< of truth values
  std::vector<Fact> bounds;
};

/// What a loop orders: iteration b leaves in a tile of B elements the keys of elements b * B, b * B + 1, ...,
/// of which those below `count` are meant. Behind the loop, element i of a row of i64 is the position of the
/// key of number i in ascending order, with NaNs last, or `descending` with NaNs first, -0 equal to +0 and
/// equal ones in the order of their positions; 0 where there are not so many.
struct Order {
  TileId keys;  ///< of one axis, or a number
  Dim count;
  TensorId to;
  std::vector<Dim> row;  ///< indices on all axes of the tensor but the last, of which `kept` are stored
  Dim kept;
  bool descending = false;
};
/// `carries`: the tiles that an iteration reads as the one before it left them. Iterations of a loop that
/// orders know nothing of each other; they may run in any order and any number of times, and behind the loop
/// none of their tiles is defined. `first` and `count`, of a loop that does not order: integers of the data,
/// as they are where the loop begins. Iterations before `first`, and those at or past `count`, are left out;
/// to the proofs any of them may be.
struct Loop {
  Var index;
  Dim extent;
  std::vector<TileId> carries;
  std::vector<OpId> body;
  std::optional<Order> order = std::nullopt;
  std::optional<Use> first = std::nullopt, count = std::nullopt;  ///< numbers in registers, i32 or i64
};
struct Role {
  std::string name;
  int64_t first_warp = 0, end_warp = 1, registers = 0;
  std::vector<OpId> body;
};

struct Wait {
  uint32_t number = 0;
};
struct Notify {
  uint32_t number = 0;
};
/// Accesses to scratch, and stores, of all threads of the role before it come before all behind it.
struct Barrier {};
/// Orders streaming stores before what follows.
struct Fence {};
struct Acquire {
  TileId ring;
};
struct Release {
  TileId ring;
};
/// All asynchronous gemms but the last `left` are done.
struct Settle {
  uint32_t left = 0;
};

using Op = std::variant<Copy, Store, View, Prefetch, Map, Gemm, Reduce, Scan, Scatter, Check, Loop, Role,
                        Wait, Notify, Barrier, Fence, Acquire, Release, Settle>;

struct Program {
  std::string name;
  Machine machine;
  std::vector<Var> sizes;
  std::vector<Fact> facts, guard;
  base::Store<LayoutTag, NamedLayout> layouts;
  std::vector<Coordinate> grid;
  base::Store<TensorTag, Tensor> tensors;
  std::vector<Announcement> waits, notifications;
  base::Store<TileTag, Tile> tiles;
  base::Store<OpTag, Op> ops;
  std::vector<OpId> body;  ///< roles alone, or no role
};

std::string print(const Program&);
/// The first line of one operation, as print() writes it.
std::string print(const Program&, OpId);
/// Reads print()'s text. What it gives is well formed: names, ranks, extents of labels, types and nesting
/// fit. Whether it is right is for verify() to say.
std::optional<Program> parse(const std::string& text, std::string& error);

/// One proof obligation and its fate.
struct Obligation {
  std::string what;
  bool proved = false;
  std::string by;  ///< how, or why not
};
/// All obligations, for all sizes that satisfy facts and guard.
std::vector<Obligation> verify(const Program&);

}  // namespace axon::tile
