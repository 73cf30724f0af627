// The manifest under hostile text: each broken rule is refused with the place where it stands.
#include <gtest/gtest.h>

#include <random>

#include "host/manifest.h"
#include "support.h"

namespace axon::test {
namespace {

std::string refusal(const std::string& text) {
  auto manifest = host::read_manifest(weights::Bytes(std::string_view(text)));
  return manifest ? "" : manifest.failure().text;
}

const std::string good = manifest_text(all_entries(), test_weights());

/// The good manifest with the first occurrence of `from` replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = good;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Manifest, TheGoodOneIsRead) {
  const auto manifest = host::read_manifest(weights::Bytes(std::string_view(good)));
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->entries.size(), 24u);
  EXPECT_EQ(manifest->entries[0].doc, "x times a.\n`y` says the shape.");
  EXPECT_EQ(manifest->entries[1].doc, "");  // as of older bundles
  EXPECT_EQ(manifest->entries[0].sizes[1].equation.str(), "2*m");
  EXPECT_EQ(manifest->weights[0].placement.digits.back().extent, 4u);
  EXPECT_EQ(manifest->entries[2].variants[0].event_names[1], "second");
  EXPECT_TRUE(manifest->other_weights.empty());  // as of older bundles
}

TEST(Manifest, WeightsOfOtherEntriesAreOptional) {
  const std::string text =
      changed(R"("source":"test.axn")", R"("source":"test.axn","other_weights":["q.a","b"])");
  const auto manifest = host::read_manifest(weights::Bytes(std::string_view(text)));
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->other_weights, (std::vector<std::string>{"q.a", "b"}));
}

TEST(Manifest, BrokenRules) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"("format":4)", R"("format":2)"},
      {R"("levels":["x86-64-v2"])", R"("levels":[])"},
      {R"("abi":1)", R"("abi":7)"},
      {R"("format":4)", R"("format":5)"},
      {R"("abi":1)", R"("abi":0)"},
      {R"("abi":1)", R"("abi":-1)"},
      {R"("compiler":"by hand")", R"("compiler":5)"},
      {R"("doc": "x times)", R"("doc": 5, "x": "x times)"},
      {R"("axis":2,"extent":4)", R"("axis":2)"},
      {R"("axis":2,"extent":4)", R"("axis":2,"extent":0)"},
      {R"("axis":2,"extent":4)", R"("axis":2,"extent":4097)"},
      {R"("axis":2,"extent":4)", R"("axis":3,"extent":4)"},
      {R"({"axis":0,"extent":0},{"axis":2)", R"({"axis":2)"},
      {R"({"axis":0,"extent":0},{"axis":2)", R"({"axis":0,"extent":2},{"axis":2)"},
      {R"("path":"p.v","elem":"f32")", R"("path":"p.v","elem":"f33")"},
      {R"("path":"p.v","elem":"f32")", R"("path":"p.w","elem":"f32")"},
      {R"({ "name": "chain")", R"({ "name": "scale")"},
      {R"("input":0,"axis":1)", R"("input":99,"axis":1)"},
      {R"("input":0,"axis":1)", R"("input":0,"axis":2)"},
      {R"("equation":"2*m")", R"("equation":"2*n")"},
      {R"("equation":"n")", R"("equation":"n + m")"},
      {R"("equation":"n")", R"("equation":"n +")"},
      {R"("from":"axis")", R"("from":"nowhere")"},
      {R"("from":"axis")", R"("from":"data")"},
      {R"("relation":"<=")", R"("relation":">=")"},
      {R"("symbol":"scale_0", "guard":[])",
       R"("symbol":"scale_0", "guard":[{"lhs":"1","relation":"<","rhs":"2"}])"},
      {R"({"kind":"slot","index":1})", R"({"kind":"slot","index":2})"},
      {R"({"bytes":"2*4*n","above":[0]})", R"({"bytes":"2*4*n","above":[1]})"},
      {R"({"bytes":"2*4*n","above":[0]})", R"({"above":[0]})"},
      {R"({"kind":"result","index":0})", R"({"kind":"result","index":1})"},
      {R"({"kind":"argument","index":1})", R"({"kind":"argument","index":-1})"},
      {R"({"kind":"argument","index":1})", R"({"kind":"weight","index":1})"},
      {R"({"kind":"argument","index":1})", R"({"kind":"argument","index":4294967296})"},
      {R"("strides":["ld","1"])", R"("strides":["ld"])"},
      {R"("strides":["ld","1"])", R"("strides":["lf","1"])"},
      {R"("strides":["ld","1"])", R"("strode":["ld","1"])"},
      {R"("from":"stride","input":0,"axis":0)", R"("from":"stride","input":0,"axis":2)"},
      {R"("state":0)", R"("state":1)"},
      {R"("state":0)", R"("state":9)"},
      {R"("event_names":["first","second"])", R"("event_names":["first"])"},
      {R"("debug_buffers":[0])", R"("debug_buffers":[1])"},
      {R"("debug_buffers":[0])", R"("debug_buffers":[])"},
      {R"("name":"the x","elem":"f32")", R"("name":"the x","elem":"bool","condition":true)"},
      {R"("weight":1)", R"("weight":2)"},
      {R"("weight":1)", R"("weight":0)"},
      {R"("event_words":"5")", R"("event_words":5)"},
      {R"("shape":["n","2*m"])", R"("shape":"n")"},
      {R"("shape":["n","2*m"])",
       R"("shape":["1","1","1","1","1","1","1","1","1","1","1","1","1","1","1","1","1"])"},
      {R"("path":"l","kind":"size","elem":"i64")", R"("path":"l","kind":"size","elem":"i32")"},
      {R"({"input":1,"bound":"2*s")", R"({"input":7,"bound":"2*s")"},
      {R"("source":"test.axn")", R"("source":"test.axn","source":"twice")"},
      {R"("source":"test.axn")", "\"source\":\"a\\u0000b\""},
      {R"("source":"test.axn")", R"("source":"test.axn","other_weights":[1])"},
      {R"("source":"test.axn")", R"("source":"test.axn","other_weights":"q.a")"},
  };
  for (const auto& [from, to] : cases) EXPECT_NE(refusal(changed(from, to)), "") << to;
}

TEST(Manifest, MessagesNameThePlace) {
  EXPECT_EQ(refusal(changed(R"("equation":"2*m")", R"("equation":"2*k")")),
            "manifest.entries[0].sizes[1].equation: dimension `2*k` has an unknown size");
  EXPECT_EQ(refusal(changed(R"("scratch":"64", )", "")), "manifest.entries[1].variants[0]: lacks `scratch`");
}

TEST(Manifest, NestingAndNonsense) {
  EXPECT_NE(refusal(std::string(1'000'000, '[')), "");
  EXPECT_NE(refusal(R"({"format":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}")
                .find("too deeply"),
            std::string::npos);
  EXPECT_NE(refusal(""), "");
  EXPECT_NE(refusal("{}"), "");
  EXPECT_NE(refusal("[]"), "");
  EXPECT_NE(refusal("null"), "");
  EXPECT_NE(refusal("{\"format\":2"), "");
  EXPECT_NE(refusal("\xff\xfe{}"), "");
}

TEST(Manifest, RandomDamageNeverCrashes) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 20);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 30));
      }
    }
    refusal(text);  // any answer is fine
  }
}

}  // namespace
}  // namespace axon::test
