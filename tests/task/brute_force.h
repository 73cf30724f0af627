// Small concrete grids: every task of a program for given sizes, and who runs after whom, by enumeration.
//
// What the proofs say for all sizes is looked up here for some. Loops with a condition take as many steps as
// the test wants, whatever the data would decide: order does not depend on it.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "task/task.h"

namespace axon::task {

struct Instance {
  TaskTypeId type;
  std::vector<int64_t> iteration, coordinates;
  shape::Assignment values;                 ///< of everything that its accesses and waits mention
  std::vector<std::vector<int64_t>> boxes;  ///< per access: low and high of every axis in turn
};

class Concrete {
 public:
  /// `sizes`: of the caller; those that the data decides get their bounds. The n-th run of any loop with a
  /// condition has (n + seed) % 3 steps.
  Concrete(const Program&, const shape::Assignment& sizes, uint64_t seed);

  const std::vector<Instance>& instances() const { return instances_; }  ///< in program order
  /// By the waits and by one task's iterations following each other, and what follows from those.
  bool is_before(size_t earlier, size_t later) const { return before_[later][earlier]; }
  /// A wait for something later, or outside of the grid; "" when there is none.
  const std::string& broken() const { return broken_; }
  /// Whom a task waits for by this wait of its type: nobody where its guard does not hold.
  std::vector<size_t> awaited(const Wait&, const Instance&) const;

  int64_t number(const Dim&, const Instance&) const;
  bool holds(const Fact&, const Instance&) const;
  const std::vector<size_t>& of_type(TaskTypeId type) const { return of_type_[type.index]; }
  const std::vector<int64_t>& grid(TaskTypeId type) const { return grids_[type.index]; }
  /// Do two accesses, of these numbers, touch an element together?
  bool overlap(size_t a, size_t access_a, size_t b, size_t access_b) const;

  /// Two tasks that touch an element, one of them writing it, and are not ordered; "" when there are none. Of
  /// tasks of one type in one iteration shared() says that (touched.h).
  std::string unordered() const;
  /// A task for which the entry of the certificate is wrong; "" when it is right for all.
  std::string contradicts(const Finished&) const;
  /// The same for any statement of what has finished before a task.
  std::string contradicts(size_t later, TaskTypeId producer, const Ranges&,
                          const std::function<bool(const Instance&)>& speaks_of) const;
  /// Waits that name a producer for a reason that no access has: "consumer producer axis" of each.
  std::vector<std::string> needless() const;

 private:
  void enumerate(const std::vector<Step>&, std::vector<int64_t>& iteration);
  void add_grid(TaskTypeId, const std::vector<int64_t>& iteration);
  void order(size_t);
  bool is_sibling(size_t a, size_t b) const;
  std::vector<std::pair<int64_t, int64_t>> box_of(const Wait&, const Instance&) const;
  bool is_guarded_away(const Wait&, const Instance& consumer) const;
  bool is_outside(const Wait&, const Instance& consumer) const;
  bool is_meant(const Wait&, const Instance& consumer, const Instance& producer) const;
  bool is_through(const std::vector<Dim>& iteration, size_t count, const Instance& at,
                  const Instance& of) const;
  size_t leading(const Wait&) const;

  const Program& p_;
  const uint64_t seed_;
  shape::Assignment values_;
  std::map<uint32_t, uint64_t> runs_;  ///< by loop: how many have begun
  std::vector<Instance> instances_;
  std::vector<std::vector<size_t>> of_type_;
  std::vector<std::vector<int64_t>> grids_;
  std::vector<std::vector<bool>> before_;
  std::string broken_;
};

}  // namespace axon::task
