// The words of one line of a binding map, as its parsers take them.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "host/elem.h"
#include "host/weights/result.h"

namespace axon::weights {

using Complaint = std::optional<std::string>;  ///< an error message, or nothing

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_space(char c) { return c == ' ' || c == '\t'; }

/// The words of one line.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  bool at_end() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    return rest_.empty();
  }
  std::string_view rest() const { return rest_; }
  template <class Accept>
  std::string word(Accept accept) {
    at_end();
    size_t length = 0;
    while (length < rest_.size() && accept(rest_[length])) ++length;
    const std::string out(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return out;
  }
  std::string identifier() {
    return word([](char c) { return is_letter(c) || is_digit(c); });
  }
  bool take(std::string_view token) {
    at_end();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  /// A tensor's name, or a part of one, in quotes, where `""` is one of its own, or not; empty where there is
  /// none.
  Complaint name(std::string& out, const char* expected) {
    if (take("\"")) {
      out.clear();
      while (true) {
        const size_t end = rest_.find('"');
        if (end == rest_.npos) return "a closing quote expected";
        out += rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        if (!rest_.starts_with('"')) break;
        out += '"';
        rest_.remove_prefix(1);
      }
    } else {
      out = word([](char c) { return !is_space(c) && c != ',' && c != '"'; });
    }
    if (out.empty()) return expected;
    return std::nullopt;
  }
  Complaint type(Elem& out) {
    const std::string name = identifier();
    const auto dtype = elem_from_name(name);
    if (!dtype) return text("unknown element type ", printable(name));
    out = *dtype;
    return std::nullopt;
  }
  Complaint end() {
    if (at_end()) return std::nullopt;
    return text("`,` or the end of the line expected before ", printable(rest_));
  }

 private:
  std::string_view rest_;
};

}  // namespace axon::weights
