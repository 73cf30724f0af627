// The tokenizer: the recorded tokens of a story, bytes that are no tokens, and files that are no tokenizers.
#include "tokenizer.h"

#include <random>
#include <sstream>

#include "../sanitized.h"
#include "support.h"

namespace axon::examples {
namespace {

using weights::little;
using weights::read_all;

Tokenizer stories() {
  std::string error;
  auto out = Tokenizer::load(AXON_SOURCE_DIR "/examples/models/tok512.bin", error);
  EXPECT_TRUE(out) << error;
  return *out;
}
std::vector<int> expected_tokens() {
  std::istringstream stream(read_all(TEST_DATA "/stories260K.expected.tokens.txt"));
  return {std::istream_iterator<int>(stream), {}};
}

TEST(Tokenizer, encodes_the_head_of_the_recorded_story) {
  const std::vector<int> tokens = stories().encode("Once upon a time");
  const std::vector<int> expected = expected_tokens();
  ASSERT_GT(tokens.size(), 2u);
  ASSERT_LT(tokens.size(), expected.size());
  EXPECT_EQ(tokens, std::vector<int>(expected.begin(), expected.begin() + static_cast<long>(tokens.size())));
}
TEST(Tokenizer, decodes_the_recorded_story) {
  const Tokenizer tokenizer = stories();
  std::vector<int> tokens = expected_tokens();
  ASSERT_EQ(tokens.size(), 200u);
  // The tokens are those that were fed to the model, the text goes one token further and ends its last line.
  const std::vector<int> last = tokenizer.encode("she");
  ASSERT_EQ(last.size(), 2u);
  tokens.push_back(last[1]);
  EXPECT_EQ(tokenizer.decode(tokens) + "\n", read_all(TEST_DATA "/stories260K.expected.txt"));
}
TEST(Tokenizer, any_text_comes_back) {
  const Tokenizer tokenizer = stories();
  for (const std::string text :
       {"a", " ", "  two  spaces ", "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80", "\xff\x80\xc3",
        "line\nline\n", "<0x41>"})
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string text(1 + random() % 40, ' ');
    for (char& c : text) c = static_cast<char>(random() % 256);
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}
TEST(Tokenizer, empty_text_is_only_the_beginning) { EXPECT_EQ(stories().encode(""), std::vector<int>{1}); }
TEST(Tokenizer, long_text_takes_no_quadratic_time) {
  const Tokenizer tokenizer = stories();
  std::string text;
  for (int i = 0; i < sampled(50'000); ++i) text += "Once upon a time ";
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}
TEST(Tokenizer, unknown_tokens_are_empty) {
  const Tokenizer tokenizer = stories();
  EXPECT_EQ(tokenizer.decode({1, -1, 512, 2147483647, 2}), "");
}

/// The tokens that every file needs, then some more.
std::string file(const std::vector<std::pair<std::string, float>>& more, int32_t longest = 8) {
  std::string out = little(longest);
  const auto add = [&out](const std::string& piece, float score) {
    out += little(score) + little(static_cast<int32_t>(piece.size())) + piece;
  };
  for (const char* piece : {"<unk>", "<s>", "</s>"}) add(piece, 0);
  for (int byte = 0; byte < 256; ++byte) {
    char piece[8];
    std::snprintf(piece, sizeof piece, "<0x%02X>", byte);
    add(piece, 0);
  }
  for (const auto& [piece, score] : more) add(piece, score);
  return out;
}
std::string refused_tokenizer(const std::string& content) {
  std::string error;
  EXPECT_FALSE(Tokenizer::parse(content, error));
  return error;
}
#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)

TEST(Tokenizer, the_best_pair_is_merged_first_and_the_leftmost_of_equals) {
  std::string error;
  const auto tokenizer = Tokenizer::parse(
      file({{" ", 0}, {"a", 0}, {"b", 0}, {"c", 0}, {"ab", -2}, {"bc", -1}, {"aa", -3}, {" a", -9}}), error);
  ASSERT_TRUE(tokenizer) << error;
  EXPECT_EQ(tokenizer->encode("abc"), (std::vector<int>{1, 266, 264})) << "bc first, then the space with a";
  EXPECT_EQ(tokenizer->encode("aaa"), (std::vector<int>{1, 259, 265, 260})) << "the left pair of equals";
  EXPECT_EQ(tokenizer->encode("ab"), (std::vector<int>{1, 259, 263}));
}

TEST(TokenizerHostile, cut_off_anywhere) {
  const std::string whole = file({{"abc", -1}});
  std::string error;
  ASSERT_TRUE(Tokenizer::parse(whole, error)) << error;
  for (size_t size = 0; size < whole.size(); ++size) {
    // A file may end after a whole token; then only the count tells.
    const auto result = Tokenizer::parse(whole.substr(0, size), error);
    if (result)
      EXPECT_EQ(result->vocabulary(), 259);
    else
      EXPECT_FALSE(error.empty());
  }
}
TEST(TokenizerHostile, empty) { EXPECT_SAYS(refused_tokenizer(""), "shorter than its header"); }
TEST(TokenizerHostile, longest_token_out_of_range) {
  for (const int32_t longest : {0, -1, 65'537, INT32_MAX, INT32_MIN})
    EXPECT_SAYS(refused_tokenizer(file({}, longest)), "longest token");
}
TEST(TokenizerHostile, length_negative_or_over_the_longest) {
  for (const int32_t length : {-1, 9, INT32_MAX, INT32_MIN})
    EXPECT_SAYS(refused_tokenizer(file({}) + little(0.0f) + little(length) + "123456789"), "token 259 has");
}
TEST(TokenizerHostile, length_over_the_file) {
  EXPECT_SAYS(refused_tokenizer(file({}) + little(0.0f) + little(int32_t{8}) + "1234"),
              "ends within token 259");
}
TEST(TokenizerHostile, score_that_is_no_number) {
  for (const float score : {NAN, INFINITY, -INFINITY})
    EXPECT_SAYS(refused_tokenizer(file({{"x", score}})), "no number");
}
TEST(TokenizerHostile, too_few_tokens) {
  EXPECT_SAYS(refused_tokenizer(little(int32_t{8})), "only 0 tokens");
}
TEST(TokenizerHostile, bytes_that_are_missing) {
  std::string content = file({});
  content.replace(content.find("<0x41>"), 6, "<0x4Z>");
  EXPECT_SAYS(refused_tokenizer(content), "token 68 is not <0x41>");
}
TEST(TokenizerHostile, empty_and_duplicate_pieces_are_harmless) {
  std::string error;
  const auto tokenizer = Tokenizer::parse(file({{"", 5}, {"", 6}, {"x", 1}, {"x", 2}}), error);
  ASSERT_TRUE(tokenizer) << error;
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("xx")), "xx");
}
TEST(TokenizerHostile, missing_file) {
  std::string error;
  EXPECT_FALSE(Tokenizer::load("/nowhere/tok.bin", error));
  EXPECT_SAYS(error, "/nowhere/tok.bin");
  EXPECT_FALSE(Tokenizer::load("/tmp", error));
}

}  // namespace
}  // namespace axon::examples
