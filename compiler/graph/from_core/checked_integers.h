// Integers made indices or sizes: proved to be in range, clamped under a guard, or checked at run time.
//
// In: integer scalars, with the extent that they must be less than, or the bound of a size. Out: scalars that
// are in range wherever they are evaluated, and sizes; an integer that cannot be checked is an error. Bodies:
// bounds.cpp (indices), data_size.cpp (sizes), exact_sizes.cpp (the operations that make sizes).
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "graph/from_core/graph_builder.h"
#include "graph/from_core/projection.h"
#include "graph/from_core/runtime_checks.h"

namespace axon::graph {

class CheckedIntegers : Part {
 public:
  CheckedIntegers(Context& context, SizeEnvironment& sizes, BoundsChecker& bounds, GraphBuilder& builder,
                  RuntimeChecks& checks)
      : Part(context), sizes_(sizes), bounds_(bounds), builder_(builder), checks_(checks) {}

  /// An index that is in range for certain. `what` names it in messages.
  ScalarId safe_index(ScalarId index, const Dim& extent, const std::string& what);
  /// Nothing reads at the index, and what it needs is checked elsewhere; `since`: the first check that was
  /// made for it.
  void withdraw(ScalarId index, uint32_t since);
  /// Does it mention a data-dependent size, a position that a loop carries, or an index whose range depends
  /// on either? What is not proved of such a value is checked while the entry runs.
  bool depends_on_data(const Dim& d) const;
  /// For `x[i else v]`: the index clamped into range, and the condition under which it was in range.
  std::pair<ScalarId, ScalarId> guarded_index(ScalarId index, const Dim& extent);
  /// The integer as a size. `bound`: what it must not exceed, where its place says so; else what is known of
  /// it.
  std::optional<Dim> data_size(ScalarId integer, const std::string& what,
                               std::optional<Dim> bound = std::nullopt);
  /// The integer as a size that the call decides and checks; nullopt where it is not sure to be reached, or
  /// the call does not decide it.
  std::optional<Dim> size_of_call(ScalarId integer, const std::string& what);
  /// The most that an integer can be; nullopt when nothing is known.
  std::optional<Dim> upper_bound(ScalarId integer) const;
  /// a - b, where what they have in common is left out: c + 3 - c is 3.
  ScalarId difference(ScalarId a, ScalarId b);

 private:
  ScalarId where_all(const std::vector<ScalarId>& conditions, ScalarId integer);
  bool reads_every_element(const Scalar& load) const;
  bool is_checked_by_host(Value value, const Dim& bound) const;
  ScalarId stored_index(ScalarId index, const Dim& extent, Dim& bound);
  bool is_position(const Scalar& index, const Dim& extent) const;
  ScalarId data_index(ScalarId index, const Dim& extent, const std::string& what);
  std::optional<Dim> size_anywhere(ScalarId integer, const Dim& bound, const std::string& what);
  void bound_size(Value value, const Dim& bound, const std::string& what);
  bool is_exact_by_facts(ScalarId integer) const;
  ScalarId stays_exact(ScalarId result);
  void require_stays_exact(ScalarId result, std::optional<ScalarId> reached, const std::string& what);
  void require_exact(ScalarId integer, const std::string& what);
  bool is_at_least(ScalarId integer, int64_t least) const;
  std::optional<Dim> reached_end(Dim index, bool most) const;

  SizeEnvironment& sizes_;
  BoundsChecker& bounds_;
  GraphBuilder& builder_;
  RuntimeChecks& checks_;
};

}  // namespace axon::graph
