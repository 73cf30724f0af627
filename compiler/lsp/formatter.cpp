// See formatter.h.
#include "lsp/formatter.h"

#include <algorithm>

#include "base/interrupt.h"
#include "format/format.h"
#include "syntax/parts.h"

namespace axon::lsp {

namespace {

std::optional<std::string> laid_out(const std::string& path, std::string text) {
  source::SourceManager sources;
  source::Diagnostics found;
  const source::FileId file = sources.add(path, std::move(text), found);
  return found.has_errors() ? std::nullopt : format::format(sources[file], found);
}

/// Whether an empty line stands at the end of one part, or at the beginning of the next.
bool empty_line_between(std::string_view before, std::string_view next) {
  constexpr const char* space = " \t\r\n";
  const size_t end = before.find_last_not_of(space), begin = next.find_first_not_of(space);
  const std::string_view tail = before.substr(end == before.npos ? 0 : end + 1);
  const std::string_view head = next.substr(0, begin);
  return std::count(tail.begin(), tail.end(), '\n') + std::count(head.begin(), head.end(), '\n') > 1;
}

}  // namespace

std::optional<std::string> Formatter::format(const std::string& path, const std::string& text) {
  const std::vector<uint32_t> starts = syntax::part_starts(text);
  Known& known = files_[path];
  Known now;
  std::optional<std::string> out = "";
  std::string_view before;
  for (size_t i = 0; i < starts.size() && out; ++i) {
    base::poll_now();
    const size_t end = i + 1 < starts.size() ? starts[i + 1] : text.size();
    const std::string_view part = std::string_view(text).substr(starts[i], end - starts[i]);
    auto at = now.find(part);
    if (at == now.end()) {
      const auto old = known.find(part);
      auto style = old != known.end() ? old->second : laid_out(path, std::string(part));
      at = now.emplace(std::string(part), std::move(style)).first;
    }
    const std::optional<std::string>& style = at->second;
    if (!style)
      out.reset();
    else if (!out->empty() && !style->empty() && empty_line_between(before, part))
      *out += '\n';
    if (out) *out += *style;
    before = part;
  }
  if (out) known = std::move(now);
  return out;
}

}  // namespace axon::lsp
