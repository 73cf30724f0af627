// Repairs are tried once, and the same whoever asks first.
#include "lsp/repairs.h"

#include <gtest/gtest.h>

#include "client.h"

namespace axon::lsp {
namespace {

using source::Diagnostic;

constexpr const char* path = "/nowhere/a.axn";
const std::string one = "fun one (x : f32[n, d]) (w : f32[m, d]) = x @ w\n",
                  two = "fun two (x : f32[n, d]) (w : f32[m, d]) = x @ w\n";

/// A session with a checked file, and how many trials it took.
struct Checked {
  explicit Checked(const std::string& text) : session({AXON_SOURCE_DIR "/stdlib"}, {}) {
    session.documents().open(path, text);
    found = session.check_with_drafts(path);
    repairs.begin(session, path, found, [this](const std::function<void()>& step) {
      ++steps;
      if (steps == ended_at) throw base::Cancelled{};
      step();
    });
  }
  std::vector<std::string> edits(const Repairs::Wanted& wanted) const {
    std::vector<std::string> out;
    for (const Diagnostic& d : repairs.of(path, wanted))
      for (const source::Help& help : d.helps)
        if (help.edit) out.push_back(std::to_string(help.edit->span.begin) + " " + help.edit->replacement);
    return out;
  }
  session::Session session;
  source::Diagnostics found;
  Repairs repairs;
  int steps = 0, ended_at = 0;
};

bool all(const Diagnostic&) { return true; }

TEST(Repairs, AreTriedOnceForAllThatAsk) {
  Checked checked(one + "fun right x = x\n" + two);
  ASSERT_EQ(checked.found.error_count(), 2u);
  const uint32_t second = checked.found.in_order_of_report()[1].primary.span.begin;
  const auto last = [&](const Diagnostic& d) { return d.primary.span.begin == second; };
  EXPECT_FALSE(checked.repairs.are_known(path, last));
  EXPECT_TRUE(checked.repairs.are_known(path, [](const Diagnostic&) { return false; }));
  checked.repairs.find(path, last);
  const int steps = checked.steps;
  EXPECT_GT(steps, 1);
  EXPECT_TRUE(checked.repairs.are_known(path, last));
  EXPECT_FALSE(checked.repairs.are_known(path, all));
  EXPECT_EQ(checked.edits(all).size(), 1u);
  checked.repairs.find(path, last);
  EXPECT_EQ(checked.steps, steps);
  checked.repairs.look_ahead(path);
  EXPECT_GT(checked.steps, steps);
  EXPECT_TRUE(checked.repairs.are_known(path, all));
  EXPECT_EQ(checked.edits(all).size(), 2u);
}

TEST(Repairs, WhatWasEndedIsTriedAgain) {
  Checked whole(one + two);
  whole.repairs.look_ahead(path);
  for (int ended_at = 1; ended_at <= whole.steps; ++ended_at) {
    Checked checked(one + two);
    checked.ended_at = ended_at;
    EXPECT_THROW(checked.repairs.look_ahead(path), base::Cancelled);
    EXPECT_FALSE(checked.repairs.are_known(path, all));
    checked.repairs.look_ahead(path);
    EXPECT_TRUE(checked.repairs.are_known(path, all));
    EXPECT_EQ(checked.edits(all), whole.edits(all)) << ended_at;
  }
}

TEST(Repairs, AnAllowanceThatIsSpentSaysNothing) {
  std::string text;
  for (int i = 0; i < 12; ++i) {
    std::string numbered = one;
    text += numbered.replace(4, 3, "one" + std::to_string(i));
  }
  Checked ahead(text), asked(text);
  session::TrialAllowance some;
  some.trials = 7;
  ahead.repairs.look_ahead(path, some);
  EXPECT_FALSE(ahead.repairs.are_known(path, all));
  const size_t known = ahead.edits(all).size();
  EXPECT_GT(known, 0u);
  EXPECT_LT(known, 12u);
  ahead.repairs.find(path, all);
  asked.repairs.find(path, all);
  EXPECT_EQ(ahead.edits(all), asked.edits(all));
  EXPECT_EQ(ahead.edits(all).size(), 12u);
}

TEST(Repairs, NothingIsKnownOfTextsThatHaveChanged) {
  Checked checked(one);
  checked.repairs.look_ahead(path);
  ASSERT_TRUE(checked.repairs.are_known(path, all));
  checked.repairs.outdate();
  EXPECT_FALSE(checked.repairs.are_known(path, all));
  const int steps = checked.steps;
  checked.repairs.find(path, all);
  checked.repairs.look_ahead(path);
  EXPECT_EQ(checked.steps, steps);
  EXPECT_EQ(checked.edits(all).size(), 0u);
}

Json actions(Client& client, int line, const Json& context) {
  const Json begin = {{"line", line}, {"character", 0}}, end = {{"line", line}, {"character", 90}};
  return client.ask(
      "textDocument/codeAction",
      {{"textDocument", {{"uri", uri}}}, {"range", {{"start", begin}, {"end", end}}}, {"context", context}});
}

TEST(Repairs, AreThoseOfTheTextWhenTheyAreAskedFor) {
  Client client;
  const Json context = {{"diagnostics", Json::array()}};
  client.open(uri, one + two);
  for (int i = 0; i < 20; ++i) {
    client.change(uri, Json::array({{{"text", (i % 2 == 0 ? "" : "fun more x = x\n") + one + two}}}));
    if (i % 4 < 2) client.pulled(uri);  // else the check has not begun
    const Json offered = actions(client, i % 2 == 0 ? 1 : 2, context);
    ASSERT_FALSE(offered.empty()) << i;
    EXPECT_EQ(offered[0]["title"], "transpose the right operand");
    const Json start = offered[0]["edit"]["changes"][uri][0]["range"]["start"];
    EXPECT_EQ(start["line"], i % 2 == 0 ? 1 : 2) << i;
    EXPECT_EQ(actions(client, i % 2 == 0 ? 1 : 2, context), offered);
  }
}

TEST(Repairs, WhoWaitsForThemLetsOthersPass) {
  Client client;
  std::string text;
  for (int i = 0; i < 20; ++i) text += "fun wrong" + std::to_string(i) + one.substr(7);
  client.open(uri, text);
  const Json range = {{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 20}, {"character", 0}}}};
  client.send({{"jsonrpc", "2.0"},
               {"id", "actions"},
               {"method", "textDocument/codeAction"},
               {"params",
                {{"textDocument", {{"uri", uri}}},
                 {"range", range},
                 {"context", {{"diagnostics", Json::array()}}}}}});
  client.send({{"jsonrpc", "2.0"},
               {"id", "symbols"},
               {"method", "textDocument/documentSymbol"},
               {"params", {{"textDocument", {{"uri", uri}}}}}});
  std::vector<std::string> order;
  while (order.size() < 2) {
    const Json message = client.next();
    if (message.contains("id")) order.push_back(message["id"]);
    if (message.value("id", Json()) == "actions") {
      EXPECT_GE(message["result"].size(), 20u);
    }
  }
  EXPECT_EQ(order, (std::vector<std::string>{"symbols", "actions"}));
}

}  // namespace
}  // namespace axon::lsp
