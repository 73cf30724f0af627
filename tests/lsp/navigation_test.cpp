// Where a client is led from a name, and what it is told that names are.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "client.h"
#include "lsp/uri.h"

namespace axon::lsp {
namespace {

namespace fs = std::filesystem;

class Navigation : public ::testing::Test {
 protected:
  void open(const std::string& text) {
    text_ = text;
    client_.open(uri, text);
    client_.diagnostics(uri);
  }
  /// The parameters of a request at the n-th `word`, counted from 0; all texts here are ASCII.
  Json at(const std::string& word, size_t n = 0) const {
    size_t offset = text_.find(word);
    while (n-- > 0) offset = text_.find(word, offset + 1);
    return {{"textDocument", {{"uri", uri}}}, {"position", position(offset)}};
  }
  Json position(size_t offset) const {
    const size_t line = static_cast<size_t>(std::count(text_.begin(), text_.begin() + offset, '\n'));
    const size_t begin = offset == 0 ? std::string::npos : text_.rfind('\n', offset - 1);
    return {{"line", line}, {"character", begin == std::string::npos ? offset : offset - begin - 1}};
  }
  /// "line:column-column" of a range, from 0.
  static std::string short_range(const Json& range) {
    return range["start"]["line"].dump() + ":" + range["start"]["character"].dump() + "-" +
           range["end"]["character"].dump();
  }
  static std::string short_ranges(const Json& all, const char* name = "range") {
    std::string out;
    for (const Json& one : all) out += short_range(name ? one[name] : one) + " ";
    return out;
  }
  Client client_;
  std::string text_;
  const std::string uri = "file:///nowhere/a.axn";
};

TEST_F(Navigation, Definition) {
  open(
      "import position as r\ntype Layer[d] = {w : f32[d]}\nfun f (p : Layer[d]) x = r.rope_halves (p.w @ "
      "x)\n");
  EXPECT_EQ(short_range(client_.ask("textDocument/definition", at("p.w"))["range"]), "2:7-8");
  EXPECT_EQ(short_range(client_.ask("textDocument/definition", at("w @"))["range"]), "1:17-18");
  EXPECT_EQ(short_range(client_.ask("textDocument/definition", at("d]) x"))["range"]), "2:17-18");
  for (const auto& [word, file] :
       {std::pair{"rope", "/position.axn"}, {"position", "/position.axn"}, {"@", ".axn"}})
    EXPECT_TRUE(client_.ask("textDocument/definition", at(word))["uri"].get<std::string>().ends_with(file))
        << word;
  EXPECT_TRUE(client_.ask("textDocument/definition", at("fun")).is_null());
}

TEST_F(Navigation, TypeDefinition) {
  open(
      "type A[d] = {w : f32[d]}\ntype B = {a : A[3], c : f32}\n"
      "fun f (p : A[d]) (q : B) = let (x, y) = (p, (q, p)) in (y, x.w)\nfun g (q : B) = (f q.a q, q.c)\n");
  const auto names = [&](const std::string& word, size_t n = 0) {
    return short_ranges(client_.ask("textDocument/typeDefinition", at(word, n)));
  };
  EXPECT_EQ(names("p :"), "0:5-6 ");
  EXPECT_EQ(names("y) ="), "1:5-6 0:5-6 ");
  EXPECT_EQ(names("q.a"), "1:5-6 ");
  EXPECT_EQ(names("a q"), "0:5-6 ");
  EXPECT_EQ(names("B) = let"), "1:5-6 ");
  EXPECT_EQ(names("c)"), "");
  EXPECT_EQ(names("f q.a"), "0:5-6 1:5-6 ");
}

TEST_F(Navigation, ReferencesAndHighlights) {
  open("fun f (x : f32[n]) = x + x\nfun g y = f y\nval n = 3\n");
  const auto references = [&](Json params, bool with_declaration) {
    params["context"] = {{"includeDeclaration", with_declaration}};
    return short_ranges(client_.ask("textDocument/references", params));
  };
  EXPECT_EQ(references(at("f ("), true), "0:4-5 1:10-11 ");
  EXPECT_EQ(references(at("f y"), false), "1:10-11 ");
  EXPECT_EQ(references(at("n]"), true), "0:15-16 ");
  EXPECT_EQ(references(at("="), true), "");
  const Json highlights = client_.ask("textDocument/documentHighlight", at("x :"));
  EXPECT_EQ(short_ranges(highlights), "0:7-8 0:21-22 0:25-26 ");
  EXPECT_EQ(highlights[0]["kind"], 3);
  EXPECT_EQ(highlights[1]["kind"], 2);
}

/// A file of the folder that nobody has opened.
TEST(NavigationInFolders, ReferencesAndRename) {
  const fs::path folder = fs::path(::testing::TempDir()) / "navigation";
  fs::remove_all(folder);
  fs::create_directories(folder / ".hidden");
  std::ofstream(folder / "user.axn") << "import \"used.axn\" as u\nfun g x = u.f x\n";
  std::ofstream(folder / ".hidden" / "user.axn") << "import \"../used.axn\" as u\nfun g x = u.f x\n";
  const std::string text = "fun f x = x + 1.0\n", uri = uri_of_path(folder / "used.axn");
  std::ofstream(folder / "used.axn") << text;
  Client client({}, false);
  client.ask("initialize", {{"workspaceFolders", {{{"uri", uri_of_path(folder)}, {"name", "a"}}}}});
  client.open(uri, text);
  const Json at = {
      {"textDocument", {{"uri", uri}}}, {"position", {{"line", 0}, {"character", 4}}}, {"newName", "h"}};
  const Json changes = client.ask("textDocument/rename", at)["changes"];
  EXPECT_EQ(changes.size(), 2u) << changes;
  const std::string user = uri_of_path(fs::canonical(folder) / "user.axn");
  ASSERT_TRUE(changes.contains(user)) << changes;
  EXPECT_EQ(changes[user][0]["range"]["start"]["character"], 12);
  EXPECT_EQ(client.ask("textDocument/references", at).size(), 2u);
}

/// Asked for at once, answers have the files that nobody has looked at yet.
TEST(NavigationInFolders, NothingIsMissedBeforeTheFolderIsChecked) {
  const fs::path folder = fs::path(::testing::TempDir()) / "early";
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const char* name : {"a", "b", "c"})
    std::ofstream(folder / (std::string(name) + ".axn"))
        << "import \"used.axn\" as u\nfun g" << name << " x = u.f x\n";
  const std::string text = "fun f x = x + 1.0\nfun own y = f y\n", uri = uri_of_path(folder / "used.axn");
  std::ofstream(folder / "used.axn") << text;
  const auto start = [&](Client& client) {
    client.ask("initialize", {{"workspaceFolders", {{{"uri", uri_of_path(folder)}, {"name", "a"}}}}});
    client.open(uri, text);
  };
  const Json at = {{"textDocument", {{"uri", uri}}}, {"position", {{"line", 0}, {"character", 4}}}};
  {
    Client client({}, false);
    start(client);
    EXPECT_EQ(client.ask("textDocument/references", at).size(), 5u);
    client.change(uri, Json::array({{{"text", text + "fun more z = f z\n"}}}));
    EXPECT_EQ(client.ask("textDocument/references", at).size(), 6u) << "right after an edit";
    std::ofstream(folder / "d.axn") << "import \"used.axn\" as u\nfun gd x = u.f x\n";
    client.tell("workspace/didChangeWatchedFiles", {{"changes", Json::array()}});
    EXPECT_EQ(client.ask("textDocument/references", at).size(), 7u) << "of a new file";
    fs::remove(folder / "d.axn");
  }
  {
    Client client({}, false);
    start(client);
    const Json items = client.ask("textDocument/prepareCallHierarchy", at);
    const Json key = items.is_null() ? Json() : items[0];
    ASSERT_FALSE(key.is_null());
    EXPECT_EQ(client.ask("callHierarchy/incomingCalls", {{"item", key}}).size(), 4u);
  }
  Client client({}, false);
  start(client);
  EXPECT_EQ(client.ask("workspace/symbol", {{"query", "gc"}})[0]["name"], "gc");
}

/// What the library declares is used in the library, too.
TEST_F(Navigation, ReferencesOfTheLibrary) {
  open("fun f x = softmax x\nfun g x = x @ x + x\n");
  Json params = at("softmax");
  const auto in_library = [](const Json& found) {
    return std::count_if(found.begin(), found.end(), [](const Json& one) {
      return one["uri"].get<std::string>().find("/stdlib/") != std::string::npos;
    });
  };
  const Json found = client_.ask("textDocument/references", params);
  EXPECT_GT(in_library(found), 1) << found;
  EXPECT_EQ(static_cast<long>(found.size()) - in_library(found), 1);
  const Json of_operator = client_.ask("textDocument/references", at("@"));
  EXPECT_GT(in_library(of_operator), 1) << of_operator;
  EXPECT_EQ(static_cast<long>(of_operator.size()) - in_library(of_operator), 1);
}

TEST_F(Navigation, CallHierarchy) {
  open(
      "val h : f32[n] -> f32[n]\nfun h x = sin x + sin (x + x)\nfun g y = h (h y)\ntest \"of h\" = h [0.0] "
      "== [0.0]\n");
  const Json items = client_.ask("textDocument/prepareCallHierarchy", at("h (h"));
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0]["name"], "h");
  EXPECT_EQ(short_range(items[0]["selectionRange"]), "1:4-5");
  const Json callers = client_.ask("callHierarchy/incomingCalls", {{"item", items[0]}});
  ASSERT_EQ(callers.size(), 2u);
  EXPECT_EQ(callers[0]["from"]["name"], "g");
  EXPECT_EQ(short_ranges(callers[0]["fromRanges"], nullptr), "2:10-11 2:13-14 ");
  EXPECT_EQ(callers[1]["from"]["name"], "of h");
  const Json callees = client_.ask("callHierarchy/outgoingCalls", {{"item", items[0]}});
  ASSERT_EQ(callees.size(), 1u) << callees;
  EXPECT_EQ(callees[0]["to"]["name"], "sin");
  EXPECT_EQ(short_ranges(callees[0]["fromRanges"], nullptr), "1:10-13 1:18-21 ");
  const Json back = client_.ask("callHierarchy/incomingCalls", {{"item", callees[0]["to"]}});
  EXPECT_TRUE(std::any_of(back.begin(), back.end(), [](const Json& c) { return c["from"]["name"] == "h"; }));
  EXPECT_TRUE(client_.ask("textDocument/prepareCallHierarchy", at("x =")).is_null());
  EXPECT_EQ(client_.ask("callHierarchy/incomingCalls", {{"item", 3}})["error"]["code"], invalid_params);
  EXPECT_EQ(
      client_.ask("callHierarchy/outgoingCalls", {{"item", {{"data", {{"module", "x"}, {"name", "y"}}}}}}),
      Json::array());
}

TEST_F(Navigation, Links) {
  open("import position as r\nimport nowhere\nfun f x = x\n");
  const Json links = client_.ask("textDocument/documentLink", at("r"));
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(short_range(links[0]["range"]), "0:7-15");
  EXPECT_TRUE(links[0]["target"].get<std::string>().ends_with("/stdlib/position.axn"));
}

/// Words with type and modifiers as the legend names them.
TEST_F(Navigation, SemanticTokens) {
  open(
      "val one = 1.0\nentry run['t, n, ..s] (x : 't[..s, n]) =\n"
      "  let y = relu x in for i => y[.., i] + x[.., 0]\n");
  const Json legend = client_.capabilities()["semanticTokensProvider"]["legend"];
  const auto words = [&](const Json& data) {
    std::string out;
    int line = 0, column = 0;
    for (size_t i = 0; i < data.size(); i += 5) {
      line += data[i].get<int>();
      column = data[i].get<int>() ? data[i + 1].get<int>() : column + data[i + 1].get<int>();
      size_t begin = 0;
      for (int l = 0; l < line; ++l) begin = text_.find('\n', begin) + 1;
      out += text_.substr(begin + static_cast<size_t>(column), data[i + 2].get<size_t>()) + ":" +
             legend["tokenTypes"][data[i + 3].get<size_t>()].get<std::string>();
      for (size_t bit = 0; bit < legend["tokenModifiers"].size(); ++bit)
        if (data[i + 4].get<int>() >> bit & 1) out += "." + legend["tokenModifiers"][bit].get<std::string>();
      out += " ";
    }
    return out;
  };
  const Json all = client_.ask("textDocument/semanticTokens/full", at("val"))["data"];
  EXPECT_EQ(words(all),
            "one:constant.declaration.readonly run:function.declaration.entry "
            "'t:typeParameter.declaration n:size.declaration s:shape.declaration x:parameter.declaration "
            "'t:typeParameter s:shape n:size y:variable.declaration relu:function.defaultLibrary "
            "x:parameter i:index.declaration y:variable i:index x:parameter ");
  Json delta = at("val");
  delta["previousResultId"] = client_.ask("textDocument/semanticTokens/full", at("val"))["resultId"];
  Json same = client_.ask("textDocument/semanticTokens/full/delta", delta);
  EXPECT_EQ(same["edits"], Json::array());
  const auto begin = text_.find("val");
  text_.insert(begin, "val two = one\n");
  client_.change(uri, Json::array({{{"text", text_}}}));
  client_.diagnostics(uri);
  delta["previousResultId"] = same["resultId"];
  const Json changes = client_.ask("textDocument/semanticTokens/full/delta", delta);
  ASSERT_EQ(changes["edits"].size(), 1u) << changes;
  std::vector<Json> patched(all.begin(), all.end());
  const Json edit = changes["edits"][0];
  const auto from = patched.begin() + edit["start"].get<long>();
  patched.insert(patched.erase(from, from + edit["deleteCount"].get<long>()), edit["data"].begin(),
                 edit["data"].end());
  EXPECT_TRUE(
      words(Json(patched)).starts_with("two:constant.declaration.readonly one:constant.readonly one:"))
      << words(Json(patched));
  EXPECT_EQ(Json(patched), client_.ask("textDocument/semanticTokens/full", at("val"))["data"]);
  EXPECT_TRUE(client_.ask("textDocument/semanticTokens/full/delta", delta).contains("data")) << "an old name";
  Json range = at("val two");
  range["range"] = {{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 0}, {"character", 9}}}};
  EXPECT_EQ(words(client_.ask("textDocument/semanticTokens/range", range)["data"]),
            "two:constant.declaration.readonly ");
}

TEST_F(Navigation, SignatureHelp) {
  const auto parameters = [&](Client& client) {
    client.open(uri, text_);
    client.diagnostics(uri);
    const Json help =
        client.ask("textDocument/signatureHelp",
                   {{"textDocument", {{"uri", uri}}}, {"position", {{"line", 2}, {"character", 18}}}});
    EXPECT_EQ(help["signatures"].size(), 1u) << help;
    EXPECT_EQ(help["activeParameter"], 1);
    EXPECT_EQ(help["signatures"][0]["activeParameter"], 1);
    EXPECT_EQ(help["signatures"][0]["label"], "scale (x : f32[n]) (k : f32) : f32[n]");
    EXPECT_EQ(help["signatures"][0]["documentation"]["value"], "𝛼.");
    return help["signatures"][0]["parameters"];
  };
  text_ = "--| 𝛼.\nfun scale (x : f32[n]) (k : f32) : f32[n] = x * k\nfun g y = scale y 1.0\n";
  Client plain;
  EXPECT_EQ(parameters(plain), Json::array({{{"label", "x : f32[n]"}}, {{"label", "k : f32"}}}));
  Client client({}, false);
  client.ask(
      "initialize",
      {{"capabilities",
        {{"textDocument",
          {{"signatureHelp",
            {{"signatureInformation", {{"parameterInformation", {{"labelOffsetSupport", true}}}}}}}}}}}});
  EXPECT_EQ(parameters(client), Json::array({{{"label", {7, 17}}}, {{"label", {20, 27}}}}));
  EXPECT_TRUE(client
                  .ask("textDocument/signatureHelp",
                       {{"textDocument", {{"uri", uri}}}, {"position", {{"line", 2}, {"character", 4}}}})
                  .is_null());
}

/// A client that shows colours and hints asks for them before the text is checked.
TEST(Refresh, ComesOnceThereIsMoreToShow) {
  Client client({}, false);
  const Json yes = {{"refreshSupport", true}};
  client.ask("initialize",
             {{"capabilities", {{"workspace", {{"semanticTokens", yes}, {"inlayHint", yes}}}}}});
  const std::string uri = "file:///nowhere/a.axn";
  const auto next_refreshes = [&] {
    std::string out;
    while (out.find("semanticTokens") == out.npos || out.find("inlayHint") == out.npos) {
      const Json message = client.next();
      if (message.is_null()) break;
      if (message.contains("method") && message.contains("id"))
        out += message["method"].get<std::string>() + " ";
    }
    return out;
  };
  client.open(uri, "fun f x = x + 1.0\n");
  EXPECT_EQ(next_refreshes(), "workspace/semanticTokens/refresh workspace/inlayHint/refresh ");
  client.change(uri, Json::array({{{"text", "fun f x = x + x\n"}}}));
  EXPECT_EQ(next_refreshes(), "workspace/semanticTokens/refresh workspace/inlayHint/refresh ");
}

}  // namespace
}  // namespace axon::lsp
