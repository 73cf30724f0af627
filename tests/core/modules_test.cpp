// Imports: where files are looked for, what another module may see, and what is refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness.h"

namespace axon::core {
namespace {

namespace fs = std::filesystem;

class ModulesOfPrograms : public testing::Test {
 protected:
  void SetUp() override {
    root = fs::temp_directory_path() / ("axon_modules_" + std::to_string(::getpid()));
    fs::remove_all(root);
    fs::create_directories(root / "program");
  }
  void TearDown() override { fs::remove_all(root); }

  void file(const std::string& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  Checked check(const std::string& text) {
    file("program/main.axn", text);
    return check_path((root / "program/main.axn").string(), {(root / "library").string()});
  }
  static size_t errors_of(const Checked& c, const std::string& code) {
    size_t count = 0;
    const std::string all = c.errors();
    for (size_t at = all.find(code); at != std::string::npos; at = all.find(code, at + 1)) ++count;
    return count;
  }
  void expect_error(const std::string& text, const std::string& code) {
    const Checked c = check(text);
    EXPECT_EQ(errors_of(c, code), 1u) << c.errors();
    EXPECT_EQ(c.diagnostics->error_count(), 1u) << c.errors();
  }

  fs::path root;
};

const char* const dense =
    "type Dense[i, o] = { w : f32[i, o], b : f32[o] }\n"
    "fun dense x (p : Dense[i, o]) = helper (x @ p.w) + p.b\n"
    "private fun helper x = x * 1.0\n"
    "private type Secret[n] = f32[n]\n"
    "val half = 0.5\n";

TEST_F(ModulesOfPrograms, GiveValuesAndTypes) {
  file("program/nn.axn", dense);
  const Checked c = check(
      "import nn\nimport nn as layers\n"
      "fun two x (p : nn.Dense[a, b]) (q : layers.Dense[b, c]) = nn.dense (nn.dense x p) q * nn.half\n");
  EXPECT_EQ(c.errors(), "");
  EXPECT_EQ(c.type_of("two"), "f32[..d, m, a] -> layers.Dense[a, b] -> layers.Dense[b, c] -> f32[..d, m, c]");
}

/// Types print as the file writes them: what it does not see, or names otherwise, has no name there.
TEST_F(ModulesOfPrograms, NameTypesAsTheFileDoes) {
  file("program/nn.axn", std::string(dense) + "fun open (x : Secret[n]) = { w = x, b = x }\n" +
                             "fun hidden x : Pair[..] = { first = x, secret = x }\n" +
                             "private type Pair[n] = { first : f32[n], secret : Secret[n] }\n");
  file("program/more.axn", "import nn\nfun more x (p : nn.Dense[i, i]) = (nn.dense x p, p)\n");
  const std::string program =
      "import more\nimport nn as layers\ntype Dense[n] = { scale : f32[n] }\n"
      "fun first x p = more.more x p\nfun second x (p : Dense[n]) = x * p.scale\nfun third x = layers.hidden "
      "x\n";
  const Checked c = check(program);
  EXPECT_EQ(c.errors(), "");
  EXPECT_EQ(c.type_of("first"),
            "f32[..a, m, i] -> layers.Dense[i, i] -> (f32[..a, m, i], layers.Dense[i, i])");
  EXPECT_EQ(c.type_of("second"), "f32[..x] -> Dense[n] -> f32[n]   where ..x into [n]");
  EXPECT_EQ(c.type_of("third"), "f32[n] -> {first : f32[n], secret : f32[n]}");
}

TEST_F(ModulesOfPrograms, AreFoundInFolders) {
  file("program/layers/dense.axn", dense);
  file("program/layers/both.axn", "import dense\nfun both x p = dense.dense x p\n");
  const Checked c = check(
      "import layers.dense\nimport \"layers/both\" as b\nimport \"layers/../layers/both.axn\" as same\n"
      "fun f x (p : dense.Dense[i, i]) = b.both (same.both x p) p\n");
  EXPECT_EQ(c.errors(), "");
}

TEST_F(ModulesOfPrograms, AreLookedForBesideTheFileFirst) {
  file("library/nn.axn", "fun where_from x = [x, x]\n");
  file("library/deep/other.axn", "import more\nfun other x = more.more x\n");
  file("library/deep/more.axn", "fun more x = x + 1.0\n");
  const Checked library =
      check("import nn\nimport deep.other\nfun f (x : f32) = nn.where_from (other.other x)\n");
  EXPECT_EQ(library.errors(), "");
  EXPECT_EQ(library.type_of("f"), "f32 -> f32[2]");
  file("program/nn.axn", "fun where_from x = x\n");
  EXPECT_EQ(check("import nn\nfun f (x : f32) = nn.where_from x\n").type_of("f"), "f32 -> f32");
}

TEST_F(ModulesOfPrograms, OwnDeclarationsHideThoseOfThePrelude) {
  const Checked c = check("fun relu x = [x, x]\nfun f (x : f32[n]) = relu x\nfun g (x : f32[n]) = silu x\n");
  EXPECT_EQ(c.errors(), "");
  EXPECT_EQ(c.type_of("f"), "f32[n] -> f32[2, n]");
}

TEST_F(ModulesOfPrograms, MayNotBeMissing) { expect_error("import nn\nfun f x = nn.dense x\n", "E0403"); }

TEST_F(ModulesOfPrograms, MayNotImportEachOtherInACircle) {
  file("program/a.axn", "import b\nfun f x = b.g x\n");
  file("program/b.axn", "import a\nfun g x = a.f x\n");
  expect_error("import a\nfun h x = a.f x\n", "E0407");
  expect_error("import main\nfun h x = main.h x\n", "E0407");
}

TEST_F(ModulesOfPrograms, MayNotLeaveTheDirectory) {
  file("outside.axn", "fun f x = x\n");
  expect_error("import \"../outside\" as o\nfun h x = o.f x\n", "E0408");
  expect_error("import \"" + (root / "outside.axn").string() + "\" as o\nfun h x = o.f x\n", "E0408");
  fs::create_symlink(root / "outside.axn", root / "program/link.axn");
  expect_error("import link\nfun h x = link.f x\n", "E0408");
  file("program/sub/inner.axn", "import \"../beside\" as b\nfun g x = b.f x\n");
  file("program/beside.axn", "fun f x = x\n");
  EXPECT_EQ(check("import sub.inner\nfun h x = inner.g x\n").errors(), "");
}

TEST_F(ModulesOfPrograms, SurviveLinksThatGoRoundInACircle) {
  fs::create_symlink(root / "program/one.axn", root / "program/two.axn");
  fs::create_symlink(root / "program/two.axn", root / "program/one.axn");
  expect_error("import one\nfun h x = one.f x\n", "E0403");
  fs::create_directory_symlink(root / "program", root / "program/again");
  file("program/nn.axn", dense);
  EXPECT_EQ(check("import again.again.nn\nfun h x = nn.half\n").errors(), "");
}

TEST_F(ModulesOfPrograms, KeepPrivateNames) {
  file("program/nn.axn", dense);
  expect_error("import nn\nfun f x = nn.helper x\n", "E0409");
  expect_error("import nn\nfun f (x : nn.Secret[n]) = x\n", "E0409");
  file("program/both.axn", "import nn\nfun g x = x\n");
  expect_error("import both\nfun f (p : both.nn.Dense[i, o]) = p\n", "E0403");
}

TEST_F(ModulesOfPrograms, AnUnknownNameSuggestsOne) {
  file("program/nn.axn", dense);
  const Checked c = check("import nn\nfun f x = nn.dens x\n");
  EXPECT_EQ(c.diagnostics->error_count(), 1u);
  EXPECT_NE(c.errors().find("`dense`"), std::string::npos);
  EXPECT_EQ(check("import nn\nfun f x = nn.helpe x\n").errors().find("`helper`"), std::string::npos);
}

TEST_F(ModulesOfPrograms, OfTheLibraryAreCheckedByTheirPath) {
  for (const char* name : {"prelude/reduce", "prim"}) {
    const Checked c = check_path(std::string(AXON_SOURCE_DIR "/stdlib/") + name + ".axn", {});
    EXPECT_EQ(c.errors(), "");
    EXPECT_FALSE(c.program.own.empty());
  }
}

/// What the prelude imports is seen without a name; its private names are not.
TEST_F(ModulesOfPrograms, OfThePreludeNeedNoImport) {
  file("library/prelude.axn", "import prelude.ends\n");
  file("library/prelude/ends.axn",
       "private fun twice x = x + x\nfun ends x = twice x\ntype Ends[n] = f32[n]\n");
  file("library/prim.axn", "prim add : 't[..a] -> 't[..b] -> 't[..(a|b)]\n");
  EXPECT_EQ(check("fun f (x : Ends[n]) = ends x\n").errors(), "");
  expect_error("fun f x = twice x\n", "E0401");
}

TEST_F(ModulesOfPrograms, TwoImportsMayNotShareAName) {
  file("program/nn.axn", dense);
  file("program/mm.axn", dense);
  expect_error("import nn\nimport mm as nn\nfun f x = nn.half\n", "E0404");
}

}  // namespace
}  // namespace axon::core
