// Values of examples: by the reference interpreter, and by the compiled program.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "graph/interpret.h"
#include "pipeline.h"

namespace axon::tools {

/// What an entry without parameters gives: named results, or why there are none.
struct Values {
  std::string error;               ///< empty when it ran
  std::string code;                ///< of the error; empty when the interpreter gave up
  std::vector<std::string> names;  ///< as `etcc run` shows them
  std::vector<graph::Tensor> tensors;
  std::vector<std::string> shown;  ///< by `debug`: lines, of the interpreter only
};

/// By the reference interpreter, on the graph as it is before any pass.
Values interpret(const graph::Graph& graph);

/// By the bundle of a compilation, through the runtime.
class Native {
 public:
  explicit Native(const std::string& bundle);
  ~Native();
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;
  Values run(const graph::Graph& graph) const;

 private:
  struct Handles;
  Handles* handles_;
};

/// As `etcc run` prints them: `name : type =` and the value; without `headers` the values only.
std::string text_of(const Values& values, bool headers);

/// "" when native values are those of the interpreter: integers the same, floats within what rounding
/// explains. Where the interpreter fails, the compiled program has to fail with the same code.
std::string difference(const Values& native, const Values& meaning);

}  // namespace axon::tools
