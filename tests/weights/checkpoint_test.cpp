// The converter: every element lands where the model record wants it, broken checkpoints leave nothing
// behind.
#include "checkpoint.h"

#include <sys/wait.h>

#include <cmath>

#include "support.h"

namespace axon::examples {
namespace {

using weights::bytes_of;
using weights::Folder;
using weights::little;

/// A checkpoint of any shape whose floats count up from 0.
std::string checkpoint(std::vector<int32_t> header) {
  const int64_t d = header[0], f = header[1], n = header[2], heads = header[3], kv = d / heads * header[4];
  const int64_t v = std::abs(header[5]), rope = header[6] * (d / heads / 2);
  const int64_t count = v * d + n * d + n * d * d + 2 * n * d * kv + n * d * d + n * d + 3 * n * d * f + d +
                        2 * rope + (header[5] < 0 ? v * d : 0);
  std::string out;
  for (const int32_t number : header) out += little(number);
  for (int64_t i = 0; i < count; ++i) out += little(static_cast<float>(i));
  return out;
}
const std::vector<int32_t> small = {8, 6,  3, 4,
                                    2, 10, 5};  // dim hidden layers heads kv_heads vocabulary sequence

struct Run {
  int status;
  std::string message;
};
Run convert(const Folder& folder, const std::string& arguments) {
  const std::string command = std::string(CONVERT_CHECKPOINT) + " " + arguments + " 2> " + folder / "stderr";
  const int status = std::system(command.c_str());
  const std::string message = weights::read_all(folder / "stderr");
  std::filesystem::remove(folder / "stderr");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, message};
}

TEST(Checkpoint, every_element_is_where_it_belongs) {
  Folder folder;
  const std::string path = folder.write("m.bin", checkpoint(small));
  ASSERT_EQ(convert(folder, path + " -o " + folder / "m.safetensors").status, 0);
  const auto file = weights::open_tensors(folder / "m.safetensors");
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(file->table.metadata,
            (std::map<std::string, std::string>{
                {"base", "10000"}, {"eps", "1e-5"}, {"h", "2"}, {"k", "2"}, {"s", "5"}}));
  EXPECT_EQ(file->table.tensors.size(), 12u) << "the classifier is a copy of the embedding";

  struct Expected {
    const char* name;
    std::vector<uint64_t> shape;
    bool transposed;
  };
  float at = 0;  // the position in the file, which is also the value there
  for (const auto& [name, shape, transposed] : std::vector<Expected>{{"embed", {10, 8}, false},
                                                                     {"layers.norm1", {3, 8}, false},
                                                                     {"layers.wq", {3, 8, 8}, true},
                                                                     {"layers.wk", {3, 8, 4}, true},
                                                                     {"layers.wv", {3, 8, 4}, true},
                                                                     {"layers.wo", {3, 8, 8}, true},
                                                                     {"layers.norm2", {3, 8}, false},
                                                                     {"layers.w1", {3, 8, 6}, true},
                                                                     {"layers.w2", {3, 6, 8}, true},
                                                                     {"layers.w3", {3, 8, 6}, true},
                                                                     {"norm", {8}, false}}) {
    ASSERT_NE(file->table.find(name), nullptr) << name;
    EXPECT_EQ(file->table.find(name)->shape, shape) << name;
    const auto values = content<float>(*file, name);
    const uint64_t rows = transposed ? shape[1] : 1, columns = transposed ? shape[2] : values.size();
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t matrix = i / (rows * columns), row = i / columns % rows, column = i % columns;
      ASSERT_EQ(values[i], at + static_cast<float>((matrix * columns + column) * rows + row))
          << name << " " << i;
    }
    at += static_cast<float>(values.size());
  }
}
TEST(Checkpoint, a_separate_classifier_is_written_unless_left_out) {
  Folder folder;
  std::vector<int32_t> header = small;
  header[5] = -10;
  const std::string path = folder.write("m.bin", checkpoint(header));
  ASSERT_EQ(convert(folder, path + " -o " + folder / "a.safetensors").status, 0);
  const auto file = weights::open_tensors(folder / "a.safetensors");
  ASSERT_TRUE(file) << error_of(file);
  const auto classifier = content<float>(*file, "classifier");
  ASSERT_EQ(classifier.size(), 80u);
  const float first = static_cast<float>((std::filesystem::file_size(path) - 28) / 4 - 80);
  EXPECT_EQ(classifier[0], first);
  EXPECT_EQ(classifier[79], first + 79);
  ASSERT_EQ(convert(folder, path + " --share -o " + folder / "b.safetensors").status, 0);
  EXPECT_EQ(weights::open_tensors(folder / "b.safetensors")->table.find("classifier"), nullptr);
}
TEST(Checkpoint, a_shared_classifier_is_copied_unless_left_out) {
  Folder folder;
  const std::string path = folder.write("m.bin", checkpoint(small));
  ASSERT_EQ(convert(folder, path + " -o " + folder / "a.safetensors").status, 0);
  const auto file = weights::open_tensors(folder / "a.safetensors");
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(content<float>(*file, "classifier"), content<float>(*file, "embed"));
  ASSERT_EQ(convert(folder, path + " --share -o " + folder / "b.safetensors").status, 0);
  EXPECT_EQ(weights::open_tensors(folder / "b.safetensors")->table.find("classifier"), nullptr);
}
TEST(Checkpoint, narrow_types) {
  Folder folder;
  const std::string path = folder.write("m.bin", checkpoint(small));
  ASSERT_EQ(convert(folder, path + " --dtype bf16 -o " + folder / "a.safetensors").status, 0);
  ASSERT_EQ(convert(folder, path + " --dtype f16 -o " + folder / "b.safetensors").status, 0);
  const auto bf16 = weights::open_tensors(folder / "a.safetensors"),
             f16 = weights::open_tensors(folder / "b.safetensors");
  ASSERT_TRUE(bf16 && f16);
  const auto a = content<uint16_t>(*bf16, "embed"), b = content<uint16_t>(*f16, "embed");
  for (size_t i = 0; i < 80; ++i) {
    EXPECT_EQ(weights::load_float(Elem::bf16, &a[i]), static_cast<double>(i));
    EXPECT_EQ(weights::load_float(Elem::f16, &b[i]), static_cast<double>(i));
  }
}
TEST(Checkpoint, random_weights_are_scaled_and_reproducible) {
  Folder folder;
  const std::string shape = "--random 64 96 2 8 4 -200 32 -o ";
  ASSERT_EQ(convert(folder, shape + folder / "a.safetensors").status, 0);
  ASSERT_EQ(convert(folder, shape + folder / "b.safetensors").status, 0);
  ASSERT_EQ(convert(folder, "--seed 1 " + shape + folder / "c.safetensors").status, 0);
  EXPECT_EQ(weights::read_all(folder / "a.safetensors"), weights::read_all(folder / "b.safetensors"));
  EXPECT_NE(weights::read_all(folder / "a.safetensors"), weights::read_all(folder / "c.safetensors"));
  const auto file = weights::open_tensors(folder / "a.safetensors");
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(content<float>(*file, "layers.norm1"), std::vector<float>(128, 1.0f));
  EXPECT_NE(content<float>(*file, "classifier"), content<float>(*file, "embed"));
  for (const auto& [name, inputs] :
       std::vector<std::pair<const char*, double>>{{"layers.w1", 64}, {"layers.w2", 96}}) {
    double sum = 0, squares = 0;
    const auto values = content<float>(*file, name);
    for (const float value : values) sum += value, squares += static_cast<double>(value) * value;
    const double count = static_cast<double>(values.size());
    EXPECT_NEAR(sum / count, 0, 0.05 / std::sqrt(inputs));
    EXPECT_NEAR(std::sqrt(squares / count * inputs), 1, 0.05);
  }
}

/// Runs the converter on a broken file and returns its message.
std::string refused_checkpoint(const std::string& content) {
  Folder folder;
  const std::string path = folder.write("m.bin", content);
  const Run run = convert(folder, path + " -o " + folder / "out.safetensors");
  EXPECT_EQ(run.status, 1) << run.message;
  EXPECT_EQ(folder.entries(), 1u) << "nothing half written";
  return run.message;
}
std::string refused_header(size_t position, int32_t value) {
  std::vector<int32_t> header = small;
  std::string content = checkpoint(header);
  content.replace(position * 4, 4, little(value));
  return refused_checkpoint(content);
}
#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)

TEST(CheckpointHostile, truncated) {
  const std::string whole = checkpoint(small);
  EXPECT_SAYS(refused_checkpoint(""), "shorter than its header");
  EXPECT_SAYS(refused_checkpoint(whole.substr(0, 27)), "shorter than its header");
  EXPECT_SAYS(refused_checkpoint(whole.substr(0, 28)), "ends within embed");
  EXPECT_SAYS(refused_checkpoint(whole.substr(0, whole.size() - 1)), "ends within rope");
}
TEST(CheckpointHostile, trailing_bytes) {
  EXPECT_SAYS(refused_checkpoint(checkpoint(small) + "x"), "1 bytes after");
}
TEST(CheckpointHostile, sizes_that_are_negative_or_zero) {
  const char* names[] = {"dim", "hidden", "layers", "heads", "key-value heads", "vocabulary", "sequence"};
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_SAYS(refused_header(i, 0), std::string(names[i]) + " is 0");
    EXPECT_SAYS(refused_header(i, INT32_MIN), std::string(names[i]) + " is -2147483648");
    if (i == 5) continue;  // a negative vocabulary has a meaning
    EXPECT_SAYS(refused_header(i, -8), std::string(names[i]) + " is -8");
  }
}
TEST(CheckpointHostile, sizes_that_overflow) {
  std::string content = checkpoint(small);
  for (const size_t i : {0u, 1u, 2u, 5u}) content.replace(i * 4, 4, little(0x7ffffff8));
  EXPECT_SAYS(refused_checkpoint(content), "too many elements");
  EXPECT_SAYS(refused_header(2, INT32_MAX), "ends within layers.norm1");
}
TEST(CheckpointHostile, heads_that_do_not_fit) {
  EXPECT_SAYS(refused_header(3, 3), "does not give 3 heads");
  EXPECT_SAYS(refused_header(3, 8), "heads of an even size");
  EXPECT_SAYS(refused_header(4, 3), "do not share 3 key-value heads");
}
TEST(CheckpointHostile, outputs_that_are_no_plain_files) {
  Folder folder;
  const std::string path = folder.write("m.bin", checkpoint(small)), kept = folder.write("kept", "old");
  std::filesystem::create_symlink("m.safetensors", folder / "link");
  EXPECT_EQ(convert(folder, path + " -o " + folder / "link").status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(weights::open_tensors(folder / "m.safetensors"));
  EXPECT_EQ(convert(folder, path + " -o /dev/null").status, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const auto full = convert(folder, path + " -o /dev/full");
  EXPECT_EQ(full.status, 1);
  EXPECT_EQ(full.message, "error[E0701]: cannot write `/dev/full`: No space left on device\n");
  std::filesystem::permissions(kept, std::filesystem::perms(0444));
  EXPECT_EQ(convert(folder, path + " -o " + kept).status, 1);
  EXPECT_EQ(weights::read_all(kept), "old");
  EXPECT_EQ(folder.entries(), 4u);
}
TEST(CheckpointHostile, missing_file_and_wrong_usage) {
  Folder folder;
  EXPECT_EQ(convert(folder, folder / "no.bin" + " -o " + folder / "x").status, 1);
  EXPECT_EQ(convert(folder, "-o " + folder / "x").status, 2);
  EXPECT_EQ(convert(folder, "--random 1 2 3 -o " + folder / "x").status, 2);
  EXPECT_EQ(convert(folder, "--random 64 96 2 8 4 -200 32 --dtype i8 -o " + folder / "x").status, 2);
  EXPECT_EQ(convert(folder, "--random 64 96 2 8 4 200 32 -o " + folder / "no/x").status, 1);
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace axon::examples
