// Programs and the graphs they become: NAME.axn beside NAME.graph, the concatenated text of all entries'
// graphs. With AXON_BLESS=1 in the environment the .graph files are written instead of compared.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "program.h"

namespace axon::graph {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(FromCoreGolden, ProgramsBecomeTheirGraphs) {
  std::vector<fs::path> programs;
  for (const auto& entry : fs::directory_iterator(AXON_SOURCE_DIR "/tests/graph/from_core"))
    if (entry.path().extension() == ".axn") programs.push_back(entry.path());
  std::sort(programs.begin(), programs.end());
  ASSERT_FALSE(programs.empty());
  for (const fs::path& program : programs) {
    Lowered lowered = lower(read(program));
    std::string text = lowered.errors;
    for (const std::string& name : lowered.order) text += print(lowered.graphs.at(name)) + "\n";
    fs::path golden = program;
    golden.replace_extension(".graph");
    if (std::getenv("AXON_BLESS")) {
      std::ofstream(golden) << text;
    } else {
      EXPECT_EQ(text, read(golden)) << program;
    }
  }
}

}  // namespace
}  // namespace axon::graph
