// Reads what stands inside of a node: dimensions, types, values and expressions. parse.cpp reads what stands
// around them.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/tokens.h"

namespace axon::graph {

constexpr int max_depth = 2000;  // nesting of expressions and regions

class ExprParser : protected TokenCursor {
 public:
  explicit ExprParser(const std::string& text) : TokenCursor(text), source(text) {}

 protected:
  Graph g;
  std::vector<std::pair<std::string, Var>> names;  // in scope
  std::vector<NodeId> numbered;                    // printed number -> node
  const std::vector<Local>* locals = nullptr;      // of the compute node being read
  std::vector<DynamicSize> dynamic;                // of the compute node being read
  int nesting = 0;

  Var variable(const std::string& name);
  Var declare(const std::string& name);
  /// Dimensions end with their line: `%3 = ...` on the next one is no remainder.
  Dim dim();
  std::vector<Dim> dims();                    // [a, b]
  std::vector<Axis> axes(const char* close);  // i < m, k = VALUE at most n, j < k: declared one by one
  Elem elem();
  TensorType type();
  Fact fact();
  Value value();

  ScalarId body();

 private:
  const std::string& source;
  std::vector<std::pair<std::string, ScalarId>> shared;  // (t0 := x), within one body

  /// Makes an operator exactly as written: folding has been done when the graph was built.
  ScalarId raw(Op op, std::vector<ScalarId> args, std::optional<Elem> elem = std::nullopt);
  ScalarId expression(int level);
  ScalarId operand();
  ScalarId group();  // (x) or (t0 := x)
  ScalarId literal(bool negative);
  ScalarId load_text();
  ScalarId named();
  ScalarId call(const std::string& name, std::optional<Elem> type);
  ScalarId reduction(Monoid monoid, std::optional<Elem> type);
  ScalarId online(std::optional<Elem> type);
  ScalarId order(bool descending);
  ScalarId projection(std::optional<Elem> type);
};

}  // namespace axon::graph
