// A decoder layer written out operator by operator becomes six nodes. For one token the keys are in parts:
// seven.
#include <gtest/gtest.h>

#include "graph/passes/edit.h"
#include "support.h"

namespace axon::graph::testing {
namespace {

/// The layer with `m` tokens, or with one when `decode`.
std::string decoder(bool decode) {
  std::string text = file_text(std::string(AXON_SOURCE_DIR) + "/tests/graph/passes/decoder.graph");
  auto replace = [&](const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at))
      text.replace(at, from.size(), to);
  };
  replace("@size m = axis 0 of 0 where m\n", decode ? "" : "size m = axis 0 of 0 where m\n");
  replace("@m", decode ? "1" : "m");
  return text;
}

void expect_few_nodes(bool decode) {
  Graph before = read(decoder(decode));
  Graph after = before;
  run(after, "all");
  EXPECT_EQ(compute_nodes(before), 39);
  EXPECT_EQ(compute_nodes(after), decode ? 7 : 8) << print(after);
  EXPECT_GE(expect_same_meaning(before, after, 7, {0, 1, 2, 3}), 8);
}

TEST(Decoder, PrefillIsEightNodes) { expect_few_nodes(false); }
TEST(Decoder, DecodeIsSevenNodes) { expect_few_nodes(true); }

TEST(Decoder, EveryPassKeepsItsMeaning) {
  Graph before = read(decoder(false));
  Graph after = before;
  for (const char* pass : {"simplify", "inline_pointwise", "merge_online", "factor", "fuse"}) {
    run(after, pass);
    SCOPED_TRACE(pass);
    EXPECT_GE(expect_same_meaning(before, after, 11, {1, 2, 3}), 8);
  }
}

TEST(Decoder, ResultIsStable) {
  Graph once = read(decoder(false));
  run(once, "all");
  std::string text = print(once);
  Graph again = read(decoder(false));
  run(again, "all");
  EXPECT_EQ(print(again), text);
  run(once, "all");  // nothing is left to do
  EXPECT_EQ(print(once), text);
}

}  // namespace
}  // namespace axon::graph::testing
