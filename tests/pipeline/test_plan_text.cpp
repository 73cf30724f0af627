// The plans of all examples read back from their text.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "pipeline.h"
#include "plan/plan.h"
#include "source/render.h"

namespace axon {
namespace {

TEST(PlanText, OfTheExamplesReadsBack) {
  size_t variants = 0;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(std::string(AXON_SOURCE_DIR) + "/examples")) {
    if (file.path().extension() != ".axn") continue;
    SCOPED_TRACE(file.path());
    CompileOptions options;
    options.library = {std::string(AXON_SOURCE_DIR) + "/stdlib"};
    Compilation c(std::move(options));
    const auto added = c.sources.load(file.path(), c.diagnostics);
    ASSERT_TRUE(added);
    c.file = *added;
    if (!run(c, "plan")) continue;  // a module without entries
    for (const CompiledEntry& entry : c.entries) {
      std::vector<task::Program> programs;
      for (const plan::Variant& v : entry.plan.variants) programs.push_back(v.program);
      std::string error;
      const auto again = plan::parse(entry.graph, programs, plan::print(entry.plan), error);
      ASSERT_TRUE(again) << error;
      EXPECT_EQ(plan::print(*again), plan::print(entry.plan));
      variants += again->variants.size();
    }
  }
  EXPECT_GE(variants, 20u);
}

}  // namespace
}  // namespace axon
