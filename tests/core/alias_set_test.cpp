// Places of storage, and the paths that name changes of it.
#include "core/alias_set.h"

#include <gtest/gtest.h>

namespace axon::core {
namespace {

const LocalId name{3};

AliasSet of(const std::string& path) {
  AliasSet out;
  out.places = {Place{name, path}};
  return out;
}

std::string path_of(const AliasSet& set) { return set.places.at(0).path; }

TEST(AliasSet, OverlapsWithItsParts) {
  EXPECT_TRUE(overlap({name, ".a"}, {name, ".a.k"}));
  EXPECT_TRUE(overlap({name, ".a.k"}, {name, ""}));
  EXPECT_FALSE(overlap({name, ".a"}, {name, ".ak"}));
  EXPECT_FALSE(overlap({name, ".a"}, {name, ".a@12"}));  // what was made of it is no part of what it was
  EXPECT_FALSE(overlap({name, ".a"}, {LocalId{4}, ".a"}));
}

TEST(AliasSet, ForgetsWhichExpressionMadeAChange) {
  AliasSet set = of(".k2@12.0@7@31");
  set.parts[".v"] = of("@5.x1");
  set.forget_changes();
  EXPECT_EQ(path_of(set), ".k2@.0@@");
  EXPECT_EQ(path_of(set.parts.at(".v")), "@.x1");
}

TEST(AliasSet, FollowsAPath) {
  AliasSet set;
  set.parts[".k"] = of(".cache");
  EXPECT_EQ(path_of(set.at_path(".k", ExprId{9})), ".cache");
  EXPECT_EQ(path_of(set.at_path(".k@.0", ExprId{9})), ".cache@9.0");
}

}  // namespace
}  // namespace axon::core
