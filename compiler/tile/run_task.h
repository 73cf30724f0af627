// Runs one task of a tile program at a time, on memory of the caller.
//
// In: a program without roles and rings, and for each task values of the sizes and coordinates, and elements
// of tensors by index. Out: the elements that the task stores, or an error that names operation and element.
// Invariant: as of interpret(): tiles are undefined when a task begins, and what the program may not rely on
// is an error. An element is stored once, and a notification announces only what was. The caller orders
// tasks: waits return at once.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tile/tile.h"

namespace axon::tile {

/// Indices lie inside of the tensor, and of the box that the program declares.
struct Elements {
  std::function<Number(TensorId, const std::vector<int64_t>& index)> read;
  std::function<void(TensorId, const std::vector<int64_t>& index, const Number&)> write;
};

/// A check of the data that ended a task, and what it shows.
struct FailedCheck {
  uint32_t number = 0;
  int64_t found = 0, wanted = 0;
};

class TaskRunner {
 public:
  /// The program has to live as long.
  explicit TaskRunner(const Program&);
  ~TaskRunner();
  TaskRunner(const TaskRunner&) = delete;
  TaskRunner& operator=(const TaskRunner&) = delete;

  /// Does the guard hold? False too where a size that it mentions has no value.
  bool may_run(const shape::Assignment& values) const;
  /// Values of more variables do no harm. Empty, or what went wrong.
  std::string run(const shape::Assignment& values, const Elements&);
  /// Where that was why the last run ended.
  const std::optional<FailedCheck>& failed_check() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace axon::tile
