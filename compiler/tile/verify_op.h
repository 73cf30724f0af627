// One operation in the flow of a role, and blocks of scratch in loops. Only the flow includes this.
//
// In: what is known before the operation, and where it stands. Out: what is known behind it, and obligations.
// Invariant: an element counts as defined only where the operation that wrote it makes it so for all sizes.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tile/verify.h"
#include "tile/verify_state.h"

namespace axon::tile {

inline constexpr Beyond undefined_beyond = {Beyond::Kind::undefined, {}};

/// What does not change while a role is gone through.
struct Setting {
  const Program& program;
  const AllPlaces& places;
  const Fillings& fillings;
  std::vector<std::vector<Var>> axes;  ///< of each tile: what claims are over
  std::map<TensorId, int> stores;      ///< operations that store to it, of all roles
  bool alone = true;                   ///< the role is the only one
  bool several = false;                ///< it has several threads
};

/// What an iteration of a loop reads of the one before.
struct Carried {
  std::set<TileId> in_body;  ///< the body writes them
  std::set<TileId> written, needed;
};

class OpChecks {
 public:
  /// Without a report, obligations are dropped.
  OpChecks(const Setting& setting, OpId op, State& state, const Scope& scope,
           const std::vector<Around>& around, std::vector<Carried>& carried, Report* report);
  void run();
  void check_counts(const Loop&);  ///< before the first iteration
  void check_keys(const Loop&);    ///< at the end of an iteration of a loop that orders

 private:
  void check(const Copy&);
  void check(const Store&);
  void check_block(const Store&);
  void check(const View&);
  void check(const Prefetch&) {}  ///< it has no effect
  void check(const Map&);
  void check(const Gemm&);
  void check(const Reduce&);
  void check(const Scan&);
  void check(const Scatter&);
  void check(const Check&);
  void check(const Wait&);
  void check(const Notify&);
  void check(const Barrier&);
  void check(const Fence&);
  void check(const Acquire&);
  void check(const Release&);
  void check(const Settle&);
  void check(const Loop&);  ///< what it stores behind its iterations
  void check(const Role&) {}

  void add(const std::string& what, bool proved, const char* by = "flow");

  // ---- tiles ----
  Claims read(const Use&);  ///< claims over the labels; what it needs of the tile is an obligation
  Claims read(TileId);      ///< claims over the tile's axes
  void write(const Use&, const Claims& over_labels);
  void note_read(TileId);
  void note_write(TileId);
  Scope with(const std::vector<Fact>& bounds) const;  ///< and the ranges of labels
  Scope with_labels() const { return with({}); }

  // ---- accesses ----
  Claims claims_of(const Use& to, const Access&, const Bounds&, bool checked = false);
  void inside(const Access&, const Scope&, const std::optional<Box>& box);
  bool in_box(const std::vector<Dim>& index, const Scope&, const Box&) const;
  std::vector<Dim> index_of(const Access&, Scope&);  ///< a table's is any number inside of its axis
  void defined(const Use&, const Scope&, const char* what = "its index tile is defined");
  void waited_for(TensorId, const std::vector<Dim>& index, const Scope&);
  /// The elements of a tensor that the scope speaks of are stored in these loops.
  void stores(const Store&, const std::vector<Dim>& index, const Scope&, const std::vector<Around>&);

  // ---- sums ----
  /// Claims over labels that remain. Those that mention a summed label break no element: what lies beyond is
  /// neutral.
  Claims summed(const Claims&, const std::vector<Var>& over, const Number& neutral);
  bool mentions(const Fact&, const std::vector<Var>&) const;
  bool is_prefix(const Fact&, Var along) const;

  const Setting& setting_;
  const Program& p_;
  const OpId op_;
  State& state_;
  const Scope& scope_;
  const std::vector<Around>& around_;
  std::vector<Carried>& carried_;
  Report* report_;
};

/// Of the tiles that each iteration of a loop stores a block of: what is known where an iteration begins,
/// from what is known before the loop.
std::map<TileId, Claims> blocks_ahead(const Setting&, const Loop&, const State& before);
/// What is known of them behind the loop, from what is known where an iteration ends.
std::map<TileId, Claims> blocks_behind(const Setting&, const Loop&, const State& at_end);

/// What a fill leaves in its slot, over the axes of the ring.
Claims claims_of_fill(const Setting&, const Copy&, const shape::Substitution& loops);

}  // namespace axon::tile
