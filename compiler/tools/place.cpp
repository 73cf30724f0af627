// See place.h.
#include "tools/place.h"

#include <charconv>

namespace axon::tools {

namespace {

std::optional<uint32_t> number(std::string_view text) {
  uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size() || out == 0) return std::nullopt;
  return out;
}

}  // namespace

std::optional<Place> parse_place(const std::string& at) {
  const size_t second = at.rfind(':');
  if (second == std::string::npos || second == 0) return std::nullopt;
  const size_t first = at.rfind(':', second - 1);
  if (first == std::string::npos || first == 0) return std::nullopt;
  const auto line = number(std::string_view(at).substr(first + 1, second - first - 1));
  const auto column = number(std::string_view(at).substr(second + 1));
  if (!line || !column) return std::nullopt;
  return Place{at.substr(0, first), {*line, *column}};
}

uint32_t offset_of(const source::SourceFile& file, source::Position at) {
  if (at.line > file.line_count()) return file.size();
  const uint32_t begin = file.line_begin(at.line),
                 end = begin + static_cast<uint32_t>(file.line(at.line).size());
  uint32_t offset = begin;
  while (offset < end) {
    uint32_t next = offset + 1;
    while (next < end && (static_cast<unsigned char>(file.text()[next]) & 0xC0) == 0x80) ++next;
    if (file.position(next).column > at.column) break;
    offset = next;
  }
  return offset;
}

nlohmann::json place_json(const source::SourceFile& file, source::Span span, const std::string& name) {
  const source::Position from = file.position(span.begin), to = file.position(span.end);
  return {{"file", name},
          {"line", from.line},
          {"column", from.column},
          {"end_line", to.line},
          {"end_column", to.column}};
}

}  // namespace axon::tools
