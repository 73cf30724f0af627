// What runs programs for the REPL.
//
// In: the text of a program, and one of its entries. Out: values as text, or why there are none. Invariant:
// whatever the program does, who asks goes on.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "repl/found.h"

namespace axon::repl {

struct Program {
  std::string path;  ///< of its file, for what it imports
  std::string text;
  std::string entry;  ///< without parameters, where it is to be evaluated
  std::vector<std::pair<std::string, int64_t>> sizes = {};  ///< by name, for what it costs
};

struct Value {
  std::string name;  ///< of the result; `result` where it has none
  std::string type;  ///< with its sizes: `f32[2, 3]`
  std::string text;  ///< nested brackets, long axes cut in the middle
};

struct Evaluation {
  Found found;        ///< by the compiler or the runtime, why there are no values
  std::string error;  ///< another reason, as text
  bool interrupted = false;
  std::vector<Value> values;
  std::string page;  ///< of the stage `graph`: the entry as HTML; empty where it is refused behind that
  double compiled = 0, ran = 0;  ///< milliseconds
  bool failed() const { return !error.empty() || !found.diagnostics.empty(); }
};

class Evaluator {
 public:
  using Said = std::function<void(std::string_view)>;
  virtual ~Evaluator() = default;
  /// Runs the entry. `said` is given what the program prints meanwhile.
  virtual Evaluation evaluate(const Program& program, const Said& said) = 0;
  /// The entry at a stage of the compiler (`graph`, `tasks`, `plan`, `llvm`) as text, or what it
  /// costs (`cost`).
  virtual Evaluation stage(const Program& program, const std::string& stage) = 0;
};

}  // namespace axon::repl
