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

}  // namespace
}  // namespace axon::task
