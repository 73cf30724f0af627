// Graphs from text, for the tests of graph/.
#pragma once
#include <gtest/gtest.h>

#include "graph/graph.h"

namespace axon::graph {

inline Graph parsed(const std::string& text) {
  std::string error;
  auto g = parse(text, error);
  EXPECT_TRUE(g.has_value()) << error << "\n" << text;
  return g ? std::move(*g) : Graph{};
}

}  // namespace axon::graph
