// See checked_runs.h.
#include "checked_runs.h"

#include <gtest/gtest.h>

namespace axon::differential {

void expect_runs(const Compiled& compiled, const std::vector<CheckedRun>& runs) {
  ASSERT_EQ(compiled.error(), "");
  const auto inputs_of = [](const CheckedRun& r) {
    Inputs inputs{{base::Elem::f32, {static_cast<int64_t>(r.x.size())}, r.x, {}},
                  {base::Elem::i64, {static_cast<int64_t>(r.k.size())}, {}, r.k}};
    for (const int64_t scalar : r.scalars) inputs.push_back({base::Elem::i64, {}, {}, {scalar}});
    return inputs;
  };
  std::map<std::string, Inputs> any;
  for (const CheckedRun& r : runs) any[r.entry] = inputs_of(r);
  const Loaded loaded(compiled, any);
  ASSERT_EQ(loaded.error(), "");
  for (size_t i = 0; i < runs.size(); ++i) {
    const CheckedRun& r = runs[i];
    const Inputs inputs = inputs_of(r);
    const std::vector<std::pair<const char*, Outcome>> outcomes = {
        {"meaning", compiled.interpret(r.entry, inputs, graph::Precision::f64)},
        {"simulated", compiled.simulate(r.entry, inputs, i)},
        {"one worker", loaded.run(r.entry, inputs, 1)},
        {"two workers", loaded.run(r.entry, inputs, 2)}};
    for (const auto& [executor, outcome] : outcomes) {
      const std::string at = std::string(r.entry) + " " + std::to_string(i) + ", " + executor;
      if (*r.error) {
        EXPECT_NE(outcome.error.find(r.error), std::string::npos) << at << ": " << outcome.error;
        continue;
      }
      ASSERT_EQ(outcome.error, "") << at;
      const graph::Tensor& found = outcome.results.at(0);
      std::vector<double> values = found.floats;
      for (const int64_t v : found.integers) values.push_back(static_cast<double>(v));
      EXPECT_EQ(values, r.result) << at;
    }
  }
}

}  // namespace axon::differential
