// Texts that are no tile programs: each is refused with a place and a reason, and none does harm.
#include <algorithm>
#include <cctype>

#include "support.h"

namespace axon::tile {
namespace {

std::vector<std::string> tokens(const std::string& text) {
  std::vector<std::string> out;
  for (const char c : text) {
    const bool part = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    const bool joins =
        part && !out.empty() &&
        (std::isalnum(static_cast<unsigned char>(out.back().back())) || out.back().back() == '_');
    if (joins)
      out.back() += c;
    else
      out.emplace_back(1, c);
  }
  return out;
}
std::string joined(const std::vector<std::string>& tokens) {
  std::string out;
  for (const std::string& token : tokens) out += token;
  return out;
}

/// Refused with a line, or a program whose text reads back, and whose proofs come to an end.
void expect_sound(const std::string& text) {
  std::string error;
  const auto p = parse(text, error);
  if (!p) {
    EXPECT_EQ(error.compare(0, 5, "line "), 0) << error << "\n" << text;
    return;
  }
  EXPECT_FALSE(verify(*p).empty());
  const std::string printed = print(*p);
  const auto again = parse(printed, error);
  ASSERT_TRUE(again) << error << "\n" << printed;
  EXPECT_EQ(print(*again), printed);
}

class Texts : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Texts, testing::ValuesIn(all_programs()),
                         [](const auto& p) { return p.param; });

TEST_P(Texts, WithoutATokenOrWithOneTwice) {
  const std::vector<std::string> all = tokens(text_of(GetParam()));
  const size_t step = static_cast<size_t>(4 / sampled(4) * 4);
  for (size_t i = 0; i + 5 < all.size(); i += step) {
    std::vector<std::string> fewer = all, more = all, swapped = all;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    more.insert(more.begin() + static_cast<std::ptrdiff_t>(i + 1), all[i + 1]);
    std::swap(swapped[i + 2], swapped[i + 4]);
    for (const auto& text : {fewer, more, swapped}) expect_sound(joined(text));
  }
}

TEST_P(Texts, CutAnywhere) {
  const std::string text = text_of(GetParam());
  for (size_t i = 0; i < text.size(); i += 17) expect_sound(text.substr(0, i));
}

TEST(Text, ErrorsSayPlaceAndReason) {
  const std::string text = text_of("pointwise");
  const auto error_of = [&](const std::string& part, const std::string& other) {
    std::string changed = text, error;
    const size_t at = changed.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    changed.replace(at, part.size(), other);
    EXPECT_FALSE(parse(changed, error)) << changed;
    return error;
  };
  EXPECT_EQ(error_of("tiles", "tasks"), "line 1: `tiles` is expected");
  EXPECT_EQ(error_of("on x86-64-v3", "on toy lanes 0"), "line 1: this number is 0, and it has to be 1 to 32");
  EXPECT_EQ(error_of("f32[64] as vectors", "f32[63] as vectors"),
            "line 10: the layout has another size than the tile");
  EXPECT_EQ(error_of("f32[64] as vectors", "f32[1000000] as vectors"),
            "line 10: this number is 1000000, and it has to be 1 to 262144");
  EXPECT_EQ(error_of("(1,1@v)", "(1,1@block)"), "line 4: a tile has no axis `block`");
  EXPECT_EQ(error_of("copy t[r] = x", "copy u[r] = x"), "line 13: no tile is called `u`");
  EXPECT_EQ(error_of("copy t[r] = x", "copy t[r, c] = x"), "line 13: the tile has fewer axes");
  EXPECT_EQ(error_of("x[64*i + r]", "x[64*i + r, r]"), "line 13: one index per axis is expected");
  EXPECT_EQ(error_of("max(t[r]", "max(t[c]"), "line 14: a label is used that the operation does not have");
  EXPECT_EQ(error_of("f32(0.5)", "i32(1)"), "line 14: `add` has no operands of these types");
  EXPECT_EQ(error_of("f32(0.5)", "f32(half)"), "line 14: no tile, type or operator is called `half`");
  EXPECT_EQ(error_of("notify 0", "notify 1"), "line 16: there is no notification 1");
  EXPECT_EQ(error_of("  notify 0", "    notify 0"), "line 16: this line is indented too far");
  EXPECT_EQ(error_of("notify 0", "release t"), "line 16: this is no ring");
}

TEST(Text, OnlyACopyNarrows) {
  std::string text = text_of("pointwise"), error;
  text.replace(text.find("f32(0.5)"), 8, "f32(f64(1))");
  EXPECT_FALSE(parse(text, error));
  EXPECT_EQ(error, "line 14: only a copy narrows a type");
}

TEST(Text, SaysThatElementsAreNeighbours) {
  std::string text = text_of("gather"), error;
  const std::string access = "table[id[r], 16*j + c]";
  text.insert(text.find(access) + access.size(), " in runs");
  const auto p = parse(text, error);
  ASSERT_TRUE(p) << error;
  EXPECT_EQ(print(*p), text);
  text.replace(text.find("in runs"), 7, "in rows");
  EXPECT_FALSE(parse(text, error));
  EXPECT_EQ(error, "line 18: `runs` is expected");
}

TEST(Text, AsksForWhatIsReadSoon) {
  std::string text = text_of("gather"), error;
  const std::string ask = "  prefetch r < 4, c < 16 of table[r + 5, 16*j + c + 16] if 4*i + 32 < n\n";
  const size_t at = text.find("  copy");
  text.insert(at, ask);
  const auto p = parse(text, error);
  ASSERT_TRUE(p) << error;
  EXPECT_EQ(print(*p), text);
  for (const Obligation& o : verify(*p)) EXPECT_TRUE(o.proved) << o.what;
  const std::string along = "  prefetch along r < 4, c < 16 of table[r + 5, 16*j + c + 16]\n";
  const auto other = parse(text.substr(0, at) + along + text.substr(at + ask.size()), error);
  ASSERT_TRUE(other) << error;
  EXPECT_NE(print(*other).find(along), std::string::npos);
  const auto wrong = [&](const std::string& other) {
    std::string changed = text;
    EXPECT_FALSE(parse(changed.replace(at, ask.size(), "  " + other + "\n"), error)) << other;
    return error.substr(error.find(": ") + 2);
  };
  EXPECT_EQ(wrong("prefetch r < 4 of table[r]"), "one index per axis is expected");
  EXPECT_EQ(wrong("prefetch r < 0 of table[r, 0]"), "a label has an extent of at least 1");
  EXPECT_EQ(wrong("prefetch r < 4 of tables[r, 0]"), "no tensor is called `tables`");
  EXPECT_EQ(wrong("prefetch j < 4 of table[j, 0]"), "`j` is declared twice; a label needs a name of its own");
  EXPECT_EQ(wrong("prefetch r < 4 of table[r, 0] if r < n"), "no label decides whether it is asked for");
  EXPECT_NE(wrong("prefetch along r < 4 of table[r, 0] if 4*i < n"), "") << "it has no condition";
  EXPECT_EQ(wrong("prefetch r < 4, r < 4 of table[r, r]"),
            "`r` is declared twice; a label needs a name of its own");
}

/// Where variables of one name are told apart, places say which one they mean.
TEST(Text, PlacesNameTheirSizes) {
  std::string error;
  auto p = parse(text_of("pointwise"), error);
  ASSERT_TRUE(p) << error;
  const Var size = shape::fresh_var("n"), other = shape::fresh_var("n");
  p->sizes.insert(p->sizes.end(), {other, size});
  Tensor x;
  x.name = "z";
  x.shape = {Dim(other), Dim(size)};
  x.multiples = {1, 1};
  x.place = layout::row_major(x.shape);
  p->tensors.add(x);
  const auto again = parse(print(*p), error);
  ASSERT_TRUE(again) << error << print(*p);
  const Tensor& read = again->tensors[TensorId{static_cast<uint32_t>(again->tensors.size() - 1)}];
  EXPECT_EQ(read.place, layout::row_major(read.shape));
}

TEST(Text, NestingIsBounded) {
  std::string text = text_of("pointwise"), error, deep;
  for (int i = 0; i < 100000; ++i) deep += "neg(";
  text.replace(text.find("add(t[r]"), 8, "add(" + deep + "t[r]");
  EXPECT_FALSE(parse(text, error));
  EXPECT_EQ(error, "line 14: the expression is nested too deeply");
}

}  // namespace
}  // namespace axon::tile
