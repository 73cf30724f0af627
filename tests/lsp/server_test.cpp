// What a client sees of the server.
#include <gtest/gtest.h>

#include "client.h"

namespace axon::lsp {
namespace {

const std::string error = "fun project (x : f32[n, d]) (w : f32[m, d]) = x @ w\n";

Json document(const std::string& of = uri) { return {{"textDocument", {{"uri", of}}}}; }
Json position(int line, int character) { return {{"line", line}, {"character", character}}; }
Json range(Json start, Json end) { return {{"start", std::move(start)}, {"end", std::move(end)}}; }
Json with(Json params, const char* name, Json value) {
  params[name] = std::move(value);
  return params;
}

TEST(Server, SaysWhatIsWrongAndWhereElse) {
  Client client;
  client.open(uri, error);
  const Json found = client.diagnostics(uri);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["code"], "E0312");
  EXPECT_EQ(found[0]["severity"], 1);
  EXPECT_EQ(found[0]["range"], range(position(0, 48), position(0, 49)));
  EXPECT_EQ(found[0]["relatedInformation"].size(), 2u);
  EXPECT_EQ(found[0]["relatedInformation"][0]["location"]["uri"], uri);
  EXPECT_NE(found[0]["message"].get<std::string>().find("inner dimensions of `@` differ\nneeds d = m"),
            std::string::npos);
}

TEST(Server, OffersWhatRepairs) {
  Client client;
  client.open(uri, error + "fun other x = sin x + coss x\n");
  client.diagnostics(uri);
  const Json at = range(position(0, 48), position(0, 48));
  const Json actions = client.ask("textDocument/codeAction", with(with(document(), "range", at), "context",
                                                                  {{"diagnostics", Json::array()}}));
  ASSERT_GE(actions.size(), 1u);
  EXPECT_EQ(actions[0]["title"], "transpose the right operand");
  const Json edit = actions[0]["edit"]["changes"][uri][0];
  EXPECT_EQ(edit["newText"], "transpose w");
  client.change(uri, {{{"range", edit["range"]}, {"text", edit["newText"]}}});
  EXPECT_EQ(client.codes(uri), "E0401 ");
}

TEST(Server, FollowsEditsInUnitsOfTheClient) {
  for (const char* encoding : {"utf-8", "utf-16", "utf-32"}) {
    Client client({encoding});
    EXPECT_EQ(client.capabilities()["positionEncoding"], encoding);
    client.open(uri, "-- 𝛼λ\r\nfun f x = x\r\n");
    EXPECT_EQ(client.codes(uri), "");
    const int behind = std::map<std::string, int>{{"utf-8", 9}, {"utf-16", 6}, {"utf-32", 5}}.at(encoding);
    client.change(uri,
                  Json::array({{{"range", range(position(0, behind), position(1, 4))}, {"text", "\nfun "}},
                               {{"range", range(position(1, 10), position(1, 11))}, {"text", "yy"}}}));
    EXPECT_EQ(client.codes(uri), "E0401 ");
    EXPECT_EQ(client.diagnostics(uri)[0]["range"], range(position(1, 10), position(1, 12)));
    client.change(uri, Json::array({{{"text", "fun f x = x\n"}}}));
    EXPECT_EQ(client.codes(uri), "");
  }
}

TEST(Server, ChoosesUnitsThatBothHave) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{}, "utf-16"},
      {{"utf-7"}, "utf-16"},
      {{"utf-16", "utf-8"}, "utf-8"},
      {{"utf-32", "utf-16"}, "utf-32"},
      {{"utf-16", "utf-32"}, "utf-16"},
      {{"utf-32"}, "utf-32"}};
  for (const auto& [offered, chosen] : cases)
    EXPECT_EQ(Client(offered).capabilities()["positionEncoding"], chosen);
}

TEST(Server, ChecksImportersOfOpenFiles) {
  Client client;
  const std::string part = "file:///nowhere/part.axn";
  client.open(part, "fun twice x = x + x\n");
  client.open(uri, "import part\nfun four x = part.twice (part.twice x)\n");
  EXPECT_EQ(client.codes(uri), "");
  client.change(part, Json::array({{{"text", "fun twise x = x + x\n"}}}));
  EXPECT_TRUE(client.become(uri, "E0401 E0401 "));
}

TEST(Server, Formats) {
  Client client;
  client.open(uri, "fun f x = x\nfun   g x=x+1.0\nfun h x = x\nval  a =1.0\n");
  const Json edits = client.ask("textDocument/formatting", with(document(), "options", Json::object()));
  ASSERT_EQ(edits.size(), 2u) << edits;
  EXPECT_EQ(edits[0]["range"], range(position(1, 0), position(2, 0)));
  EXPECT_EQ(edits[0]["newText"], "fun g x = x + 1.0\n");
  const Json last = range(position(3, 0), position(3, 1));
  EXPECT_EQ(client.ask("textDocument/rangeFormatting", with(document(), "range", last)).size(), 1u);
  client.change(uri, Json::array({{{"text", "fun f (x = x\n"}}}));
  EXPECT_TRUE(client.ask("textDocument/formatting", document()).is_null());
}

TEST(Server, ShowsTheOutline) {
  Client client;
  client.open(
      uri,
      "-- one\n-- two\ntype T[n] = {\n  w : f32[n]\n}\nentry run (x : f32[n]) = x\ntest \"a\" =\n  true\n");
  const Json symbols = client.ask("textDocument/documentSymbol", document());
  ASSERT_EQ(symbols.size(), 3u);
  EXPECT_EQ(symbols[0]["name"], "T");
  EXPECT_EQ(symbols[0]["children"][1]["name"], "w");
  EXPECT_EQ(symbols[2]["name"], "a");
  const Json folds = client.ask("textDocument/foldingRange", document());
  ASSERT_EQ(folds.size(), 3u);
  EXPECT_EQ(folds[0]["kind"], "comment");
  EXPECT_EQ(folds[1]["endLine"], 4);
  const Json lenses = client.ask("textDocument/codeLens", document());
  ASSERT_EQ(lenses.size(), 3u);
  EXPECT_EQ(lenses[0]["command"]["command"], "axon.run");
  EXPECT_EQ(lenses[1]["command"]["title"], "graph");
  EXPECT_EQ(lenses[2]["command"]["arguments"], Json::array({uri, "a"}));
  EXPECT_EQ(lenses[2]["range"], range(position(6, 0), position(6, 10)));
  const Json selection = client.ask("textDocument/selectionRange",
                                    with(document(), "positions", Json::array({position(5, 25)})));
  EXPECT_EQ(selection[0]["range"], range(position(5, 25), position(5, 26)));
  EXPECT_EQ(selection[0]["parent"]["range"], range(position(5, 0), position(5, 26)));
  client.change(uri, Json::array({{{"text", "fun f x =\n  let one = x\n  let two = one + x\n  in two\n"}}}));
  std::string widths;
  for (Json at = client.ask("textDocument/selectionRange",
                            with(document(), "positions", Json::array({position(2, 13)})))[0];
       at.is_object(); at = at.value("parent", Json()))
    widths += at["range"]["start"].dump() + " ";
  EXPECT_EQ(widths,
            "{\"character\":12,\"line\":2} {\"character\":12,\"line\":2} {\"character\":2,\"line\":2} "
            "{\"character\":2,\"line\":1} {\"character\":0,\"line\":0} {\"character\":0,\"line\":0} ")
      << "the word, the sum, the let, all lets, the declaration, the file";
  const Json found = client.ask("workspace/symbol", {{"query", "f"}});
  EXPECT_FALSE(found.empty());
}

// ---- What no well-behaved client does.

TEST(Protocol, RequestsThatMakeNoSenseGetErrors) {
  Client client({}, false);
  EXPECT_EQ(client.ask("textDocument/hover")["error"]["code"], not_initialized);
  client.ask("initialize");
  EXPECT_EQ(client.ask("initialize")["error"]["code"], invalid_request);
  EXPECT_EQ(client.ask("no/such")["error"]["code"], method_not_found);
  EXPECT_EQ(client.ask("textDocument/formatting", document())["error"]["code"], invalid_params);
  EXPECT_EQ(client.ask("textDocument/formatting", {{"textDocument", 3}})["error"]["code"], invalid_params);
  EXPECT_EQ(client.ask("textDocument/formatting", Json::array({1, 2}))["error"]["code"], invalid_params);
  client.open(uri, "fun f x = x\n");
  EXPECT_EQ(client.ask("textDocument/codeAction", document())["error"]["code"], invalid_params);
  EXPECT_EQ(client.ask("textDocument/codeAction",
                       with(document(), "range", range("a", position(0, 0))))["error"]["code"],
            invalid_params);
  client.tell("textDocument/didChange",
              {{"textDocument", {{"uri", "file:///never"}}}, {"contentChanges", Json::array()}});
  client.tell("textDocument/didOpen", {{"textDocument", {{"uri", "file:///a%00b"}, {"text", ""}}}});
  client.tell("textDocument/didOpen", Json::array());
  EXPECT_EQ(client.codes(uri), "");
}

TEST(Protocol, PositionsOutsideOfTheTextAreItsEnds) {
  Client client;
  client.open(uri, "fun f x = x");
  client.change(uri, Json::array({{{"range", range(position(7, 99), position(2'000'000'000, 0))},
                                   {"text", "\nfun g y = yy"}}}));
  EXPECT_EQ(client.codes(uri), "E0401 ");
  client.change(uri, Json::array({{{"range", range(position(1, 99), position(0, 99))}, {"text", "\n"}}}));
  EXPECT_EQ(client.codes(uri), "");
}

TEST(Protocol, MessagesThatAreNoRequestsAreToldSo) {
  Client client;
  client.send_raw("Content-Length: 5\r\n\r\n{nope");
  EXPECT_EQ(client.next()["error"]["code"], parse_error);
  client.send_raw("Content-Length: 2\r\nContent-Type: x\r\n\r\n[]");
  EXPECT_EQ(client.next()["error"]["code"], invalid_request);
  client.send_raw("Content-Length: 200000\r\n\r\n" + std::string(200000, '['));
  EXPECT_EQ(client.next()["error"]["code"], parse_error);
  client.send_raw("Content-Length: 17\n\n{\"method\":\"a\"   ");
  client.send_raw("}");
  client.open(uri, "fun f x = x\n");
  EXPECT_EQ(client.codes(uri), "");
}

TEST(Protocol, InputThatCannotBeReadEndsTheServer) {
  for (const char* bytes : {"Content-Length: -1\r\n\r\n{}", "Content-Length: 99999999999999999999\r\n\r\n",
                            "Content-Length: 100000000000\r\n\r\n", "Content-Length: x\r\n\r\n", "\r\n",
                            "Content-Le", "Content-Length: 10\r\n\r\n{}", "Content-Length: 10\r\n"}) {
    Client client;
    client.send_raw(bytes);
    EXPECT_EQ(client.end(), 1) << bytes;
  }
  Client client;
  client.send_raw(std::string(100000, 'x'));
  EXPECT_EQ(client.end(), 1);
}

TEST(Server, FormatsARangeWithItsEndsOfLines) {
  Client client;
  for (const std::string end : {"\n", "\r\n"}) {
    std::string text;
    for (const char* name : {"a", "b", "c"}) text += std::string("fun ") + name + " x   = x" + end + end;
    client.open(uri, text);
    const Json params = with(document(), "range", range(position(2, 0), position(2, 3)));
    const Json edits = client.ask("textDocument/rangeFormatting", params);
    ASSERT_EQ(edits.size(), 1u);
    EXPECT_EQ(edits[0]["range"], range(position(2, 0), position(3, 0)));
    EXPECT_EQ(edits[0]["newText"], "fun b x = x" + end);
    client.close(uri);
  }
}

/// Nothing tells a client without `refreshSupport` to ask again.
TEST(Server, WhatIsAskedBeforeTheFirstCheckWaitsForIt) {
  const auto first = [](const char* method, Json params) {
    Client client;
    client.open(uri, "fun f x = softmax x\nfun g y = f y\n");
    return client.ask(method, params);
  };
  const Json at = with(document(), "position", position(1, 10));
  EXPECT_EQ(first("textDocument/hover", at)["range"], range(position(1, 10), position(1, 11)));
  EXPECT_EQ(first("textDocument/definition", at)["range"], range(position(0, 4), position(0, 5)));
  EXPECT_EQ(first("textDocument/documentHighlight", at).size(), 2u);
  const Json tokens = first("textDocument/semanticTokens/full", document())["data"];
  EXPECT_EQ(tokens.size(), 5u * 8u);
  const Json whole = range(position(0, 0), position(2, 0));
  EXPECT_GE(first("textDocument/inlayHint", with(document(), "range", whole)).size(), 1u);
}

TEST(Protocol, CancelledRequestsAreAnsweredSo) {
  Client client;
  client.open(uri, "fun f x = x\n");
  client.tell("$/cancelRequest", {{"id", 2}});
  EXPECT_EQ(client.ask("textDocument/documentSymbol", document())["error"]["code"], request_cancelled);
  EXPECT_EQ(client.ask("textDocument/documentSymbol", document()).size(), 1u);
}

TEST(Protocol, EndsInOrder) {
  Client client;
  EXPECT_TRUE(client.ask("shutdown").is_null());
  EXPECT_EQ(client.ask("textDocument/documentSymbol", document())["error"]["code"], invalid_request);
  client.tell("exit");
  EXPECT_EQ(client.end(), 0);
}

TEST(Protocol, ManyEditsAreOneCheck) {
  Client client;
  client.open(uri, "");
  std::string text;
  for (int i = 0; i < 10'000; ++i)
    client.change(uri, Json::array({{{"range", range(position(0, 0), position(0, 0))}, {"text", "-"}}}));
  client.change(uri, Json::array({{{"text", "fun f x = y\n"}}}));
  EXPECT_EQ(client.codes(uri), "E0401 ");
}

}  // namespace
}  // namespace axon::lsp
