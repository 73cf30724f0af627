// Checks of the data: where one fails a run ends, with what it shows; an index that none has checked is not
// read through.
#include "support.h"

namespace axon::tile {
namespace {

/// What a run on these indices says, of a table of 7 rows.
std::string error_of(const std::string& text, const std::vector<int64_t>& ids) {
  const Program p = program_of(text);
  Tensors given;
  given["ids"].shape = {static_cast<int64_t>(ids.size())};
  for (const int64_t id : ids) given["ids"].values.push_back({0, id});
  given["table"] = {{7, 3}, std::vector<Number>(21, {0.5, 0}), {}};
  return interpret(p, {{"n", given["ids"].shape[0]}, {"v", 7}, {"d", 3}}, given, {.workers = 1}).error;
}

std::string with(std::string text, const std::string& part, const std::string& other) {
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), other);
}

TEST(Checks, EndARunWithWhatTheyShow) {
  const std::string text = text_of("checked");
  EXPECT_EQ(error_of(text, {0, 6, 3, 2, 1}), "");
  const std::string index = "check 0 id[r] below v";
  for (const int64_t id : {int64_t{7}, int64_t{-1}, int64_t{INT32_MIN}}) {
    const std::string error = error_of(text, {0, 1, id, 2, 9});
    EXPECT_NE(error.find(index), std::string::npos) << error;
    EXPECT_NE(error.find("fails: " + std::to_string(id) + ", 6"), std::string::npos) << error;
  }
  const std::string error = error_of(with(text, "i32(100)", "i32(4)"), {0, 1, 2, 6});
  EXPECT_NE(error.find("check 1 good[r] shows id[r], r + 100"), std::string::npos) << error;
  EXPECT_NE(error.find("fails: 6, 103"), std::string::npos) << error;
}

TEST(Checks, OnlyCheckedIndicesAreReadThrough) {
  const std::string text = with(text_of("checked"), "  check 0 id[r] below v if 4*i + r < n\n", "");
  EXPECT_EQ(error_of(text, {0, 6}), "");
  const std::string error = error_of(text, {0, 7});
  EXPECT_NE(error.find("has an index outside of its axis, which no check has said"), std::string::npos)
      << error;
}

TEST(Checks, AreOfTruthValuesOrIndices) {
  const std::string text = text_of("checked");
  for (const auto& [part, other, words] :
       {std::tuple("check 0 id[r] below v", "check 0 good[r] below v", "an index is an integer"),
        {"check 1 good[r] shows", "check 1 id[r] shows", "a check is of truth values"},
        {"check 0 id[r] below v", "check 0 id[r] shows v", "`,` is expected"},
        {"= ids[4*i + r] if 4*i + r < n", "= ids[4*i + r] if 4*i + r < n checked",
         "only an index tile is checked"}}) {
    std::string error;
    EXPECT_FALSE(parse(with(text, part, other), error));
    EXPECT_NE(error.find(words), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace axon::tile
