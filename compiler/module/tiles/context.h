// What the emission of a tile program shares: the frame, the program's memory, and what is known.
//
// In: a program. Out: dims as values, each emitted once in its scope; facts that hold where code is emitted.
// Invariant: a value is looked up only where the block that made it dominates.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "module/arithmetic.h"
#include "module/tiles/emit_program.h"
#include "module/tiles/threads.h"
#include "tile/places.h"

namespace axon::module::tiles {

using llvm::Value;
using shape::Substitution;
using tile::TileId;

/// What must not be negative for the fact to hold; nullopt of an inequality.
std::optional<std::vector<Dim>> nonnegatives(const Fact&);
/// The same for the fact to hold for all values of the labels below their extents; nullopt where the fact is
/// not affine in one.
std::optional<std::vector<Dim>> nonnegatives_everywhere(const Fact&, const std::map<Var, int64_t>& extents);
Fact substituted(const Fact&, const Substitution&);

/// What holds where code is emitted now.
class Known {
 public:
  explicit Known(const tile::Program&);
  bool nonnegative(const Dim&);
  /// All of these hold from now on: a variable runs below a number.
  void bound(const std::map<Var, int64_t>& ranges);
  void supposing(const std::vector<Dim>& nonnegative, const std::function<void()>& body);
  /// The variable runs below the extent.
  void ranging(Var, const Dim& extent, const std::function<void()>& body);

 private:
  bool follows(const Dim&) const;
  std::vector<Fact> facts_;  ///< of sizes, coordinates and loops
  std::vector<Dim> supposed_;
  std::map<Var, int64_t> ranges_;  ///< of loops with constant extents
  std::map<const void*, bool> proved_;
  std::vector<const void*> proofs_;  ///< those that are true, in the order in which they were found
};

/// From the first one on, before the end; null: all.
struct Iterations {
  Value *first = nullptr, *end = nullptr;
};

struct Context {
  Context(Frame& frame, const tile::Program& program, const ProgramMemory& memory);

  Frame& f;
  Arithmetic a;
  const tile::Program& p;
  const ProgramMemory& memory;
  Threads threads;
  Known known;
  /// Of several threads: do all tensors begin at a whole vector, and which sizes are multiples of the
  /// elements in one? Set where code for that case is emitted.
  bool is_aligned = false;
  std::set<Var> multiples;
  std::map<TileId, const tile::View*> views;  ///< as they were made last
  bool may_split = true;                      ///< not inside of an edge
  std::optional<int64_t> rows;                ///< that a product has, where that are not all
  std::optional<int64_t> vectors;             ///< of columns that it has, where that are not all
  std::optional<int64_t> one_register;        ///< operations on blocks are emitted for this one alone
  std::vector<const tile::Prefetch*> ahead;   ///< what the next product asks for
  std::optional<Dim> back;                    ///< by how much the elements of a block come before its own

  const tile::Places& places(TileId);
  /// An index of an element as it is in registers: of the first thread, of its own elements.
  Dim in_registers(const Dim&) const;
  Value* value(const Dim&);
  Value* all_nonnegative(const std::vector<Dim>&);  ///< whether all of them are
  /// Is it known to be a multiple, of at most `elements_at_once`?
  bool is_multiple(const Dim&, int64_t of) const;
  /// Is it made of few coordinates of tasks, so that it is far from the ends of 64 bits?
  bool is_small(const Dim&) const;
  int64_t elements_at_once() const;  ///< the most that a thread loads with one instruction
  /// body() in a scope of its own: what it emits may not dominate what comes after.
  void scoped(const std::function<void()>& body);
  void choose(Value* condition, const std::function<void()>& yes, const std::function<void()>& no);
  /// body(n) where the count is n, of 1 to `most`; code for each.
  void each_count(Value* count, int64_t most, const std::function<void(int64_t)>& body);
  /// Runs the loop in up to three runs, of which one has all conditions (values that must not be negative)
  /// supposed. `kind` is of that one. Only these iterations are run.
  void loop(const Axis&, const std::vector<Dim>& conditions, const std::function<void()>& body,
            LoopKind kind = LoopKind::plain, const Iterations& = {});

 private:
  void run(const Axis&, Value* low, Value* end, const std::function<void()>& body, LoopKind);
  void one(const Axis&, const std::function<void()>& body);
  struct Interior {
    std::vector<Dim> conditions;
    std::vector<Dim> lows, ends;  ///< of the run where they hold
  };
  Interior interior(Var, const std::vector<Dim>& conditions);
  std::map<uint32_t, std::unique_ptr<tile::Places>> places_;  ///< by layout
  std::vector<std::map<const void*, Value*>> scopes_;
};

}  // namespace axon::module::tiles
