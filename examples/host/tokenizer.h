// A byte-pair tokenizer read from a small binary file.
//
// File: int32 longest piece, then for each token until the end of the file float32 score, int32 length and
// the bytes of its piece. Token 1 begins a text, token 2 ends it, tokens 3 to 258 are the single bytes,
// written <0x00> to <0xFF>. The file is not trusted: whatever it holds, parse() gives a tokenizer or a
// message.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace axon::examples {

class Tokenizer {
 public:
  static constexpr int begin_of_text = 1;
  static constexpr int end_of_text = 2;
  static constexpr int first_byte = 3;

  /// Reads a file; on failure nullopt and a message in `error`.
  static std::optional<Tokenizer> load(const std::string& path, std::string& error);
  static std::optional<Tokenizer> parse(std::string_view file, std::string& error);

  int vocabulary() const { return static_cast<int>(pieces_.size()); }
  const std::string& piece(int token) const { return pieces_.at(static_cast<size_t>(token)); }

  /// begin_of_text and the tokens of the text, which gets a leading space. Takes n log n time for n bytes.
  std::vector<int> encode(std::string_view text) const;

  /// The text of one token after another one; unknown tokens and the two markers are empty.
  std::string decode(int previous, int token) const;
  std::string decode(const std::vector<int>& tokens) const;

 private:
  std::optional<int> find(const std::string& piece) const;

  std::vector<std::string> pieces_;
  std::vector<float> scores_;
  std::unordered_map<std::string, int> ids_;  ///< looked up only, never walked
};

}  // namespace axon::examples
