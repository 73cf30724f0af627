// Golden files: a graph, a line `=== pass`, and the graph that the pass makes of it (golden/*.graph). Each is
// also a test that the pass keeps the meaning. AXON_BLESS=1 rewrites the expectations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support.h"

namespace axon::graph::testing {
namespace {

std::vector<std::string> golden_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(AXON_SOURCE_DIR "/tests/graph/passes/golden"))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, Passes) {
  std::string text = file_text(GetParam());
  size_t mark = text.find("=== ");
  ASSERT_NE(mark, std::string::npos) << GetParam();
  size_t end = text.find('\n', mark);
  std::string input = text.substr(0, mark);
  std::string pass = text.substr(mark + 4, end - mark - 4), expected = text.substr(end + 1);
  Graph before = read(input);
  Graph after = before;
  run(after, pass);
  if (std::getenv("AXON_BLESS")) {
    std::ofstream(GetParam()) << input << "=== " << pass << "\n" << print(after);
  } else {
    EXPECT_EQ(print(after), expected);
  }
  EXPECT_GE(expect_same_meaning(before, after, 3), 4);
}

std::string short_name(const ::testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}
INSTANTIATE_TEST_SUITE_P(Passes, Golden, ::testing::ValuesIn(golden_files()), short_name);

}  // namespace
}  // namespace axon::graph::testing
