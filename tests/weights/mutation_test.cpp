// Valid files, damaged at random: each is read or refused, never read outside itself. The seed is printed on
// failure; the sanitizer builds of this test are what gives it teeth.
#include <random>

#include "gguf.h"
#include "support.h"

namespace axon::weights {
namespace {

using Reader = Result<TensorFile> (*)(std::shared_ptr<File>);

/// What a table promises about its file.
void check_promises(const TensorFile& file) {
  for (const Tensor& tensor : file.table.tensors) {
    ASSERT_LT(tensor.file, file.files.size());
    ASSERT_LE(tensor.begin, tensor.end);
    ASSERT_LE(tensor.end, file.files[tensor.file]->size());
    const auto size = byte_count(tensor.shape, tensor.dtype);
    ASSERT_TRUE(size);
    ASSERT_EQ(file.table.find(tensor.name), &tensor);
    if (tensor.packing == Packing::none) {
      ASSERT_EQ(*size, tensor.end - tensor.begin);
    } else if (tensor.packing != Packing::unreadable) {
      std::vector<uint8_t> elements(read_bytes(tensor));
      ASSERT_EQ(error_of(file.read(tensor, 0, elements.data(), elements.size())), "no error");
    }
    const auto view = file.view(tensor);
    ASSERT_TRUE(view);
    uint8_t sum = 0;
    for (size_t i = 0; i < view->size(); ++i) sum ^= view->data()[i];
    volatile uint8_t keep = sum;
    (void)keep;
  }
}

void mutate(const std::string& original, Reader reader, uint32_t seed) {
  std::mt19937 random(seed);
  const std::vector<uint64_t> interesting = {
      0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, uint64_t{1} << 63, UINT64_MAX};
  for (int round = 0; round < 20'000; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
    std::string file = original;
    for (uint32_t change = 0; change <= random() % 3; ++change) {
      const size_t at = random() % file.size();
      switch (random() % 5) {
        case 0:
          file[at] = static_cast<char>(random());
          break;
        case 1:
          file[at] = static_cast<char>(file[at] ^ 1 << random() % 8);
          break;
        case 2:
          file.erase(at, random() % 9);
          break;
        case 3:
          file.insert(at, file.substr(random() % file.size(), random() % 9));
          break;
        default: {
          const std::string number = little(interesting[random() % interesting.size()]);
          file.replace(at, 1 + random() % 8, number.substr(0, 1 + random() % 8));
        }
      }
      if (file.empty()) file.assign(1, 'x');
    }
    const auto result = reader(File::from_memory("m", bytes_of(file)));
    if (result)
      check_promises(*result);
    else
      ASSERT_FALSE(result.error().message.empty());
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Mutation, safetensors) {
  Folder folder;
  const std::vector<uint8_t> data(100);
  ASSERT_FALSE(write_safetensors(folder / "x",
                                 {borrowed("a", Elem::f32, {2, 3}, data), borrowed("b", Elem::u8, {}, data),
                                  borrowed("c", Elem::f64, {0}, data)},
                                 {{"k", "v"}}));
  mutate(read_all(folder / "x"), read_safetensors, 1);
}
TEST(Mutation, gguf) {
  Gguf file;
  file.key("general.alignment", 4, little<uint32_t>(32))
      .key("a", 8, gguf_text("text"))
      .key("b", 6, little(1.f));
  file.key("c", 9, little<uint32_t>(8) + little<uint64_t>(2) + gguf_text("one") + gguf_text("two"));
  file.tensor("w", {3, 2}, 0, std::string(24, 'w')).tensor("q", {64}, 8, std::string(68, 'q'));
  mutate(file.tensor("k", {256}, 12, std::string(144, 'k')).bytes(), read_gguf, 5);
}
TEST(Mutation, npy) { mutate(read_all(TEST_DATA "/numpy.npy"), read_npy, 2); }
TEST(Mutation, npz_stored) {
  Folder folder;
  const std::vector<uint8_t> data(100);
  ASSERT_FALSE(
      write_npz(folder / "x", {borrowed("a", Elem::f32, {2, 3}, data), borrowed("b", Elem::u8, {}, data)}));
  mutate(read_all(folder / "x"), read_npz, 3);
}
TEST(Mutation, npz_deflated) { mutate(read_all(TEST_DATA "/numpy_deflated.npz"), read_npz, 4); }

}  // namespace
}  // namespace axon::weights
