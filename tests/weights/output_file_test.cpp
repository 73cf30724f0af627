// How files are written: what stands under the path decides, and nothing half written stays behind.
#include "host/weights/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "support.h"

namespace axon::weights {
namespace {

namespace fs = std::filesystem;

Status put(const std::string& path, std::string_view text) { return write_file(path, Bytes(text)); }

mode_t mode_of(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
  return found.st_mode & 07777;
}

TEST(OutputFile, a_new_file_has_the_mode_of_new_files) {
  Folder folder;
  const mode_t mask = ::umask(027);
  EXPECT_EQ(error_of(put(folder / "a", "text")), "no error");
  EXPECT_EQ(error_of(put(folder / "empty", "")), "no error");
  ::umask(mask);
  EXPECT_EQ(mode_of(folder / "a"), 0640u);
  EXPECT_EQ(read_all(folder / "a"), "text");
  EXPECT_EQ(read_all(folder / "empty"), "");
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(OutputFile, a_file_is_replaced_and_keeps_its_mode) {
  Folder folder;
  const std::string path = folder.write("a", "old"), other = folder / "other";
  fs::permissions(path, fs::perms(0751));
  fs::create_hard_link(path, other);
  EXPECT_EQ(error_of(put(path, "new")), "no error");
  EXPECT_EQ(read_all(path), "new");
  EXPECT_EQ(read_all(other), "old") << "who has the old file open reads the old file";
  EXPECT_EQ(mode_of(path), 0751u);
}

TEST(OutputFile, without_a_commit_nothing_changes) {
  Folder folder;
  const std::string path = folder.write("a", "old");
  {
    OutputFile file(path);
    EXPECT_EQ(error_of(file.write(Bytes(std::string_view("half")))), "no error");
    EXPECT_EQ(folder.entries(), 2u);
  }
  EXPECT_EQ(read_all(path), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(OutputFile, links_stay) {
  Folder folder;
  fs::create_directory(folder / "far");
  folder.write("far/a", "old");
  fs::create_symlink("a", folder / "far/link");  // relative to where the link is
  fs::create_symlink(folder / "far/link", folder / "chain");
  fs::create_symlink("far/new", folder / "ahead");
  fs::create_symlink("two", folder / "one");
  fs::create_symlink("one", folder / "two");
  EXPECT_EQ(error_of(put(folder / "chain", "1")), "no error");
  EXPECT_EQ(error_of(put(folder / "ahead", "2")), "no error");
  EXPECT_ERROR(put(folder / "one", "3"), code::system, "one`: Too many levels of symbolic links");
  EXPECT_EQ(read_all(folder / "far/a"), "1");
  EXPECT_EQ(read_all(folder / "far/new"), "2");
  for (const char* link : {"chain", "ahead", "one", "two", "far/link"})
    EXPECT_TRUE(fs::is_symlink(folder / link)) << link;
  EXPECT_EQ(folder.entries(), 5u);
}

TEST(OutputFile, what_may_not_be_written_stays) {
  Folder folder;
  const std::string path = folder.write("a", "old");
  fs::permissions(path, fs::perms(0444));
  EXPECT_ERROR(put(path, "new"), code::system, "a`: it is read-only");
  EXPECT_ERROR(put(folder / "", "new"), code::system, "Is a directory");
  EXPECT_ERROR(put(folder / "no/b", "new"), code::system, "No such file");
  EXPECT_ERROR(put("/proc/out", "new"), code::system, "/proc/out`");
  EXPECT_EQ(read_all(path), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(OutputFile, devices_are_written_to) {
  EXPECT_EQ(error_of(put("/dev/null", "text")), "no error");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_ERROR(put("/dev/full", "text"), code::system, "cannot write `/dev/full`: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(OutputFile, pipes_are_written_to) {
  Folder folder;
  const std::string path = folder / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_all(path); });
  EXPECT_EQ(error_of(put(path, "through the pipe")), "no error");
  reader.join();
  EXPECT_EQ(got, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(OutputFile, open_descriptors_are_continued) {
  Folder folder;
  const std::string path = folder.write("log", "");
  const int log = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(log, 0);
  for (const char* directory : {"/dev/fd/", "/proc/self/fd/"}) {
    ASSERT_EQ(::write(log, "before ", 7), 7);
    EXPECT_EQ(error_of(put(directory + std::to_string(log), "file ")), "no error");
  }
  ASSERT_EQ(::write(log, "after", 5), 5);
  ::close(log);
  EXPECT_EQ(read_all(path), "before file before file after");
  EXPECT_ERROR(put("/proc/self/fd/" + std::to_string(log), "x"), code::system, "cannot");
}

}  // namespace
}  // namespace axon::weights
