// What proves shares no rule with what it proves: nothing that a verifier includes, directly or not, belongs
// to the deriver or the planner.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <regex>
#include <set>

#include "support.h"

namespace axon::task {
namespace {

const std::set<std::string> rules = {"task/boxes.h",       "task/happens_before.h", "task/dependence.h",
                                     "task/certificate.h", "task/trip_counts.h",    "task/tiling/tiling.h"};

std::set<std::string> included_by(const std::string& file) {
  const std::string root = std::string(AXON_SOURCE_DIR) + "/compiler/";
  std::set<std::string> all;
  const std::function<void(const std::string&)> visit = [&](const std::string& path) {
    static const std::regex line("#include \"([^\"]+)\"");
    const std::string text = read_file(root + path);
    for (std::sregex_iterator it(text.begin(), text.end(), line), end; it != end; ++it)
      if (const std::string header = (*it)[1]; all.insert(header).second) visit(header);
  };
  visit(file);
  return all;
}

TEST(Layers, VerifiersIncludeNoRules) {
  size_t verifiers = 0;
  for (const std::string folder : {"task", "plan"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(AXON_SOURCE_DIR) + "/compiler/" + folder)) {
      const std::string name = entry.path().filename();
      if (!name.starts_with("verify")) continue;
      ++verifiers;
      for (const std::string& header : included_by(folder + "/" + name))
        EXPECT_FALSE(rules.contains(header)) << folder << "/" << name << " includes " << header;
    }
  EXPECT_GE(verifiers, 10u);
  EXPECT_TRUE(included_by("task/derive_events.cpp").contains("task/happens_before.h"));
  EXPECT_TRUE(included_by("task/from_graph.cpp").contains("task/boxes.h"));
}

/// Those of one folder that a file of it, whose name begins so, includes.
std::set<std::string> included_by_all(const std::string& folder, const std::string& prefix) {
  std::set<std::string> all;
  const std::filesystem::path root = std::string(AXON_SOURCE_DIR) + "/compiler";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    const std::string name = std::filesystem::relative(entry.path(), root / folder);
    if (!name.starts_with(prefix) || !entry.is_regular_file()) continue;
    for (const std::string& header : included_by(folder + "/" + name)) all.insert(header);
  }
  return all;
}

/// What proves tile programs and what makes them have these headers in common: what a program is and what an
/// operator or a layout means. Of tasks, plans and graphs the proofs see nothing that decides.
TEST(Layers, VerifiersOfTilesShareDataAlone) {
  const std::set<std::string> data = {
      "tile/tile.h",      // programs, their text
      "tile/machine.h",   // machines
      "tile/names.h",     // words for operations, and what they name
      "tile/places.h",    // the points of a layout, counted
      "tile/pointwise.h"  // the values of operators
  };
  const auto verifiers = included_by_all("tile", "verify"), makers = included_by_all("tile", "from_task");
  EXPECT_TRUE(verifiers.contains("tile/claims.h"));
  EXPECT_TRUE(makers.contains("tile/from_task/maker.h"));
  for (const std::string& header : verifiers) {
    if (header.starts_with("tile/"))
      EXPECT_TRUE(!makers.contains(header) || data.contains(header)) << header << " is shared";
    EXPECT_FALSE(header.starts_with("tile/from_task")) << header;
    for (const char* folder : {"graph/", "task/", "plan/"})
      EXPECT_FALSE(header.starts_with(folder)) << "verifiers include " << header;
  }
}

}  // namespace
}  // namespace axon::task
