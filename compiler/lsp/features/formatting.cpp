// The one style, as edits of the lines that differ.
#include <algorithm>

#include "lsp/features.h"
#include "source/differences.h"

namespace axon::lsp {

namespace {

/// With their ends.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

/// What is formatted, with lines that end as the first one of the text does.
std::string with_ends_of(std::string_view text, const std::string& formatted) {
  const size_t end = text.find('\n');
  if (end == text.npos || end == 0 || text[end - 1] != '\r') return formatted;
  std::string out;
  for (const char c : formatted) out += c == '\n' ? "\r\n" : std::string(1, c);
  return out;
}

/// The edits of lines first..last, counted from 0, that give the text the one style; null where it has
/// errors. Those of a part of the text leave the ends of lines as they are.
Json edits(Server& server, const OpenText& text, size_t first, size_t last) {
  auto formatted = server.formatter().format(text.path, text.text);
  if (!formatted) return nullptr;
  if (last != SIZE_MAX) formatted = with_ends_of(text.text, *formatted);
  const std::vector<std::string_view> before = lines_of(text.text), after = lines_of(*formatted);
  const Positions positions(text.text, server.encoding());
  const auto begin_of = [&](size_t line) {
    return line < before.size() ? static_cast<uint32_t>(before[line].data() - text.text.data())
                                : static_cast<uint32_t>(text.text.size());
  };
  Json out = Json::array();
  for (const source::Change& change : source::differences(before, after)) {
    if (change.last < first || change.first > last) continue;
    std::string put;
    for (size_t i = change.new_first; i < change.new_last; ++i) put += after[i];
    out.push_back({{"range", Server::range(positions, begin_of(change.first), begin_of(change.last))},
                   {"newText", std::move(put)}});
  }
  return out;
}

}  // namespace

Json formatting(Server& server, const Json& params) {
  return edits(server, server.text_of(params), 0, SIZE_MAX);
}

Json range_formatting(Server& server, const Json& params) {
  const Json& range = params.at("range");
  return edits(server, server.text_of(params), Server::position_in(range, "start").line,
               Server::position_in(range, "end").line);
}

}  // namespace axon::lsp
