// The reference meaning of a graph: evaluates it for concrete sizes and inputs, in float32 or float64.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace axon::graph {

/// A tensor with concrete shape. Floats of every type are kept as doubles already rounded to their type (or
/// not rounded at all in Precision::f64); integers and bools as int64. Row-major.
struct Tensor {
  Elem elem = Elem::f32;
  std::vector<int64_t> shape;
  std::vector<double> floats;
  std::vector<int64_t> integers;
  /// Of an input: the steps that its axes have in the caller's memory, which sizes may be; empty: row-major.
  std::vector<int64_t> strides = {};
  int64_t count() const;
  int64_t stride(size_t axis) const;
};

enum class Precision : uint8_t {
  storage,  ///< every value rounded to its element type; f16/bf16/f8 accumulate in f32
  f64       ///< all floats in double: the meaning that tolerances are stated against
};

struct Outcome {
  std::string error;            ///< empty when it ran
  bool gave_up = false;         ///< the error is a limit of the interpreter: it says nothing of the program
  std::vector<Tensor> results;  ///< one per Graph::results
  std::vector<Tensor> states;   ///< final contents per input of kind state, in input order
  shape::Assignment
      data_values;  ///< data-dependent sizes, and trip counts of the last run of loops with an exit condition
  std::map<shape::Var, std::vector<int64_t>> steps =
      {};  ///< of each loop with a condition, one number per run
  std::vector<std::pair<std::string, Tensor>> shown = {};  ///< by `debug`, also before an error
};

/// `inputs`: one per Graph::inputs (scalar_size inputs as rank-0 integers). `sizes`: a value for every size
/// that is a size parameter; the others are solved from the shapes.
Outcome interpret(const Graph&, const std::vector<Tensor>& inputs, const shape::Assignment& sizes, Precision);

/// Values of the sizes from input shapes, or an error naming the axis that does not fit.
std::optional<shape::Assignment> solve_sizes(const Graph&, const std::vector<Tensor>& inputs,
                                             shape::Assignment parameters, std::string& error);

/// Evaluates one scalar expression at one point: what the simulator shares with the interpreter. `read`
/// supplies elements of values (and locals); bind() the index variables, loop indices and sizes.
struct Number {
  double real = 0;
  int64_t integer = 0;
};
using Reader = std::function<Number(Value, const std::vector<int64_t>& index)>;
class Evaluator {
 public:
  Evaluator(const Graph& g, Precision p, Reader read);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  /// Binds a variable; bound variables stay until rebound.
  void bind(Var, int64_t);
  Number evaluate(ScalarId);
  std::string error() const;  ///< first failed check (index out of range, ...), empty if none

 private:
  struct State;
  State* state_;
};

}  // namespace axon::graph
