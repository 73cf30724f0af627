// Names of tensors in maps: quotes, escapes, and that any name can be written.
#include <random>

#include "bind.h"

namespace axon::weights {
namespace {

TEST(MapNames, have_escapes) {
  const auto name = [](const std::string& written, const char* field = "w") {
    const BindingMap map = good_map(field + (" <- " + written));
    return map.names(map.find("w"), "w", "")[0].name({});
  };
  EXPECT_EQ(name("\"a\"\"b\""), "a\"b");
  EXPECT_EQ(name("\"\"\"\""), "\"");
  EXPECT_EQ(name("\"a <- b -- c, d\"  -- a comment"), "a <- b -- c, d");
  EXPECT_EQ(name("a{{l}}b"), "a{l}b");
  EXPECT_EQ(name("{{{{}}"), "{{}");
  EXPECT_EQ(name("a{*}b"), "a*b");
  EXPECT_EQ(name("a*{*}b", "*"), "aw*b");
  EXPECT_EQ(name("a{0x0a}b{0x7b}{0xE9}"), "a\nb{\xe9");
  EXPECT_EQ(name("a\\n"), "a\\n") << "a backslash is one";
  const BindingMap map = good_map("words w = \"{{x}} \"\"{*}\"\"\"\n* <- *\nv[l] <- {{{l}}}{l}{{");
  EXPECT_EQ(map.words.find("w")->second, "{x} \"*\"");
  EXPECT_EQ(map.find("v").rule->tensors[0].name(std::vector<uint64_t>{7}), "{7}7{");
  EXPECT_EQ(
      errors_of(
          "a <- {0x}\na <- {0xg0}\na <- }\na[l] <- {l}{0x35}\nwords a = {l}\nwords a = }\na <- \"x\"\"\n"),
      "line 1: `{0x}` has no `[0x]` at the parameter\n"
      "line 2: `{0xg0}` has no `[0xg0]` at the parameter\n"
      "line 3: `}` without `{` in the tensor's name\n"
      "line 4: `{l}` is followed by a digit or another index\n"
      "line 5: what `a` is written as has no `{`, `}` or `*`\n"
      "line 6: what `a` is written as has no `{`, `}` or `*`\n"
      "line 7: a closing quote expected\n");
}

TEST(MapNames, of_any_bytes_are_written_and_read_back) {
  std::mt19937 random{9};
  const std::string odd = "{}*\"\\ ,+-<0l1.\n\t\x01\x7f\xff\xc3\xa9";
  for (int round = 0; round < 2000; ++round) {
    std::string name(1 + random() % 8, ' ');
    for (char& c : name) c = odd[random() % odd.size()];
    const std::string written = quoted_name(map_name(name));
    for (const char* field : {"w", "*"}) {
      const std::string source = std::string(field) + " <- " + written + (*field == '*' ? "*" : "");
      if (*field == '*' && written.back() == '"') continue;
      const BindingMap map = good_map(source);
      ASSERT_EQ(map.rules().size(), 1u) << source;
      EXPECT_EQ(map.names(map.find("w"), "w", "")[0].name({}), name + (*field == '*' ? "w" : "")) << source;
    }
  }
}

TEST_F(Bind, a_prefix_with_a_quote_is_offered_in_quotes) {
  add("m\"n .a", Elem::f32, {1});
  add("m\"n .b", Elem::f32, {1}, {2});
  const std::string offer = misfits("", {{"a", Elem::f32, 1}, {"b", Elem::f32, 1}});
  EXPECT_NE(offer.find("write `prefix \"m\"\"n .\"` as a line"), std::string::npos) << offer;
  EXPECT_EQ(values("prefix \"m\"\"n .\"", {"b", Elem::f32, 1}, {1}), std::vector<double>{2});
}

}  // namespace
}  // namespace axon::weights
