// Addresses of temporaries at typical sizes, chosen for little memory and for few waits.
//
// Temporaries whose lifetimes overlap, or that are accessed by segments that may run side by side, get
// disjoint addresses. Any other two may overlap in memory, but if the waits of the program do not order their
// accesses, a wait for whole grids has to be added. Such a wait is likely to stall workers if few tasks run
// between the two. So addresses are chosen that need few such waits, and only for tasks that ran long before,
// as long as the arena stays small.
#pragma once
#include "plan/pack.h"
#include "plan/reuse.h"

namespace axon::plan {

class Addresses {
 public:
  Addresses(const task::Program&, const std::vector<Life>&, Reuse&);
  /// Where a life begins in the arena, in bytes, at the first of the typical sizes.
  int64_t offset(uint32_t life) const { return packing_.offset[life]; }
  /// Do two temporaries overlap in memory, at some of the typical sizes?
  bool overlap(uint32_t a, uint32_t b) const { return overlap(packing_, a, b); }

 private:
  /// The end of one life and the beginning of the other, by positions of task types, where a wait has to be
  /// added if the two share memory. Around the back edge of a loop, `to` counts on from the loop's last type.
  struct Handover {
    uint32_t from, to;
    std::optional<task::LoopId> around;
    uint32_t gap() const { return to - from - 1; }  ///< how many task types stand between
    bool operator==(const Handover&) const = default;
  };
  /// Two lives that are live together, or that take waits to share memory.
  struct Near {
    uint32_t a, b;
    bool is_together = false;
    std::vector<Handover> handovers;  ///< without those that are as far apart as anything is asked to be
  };
  std::vector<Near> neighbours(Reuse&) const;
  std::set<std::pair<uint32_t, uint32_t>> close_pairs() const;
  bool are_in_one_line(uint32_t a, uint32_t b) const;
  std::vector<Handover> handovers(uint32_t a, uint32_t b, Reuse&) const;

  Conflicts conflicts(uint32_t gap) const;
  std::vector<Handover> needed(const Packing&) const;
  std::vector<Handover> without_implied(std::vector<Handover>) const;
  double delay(const Packing&) const;
  bool is_small(const Packing&) const;
  void avoid_waits(Conflicts);
  bool overlap(const Packing&, uint32_t a, uint32_t b) const;

  const std::vector<Life>& lives_;
  const std::map<task::LoopId, Span> spans_;
  const std::map<task::TaskTypeId, uint32_t> lines_;
  const std::vector<Bytes> bytes_;
  const std::vector<Near> near_;
  std::vector<double> least_;  ///< the least Packing::cost that was found, at each choice of sizes
  Packing packing_;
};

}  // namespace axon::plan
