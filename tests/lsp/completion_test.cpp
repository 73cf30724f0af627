// What a client is offered, in its own positions.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "client.h"
#include "lsp/uri.h"

namespace axon::lsp {
namespace {

namespace fs = std::filesystem;

class CompletionTest : public ::testing::Test {
 protected:
  /// The answer at the last `|` of a text that is open without it and was checked; the line and the character
  /// of the place are given where it is not all ASCII.
  Json at_bar(std::string text, const Json& context = nullptr, std::optional<int> character = std::nullopt) {
    const size_t at = text.rfind('|');
    text.erase(at, 1);
    client_.open(uri, text);
    client_.diagnostics(uri);
    const auto line = std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
    const size_t begin = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    const auto column = static_cast<int>(begin == std::string::npos ? at : at - begin - 1);
    Json params = {{"textDocument", {{"uri", uri}}},
                   {"position", {{"line", line}, {"character", character.value_or(column)}}}};
    if (!context.is_null()) params["context"] = context;
    Json out = client_.ask("textDocument/completion", params);
    client_.close(uri);
    return out;
  }
  static Json item(const Json& answer, const std::string& label) {
    for (const Json& one : answer["items"])
      if (one["label"] == label) return one;
    return nullptr;
  }
  static std::string range(const Json& edit) {
    const Json& r = edit["range"];
    return r["start"]["line"].dump() + ":" + r["start"]["character"].dump() + "-" + r["end"]["line"].dump() +
           ":" + r["end"]["character"].dump();
  }
  Client client_;
  const std::string uri = "file:///nowhere/a.axn";
};

TEST_F(CompletionTest, AnItemReplacesTheWord) {
  const Json answer = at_bar("fun f (weight : f32[n]) = weig| + 1.0\n");
  const Json one = item(answer, "weight");
  EXPECT_EQ(one["textEdit"]["newText"], "weight");
  EXPECT_EQ(range(one["textEdit"]), "0:26-0:30");
  EXPECT_EQ(one["filterText"], "weight");
  EXPECT_EQ(one["sortText"], "0000");
  EXPECT_EQ(one["kind"], 6);
  EXPECT_EQ(one["detail"], "f32[n]");
  EXPECT_EQ(range(item(at_bar("fun f (weight : f32[n]) = we|ig + 1.0\n"), "weight")["textEdit"]),
            "0:26-0:30");
}

TEST_F(CompletionTest, PositionsCountAsTheClientDoes) {
  // two UTF-16 units, one of two bytes, a tab
  const Json answer =
      at_bar("fun f (weight : f32[n]) =\n\tdebug \"\U0001d49c\u00e9\" (weig| + 1.0)\n", nullptr, 18);
  EXPECT_EQ(range(item(answer, "weight")["textEdit"]), "1:14-1:18");
  const Json lines = at_bar("fun f (weight : f32[n]) =\r\n  weig|\r\nfun g x = x\r\n");
  EXPECT_EQ(range(item(lines, "weight")["textEdit"]), "1:2-1:6");
}

TEST_F(CompletionTest, OnlyAListThatIsCutIsIncomplete) {
  EXPECT_EQ(at_bar("fun f x = |\n")["isIncomplete"], true);
  EXPECT_EQ(at_bar("fun f x = x + softm|\n")["isIncomplete"], false);
  EXPECT_EQ(at_bar("fun f (x : |\n")["isIncomplete"], false);
  std::string order;
  const Json found = at_bar("fun f x = |\n");
  for (const Json& one : found["items"]) {
    EXPECT_LT(order, one["sortText"].get<std::string>());
    order = one["sortText"];
  }
}

TEST_F(CompletionTest, NothingInCommentsAndTexts) {
  for (const char* text : {"fun f x = x -- so|\n", "--| About so|\nfun f x = x\n",
                           "fun f x = debug \"so|\" x\n", "test \"so|\" = true\n"})
    EXPECT_EQ(at_bar(text)["items"].size(), 0u) << text;
}

TEST_F(CompletionTest, ALetterThatMeansSomethingElseAsksForNothing) {
  const auto asked_by = [](const char* letter) {
    return Json{{"triggerKind", 2}, {"triggerCharacter", letter}};
  };
  EXPECT_EQ(at_bar("fun f x = x /|\n", asked_by("/"))["items"].size(), 0u);
  EXPECT_EQ(at_bar("fun f x = x @|\n", asked_by("@"))["items"].size(), 0u);
  EXPECT_NE(at_bar("layout tiled = S[8]\nfun f (x : f32[8] @|\n", asked_by("@"))["items"].size(), 0u);
  EXPECT_NE(at_bar("fun f x = x[|\n", asked_by("["))["items"].size(), 0u);
}

TEST_F(CompletionTest, AModuleThatIsNotImportedComesWithItsImport) {
  const auto edit_of = [&](const std::string& text, const std::string& name) {
    const Json edit = item(at_bar(text), name)["additionalTextEdits"][0];
    return range(edit) + " " + edit["newText"].get<std::string>();
  };
  EXPECT_EQ(edit_of("fun f x = posi|\n", "position"), "0:0-0:0 import position\n\n");
  EXPECT_EQ(edit_of("import conv\nimport \"b.axn\" as b\n\nfun f x = posi|\n", "position"),
            "1:19-1:19 \nimport position");
  EXPECT_EQ(edit_of("--| About the file.\n\n--| About f.\nfun f x = posi|\n", "position"),
            "2:0-2:0 import position\n\n");
  EXPECT_EQ(edit_of("import conv\r\nfun f x = position.rope_h|\r\n", "rope_halves"),
            "0:11-0:11 \r\nimport position");
  EXPECT_TRUE(
      item(at_bar("import position\nfun f x = posi|\n"), "position")["additionalTextEdits"].is_null());
}

TEST_F(CompletionTest, DocumentationComesLater) {
  const Json answer = at_bar("--| Twice *x*.\nfun twice x = x + x\nfun f x = twi|\n");
  const Json one = item(answer, "twice");
  EXPECT_FALSE(one.contains("documentation"));
  client_.open(uri, "--| Twice *x*.\nfun twice x = x + x\nfun f x = x\n");
  client_.diagnostics(uri);
  EXPECT_EQ(client_.ask("completionItem/resolve", one)["documentation"]["value"], "Twice *x*.");
  for (const Json& data : {Json(), Json(3), Json({{"module", 1}, {"name", "f"}}), Json({{"module", "x"}})})
    EXPECT_EQ(client_.ask("completionItem/resolve", {{"label", "f"}, {"data", data}})["label"], "f");
}

TEST_F(CompletionTest, FilesOfAnImport) {
  const fs::path folder = fs::path(::testing::TempDir()) / "axon_completion";
  fs::create_directories(folder / "layers");
  for (const char* name : {"layers/dense.axn", "model.axn", ".hidden.axn", "notes.txt"})
    std::ofstream(folder / name) << "fun f x = x\n";
  const std::string here = uri_of_path(folder / "a.axn");
  const auto offered = [&](const std::string& text) {
    client_.open(here, text + "\n");
    client_.diagnostics(here);
    const Json answer = client_.ask(
        "textDocument/completion",
        {{"textDocument", {{"uri", here}}}, {"position", {{"line", 0}, {"character", text.size()}}}});
    std::string out;
    for (const Json& one : answer["items"])
      out += one["label"].get<std::string>() + "@" + range(one["textEdit"]) + " ";
    client_.close(here);
    return out;
  };
  EXPECT_EQ(offered("import \""), "model@0:8-0:8 layers/@0:8-0:8 ");
  EXPECT_EQ(offered("import \"layers/de"), "dense@0:15-0:17 ");
  EXPECT_EQ(offered("import \"../"), "");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace axon::lsp
