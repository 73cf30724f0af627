// See json.h.
#include "repl/json.h"

#include <nlohmann/json.hpp>

#include "repl/commands.h"
#include "repl/complete.h"

namespace axon::repl {

using Json = nlohmann::json;

namespace {

const char* kind_name(Answer::Kind kind) {
  switch (kind) {
    case Answer::Kind::nothing:
      return "nothing";
    case Answer::Kind::definition:
      return "definition";
    case Answer::Kind::value:
      return "value";
    case Answer::Kind::type:
      return "type";
    case Answer::Kind::text:
      return "text";
    case Answer::Kind::error:
      return "error";
    case Answer::Kind::interrupted:
      return "interrupted";
    case Answer::Kind::quit:
      return "quit";
  }
  return "";
}

Json run(Repl& repl, const std::string& code, bool& quit) {
  std::string output;
  repl.on_output([&](std::string_view said) { output += said; });
  const Answer answer = repl.answer(code);
  repl.on_output({});
  quit = answer.kind == Answer::Kind::quit;
  Json types = Json::array(), values = Json::array();
  for (const Typed& t : answer.types) types.push_back({{"name", t.name}, {"type", t.type}});
  for (const Value& v : answer.values)
    values.push_back({{"name", v.name}, {"type", v.type}, {"text", v.text}});
  Json out = {{"kind", kind_name(answer.kind)}, {"text", answer.text}, {"types", types}, {"values", values},
              {"broken", answer.broken},        {"output", output}};
  if (!answer.page.empty()) out["page"] = answer.page;
  if (!answer.table.head.empty()) out["table"] = {{"head", answer.table.head}, {"rows", answer.table.rows}};
  return out;
}

Json reply(Repl& repl, const Json& request, bool& quit) {
  const auto text = [&](const char* key) {
    const auto found = request.find(key);
    return found != request.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (request.contains("code") && request["code"].is_string()) return run(repl, text("code"), quit);
  if (request.contains("complete")) {
    size_t begin = 0;
    const auto words = complete(repl, text("complete"), begin);
    return {{"begin", begin}, {"matches", words}};
  }
  if (request.contains("inspect")) return {{"text", documentation(repl, text("inspect"))}};
  if (request.contains("split")) return {{"phrases", phrases_of(text("split"))}};
  if (request.contains("is_complete")) return {{"complete", !is_unfinished(text("is_complete"))}};
  return {{"kind", "error"},
          {"text", "error: expected `code`, `split`, `complete`, `inspect` or `is_complete`\n"}};
}

/// No request nests deeper than this; else reading it could take any stack.
constexpr int depth_of_requests = 16;

}  // namespace

std::string answer_json(Repl& repl, const std::string& line, bool& quit) {
  const Json request = Json::parse(
      line, [](int depth, Json::parse_event_t, Json&) { return depth < depth_of_requests; }, false);
  Json answer;
  if (!request.is_object())
    answer = {{"kind", "error"}, {"text", "error: expected one JSON object a line\n"}};
  else
    answer = reply(repl, request, quit);
  if (request.is_object() && request.contains("id")) answer["id"] = request["id"];
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace axon::repl
