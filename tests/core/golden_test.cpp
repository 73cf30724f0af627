// Golden texts: types/*.axn print the types beside them without an error; errors/*.axn render the messages
// beside them; entries/*.axn print the typed core with the forms and checks of their sizes.
#include <gtest/gtest.h>

#include <filesystem>

#include "harness.h"

namespace axon::core {

static const std::string here = AXON_SOURCE_DIR "/tests/core/";

static std::string beside(const std::string& path, const std::string& extension) {
  return std::filesystem::path(path).replace_extension(extension).string();
}
static std::string file_stem(const testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}

class Types : public testing::TestWithParam<std::string> {};
TEST_P(Types, AreInferred) {
  const Checked c = check_path(GetParam(), {});
  EXPECT_EQ(c.errors(), "");
  expect_golden(beside(GetParam(), ".types"), print_types(c.program));
}
INSTANTIATE_TEST_SUITE_P(Golden, Types, testing::ValuesIn(files_in(here + "types", ".axn")), file_stem);

class Errors : public testing::TestWithParam<std::string> {};
TEST_P(Errors, AreRendered) {
  const Checked c = check_file(GetParam());
  EXPECT_TRUE(c.diagnostics->has_errors());
  expect_golden(beside(GetParam(), ".txt"), c.errors());
}
INSTANTIATE_TEST_SUITE_P(Golden, Errors, testing::ValuesIn(files_in(here + "errors", ".axn")), file_stem);

class Entries : public testing::TestWithParam<std::string> {};
TEST_P(Entries, AreElaborated) {
  const Checked c = check_file(GetParam());
  EXPECT_EQ(c.errors(), "");
  expect_golden(beside(GetParam(), ".core"), print_core(c.program));
}
INSTANTIATE_TEST_SUITE_P(Golden, Entries, testing::ValuesIn(files_in(here + "entries", ".axn")), file_stem);

}  // namespace axon::core
