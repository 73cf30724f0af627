// The one style, as edits of the lines that differ.
#include <algorithm>

#include "format/format.h"
#include "lsp/features.h"

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

/// A stretch of lines that becomes another one.
struct Change {
  size_t first, last, new_first, new_last;
};

/// What differs between two lists of lines: a shortest list of changes where they are nearly the same (Myers
/// 1986), all between the common ends else.
std::vector<Change> differences(const std::vector<std::string_view>& a,
                                const std::vector<std::string_view>& b) {
  size_t front = 0, back = 0;
  while (front < std::min(a.size(), b.size()) && a[front] == b[front]) ++front;
  while (back < std::min(a.size(), b.size()) - front && a[a.size() - 1 - back] == b[b.size() - 1 - back])
    ++back;
  const auto n = static_cast<long>(a.size() - front - back), m = static_cast<long>(b.size() - front - back);
  const auto x_line = [&](long i) { return a[front + static_cast<size_t>(i)]; };
  const auto y_line = [&](long j) { return b[front + static_cast<size_t>(j)]; };
  constexpr long most = 400;
  std::vector<std::vector<long>> trace;
  std::vector<long> reach(2 * most + 3, 0);
  const auto at = [&](std::vector<long>& v, long k) -> long& { return v[static_cast<size_t>(k + most + 1)]; };
  bool done = n == 0 && m == 0;
  if (done) return {};
  for (long d = 0; d <= most && !done; ++d) {
    trace.push_back(reach);
    for (long k = -d; k <= d && !done; k += 2) {
      long x = k == -d || (k != d && at(reach, k - 1) < at(reach, k + 1)) ? at(reach, k + 1)
                                                                          : at(reach, k - 1) + 1;
      while (x < n && x - k < m && x - k >= 0 && x_line(x) == y_line(x - k)) ++x;
      at(reach, k) = x;
      done = x >= n && x - k >= m;
    }
  }
  if (!done) return {{front, front + static_cast<size_t>(n), front, front + static_cast<size_t>(m)}};
  std::vector<Change> out;
  long x = n, y = m;
  for (long d = static_cast<long>(trace.size()) - 1; d > 0; --d) {
    std::vector<long>& v = trace[static_cast<size_t>(d)];
    const long k = x - y;
    const bool inserted = k == -d || (k != d && at(v, k - 1) < at(v, k + 1));
    const long from = at(v, inserted ? k + 1 : k - 1), from_y = from - (inserted ? k + 1 : k - 1);
    const long x0 = from, y0 = from_y, x1 = inserted ? from : from + 1, y1 = inserted ? from_y + 1 : from_y;
    const auto place = [&](long i) { return front + static_cast<size_t>(i); };
    if (!out.empty() && out.back().first == place(x1) && out.back().new_first == place(y1)) {
      out.back().first = place(x0);
      out.back().new_first = place(y0);
    } else {
      out.push_back({place(x0), place(x1), place(y0), place(y1)});
    }
    x = x0;
    y = y0;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

/// The edits of lines first..last, counted from 0, that give the text the one style; null where it has
/// errors.
Json edits(Server& server, const OpenText& text, size_t first, size_t last) {
  source::SourceManager sources;
  source::Diagnostics found;
  const source::FileId file = sources.add(text.path, text.text, found);
  const auto formatted = found.has_errors() ? std::nullopt : format::format(sources[file], found);
  if (!formatted) return nullptr;
  const std::vector<std::string_view> before = lines_of(text.text), after = lines_of(*formatted);
  const Positions positions(text.text, server.encoding());
  const auto begin_of = [&](size_t line) {
    return line < before.size() ? static_cast<uint32_t>(before[line].data() - text.text.data())
                                : static_cast<uint32_t>(text.text.size());
  };
  Json out = Json::array();
  for (const Change& change : differences(before, after)) {
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
