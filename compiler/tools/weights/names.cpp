// See names.h.
#include "tools/weights/names.h"

#include <algorithm>
#include <array>
#include <map>

namespace axon::tools {

namespace {

constexpr double same_class = 0.9, same_beginning = 0.5;
constexpr double back = 0.3;  ///< how much it counts that the tensor has no other words

/// Words that stand for the same in the names of many models. A word may be in several rows.
constexpr std::array<std::initializer_list<std::string_view>, 22> word_classes = {{
    {"w", "weight", "weights", "kernel", "gamma", "scale"},
    {"b", "bias", "beta", "shift"},
    {"embed", "embedding", "embeddings", "emb", "embd", "tok", "token", "tokens", "word", "words", "wte",
     "shared"},
    {"position", "positions", "positional", "pos", "wpe"},
    {"segment", "segments", "type", "types"},
    {"norm", "ln", "layernorm", "rmsnorm", "batchnorm", "bn"},
    {"layer", "layers", "block", "blocks", "blk", "h", "stack"},
    {"classifier", "head", "lm", "logits", "output", "unembed"},
    {"q", "query", "queries"},
    {"k", "key", "keys"},
    {"v", "value", "values"},
    {"qkv", "attn", "query_key_value"},
    {"o", "out", "output", "proj"},
    {"up", "fc", "intermediate", "expand", "lin1"},
    {"down", "output", "proj", "reduce", "lin2"},
    {"gate", "gates", "router"},
    {"u", "hh", "recurrent", "hidden"},
    {"x", "ih", "input"},
    {"pool", "pooler", "pooled"},
    {"final", "f", "last"},
    {"1", "input", "first", "before"},
    {"2", "post", "second", "after"},
}};

bool is_upper_case(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower_case(char c) { return c >= 'a' && c <= 'z'; }
bool is_numeral(char c) { return c >= '0' && c <= '9'; }

/// `wq`, `b1`, `uf`: a letter for the kind of parameter, then what it belongs to.
void split_short(std::vector<std::string>& words, const std::string& word) {
  constexpr std::string_view kinds = "wub", rest = "qkvoifgczrnxh";
  const bool is_short = word.size() >= 2 && word.size() <= 4 && kinds.find(word[0]) != kinds.npos &&
                        word.find_first_not_of(rest, 1) == word.npos;
  words.push_back(is_short ? word.substr(0, 1) : word);
  if (is_short) words.push_back(word.substr(1));
}

double word_likeness(const std::string& a, const std::string& b) {
  if (a == b) return 1;
  for (const auto& row : word_classes)
    if (std::find(row.begin(), row.end(), a) != row.end() &&
        std::find(row.begin(), row.end(), b) != row.end())
      return same_class;
  const bool letters = is_lower_case(a[0]) && is_lower_case(b[0]);
  return letters && (a.starts_with(b) || b.starts_with(a)) ? same_beginning : 0;
}

double coverage(const std::vector<std::string>& words, const std::vector<std::string>& others) {
  double sum = 0;
  for (const std::string& word : words) {
    double best = 0;
    for (const std::string& other : others) best = std::max(best, word_likeness(word, other));
    sum += best;
  }
  return words.empty() ? 0 : sum / static_cast<double>(words.size());
}

}  // namespace

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  bool in_braces = false;
  const auto end = [&] {
    if (!word.empty()) split_short(words, word);
    word.clear();
  };
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '{' || c == '}' || in_braces) {
      end();
      in_braces = c != '}';
      continue;
    }
    const bool letter = is_upper_case(c) || is_lower_case(c);
    const bool starts = i == 0 || (is_upper_case(c) && is_lower_case(name[i - 1])) ||
                        is_numeral(c) != is_numeral(name[i - 1]);
    if (starts) end();
    if (letter || is_numeral(c))
      word += is_upper_case(c) ? static_cast<char>(c - 'A' + 'a') : c;
    else
      end();
  }
  end();
  return words;
}

double likeness(const std::vector<std::string>& parameter, const std::vector<std::string>& tensor) {
  return coverage(parameter, tensor) + back * coverage(tensor, parameter);
}

std::vector<std::vector<SeriesPlace>> series_in(const std::vector<std::string>& names) {
  constexpr size_t most_digits = 6;
  std::map<std::string, std::map<int, std::vector<size_t>>> by_rest;  // names by their number
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    for (size_t at = 0; at < name.size(); ++at) {
      if (!is_numeral(name[at])) continue;
      size_t end = at;
      while (end < name.size() && is_numeral(name[end])) ++end;
      const bool is_index = at > 0 && name[at - 1] == '{';
      if (!is_index && end - at <= most_digits)
        by_rest[name.substr(0, at) + "#" + name.substr(end)][std::stoi(name.substr(at, end - at))].push_back(
            i);
      at = end;
    }
  }
  std::vector<std::vector<SeriesPlace>> out(names.size());
  for (const auto& [rest, numbers] : by_rest) {
    size_t number = 0;
    for (const auto& [value, some] : numbers) {
      for (const size_t i : some)
        if (numbers.size() > 1) out[i].push_back({number, numbers.size()});
      ++number;
    }
  }
  return out;
}

bool ends_in_leaf(std::string_view name) {
  const std::vector<std::string> words = words_of(leaf_of(name));
  if (words.size() != 1) return false;
  for (size_t row = 0; row < 2; ++row)
    if (std::find(word_classes[row].begin(), word_classes[row].end(), words[0]) != word_classes[row].end())
      return true;
  return false;
}

std::string home_of(std::string_view name) {
  return std::string(parent_of(ends_in_leaf(name) ? parent_of(name) : name));
}

std::string_view parent_of(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == name.npos ? "" : name.substr(0, dot);
}

std::string_view leaf_of(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == name.npos ? name : name.substr(dot + 1);
}

}  // namespace axon::tools
