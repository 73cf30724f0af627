// The page of an entry, and what it costs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "client.h"
#include "lsp/uri.h"

namespace axon::lsp {
namespace {

const char* const program = "entry twice (x : f32[n]) = x + x\nfun f x = x\n";

Json command(const std::string& name) { return {{"command", "axon.page"}, {"arguments", {uri, name}}}; }

TEST(Pages, TheLensOfAnEntryMakesIts) {
  Client client;
  EXPECT_EQ(client.capabilities()["executeCommandProvider"]["commands"], Json::array({"axon.page"}));
  client.open(uri, program);
  const Json lenses = client.ask("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}});
  const Json& lens = lenses.at(1)["command"];
  const Json made = client.ask("workspace/executeCommand",
                               {{"command", lens["command"]}, {"arguments", lens["arguments"]}});
  const std::string path = path_of_uri(made.at("uri").get<std::string>()).value();
  std::ostringstream page;
  page << std::ifstream(path).rdbuf();
  EXPECT_NE(page.str().find("<title>twice - "), std::string::npos);
  std::filesystem::remove(path);
}

TEST(Pages, WhatHasNoneIsAnError) {
  Client client;
  client.open(uri, program);
  EXPECT_EQ(client.ask("workspace/executeCommand", command("f"))["error"]["message"],
            "the file has no entry `f`");
  client.change(uri, Json::array({{{"text", "entry twice (x : f32[n]) = x + y\n"}}}));
  EXPECT_EQ(client.ask("workspace/executeCommand", command("twice"))["error"]["message"],
            "the file has errors");
  EXPECT_TRUE(client.ask("workspace/executeCommand", {{"command", "x"}, {"arguments", Json::array()}})
                  .contains("error"));
  EXPECT_TRUE(client.ask("workspace/executeCommand", {{"command", "axon.page"}, {"arguments", {1}}})
                  .contains("error"));
}

TEST(Pages, HoverSaysWhatAnEntryCosts) {
  Client client;
  client.open(uri, program);
  const Json params = {{"textDocument", {{"uri", uri}}}, {"position", {{"line", 0}, {"character", 7}}}};
  // It is found out when nothing else is to be done.
  std::string shown;
  for (int tries = 0; tries < 10000 && shown.find("Costs") == std::string::npos; ++tries) {
    shown = client.ask("textDocument/hover", params)["contents"]["value"];
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_NE(shown.find("Costs `n + 64 operations, at least 8*n bytes`."), std::string::npos) << shown;
}

}  // namespace
}  // namespace axon::lsp
