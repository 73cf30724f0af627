// Failing system calls and files that change: every one is an error that names the file, and nothing half
// written stays behind.
#include <sys/stat.h>

#include <cerrno>

#include "gguf.h"
#include "host/weights/file.h"
#include "support.h"

namespace axon::weights {
namespace {

/// Restores the system calls, whatever a test replaced.
class Faults : public testing::Test {
 protected:
  ~Faults() override { system_calls = original; }
  static int fail(int error) {
    errno = error;
    return -1;
  }
  const SystemCalls original = system_calls;
  Folder folder;
};

const std::string sample = std::string("\x40\0\0\0\0\0\0\0", 8) +
                           R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}           )" + "1234";

/// A text that is longer than what is read at once.
std::string gguf_sample() {
  Gguf file;
  file.key("text", 8, gguf_text(std::string(100'000, 't')));
  return file.tensor("a", {2}, 0, "12345678").bytes();
}

TEST_F(Faults, the_sample_is_good) {
  EXPECT_EQ(sample.size(), 8u + 64 + 4);
  EXPECT_TRUE(open_tensors(folder.write("a.safetensors", sample)));
}
TEST_F(Faults, open_fails) {
  system_calls.open = [](const char*, int, mode_t) { return fail(EMFILE); };
  EXPECT_ERROR(open_tensors(folder.write("a.safetensors", sample)), code::system,
               "a.safetensors`: Too many open files");
}
TEST_F(Faults, fstat_fails) {
  const std::string path = folder.write("a.safetensors", sample);
  const auto file = open_tensors(path);
  ASSERT_TRUE(file);
  system_calls.fstat = [](int, struct stat*) { return fail(EIO); };
  EXPECT_ERROR(open_tensors(path), code::system, "cannot inspect");
  EXPECT_ERROR(file->view(file->table.tensors[0]), code::system, "cannot inspect");
}
TEST_F(Faults, map_fails) {
  system_calls.map = [](size_t, int) -> void* { return errno = ENOMEM, nullptr; };
  EXPECT_ERROR(open_tensors(folder.write("a.safetensors", sample)), code::system, "cannot map");
}
TEST_F(Faults, read_fails) {
  system_calls.pread = [](int, void*, size_t, off_t) -> ssize_t { return fail(EIO); };
  EXPECT_ERROR(open_tensors(folder.write("a.safetensors", sample)), code::system, "cannot read");
  EXPECT_ERROR(open_tensors(folder.write("a.index.json", "{}")), code::system, "cannot read");
  EXPECT_FALSE(open_tensors(TEST_DATA "/numpy.npy"));
  EXPECT_FALSE(open_tensors(TEST_DATA "/numpy_stored.npz"));
}
TEST_F(Faults, every_single_read_fails) {
  static int countdown;
  static SystemCalls real;
  real = original;
  system_calls.pread = [](int descriptor, void* out, size_t count, off_t offset) -> ssize_t {
    return countdown-- == 0 ? fail(EIO) : real.pread(descriptor, out, count, offset);
  };
  for (const std::string& path :
       {folder.write("a.safetensors", sample), folder.write("a.gguf", gguf_sample()),
        std::string(TEST_DATA "/numpy.npy"), std::string(TEST_DATA "/numpy_stored.npz"),
        std::string(TEST_DATA "/numpy_deflated.npz")}) {
    int successful = 0;
    for (;; ++successful) {
      countdown = successful;
      const auto file = open_tensors(path);
      if (file) break;
      EXPECT_EQ(file.error().code, code::system) << error_of(file);
    }
    EXPECT_GE(successful, 2);
  }
}
TEST_F(Faults, short_and_interrupted_reads_go_on) {
  static bool interrupt;
  static SystemCalls real;
  real = original;
  interrupt = false;
  system_calls.pread = [](int descriptor, void* out, size_t, off_t offset) -> ssize_t {
    return (interrupt = !interrupt) ? fail(EINTR) : real.pread(descriptor, out, 1, offset);
  };
  const auto file = open_tensors(folder.write("a.safetensors", sample));
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(content<char>(*file, "a"), (std::vector<char>{'1', '2', '3', '4'}));
}
TEST_F(Faults, a_file_that_shrinks_is_an_error_not_a_crash) {
  const std::string path = folder.write("a.safetensors", sample);
  const auto file = open_tensors(path);
  ASSERT_TRUE(file);
  ASSERT_EQ(truncate(path.c_str(), 20), 0);
  const Tensor& tensor = file->table.tensors[0];
  char out[4];
  EXPECT_ERROR(file->read(tensor, 0, out, 4), code::system, "became shorter");
  EXPECT_ERROR(file->view(tensor), code::system, "became shorter");
}
TEST_F(Faults, a_file_that_shrinks_while_it_is_opened) {
  static std::string path;
  static SystemCalls real;
  real = original;
  path = folder.write("a.safetensors", sample);
  system_calls.map = [](size_t size, int descriptor) -> void* {
    void* const mapping = real.map(size, descriptor);
    return truncate(path.c_str(), 4) == 0 ? mapping : nullptr;
  };
  EXPECT_ERROR(open_tensors(path), code::system, "became shorter");
}
TEST_F(Faults, reads_outside_a_tensor) {
  const auto file = open_tensors(folder.write("a.safetensors", sample));
  ASSERT_TRUE(file);
  char out[8];
  EXPECT_ERROR(file->read(file->table.tensors[0], 1, out, 4), code::range, "ends before");
  EXPECT_ERROR(file->read(file->table.tensors[0], UINT64_MAX, out, 4), code::range, "ends before");
  EXPECT_ERROR(file->files[0]->read(sample.size(), out, 1), code::range, "ends before");
  EXPECT_ERROR(file->files[0]->read(UINT64_MAX, out, 4), code::range, "ends before");
}
TEST_F(Faults, not_a_regular_file) {
  ASSERT_EQ(mkfifo((folder / "f.npy").c_str(), 0600), 0);
  EXPECT_ERROR(open_tensors(folder / "f.npy"), code::system, "not a regular file");
  ASSERT_TRUE(std::filesystem::create_directory(folder / "d.npy"));
  EXPECT_ERROR(open_tensors(folder / "d.npy"), code::system, "not a regular file");
}
TEST_F(Faults, empty_files) {
  for (const char* name : {"e.safetensors", "e.npy", "e.npz", "e.gguf", "e.index.json"})
    EXPECT_FALSE(open_tensors(folder.write(name, ""))) << name;
}

TEST_F(Faults, a_failed_write_leaves_the_old_file) {
  const std::string path = folder.write("w.safetensors", "old");
  const std::vector<float> values(600'000, 1);
  const std::vector<OutTensor> tensors = {borrowed("a", Elem::f32, {600'000}, values)};
  static int countdown;
  static SystemCalls real;
  real = original;
  using Write = std::function<Status()>;
  const std::vector<Write> writers = {[&] { return write_safetensors(path, tensors); },
                                      [&] { return write_npy(path, tensors[0]); },
                                      [&] { return write_npz(path, tensors); }};
  for (const Write& write : writers) {
    system_calls.write = [](int descriptor, const void* data, size_t count) -> ssize_t {
      return countdown-- == 0 ? fail(ENOSPC) : real.write(descriptor, data, count);
    };
    for (int successful = 0; successful < 4; ++successful) {
      countdown = successful;
      EXPECT_ERROR(write(), code::system, "No space left");
    }
    system_calls = real;
    system_calls.fsync = [](int) { return fail(EIO); };
    EXPECT_ERROR(write(), code::system, "cannot write");
    system_calls = real;
    system_calls.rename = [](const char*, const char*) { return fail(EACCES); };
    EXPECT_ERROR(write(), code::system, "cannot replace");
    system_calls = real;
    system_calls.open = [](const char*, int, mode_t) { return fail(EROFS); };
    EXPECT_ERROR(write(), code::system, "cannot create");
    system_calls = real;
    EXPECT_EQ(folder.entries(), 1u);
    EXPECT_EQ(read_all(path), "old");
  }
}
TEST_F(Faults, short_and_interrupted_writes_go_on) {
  static bool interrupt;
  static SystemCalls real;
  real = original;
  interrupt = false;
  system_calls.write = [](int descriptor, const void* data, size_t count) -> ssize_t {
    return (interrupt = !interrupt) ? fail(EINTR) : real.write(descriptor, data, std::min<size_t>(count, 3));
  };
  const std::vector<float> values = {1, 2, 3};
  ASSERT_EQ(error_of(write_safetensors(folder / "w.safetensors", {borrowed("a", Elem::f32, {3}, values)})),
            "no error");
  const auto file = open_tensors(folder / "w.safetensors");
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(content<float>(*file, "a"), values);
}

}  // namespace
}  // namespace axon::weights
