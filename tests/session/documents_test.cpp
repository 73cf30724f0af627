// Files by the places that they have: links, directories of the library, and the parts of their texts.
#include "session/documents.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace axon::session {
namespace {

namespace fs = std::filesystem;

class DocumentsOnDisk : public ::testing::Test {
 protected:
  DocumentsOnDisk() : directory_(fs::temp_directory_path() / ("documents." + std::to_string(::getpid()))) {
    fs::create_directories(directory_ / "first" / "nn");
    fs::create_directories(directory_ / "second" / "nn");
  }
  ~DocumentsOnDisk() override { fs::remove_all(directory_); }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  void write(const std::string& name, const std::string& text) { std::ofstream(path(name)) << text; }
  std::string text_of(const syntax::Text* text) {
    return text ? std::string(documents.sources()[text->source].text()) : "none";
  }

  const fs::path directory_;
  Documents documents{{path("first"), path("second")}};
};

TEST_F(DocumentsOnDisk, AreOneByWhateverLink) {
  write("a.axn", "val a = 1\n");
  fs::create_symlink("a.axn", path("link.axn"));
  fs::create_directory_symlink(directory_, path("up"));
  documents.open(path("a.axn"), "val a = 2\n");
  EXPECT_EQ(text_of(documents.load(path("link.axn"))), "val a = 2\n");
  EXPECT_EQ(documents.find(path("up/a.axn")), documents.find(path("a.axn")));
}

TEST_F(DocumentsOnDisk, AreApartWhereLinksGoInACircle) {
  for (const char* name : {"a.axn", "b.axn"}) {
    fs::create_symlink(name, path(name));
    documents.open(path(name), std::string("-- ") + name + "\n");
  }
  EXPECT_EQ(text_of(documents.load(path("a.axn"))), "-- a.axn\n");
  EXPECT_EQ(text_of(documents.load(path("b.axn"))), "-- b.axn\n");
  documents.close(path("a.axn"));
  EXPECT_EQ(documents.load(path("a.axn")), nullptr);
}

TEST_F(DocumentsOnDisk, AreFoundByTheirParts) {
  documents.open(path("a.axn"), "val a = 1\nval b = 2\n");
  documents.open(path("b.axn"), "val a = 1\n");
  const syntax::Text a = documents.find(path("a.axn"))->text();
  for (const syntax::File* part : a.parts)
    EXPECT_EQ(documents.find(part->source), documents.find(path("a.axn")));
  EXPECT_EQ(documents.find(a.source), documents.find(path("a.axn")));
  const source::FileId b = documents.find(path("b.axn"))->text().parts[0]->source;
  EXPECT_EQ(documents.find(b), documents.find(path("b.axn")));
  documents.close(path("b.axn"));
  EXPECT_EQ(documents.find(b), nullptr);
}

TEST_F(DocumentsOnDisk, AreModulesOfTheFirstDirectoryThatHasThem) {
  write("second/nn/layer.axn", "val second = 1\n");
  EXPECT_EQ(text_of(documents.load("nn.layer")), "val second = 1\n");
  write("first/nn/layer.axn", "val first = 1\n");
  EXPECT_EQ(text_of(documents.load("nn.layer")), "val first = 1\n");
  documents.open(path("first/nn/other.axn"), "val open = 1\n");  // and on no disk
  EXPECT_EQ(text_of(documents.load("nn.other")), "val open = 1\n");
  EXPECT_EQ(documents.load("nn"), nullptr);  // a directory
}

TEST_F(DocumentsOnDisk, AreThoseOfBeforeWhereTheyComeAgain) {
  size_t files = 0;
  for (int i = 0; i < 5; ++i) {
    documents.open(path("a.axn"), "val a = 1\nval b = " + std::to_string(i) + "\n");
    EXPECT_EQ(documents.sources()[documents.find(path("a.axn"))->text().source].name(), path("a.axn"));
    documents.close(path("a.axn"));
    documents.open(path("up/../a.axn"), "val a = 1\n");  // the same file, by another name
    EXPECT_EQ(documents.sources()[documents.find(path("a.axn"))->text().source].name(), path("up/../a.axn"));
    documents.close(path("a.axn"));
    EXPECT_EQ(documents.load(path("a.axn")), nullptr);
    if (i == 0) files = documents.sources().size();
    EXPECT_EQ(documents.sources().size(), files);
  }
}

}  // namespace
}  // namespace axon::session
