// See types_text.h.
#include "types_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

namespace axon::query {

/// The terms of each sum in the order of the alphabet.
static std::string with_sorted_sums(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find_first_of("[](),{}:", i), text.size());
    std::string item = text.substr(i, end - i);
    if (item.find('+') != std::string::npos && item.find_first_of("->%/") == std::string::npos) {
      std::vector<std::string> terms(1);
      for (const char c : item) {
        if (c == '+')
          terms.emplace_back();
        else
          terms.back() += c;
      }
      std::sort(terms.begin(), terms.end());
      item = fmt::format("{}", fmt::join(terms, "+"));
    }
    out += item;
    if (end < text.size()) out += text[end];
    i = end + 1;
  }
  return out;
}

std::string normal(const std::string& types) {
  std::map<std::string, size_t> numbers;
  std::string out;
  for (size_t i = 0; i < types.size();) {
    size_t end = i;
    while (end < types.size() && (std::isalnum(static_cast<unsigned char>(types[end])) || types[end] == '_'))
      ++end;
    const std::string word = types.substr(i, end - i);
    if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0]))) {
      const bool ends = types[i] == '\n' && (i + 1 == types.size() || types[i + 1] != ' ');
      if (ends) numbers.clear();
      out += word.empty() && (types[i] == ' ' || types[i] == '\n') ? (ends ? "\n" : "")
             : word.empty()                                        ? types.substr(i, 1)
                                                                   : word;
    } else {
      const bool axes =
          i > 0 && (types[i - 1] == '.' || types[i - 1] == '|' || types.substr(i - 3, 3) == "..(");
      const bool element = i > 0 && types[i - 1] == '\'';
      const bool field = types.substr(end).starts_with(" :");
      const char* const kind = axes ? "axes" : element ? "element" : field ? "field" : "other";
      out += field
                 ? "field"
                 : fmt::format("{}{}", kind, numbers.try_emplace(kind + word, numbers.size()).first->second);
    }
    i = std::max(end, i + 1);
  }
  return with_sorted_sums(out);
}

}  // namespace axon::query
