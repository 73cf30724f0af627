// Files on disk: what is open stands before it, and what happens to it reaches those that import it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "client.h"
#include "lsp/uri.h"

namespace axon::lsp {
namespace {

namespace fs = std::filesystem;

class FilesOnDisk : public ::testing::Test {
 protected:
  FilesOnDisk() : directory_(fs::temp_directory_path() / ("lsp files." + std::to_string(::getpid()))) {
    fs::create_directories(directory_ / "more");
    write("part.axn", "fun twice x = x + x\n");
    write("main.axn", main_);
  }
  ~FilesOnDisk() override { fs::remove_all(directory_); }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::string uri(const std::string& name) const { return uri_of_path(path(name)); }
  void write(const std::string& name, const std::string& text) { std::ofstream(path(name)) << text; }
  void tell_of(Client& client, const std::string& name, int what) {
    client.tell("workspace/didChangeWatchedFiles", {{"changes", {{{"uri", uri(name)}, {"type", what}}}}});
  }
  std::string codes(Client& client, const std::string& name) {
    std::string out;
    for (const Json& d : client.pulled(uri(name))) out += d["code"].get<std::string>() + " ";
    return out;
  }

  const fs::path directory_;
  const std::string main_ = "import part\nfun four x = part.twice (part.twice x)\n";
  const Json whole(const std::string& text) { return Json::array({{{"text", text}}}); }
};

TEST_F(FilesOnDisk, ChangesReachImporters) {
  Client client;
  client.open(uri("main.axn"), main_);
  EXPECT_EQ(codes(client, "main.axn"), "");
  write("part.axn", "fun twise x = x + x\n");
  tell_of(client, "part.axn", 2);
  EXPECT_EQ(codes(client, "main.axn"), "E0401 E0401 ");
  fs::remove(path("part.axn"));
  tell_of(client, "part.axn", 3);
  EXPECT_EQ(codes(client, "main.axn"), "E0403 ");
  write("part.axn", "fun twice x = x + x\n");
  client.tell("workspace/didCreateFiles", {{"files", {{{"uri", uri("part.axn")}}}}});
  EXPECT_EQ(codes(client, "main.axn"), "");
}

TEST_F(FilesOnDisk, AreShadowedByWhatIsOpen) {
  Client client;
  client.open(uri("main.axn"), main_);
  client.open(uri("part.axn"), "fun twise x = x + x\n");
  EXPECT_EQ(codes(client, "main.axn"), "E0401 E0401 ");
  client.close(uri("part.axn"));  // and not saved
  EXPECT_EQ(codes(client, "main.axn"), "");
  client.open(uri("part.axn"), "fun twice x = x + x\n");
  fs::remove(path("part.axn"));  // it is still open
  tell_of(client, "part.axn", 3);
  EXPECT_EQ(codes(client, "main.axn"), "");
  client.close(uri("part.axn"));
  EXPECT_EQ(codes(client, "main.axn"), "E0403 ");
}

TEST_F(FilesOnDisk, AreKnownByTheirNewNames) {
  Client client;
  client.open(uri("main.axn"), main_);
  client.open(uri("part.axn"), "fun twice x = x + x\n");
  EXPECT_EQ(codes(client, "main.axn"), "");
  fs::rename(path("part.axn"), path("piece.axn"));
  client.close(uri("part.axn"));
  client.open(uri("piece.axn"), "fun twice x = x + x\n");
  client.tell("workspace/didRenameFiles",
              {{"files", {{{"oldUri", uri("part.axn")}, {"newUri", uri("piece.axn")}}}}});
  EXPECT_EQ(codes(client, "main.axn"), "E0403 ");
  client.change(uri("main.axn"), whole("import piece\nfun four x = piece.twice x\n"));
  EXPECT_EQ(codes(client, "main.axn"), "");
}

TEST_F(FilesOnDisk, AreOneByWhateverName) {
  fs::create_symlink("part.axn", path("link.axn"));
  Client client;
  client.open(uri("main.axn"), main_);
  client.open(uri("link.axn"), "fun twise x = x + x\n");
  EXPECT_EQ(codes(client, "main.axn"), "E0401 E0401 ");
  client.open(uri("part.axn"), "fun twice x = x + x + x\n");
  EXPECT_EQ(codes(client, "main.axn"), "");
  client.close(uri("part.axn"));  // by its other name it is open
  EXPECT_EQ(codes(client, "main.axn"), "E0401 E0401 ");
  client.close(uri("link.axn"));
  EXPECT_EQ(codes(client, "main.axn"), "");
}

TEST_F(FilesOnDisk, ThatAreNotOpenAreSpokenOf) {
  write("part.axn", "fun twice x = y + x\n");
  Client client;
  client.open(uri("main.axn"), main_);
  EXPECT_EQ(codes(client, "main.axn"), "");
  EXPECT_TRUE(client.become(uri("part.axn"), "E0401 "));
  write("part.axn", "fun twice x = x + x\n");
  tell_of(client, "part.axn", 2);
  EXPECT_TRUE(client.become(uri("part.axn"), ""));
}

TEST_F(FilesOnDisk, OfTheLibraryAreWhereTheSettingsSay) {
  write("more/extra.axn", "fun thrice x = x + x + x\n");
  const std::string text = "import extra\nfun six x = extra.thrice x\n";
  fs::create_directories(path("user"));
  Client first({}, true, {{"library", {path("more")}}, {"delay", 5}});
  first.open(uri("user/a.axn"), text);
  EXPECT_EQ(codes(first, "user/a.axn"), "");
  Client second;
  second.open(uri("user/a.axn"), text);
  EXPECT_EQ(codes(second, "user/a.axn"), "E0403 ");
  second.tell("workspace/didChangeConfiguration", {{"settings", {{"axon", {{"library", {path("more")}}}}}}});
  EXPECT_EQ(codes(second, "user/a.axn"), "");
  for (const Json& odd :
       std::vector<Json>{3, {{"library", 7}}, {{"delay", -1}}, {{"library", {1, {2}}}}, nullptr})
    second.tell("workspace/didChangeConfiguration", {{"settings", odd}});
  EXPECT_EQ(codes(second, "user/a.axn"), "E0403 ");  // a list without a directory
}

TEST(LookAhead, SaysWhatABuildWouldRefuse) {
  const std::string uri = "file:///nowhere/a.axn";
  const std::string refused = "entry next (c : *f32[n]) where 2 <= n = c with [1:] = c[:-1]\n";
  Client client;
  client.open(uri, refused);
  EXPECT_TRUE(client.become(uri, "E0611 "));
  const Json before = client.diagnostics(uri);
  client.change(uri, Json::array({{{"text", "-- one line more\nfun other x = x\n\n" + refused}}}));
  EXPECT_TRUE(client.become(uri, "E0611 "));
  const Json after = client.pulled(uri);
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0]["range"]["start"]["line"], before[0]["range"]["start"]["line"].get<int>() + 3);
  client.change(uri, Json::array({{{"text", refused + "fun wrong x = y\n"}}}));
  EXPECT_TRUE(client.become(uri, "E0401 "));
  client.change(uri, Json::array({{{"text", "entry next (c : *f32[n]) = c with [:] = c * 2.0\n"}}}));
  EXPECT_TRUE(client.become(uri, ""));
}

}  // namespace
}  // namespace axon::lsp
