// Shard indices: tensors come from several files of one folder, and from nowhere else.
#include "support.h"

namespace axon::weights {
namespace {

class Shards : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(error_of(write_safetensors(folder / "one.safetensors", {borrowed("a", Elem::f32, {2}, values)},
                                         {{"h", "4"}})),
              "no error");
    ASSERT_EQ(
        error_of(write_safetensors(folder / "two.safetensors", {borrowed("b", Elem::f32, {1}, values),
                                                                borrowed("spare", Elem::f32, {1}, values)})),
        "no error");
  }
  Result<TensorFile> open(const std::string& index) {
    return open_tensors(folder.write("model.safetensors.index.json", index));
  }
  static std::string map(const std::string& entries) { return "{\"weight_map\":{" + entries + "}}"; }

  Folder folder;
  const std::vector<float> values = {1, 2};
};

TEST_F(Shards, tensors_of_two_files) {
  const auto file = open(R"({"metadata":{"total_size":12,"x":[1,-2,2.5,null,true,"s",{}]},)"
                         R"("weight_map":{"b":"two.safetensors","a":"one.safetensors"}})");
  ASSERT_TRUE(file) << error_of(file);
  ASSERT_EQ(file->table.tensors.size(), 2u) << "tensors that the index does not list are left out";
  EXPECT_EQ(content<float>(*file, "a"), values);
  EXPECT_EQ(content<float>(*file, "b"), std::vector<float>{1});
  EXPECT_EQ(file->table.metadata.at("h"), "4");
}
TEST_F(Shards, outside_the_folder) {
  for (const char* shard : {"../one.safetensors", "/etc/passwd", "sub/one.safetensors", "..", ".", "",
                            "a\\\\b.safetensors", "one.safetensors\\u0000.txt"})
    EXPECT_ERROR(open(map("\"a\":\"" + std::string(shard) + "\"")), code::shards, "beside the index");
}
TEST_F(Shards, shard_that_is_missing) {
  EXPECT_ERROR(open(map(R"("a":"three.safetensors")")), code::system, "three.safetensors");
}
TEST_F(Shards, shard_that_is_broken) {
  folder.write("bad.safetensors", "x");
  EXPECT_ERROR(open(map(R"("a":"bad.safetensors")")), code::format, "too short");
}
TEST_F(Shards, tensor_that_is_not_in_its_shard) {
  EXPECT_ERROR(open(map(R"("a":"two.safetensors")")), code::shards, "`a` is not in shard `two.safetensors`");
}
TEST_F(Shards, duplicate_tensor) {
  EXPECT_ERROR(open(map(R"("a":"one.safetensors","a":"two.safetensors")")), code::format, "occurs twice");
}
TEST_F(Shards, duplicate_weight_map) {
  EXPECT_ERROR(open(R"({"weight_map":{},"weight_map":{}})"), code::format, "occurs twice");
}
TEST_F(Shards, no_weight_map) {
  EXPECT_ERROR(open("{}"), code::shards, "no weight_map");
  EXPECT_ERROR(open(R"({"weight_map":"x"})"), code::format, "a string is not expected");
}
TEST_F(Shards, weight_map_of_other_things) {
  for (const char* value : {"1", "-1", "0.5", "null", "true", "[]", "{}"})
    EXPECT_ERROR(open(map("\"a\":" + std::string(value))), code::format, "is not expected");
}
TEST_F(Shards, deep_nesting) {
  EXPECT_ERROR(open("{\"metadata\":" + std::string(1'000'000, '[')), code::limit, "nested too deeply");
}
TEST_F(Shards, not_json) {
  EXPECT_ERROR(open(""), code::format, "does not start with");
  EXPECT_ERROR(open("{"), code::format, "malformed");
}
TEST_F(Shards, missing_index) {
  EXPECT_ERROR(open_tensors(folder / "no.index.json"), code::system, "cannot open");
}

}  // namespace
}  // namespace axon::weights
