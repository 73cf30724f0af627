// See page.h: the JSON in a file that needs no other.
#include "page/assets.h"
#include "page/page.h"

namespace axon::page {

namespace {

/// JSON that does not end the element it stands in.
std::string inside_of_script(const Json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace))
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

/// The template with each `@NAME@` replaced, each of which it has once.
std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string out;
  size_t from = 0;
  for (const auto& [name, part] : parts) {
    const size_t at = text.find("@" + name + "@", from);
    out += text.substr(from, at - from) + part;
    from = at + name.size() + 2;
  }
  return out + text.substr(from);
}

}  // namespace

std::string html(const Subject& s) {
  const Json json = describe(s);
  const std::string title =
      json["entry"]["name"].get<std::string>() + " - " + json["file"].get<std::string>();
  return filled(page_template, {{"TITLE", escaped(title)},
                                {"STYLE", page_style},
                                {"JSON", inside_of_script(json)},
                                {"SCRIPT", page_script}});
}

}  // namespace axon::page
