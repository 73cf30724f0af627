// Accepted and rejected calls: in calls/*.axn every declaration named `ok...` must be free of errors, every
// one named `bad...` must have one, and nothing else may be reported.
#include <gtest/gtest.h>

#include <filesystem>

#include "harness.h"

namespace axon::core {

class Calls : public testing::TestWithParam<std::string> {};

TEST_P(Calls, AreAcceptedAndRejected) {
  const Checked c = check_file(GetParam());
  int accepted = 0, rejected = 0;
  for (GlobalId id : c.program.own) {
    const Global& g = c.program.globals[id];
    if (g.name.starts_with("ok")) {
      ++accepted;
      EXPECT_FALSE(g.has_error) << g.name;
    }
    if (g.name.starts_with("bad")) {
      ++rejected;
      EXPECT_TRUE(g.has_error) << g.name;
    }
  }
  EXPECT_GE(accepted, 6);
  EXPECT_GE(rejected, 6);
  EXPECT_EQ(c.diagnostics->error_count(), static_cast<size_t>(rejected)) << c.errors();
}

INSTANTIATE_TEST_SUITE_P(Golden, Calls,
                         testing::ValuesIn(files_in(AXON_SOURCE_DIR "/tests/core/calls", ".axn")),
                         [](const auto& info) { return std::filesystem::path(info.param).stem().string(); });

}  // namespace axon::core
