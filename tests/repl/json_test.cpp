// The objects of `etcc repl --json`: every line in has one line out, whatever it holds.
#include "repl/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support.h"

namespace axon::repl {
namespace {

using Json = nlohmann::json;

struct Served {
  Typing repl;
  bool quit = false;
  Json ask(const Json& request) { return Json::parse(answer_json(repl, request.dump(), quit)); }
};

TEST(ReplJson, Answers) {
  Served s;
  const Json defined = s.ask({{"code", "val p = {w = [true]}"}, {"id", "seven"}});
  EXPECT_EQ(defined["kind"], "definition");
  EXPECT_EQ(defined["id"], "seven");
  EXPECT_EQ(defined["types"], Json::parse(R"([{"name": "p", "type": "{w : bool[1]}"}])"));
  EXPECT_FALSE(defined.contains("table"));
  s.ask({{"code", "fun f (x : f32[n]) = x\nfun g (x : f32[n]) = f x"}});
  EXPECT_EQ(s.ask({{"code", "fun f (x : bool) = x"}})["broken"], Json::array({"g"}));
  const Json error = s.ask({{"code", "p.v"}});
  EXPECT_EQ(error["kind"], "error");
  EXPECT_NE(error["text"].get<std::string>().find("E0"), std::string::npos);
  EXPECT_EQ(s.ask({{"code", ""}})["kind"], "nothing");
}

TEST(ReplJson, TablesAreObjects) {
  Served s;
  const Json solved = s.ask({{"code", ":solve a * b == 6, a < b"}});
  EXPECT_EQ(solved["kind"], "text");
  EXPECT_EQ(solved["table"], Json::parse(R"({"head": ["a", "b"], "rows": [["1", "6"], ["2", "3"]]})"));
}

TEST(ReplJson, OtherRequests) {
  Served s;
  EXPECT_EQ(s.ask({{"complete", "transpos"}}), Json::parse(R"({"begin": 0, "matches": ["transpose"]})"));
  EXPECT_EQ(s.ask({{"is_complete", "fun f x ="}})["complete"], false);
  EXPECT_EQ(s.ask({{"split", "1\n2"}})["phrases"], Json::array({"1", "2"}));
  EXPECT_EQ(s.ask({{"inspect", "transpose"}})["text"].get<std::string>().find("transpose : "), 0u);
  EXPECT_EQ(s.ask({{"inspect", "nothing_of_this_name"}})["text"], "");
  EXPECT_FALSE(s.quit);
  EXPECT_EQ(s.ask({{"code", ":quit"}})["kind"], "quit");
  EXPECT_TRUE(s.quit);
}

TEST(ReplJson, HostileLines) {
  Served s;
  for (const std::string& line :
       {std::string(), std::string("null"), std::string("[1"), std::string("{\"code\": 3}"),
        std::string(100000, '['), std::string("{\"code\": \"\\ud800\"}"), std::string("\xff\xfe"),
        std::string("{\"complete\": 7}"), std::string("{}")}) {
    const Json answer = Json::parse(answer_json(s.repl, line, s.quit));
    EXPECT_TRUE(answer.is_object()) << line.substr(0, 20);
  }
  const std::string text = answer_json(s.repl, Json({{"code", "\"a\nb\" é形 😀"}}).dump(), s.quit);
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace axon::repl
