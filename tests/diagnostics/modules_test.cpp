// Errors that take several files: circles (E0407), ways out of the directory (E0408), private names (E0409).
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "support.h"

namespace axon::source {
namespace {

/// Files in a folder of their own, which goes away with it.
struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / ("axon_modules_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path / "inner");
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  Folder& file(const std::string& name, const std::string& text) {
    std::ofstream(path / name, std::ios::binary) << text;
    return *this;
  }
  std::set<std::string> codes(const std::string& name) const {
    return check(read(path / name), (path / name).string()).codes();
  }
  std::filesystem::path path;
};

using Codes = std::set<std::string>;

TEST(Modules, ImportEachOther) {
  Folder folder;
  folder.file("a.axn", "import b\nfun f x = b.g x\n").file("b.axn", "import a\nfun g x = x\n");
  EXPECT_EQ(folder.codes("a.axn"), Codes{"E0407"});
  folder.file("c.axn", "import c\nfun f x = x\n");
  EXPECT_EQ(folder.codes("c.axn"), Codes{"E0407"});
}

TEST(Modules, StayInTheDirectory) {
  Folder folder;
  folder.file("outer.axn", "fun f x = x\n");
  folder.file("inner/up.axn", "import \"../outer.axn\" as o\nfun g x = o.f x\n");
  EXPECT_EQ(folder.codes("inner/up.axn"), Codes{"E0408"});
  folder.file("absolute.axn", "import \"/etc/passwd\" as o\nfun g x = x\n");
  EXPECT_EQ(folder.codes("absolute.axn"), Codes{"E0408"});
  std::filesystem::create_symlink(folder.path / "outer.axn", folder.path / "inner/link.axn");
  folder.file("inner/link_out.axn", "import link\nfun g x = x\n");
  EXPECT_EQ(folder.codes("inner/link_out.axn"), Codes{"E0408"});
  folder.file("below.axn", "import \"inner/below.axn\" as b\nfun g x = b.f x\n")
      .file("inner/below.axn", "fun f x = x\n");
  EXPECT_EQ(folder.codes("below.axn"), Codes{});
}

TEST(Modules, KeepWhatIsPrivate) {
  Folder folder;
  folder.file("parts.axn", "private fun hidden x = x\nfun seen x = hidden x\n");
  folder.file("good.axn", "import parts\nfun f x = parts.seen x\n");
  folder.file("bad.axn", "import parts\nfun f x = parts.hidden x\n");
  EXPECT_EQ(folder.codes("good.axn"), Codes{});
  EXPECT_EQ(folder.codes("bad.axn"), Codes{"E0409"});
}

}  // namespace
}  // namespace axon::source
