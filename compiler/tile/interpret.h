// Runs a tile program: a whole grid of tasks, on given sizes and tensors.
//
// In: a program, values of its sizes, and tensors, row-major. Out: the tensors as the tasks leave them, or an
// error that names operation, coordinates and element. Invariant: values are kept where layouts put them, and
// what the program may not rely on is undefined: registers of another holder, elements that nothing wrote,
// what other memory was written over, a copy that no acquire has waited for, a slot that was released,
// scratch that no barrier orders, elements that another task has not announced. Asynchronous copies and gemms
// happen as late as is legal. Storing an undefined element, or indexing with it, is an error.
//
// Tasks run on workers, each in ascending order, and the seed draws which worker runs which task and which
// role goes on next; so orders are those that the waits allow.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tile/tile.h"

namespace axon::tile {

struct TensorData {
  std::vector<int64_t> shape;
  std::vector<Number> values;  ///< row-major
  std::vector<bool> defined;   ///< empty: all of them
};

struct RunOptions {
  uint64_t seed = 0;
  int workers = 2;
  uint64_t most_steps = 2'000'000'000;  ///< elements touched: a run that takes more is an error
};

struct RunResult {
  std::string error;
  std::vector<TensorData> tensors;  ///< those of the program, in its order
};

/// Tensors that are written only may be left out: theirs have no values.
RunResult interpret(const Program&, const std::map<std::string, int64_t>& sizes,
                    const std::map<std::string, TensorData>& tensors, const RunOptions& = {});

}  // namespace axon::tile
