// Places of a text as the protocol counts them.
//
// In: a text of valid UTF-8, and the encoding that client and server agreed on. Out: byte offsets for lines
// and columns, and back. Invariant: what lies outside of a line is its end, what lies inside of a character
// is its beginning, so each position of a client is a place of the text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace axon::lsp {

enum class Encoding : uint8_t { utf8, utf16, utf32 };

struct Position {
  uint32_t line = 0, character = 0;  ///< from 0
  friend auto operator<=>(const Position&, const Position&) = default;
};

class Positions {
 public:
  Positions(std::string_view text, Encoding encoding);
  uint32_t offset(Position position) const;
  Position position(uint32_t offset) const;
  /// How many units the characters of a stretch inside of a line have.
  uint32_t units(uint32_t begin, uint32_t end) const;
  uint32_t line_count() const { return static_cast<uint32_t>(lines_.size()); }

 private:
  std::string_view line(uint32_t number) const;

  std::string_view text_;
  Encoding encoding_;
  std::vector<uint32_t> lines_;  ///< where each begins
};

}  // namespace axon::lsp
