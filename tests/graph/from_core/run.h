// Programs that the tests of this folder run with the reference interpreter: tensors in, results or the error
// out. A program that is refused fails the test.
#pragma once
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "program.h"

namespace axon::graph {

using Reals = std::vector<double>;

inline Tensor reals(std::vector<int64_t> shape, Reals values) {
  return {Elem::f32, std::move(shape), std::move(values), {}};
}
inline Tensor integers(std::vector<int64_t> shape, std::vector<int64_t> values, Elem elem = Elem::i64) {
  return {elem, std::move(shape), {}, std::move(values)};
}

class Random {
 public:
  Tensor tensor(const std::vector<int64_t>& shape, double scale = 1) {
    Tensor t{Elem::f32, shape, {}, {}};
    for (int64_t i = 0, n = t.count(); i < n; ++i)
      t.floats.push_back(static_cast<float>(scale * normal_(engine_)));
    return t;
  }

 private:
  std::mt19937 engine_{42};
  std::normal_distribution<double> normal_;
};

inline Outcome run(const std::string& program, const std::vector<Tensor>& inputs,
                   const std::map<std::string, int64_t>& sizes = {},
                   Precision precision = Precision::storage) {
  Lowered lowered = lower(program);
  EXPECT_EQ(lowered.errors, "") << program;
  if (lowered.order.empty()) return {"no entry", false, {}, {}, {}};
  const Graph& g = lowered.graphs.at(lowered.order[0]);
  Outcome o = interpret(g, inputs, named_sizes(g, sizes), precision);
  if (!o.error.empty()) return o;
  for (const Tensor& t : o.results)
    EXPECT_EQ(t.count(), static_cast<int64_t>(t.floats.size() + t.integers.size())) << print(g);
  return o;
}

inline Reals result(const std::string& program, const std::vector<Tensor>& inputs,
                    const std::map<std::string, int64_t>& sizes = {}) {
  Outcome o = run(program, inputs, sizes);
  EXPECT_EQ(o.error, "") << program;
  return o.results.empty() ? Reals{} : o.results[0].floats;
}

inline void expect_near(const Reals& a, const Reals& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance * (1 + std::fabs(b[i]))) << i;
}

}  // namespace axon::graph
