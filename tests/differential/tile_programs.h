// The tile programs of a plan variant on one machine, as bodies of the simulator's tasks.
//
// In: the task program of a variant, and a machine. Out: what runs the tasks of those types that have tile
// programs. Invariant: every program is proved, by verify(), the first time that its text occurs.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "task/simulate.h"
#include "tile/from_task.h"
#include "tile/run_task.h"

namespace axon::differential {

/// A row of machines.def, or a machine with other lanes, registers and scratch, of one thread or several.
tile::Machine machine_of(uint64_t seed);

class TilePrograms {
 public:
  TilePrograms(const task::Program&, graph::Graph, const tile::Machine&);

  /// As task::RunBody: the first program whose guard holds; nothing where the type has none.
  std::optional<std::string> run(task::TaskTypeId, const shape::Assignment& values, task::BodyMemory&);
  /// What is not proved; empty: nothing. It is a failure of the test at hand, too.
  const std::string& unproved() const { return unproved_; }
  /// Tasks that ran a tile program.
  uint64_t tasks() const { return tasks_; }

 private:
  struct Ready {
    tile::MadeProgram made;
    std::unique_ptr<tile::TaskRunner> runner;
  };
  const task::Program& program_;
  std::vector<std::vector<std::unique_ptr<Ready>>> of_type_;
  std::string unproved_;
  uint64_t tasks_ = 0;
};

}  // namespace axon::differential
