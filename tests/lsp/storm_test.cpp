// Storms of edits over several open files: after each one the server says what a fresh one would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "../sanitized.h"
#include "client.h"

namespace axon::lsp {
namespace {

const std::map<std::string, std::string>& files() {
  static const std::map<std::string, std::string> all = {
      {"file:///nowhere/base.axn",
       "--| Files of a storm: λ and 𝛼.\n\ntype Layer[d] = {w : f32[d, d], b : f32[d]}\n"
       "fun dense (x : f32[m, d]) (p : Layer[d]) = x @ p.w + p.b -- 𝛼\n"
       "fun scaled k x = k * x\r\nval one = 1.0\nprivate fun hidden x = x\n"},
      {"file:///nowhere/main.axn",
       "import base\n\nfun block x p =\n\tbase.dense x p |> relu\n"
       "entry run (x : f32[m, d]) (ps : Stack[l, base.Layer[d]]) = fold block x ps\n"
       "fun part (x : f32[n]) (c : i64[1]) = x[c[0]:]\n"
       "test \"one\" = base.one == 1.0\n"},
      {"file:///nowhere/other.axn",
       "import base as b\nimport \"main.axn\" as m\nfun both x p = m.block x p + b.dense x p\n"}};
  return all;
}

class Storm {
 public:
  explicit Storm(uint32_t seed) : random_(seed) {}
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  /// A change of the text as a client sends it; makes it in the text, too.
  Json change(std::string& text) {
    static const std::vector<std::string> put = {"",
                                                 "(",
                                                 ")",
                                                 "x",
                                                 " y",
                                                 "[n]",
                                                 "\n",
                                                 "\"",
                                                 "--",
                                                 "\r\n",
                                                 "\t",
                                                 "λ",
                                                 "𝛼",
                                                 "1.0",
                                                 "= ",
                                                 "fun ",
                                                 " + z ",
                                                 "private ",
                                                 ": f32",
                                                 "\nval a = 1\n",
                                                 "\nval f : f32 -> f32\n"};
    const Positions positions(text, Encoding::utf16);
    const uint32_t begin = boundary(text, below(text.size() + 1));
    const uint32_t end =
        boundary(text, std::min<size_t>(text.size(), begin + (below(3) == 0 ? below(30) : 0)));
    const std::string& with = put[below(put.size())];
    Json out = {{"range", Server::range(positions, begin, end)}, {"text", with}};
    // what a client and its text agree on: the place that the position has
    const uint32_t at = positions.offset(positions.position(begin));
    const uint32_t to = positions.offset(positions.position(end));
    text.replace(at, to - at, with);
    return out;
  }

 private:
  static uint32_t boundary(const std::string& text, size_t at) {
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
    return static_cast<uint32_t>(at);
  }
  std::mt19937 random_;
};

/// The files that are open, as a client and its editor know them.
class Editor {
 public:
  Editor() {
    for (const auto& [uri, text] : files()) open(uri, text);
  }
  Client client;
  const std::map<std::string, std::string>& texts() const { return texts_; }

  /// One of what people do.
  void act(Storm& storm) {
    if (texts_.empty()) return reopen(storm);
    const auto at = std::next(texts_.begin(), static_cast<long>(storm.below(texts_.size())));
    const std::string uri = at->first;
    std::vector<std::string>& undo = before_[uri];
    switch (storm.below(12)) {
      case 0:
      case 1:
      case 2:
        if (undo.empty()) break;
        replace(uri, undo.back());
        undo.pop_back();
        break;
      case 3:
        closed_[uri] = at->second;
        texts_.erase(at);
        client.close(uri);
        break;
      case 4:
        reopen(storm);
        break;
      case 5: {  // another name
        const std::string text = at->second, name = "file:///nowhere/renamed.axn";
        if (texts_.count(name)) break;
        texts_.erase(at);
        closed_[uri] = text;
        client.close(uri);
        open(name, text);
        client.tell("workspace/didRenameFiles", {{"files", {{{"oldUri", uri}, {"newUri", name}}}}});
        break;
      }
      case 6:
        client.tell("textDocument/didSave", {{"textDocument", {{"uri", uri}}}});
        break;
      default: {
        undo.push_back(at->second);
        Json changes = Json::array();
        for (size_t n = 1 + storm.below(3); n > 0; --n) changes.push_back(storm.change(at->second));
        client.change(uri, changes);
      }
    }
  }

  /// Gives the files their first texts back.
  void mend() {
    for (const auto& [uri, text] : files())
      if (texts_.count(uri))
        replace(uri, text);
      else
        open(uri, text);
  }
  void open(const std::string& uri, const std::string& text) {
    texts_[uri] = text;
    closed_.erase(uri);
    client.open(uri, text);
  }

 private:
  void replace(const std::string& uri, const std::string& text) {
    texts_[uri] = text;
    client.change(uri, Json::array({{{"text", text}}}));
  }
  void reopen(Storm& storm) {
    if (closed_.empty()) return;
    const auto [uri, text] = *std::next(closed_.begin(), static_cast<long>(storm.below(closed_.size())));
    open(uri, text);
  }
  std::map<std::string, std::string> texts_, closed_;
  std::map<std::string, std::vector<std::string>> before_;
};

/// What the syntax decides, and what is wrong.
std::string answers(Client& client, const std::map<std::string, std::string>& texts) {
  std::string out;
  for (const auto& [uri, text] : texts) {
    const Json document = {{"textDocument", {{"uri", uri}}}};
    out += uri + client.pulled(uri).dump();
    for (const char* method : {"textDocument/documentSymbol", "textDocument/foldingRange",
                               "textDocument/codeLens", "textDocument/formatting"})
      out += client.ask(method, document).dump();
    out += "\n";
  }
  return out;
}

/// What else is announced, at a place; each is asked for in any case.
std::string answers_at(Client& client, const std::string& uri, const Json& position) {
  static const std::vector<std::pair<const char*, const char*>> all = {
      {"textDocument/hover", "hoverProvider"},
      {"textDocument/completion", "completionProvider"},
      {"textDocument/signatureHelp", "signatureHelpProvider"},
      {"textDocument/definition", "definitionProvider"},
      {"textDocument/typeDefinition", "typeDefinitionProvider"},
      {"textDocument/references", "referencesProvider"},
      {"textDocument/documentHighlight", "documentHighlightProvider"},
      {"textDocument/prepareRename", "renameProvider"},
      {"textDocument/rename", "renameProvider"},
      {"textDocument/prepareCallHierarchy", "callHierarchyProvider"},
      {"textDocument/inlayHint", "inlayHintProvider"},
      {"textDocument/semanticTokens/full", "semanticTokensProvider"},
      {"textDocument/selectionRange", "selectionRangeProvider"},
      {"textDocument/rangeFormatting", "documentRangeFormattingProvider"},
      {"textDocument/codeAction", "codeActionProvider"}};
  Json end = position;
  end["line"] = position["line"].get<int>() + 2;
  const Json params = {{"textDocument", {{"uri", uri}}},
                       {"position", position},
                       {"positions", {position}},
                       {"range", {{"start", position}, {"end", end}}},
                       {"newName", "renamed"},
                       {"context", {{"includeDeclaration", true}, {"diagnostics", Json::array()}}},
                       {"options", Json::object()}};
  std::string out;
  for (const auto& [method, capability] : all)
    if (client.capabilities().contains(capability)) {
      Json answer = client.ask(method, params);
      if (answer.contains("error")) answer = answer["error"];
      if (answer.is_object()) answer.erase("resultId");  // each server has its own
      out += fmt::format("{} {}\n", method, answer.dump());
    }
  return out;
}

/// The method whose answers differ, and a little of both from where they do; empty when they are the same.
std::string difference(const std::string& a, const std::string& b) {
  constexpr size_t before = 120, shown = 400;
  const auto at =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  if (at == a.size() && at == b.size()) return "";
  const size_t line = at == 0 ? 0 : a.rfind('\n', at - 1) + 1;
  const size_t begin = std::max(line, at - std::min(at, before));
  return fmt::format("{}\n  {}\n  {}", a.substr(line, a.find(' ', line) - line), a.substr(begin, shown),
                     b.substr(begin, shown));
}

void expect_answers_of_a_fresh_server(Editor& editor, Storm& storm, const std::string& when) {
  Client fresh;
  for (const auto& [uri, text] : editor.texts()) fresh.open(uri, text);
  const std::string said = answers(editor.client, editor.texts());
  ASSERT_EQ(said, answers(fresh, editor.texts())) << when;
  // Where there are errors, the answers are of what was good last.
  const bool good = said.find("\"severity\":1") == std::string::npos;
  for (const auto& [uri, text] : editor.texts()) {
    const Positions positions(text, Encoding::utf16);
    const Position at = positions.position(static_cast<uint32_t>(storm.below(text.size() + 1)));
    const Json position = {{"line", at.line}, {"character", at.character}};
    const std::string one = answers_at(editor.client, uri, position);
    if (good) {
      ASSERT_EQ(difference(one, answers_at(fresh, uri, position)), "") << when << position << "\n" << text;
    }
  }
}

TEST(Storm, AnswersAreThoseOfAFreshServer) {
  const char* const given = std::getenv("AXON_STORM_EDITS");
  const size_t edits = given ? std::stoul(given) : sampled<size_t>(600);
  Storm storm(7);
  Editor editor;
  for (size_t i = 0; i < edits; ++i) {
    editor.act(storm);
    if (i % 60 == 59) editor.mend();
    if (i % 60 != 59 && storm.below(4) != 0) continue;  // several edits before anyone looks
    expect_answers_of_a_fresh_server(editor, storm, fmt::format("edit {}: ", i));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace axon::lsp
