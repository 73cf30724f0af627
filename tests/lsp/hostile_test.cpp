// Input that no client would send: each message is answered or left alone, and the server lives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "client.h"

namespace axon::lsp {
namespace {

std::string framed(const std::string& body) {
  return fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
}

/// The client is served as always.
void expect_alive(Client& client, const std::string& after) {
  const std::string uri = "file:///nowhere/alive.axn";
  client.open(uri, "fun f x = y\n");
  EXPECT_EQ(client.codes(uri), "E0401 ") << after;
  client.close(uri);
}

std::string repeated(size_t times, const std::string& text) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Hostile, MessagesThatAreNoneAreRefused) {
  const std::vector<std::string> bodies = {
      "",
      "[]",
      "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\"}]",
      "3",
      "null",
      "\"text\"",
      "{\"jsonrpc\":\"2.0\",\"id\":1}",
      "{\"id\":1,\"method\":7}",
      "{\"id\":{\"a\":1},\"method\":\"shutdown\"}",
      "{\"id\":1.5,\"method\":\"shutdown\"}",
      "{\"id\":null,\"method\":\"shutdown\"}",
      "{\"method\":\"x\",\"params\":\"\xff\xfe\"}",
      "{\"method\":\"x\",\"params\":\"\\ud800\"}",
      "{\"method\":\"x\"",
      "{\"id\":1,\"method\":\"x\",\"params\":" + repeated(100'000, "[") + repeated(100'000, "]") + "}",
      "{\"id\":1,\"method\":\"x\",\"params\":" + repeated(100'000, "{\"a\":") + "1" + repeated(100'000, "}") +
          "}",
      repeated(1000, "[") + repeated(1000, "]")};
  Client client;
  for (const std::string& body : bodies) {
    client.send_raw(framed(body));
    EXPECT_TRUE(client.next().contains("error")) << body.substr(0, 100);
  }
  expect_alive(client, "no messages");
}

TEST(Hostile, ParametersOfAnyKindAreRefused) {
  Client client;
  client.open(uri, "fun f x = x\n");
  const std::vector<Json> odd = {
      nullptr,
      3,
      "text",
      Json::array(),
      Json::array({1}),
      Json::object(),
      {{"textDocument", nullptr}},
      {{"textDocument", {{"uri", 3}}}},
      {{"textDocument", {{"uri", "file:///a%00b"}}}},
      {{"textDocument", {{"uri", "file:///a%zz"}}}},
      {{"textDocument", {{"uri", "a"}}}},
      {{"textDocument", {{"uri", ""}}}},
      {{"textDocument", {{"uri", uri}, {"version", "x"}}}, {"contentChanges", 3}},
      {{"textDocument", {{"uri", uri}}}, {"contentChanges", {1, 2}}},
      {{"textDocument", {{"uri", uri}}}, {"contentChanges", {{{"text", 1}}}}},
      {{"textDocument", {{"uri", uri}}}, {"contentChanges", {{{"text", "x"}, {"range", 3}}}}},
      {{"textDocument", {{"uri", uri}}},
       {"position", {{"line", -5}, {"character", 1e300}}},
       {"range", 4},
       {"context", Json::array()},
       {"positions", 7}}};
  std::vector<std::string> methods = {"no/such", "textDocument/hover", "$/progress", "initialized"};
  for (const char* capability :
       {"hover", "completion", "signatureHelp", "definition", "typeDefinition", "references",
        "documentHighlight", "rename", "prepareRename", "inlayHint", "semanticTokens/full", "codeAction",
        "formatting", "rangeFormatting", "documentSymbol", "foldingRange", "selectionRange", "codeLens",
        "diagnostic"})
    methods.push_back(std::string("textDocument/") + capability);
  for (const std::string& method : methods)
    for (const Json& params : odd) EXPECT_FALSE(client.ask(method, params).is_discarded());
  for (const char* notice :
       {"textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "textDocument/didSave",
        "workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles", "$/cancelRequest"})
    for (const Json& params : odd)
      if (std::string_view(notice) != "textDocument/didClose" || !params.is_object())
        client.tell(notice, params);
  expect_alive(client, "odd parameters");
}

TEST(Hostile, PositionsOfAnyNumberArePlaces) {
  Client client;
  client.open(uri, "-- 𝛼𝛼\nfun f x = x\n");
  const auto change = [&](const Json& a, const Json& b, const Json& c, const Json& d,
                          const std::string& text) {
    client.change(
        uri, Json::array(
                 {{{"range",
                    {{"start", {{"line", a}, {"character", b}}}, {"end", {{"line", c}, {"character", d}}}}},
                   {"text", text}}}));
  };
  change(0, 4, 0, 4, "x");  // inside of a pair of surrogates: its beginning
  change(-1, -1, -7, -7, "");
  change(uint64_t{1} << 63, UINT64_MAX, UINT64_MAX, 0, "fun g x = x\n");
  change(1, UINT32_MAX, 1, UINT64_MAX, " + 1.0");
  EXPECT_EQ(client.codes(uri), "");
  EXPECT_EQ(client.ask("textDocument/formatting", {{"textDocument", {{"uri", uri}}}}).size(), 0u);
  client.change(
      uri, Json::array(
               {{{"range",
                  {{"start", {{"line", 0.5}, {"character", 0}}}, {"end", {{"line", 0}, {"character", 0}}}}},
                 {"text", "nothing of this"}}}));
  client.change(uri, Json::array({{{"text", "fun f x = x\n"}}}));
  EXPECT_EQ(client.codes(uri), "");
}

TEST(Hostile, IdsMayBeUsedAgain) {
  Client client;
  client.open(uri, "fun f x = x\n");
  const Json request = {{"jsonrpc", "2.0"},
                        {"id", "same"},
                        {"method", "textDocument/documentSymbol"},
                        {"params", {{"textDocument", {{"uri", uri}}}}}};
  for (int i = 0; i < 100; ++i) client.send(request);
  int answers = 0;
  while (answers < 100) answers += client.next().value("id", Json()) == "same" ? 1 : 0;
  client.close(uri);
  expect_alive(client, "ids used again");
}

TEST(Hostile, KeysThatAreThereTwiceCountOnce) {
  Client client;
  client.send_raw(
      framed("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":77,\"method\":\"no\",\"method\":\"no/such\"}"));
  EXPECT_EQ(client.next()["id"], 77);
}

TEST(Hostile, CancelledRequestsThatNeverCameCostNothing) {
  Client client;
  for (int i = 0; i < 5'000; ++i) client.tell("$/cancelRequest", {{"id", fmt::format("never {}", i)}});
  for (const Json& odd : {Json(), Json(1.5), Json::array(), Json{{"id", Json::object()}}})
    client.tell("$/cancelRequest", odd);
  expect_alive(client, "cancels");
}

TEST(Hostile, LargeFilesAreSpokenOf) {
  Client client;
  std::string lines;
  while (lines.size() < (16u << 20)) lines += "-- a line of a comment that is of some length, as they are\n";
  client.open(uri, lines);
  EXPECT_EQ(client.codes(uri), "E0001 ");
  client.change(uri, Json::array({{{"text", lines.substr(0, lines.size() / 2) + "fun f x = y\n"}}}));
  EXPECT_EQ(client.codes(uri), "E0401 ");
  client.change(uri, Json::array({{{"text", "fun f x = x\n"}}}));
  EXPECT_EQ(client.codes(uri), "");
}

TEST(Hostile, ManyDeclarationsAreExchangedAtOnce) {
  Client client;
  std::string one, other;
  for (int i = 0; i < 5'000; ++i) {
    one += fmt::format("val a{} = {}\n", i, i);
    other += fmt::format("val b{} = {}\n", i, i);
  }
  client.open(uri, one);
  client.change(uri, Json::array({{{"text", other}}}));
  client.change(uri, Json::array({{{"text", other + one}}}));
  EXPECT_EQ(client.codes(uri), "");
}

TEST(Hostile, TheEndMayComeInTheMiddle) {
  for (int i = 0; i < 5; ++i) {
    Client client;
    client.open(uri, "fun f x = softmax x\n");
    client.send(
        {{"jsonrpc", "2.0"},
         {"id", 5},
         {"method", "textDocument/codeAction"},
         {"params",
          {{"textDocument", {{"uri", uri}}},
           {"range",
            {{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 0}, {"character", 9}}}}}}}});
    if (i == 0) client.send_raw("Content-Length: 99\r\n\r\n{");
    if (i == 1) client.send_raw("Content-Le");
    if (i == 2) client.tell("exit");
    if (i == 3) client.send({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "shutdown"}});
    EXPECT_EQ(client.end(), i == 3 ? 0 : 1) << i;
  }
}

TEST(Hostile, TheEndMayComeInAnyMomentOfACheck) {
  for (int i = 0; i < 100; ++i) {
    Client client;
    client.open(uri, "fun f x = softmax x\n");
    for (int k = 0; k < i % 5; ++k) client.ask("textDocument/hover");
    client.change(uri, Json::array({{{"text", "fun f x = softmax x\nfun g x = f y\n"}}}));
    if (i % 2 == 0) client.codes(uri);
    client.close(uri);
    client.end();
  }
}

TEST(Hostile, ManyFilesOpenAndClose) {
  Client client;
  for (int i = 0; i < 300; ++i) {
    client.open(fmt::format("file:///nowhere/{}.axn", i % 7), fmt::format("val a = {}\n", i));
    if (i % 3 == 0) client.close(fmt::format("file:///nowhere/{}.axn", (i * 5) % 7));
  }
  expect_alive(client, "many files");
}

TEST(Hostile, WhatCannotBeMoreThanAskedIsAnswered) {
  Client client;
  client.open(uri, "fun f x = x\n");
  client.ask("shutdown");
  for (const char* method : {"shutdown", "initialize", "textDocument/codeAction", "textDocument/diagnostic"})
    EXPECT_TRUE(client.ask(method, {{"textDocument", {{"uri", uri}}}}).contains("error")) << method;
  client.tell("textDocument/didChange", Json::object());
  client.tell("exit");
  EXPECT_EQ(client.end(), 0);
}

}  // namespace
}  // namespace axon::lsp
