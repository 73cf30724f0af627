// The container under hostile bytes: whatever is changed, cut or made up is refused, and nothing is read
// outside.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "host/bundle.h"
#include "support.h"

namespace axon::test {
namespace {

/// A copy at the very end of its allocation, so that a sanitizer sees the first byte read past it.
host::Result<std::shared_ptr<host::Bundle>> load(const Bytes& bytes) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  return host::load_bundle(host::Bytes(exact.get(), bytes.size()));
}

std::string refusal(const Bytes& bytes) {
  auto bundle = load(bytes);
  return bundle ? "" : bundle.failure().text;
}

void poke64(Bytes& bytes, size_t at, uint64_t value) { std::memcpy(bytes.data() + at, &value, sizeof value); }
void poke32(Bytes& bytes, size_t at, uint32_t value) { std::memcpy(bytes.data() + at, &value, sizeof value); }

/// A bundle with a small manifest and a stand-in for the image: enough for everything before the loading of
/// code.
Bytes small_container() {
  return make_container({{"manifest", to_bytes(manifest_text(""))}, {"x86-64-v2", Bytes(100, 7)}});
}

TEST(Container, TheWholeBundleLoads) { EXPECT_EQ(refusal(test_bundle()), ""); }

TEST(Container, EveryTruncationIsRefused) {
  const Bytes whole = small_container();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(host::read_container(host::Bytes(whole.data(), size))) << size;
}

TEST(Container, EveryFlippedBitOfContainerAndManifestIsRefused) {
  const Bytes whole = test_bundle();
  const size_t end = 24 + 2 * 48 + 600;  // header, table and the manifest's beginning
  for (size_t byte = 0; byte < end; ++byte)
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bytes = whole;
      bytes[byte] ^= static_cast<uint8_t>(1 << bit);
      EXPECT_NE(refusal(bytes), "") << "byte " << byte << " bit " << bit;
    }
}

TEST(Container, FlippedCodeIsNeverLoaded) {
  const Bytes whole = test_bundle();
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    Bytes bytes = whole;
    const size_t at = 720 + random() % (bytes.size() - 720);
    bytes[at] ^= static_cast<uint8_t>(1u << random() % 8);
    EXPECT_NE(refusal(bytes), "") << at;
  }
}

TEST(Container, TablesOutOfBounds) {
  const Bytes whole = small_container();
  const size_t offset = 24 + 24, size = offset + 8;
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{64}, uint64_t{whole.size()},
                               uint64_t{1} << 32, uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 63}) {
    for (const size_t at : {offset, size, offset + 48, size + 48}) {
      Bytes bytes = whole;
      poke64(bytes, at, value);
      if (bytes == whole) continue;
      EXPECT_NE(refusal(bytes), "") << at << " " << value;
    }
  }
  for (const uint32_t count : {0u, 1u, 3u, 16u, 17u, 0x7fffffffu, 0xffffffffu}) {
    Bytes bytes = whole;
    poke32(bytes, 12, count);
    EXPECT_NE(refusal(bytes), "") << count;
  }
}

TEST(Container, VersionAndSizeAreNamed) {
  Bytes bytes = small_container();
  poke32(bytes, 8, 2);
  EXPECT_NE(refusal(bytes).find("the bundle has format 2, this library reads 1"), std::string::npos);
  bytes = small_container();
  bytes.push_back(0);
  EXPECT_NE(refusal(bytes).find("it should have"), std::string::npos);
  EXPECT_EQ(refusal(to_bytes("#!/bin/sh\nexit 0 and more text")), "not an Axon bundle");
  EXPECT_EQ(refusal({}), "not an Axon bundle");
}

TEST(Container, SectionsAndLevelsMustAgree) {
  const Bytes manifest = to_bytes(manifest_text(""));
  const Bytes image = kernel_image();
  EXPECT_NE(refusal(make_container({{"manifest", manifest}})).find("`x86-64-v2` is missing"),
            std::string::npos);
  EXPECT_NE(refusal(make_container({{"x86-64-v2", image}})).find("no manifest"), std::string::npos);
  EXPECT_NE(refusal(make_container({{"manifest", manifest}, {"x86-64-v2", image}, {"more", image}}))
                .find("unknown section"),
            std::string::npos);
  EXPECT_NE(refusal(make_container({{"manifest", manifest}, {"manifest", manifest}, {"x86-64-v2", image}}))
                .find("two sections"),
            std::string::npos);
}

TEST(Image, WrongCodeIsRefused) {
  const Bytes manifest = to_bytes(manifest_text(""));
  const auto with_image = [&](Bytes image) {
    return refusal(make_container({{"manifest", manifest}, {"x86-64-v2", std::move(image)}}));
  };
  EXPECT_NE(with_image(Bytes(1000, 0)).find("no shared object"), std::string::npos);
  EXPECT_NE(with_image({}).find("no shared object"), std::string::npos);
  Bytes image = kernel_image();
  image[18] = 183;  // e_machine: AArch64
  EXPECT_NE(with_image(image).find("another processor"), std::string::npos);
  image = kernel_image();
  image.resize(image.size() / 8);
  EXPECT_NE(with_image(image).find("is cut off"), std::string::npos);
}

TEST(Image, MissingSymbolsAreNamed) {
  std::string entry = all_entries().substr(0, all_entries().find("\"name\": \"chain\"") - 4);
  entry.replace(entry.find("scale_one"), 9, "scale_two");
  EXPECT_EQ(refusal(make_bundle(manifest_text(entry))), "the machine code lacks `scale_two`");
}

TEST(Image, LevelsCanBeForced) {
  const Bytes bundle = test_bundle();
  setenv("AXON_LEVEL", "x86-64-v2", 1);
  EXPECT_EQ(refusal(bundle), "");
  setenv("AXON_LEVEL", "x86-64-v9", 1);
  EXPECT_NE(refusal(bundle).find("no instruction-set level"), std::string::npos);
  setenv("AXON_LEVEL", "x86-64-v3", 1);
  EXPECT_NE(
      refusal(bundle).find(host::machine_has("x86-64-v3") ? "but the bundle has x86-64-v2" : "cannot run"),
      std::string::npos);
  unsetenv("AXON_LEVEL");
}

TEST(Image, EveryLevelOfTheMachineCanBeForced) {
  std::string manifest = manifest_text(all_entries(), test_weights()), names;
  std::vector<std::pair<std::string, Bytes>> sections{{"manifest", {}}};
  for (const std::string& level : host::known_levels()) {
    names += (names.empty() ? "\"" : ",\"") + level + "\"";
    sections.emplace_back(level, kernel_image());
  }
  manifest.replace(manifest.find(R"(["x86-64-v2"])"), 13, "[" + names + "]");
  sections[0].second = to_bytes(manifest);
  const Bytes bytes = make_container(sections);
  size_t forced = 0;
  for (const std::string& level : host::known_levels()) {
    setenv("AXON_LEVEL", level.c_str(), 1);
    if (!host::machine_has(level)) {
      EXPECT_NE(refusal(bytes).find("cannot run"), std::string::npos) << level;
      continue;
    }
    const auto bundle = load(bytes);
    ASSERT_TRUE(bundle) << level;
    EXPECT_EQ((*bundle)->image->level(), level);
    ++forced;
  }
  unsetenv("AXON_LEVEL");
  EXPECT_GE(forced, 1u);
}

TEST(Image, TheBestLevelOfTheMachineIsChosen) {
  std::string manifest = manifest_text(all_entries(), test_weights());
  manifest.replace(manifest.find(R"(["x86-64-v2"])"), 13, R"(["x86-64-v2","x86-64-v3"])");
  const auto bundle = load(make_container(
      {{"manifest", to_bytes(manifest)}, {"x86-64-v2", kernel_image()}, {"x86-64-v3", kernel_image()}}));
  ASSERT_TRUE(bundle);
  EXPECT_EQ((*bundle)->image->level(), host::machine_has("x86-64-v3") ? "x86-64-v3" : "x86-64-v2");
}

}  // namespace
}  // namespace axon::test
