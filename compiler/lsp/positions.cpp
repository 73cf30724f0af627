// See positions.h.
#include "lsp/positions.h"

#include <algorithm>

namespace axon::lsp {

namespace {

uint32_t bytes_of(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// How many units a character of that many bytes has.
uint32_t units_of(uint32_t bytes, Encoding encoding) {
  if (encoding == Encoding::utf8) return bytes;
  return encoding == Encoding::utf16 && bytes == 4 ? 2 : 1;
}

}  // namespace

Positions::Positions(std::string_view text, Encoding encoding) : text_(text), encoding_(encoding), lines_{0} {
  for (size_t i = 0; i < text.size(); ++i) {
    const bool lone = text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n');
    if (text[i] == '\n' || lone) lines_.push_back(static_cast<uint32_t>(i + 1));
  }
}

/// Without its end.
std::string_view Positions::line(uint32_t number) const {
  const size_t end = number + 1 < lines_.size() ? lines_[number + 1] : text_.size();
  std::string_view out = text_.substr(lines_[number], end - lines_[number]);
  while (out.ends_with('\n') || out.ends_with('\r')) out.remove_suffix(1);
  return out;
}

uint32_t Positions::offset(Position position) const {
  if (position.line >= lines_.size()) return static_cast<uint32_t>(text_.size());
  const std::string_view in = line(position.line);
  uint32_t units = 0;
  size_t at = 0;
  while (at < in.size()) {
    const uint32_t bytes = bytes_of(in[at]);
    units += units_of(bytes, encoding_);
    if (units > position.character) break;
    at += bytes;
  }
  return lines_[position.line] + static_cast<uint32_t>(std::min(at, in.size()));
}

Position Positions::position(uint32_t offset) const {
  offset = std::min(offset, static_cast<uint32_t>(text_.size()));
  const auto next = std::upper_bound(lines_.begin(), lines_.end(), offset);
  const uint32_t number = static_cast<uint32_t>(next - lines_.begin()) - 1;
  return {number, units(lines_[number], offset)};
}

uint32_t Positions::units(uint32_t begin, uint32_t end) const {
  uint32_t out = 0;
  for (size_t at = begin; at < std::min<size_t>(end, text_.size()); at += bytes_of(text_[at]))
    out += units_of(bytes_of(text_[at]), encoding_);
  return out;
}

}  // namespace axon::lsp
