// Byte-pair encoding (tokenizer.h): split into characters, then merge the best-scoring neighbours until none
// is left.
#include "tokenizer.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <queue>

namespace axon::examples {
namespace {

constexpr size_t longest_piece = 1 << 16;
constexpr size_t largest_file = 1 << 28;
constexpr int bytes = 256;

std::string byte_piece(int byte) {
  constexpr char digits[] = "0123456789ABCDEF";
  return {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
}

template <class T>
std::optional<T> take(std::string_view& rest) {
  T value;
  if (rest.size() < sizeof value) return std::nullopt;
  std::memcpy(&value, rest.data(), sizeof value);
  rest.remove_prefix(sizeof value);
  return value;
}

/// The length of the UTF-8 character at the start of a text: a lead byte and at most three continuation
/// bytes.
size_t character_length(std::string_view text) {
  size_t length = 1;
  while (length < 4 && length < text.size() && (text[length] & 0xc0) == 0x80) ++length;
  return length;
}

/// A part of the text in a doubly linked list; -1 ends it.
struct Part {
  int token;
  int previous, next;
};

/// A merge of a part with its right neighbour, valid while both still are the tokens named.
struct Merge {
  float score;
  int left, right;  ///< positions
  int left_token, right_token;
  int merged;
};

/// The best score first, the leftmost of equals first.
struct Worse {
  bool operator()(const Merge& a, const Merge& b) const {
    return a.score != b.score ? a.score < b.score : a.left > b.left;
  }
};

}  // namespace

std::optional<Tokenizer> Tokenizer::load(const std::string& path, std::string& error) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  const auto size = stream ? static_cast<std::streamoff>(stream.tellg()) : std::streamoff{-1};
  if (size < 0 || static_cast<size_t>(size) > largest_file) {
    error = "cannot read the tokenizer " + path;
    return std::nullopt;
  }
  std::string file(static_cast<size_t>(size), '\0');
  stream.seekg(0);
  if (!stream.read(file.data(), size)) {
    error = "cannot read the tokenizer " + path;
    return std::nullopt;
  }
  auto out = parse(file, error);
  if (!out) error = path + ": " + error;
  return out;
}

std::optional<Tokenizer> Tokenizer::parse(std::string_view file, std::string& error) {
  const auto fail = [&error](const std::string& message) {
    error = message;
    return std::nullopt;
  };
  Tokenizer out;
  const auto longest = take<int32_t>(file);
  if (!longest) return fail("the tokenizer file is shorter than its header");
  if (*longest < 1 || static_cast<size_t>(*longest) > longest_piece)
    return fail("the longest token has " + std::to_string(*longest) + " bytes, 1 to 65536 expected");
  while (!file.empty()) {
    const std::string token = "token " + std::to_string(out.pieces_.size());
    const auto score = take<float>(file);
    const auto length = take<int32_t>(file);
    if (!score || !length) return fail("the file ends within " + token);
    if (!std::isfinite(*score)) return fail(token + " has a score that is no number");
    if (*length < 0 || *length > *longest)
      return fail(token + " has " + std::to_string(*length) + " bytes, at most " + std::to_string(*longest) +
                  " expected");
    if (static_cast<size_t>(*length) > file.size()) return fail("the file ends within " + token);
    const std::string piece(file.substr(0, static_cast<size_t>(*length)));
    file.remove_prefix(piece.size());
    out.ids_.emplace(piece, static_cast<int>(out.pieces_.size()));
    out.pieces_.push_back(piece);
    out.scores_.push_back(*score);
  }
  if (out.vocabulary() < first_byte + bytes)
    return fail("only " + std::to_string(out.vocabulary()) + " tokens; the single bytes alone need 259");
  for (int byte = 0; byte < bytes; ++byte)
    if (out.pieces_[static_cast<size_t>(first_byte + byte)] != byte_piece(byte))
      return fail("token " + std::to_string(first_byte + byte) + " is not " + byte_piece(byte));
  return out;
}

std::optional<int> Tokenizer::find(const std::string& piece) const {
  const auto found = ids_.find(piece);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::vector<int> Tokenizer::encode(std::string_view text) const {
  std::vector<int> tokens;
  std::string spaced(text);
  if (!text.empty()) spaced.insert(spaced.begin(), ' ');
  for (std::string_view rest = spaced; !rest.empty();) {
    const std::string character(rest.substr(0, character_length(rest)));
    rest.remove_prefix(character.size());
    if (const auto token = find(character))
      tokens.push_back(*token);
    else
      for (const char byte : character) tokens.push_back(first_byte + static_cast<unsigned char>(byte));
  }

  const int count = static_cast<int>(tokens.size());
  std::vector<Part> parts;
  for (int i = 0; i < count; ++i)
    parts.push_back({tokens[static_cast<size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1});
  const auto at = [&parts](int position) -> Part& { return parts[static_cast<size_t>(position)]; };
  std::priority_queue<Merge, std::vector<Merge>, Worse> merges;
  const auto consider = [&](int left) {
    const int right = left < 0 ? -1 : at(left).next;
    if (right < 0) return;
    const int left_token = at(left).token, right_token = at(right).token;
    const auto merged = find(piece(left_token) + piece(right_token));
    if (merged)
      merges.push({scores_[static_cast<size_t>(*merged)], left, right, left_token, right_token, *merged});
  };
  for (int i = 0; i < count; ++i) consider(i);
  while (!merges.empty()) {
    const Merge best = merges.top();
    merges.pop();
    Part& left = at(best.left);
    // A merge goes stale when either side took part in another one.
    if (left.token != best.left_token || left.next != best.right || at(best.right).token != best.right_token)
      continue;
    left.token = best.merged;
    left.next = at(best.right).next;
    if (left.next >= 0) at(left.next).previous = best.left;
    at(best.right).token = -1;
    consider(left.previous);
    consider(best.left);
  }

  std::vector<int> out = {begin_of_text};
  for (int i = count > 0 ? 0 : -1; i >= 0; i = at(i).next) out.push_back(at(i).token);
  return out;
}

std::string Tokenizer::decode(int previous, int token) const {
  if (token < 0 || token >= vocabulary() || token == begin_of_text || token == end_of_text) return "";
  const bool is_byte = token >= first_byte && token < first_byte + bytes;
  const std::string text = is_byte ? std::string(1, static_cast<char>(token - first_byte)) : piece(token);
  return previous == begin_of_text && text.starts_with(' ') ? text.substr(1) : text;
}

std::string Tokenizer::decode(const std::vector<int>& tokens) const {
  std::string out;
  int previous = -1;
  for (const int token : tokens) {
    out += decode(previous, token);
    previous = token;
  }
  return out;
}

}  // namespace axon::examples
