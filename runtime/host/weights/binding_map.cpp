// Parser for binding maps (binding.h). Errors name their line; parsing goes on with the next one.
#include <algorithm>
#include <map>

#include "host/weights/binding.h"
#include "host/weights/limits.h"

namespace axon::weights {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t'; }

/// The line without its comment: `--` outside quotes, at the start or after a space.
std::string_view without_comment(std::string_view line) {
  bool quotes = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quotes = !quotes;
    if (!quotes && line.substr(i).starts_with("--") && (i == 0 || is_space(line[i - 1])))
      return line.substr(0, i);
  }
  return line;
}

class LineParser {
 public:
  explicit LineParser(std::string_view line) : rest_(line) {}

  bool at_end() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    return rest_.empty();
  }
  /// An error message, or nothing.
  std::optional<std::string> parse(Rule& rule) {
    rule.field = word([](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '\''; });
    if (rule.field.empty()) return "a parameter's name expected";
    if (auto error = indices(rule)) return error;
    if (!take("<-")) return "`<-` expected after the parameter";
    if (auto error = tensor(rule)) return error;
    while (take(","))
      if (auto error = option(rule)) return error;
    if (!at_end()) return text("`,` or the end of the line expected before ", printable(rest_));
    return std::nullopt;
  }

 private:
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

  std::optional<std::string> indices(Rule& rule) {
    if (!take("[")) return std::nullopt;
    do {
      std::string index = identifier();
      if (index.empty() || !is_letter(index[0])) return "an index name expected within `[ ]`";
      if (std::find(rule.indices.begin(), rule.indices.end(), index) != rule.indices.end())
        return text("index ", printable(index), " occurs twice");
      if (rule.indices.size() == limits::map_indices)
        return text("more than ", limits::map_indices, " indices");
      rule.indices.push_back(std::move(index));
    } while (take(","));
    if (!take("]")) return "`]` expected after the indices";
    return std::nullopt;
  }

  std::optional<std::string> tensor(Rule& rule) {
    std::string name;
    if (take("\"")) {
      const size_t end = rest_.find('"');
      if (end == rest_.npos) return "a closing quote expected";
      name = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
    } else {
      name = word([](char c) { return !is_space(c) && c != ',' && c != '"'; });
    }
    if (name.empty()) return "a tensor's name expected after `<-`";
    if (auto error = pattern(name, rule)) return error;
    for (uint32_t i = 0; i < rule.indices.size(); ++i)
      if (std::find(rule.tensor.slots.begin(), rule.tensor.slots.end(), i) == rule.tensor.slots.end())
        return text("the tensor's name does not use `{", rule.indices[i], "}`");
    return std::nullopt;
  }

  std::optional<std::string> pattern(std::string_view name, Rule& rule) {
    rule.tensor.pieces.emplace_back();
    while (!name.empty()) {
      if (name.front() != '{') {
        if (name.front() == '}') return "`}` without `{` in the tensor's name";
        rule.tensor.pieces.back() += name.front();
        name.remove_prefix(1);
        continue;
      }
      const size_t end = name.find('}');
      if (end == name.npos) return "`{` without `}` in the tensor's name";
      const std::string_view index = name.substr(1, end - 1);
      const auto found = std::find(rule.indices.begin(), rule.indices.end(), index);
      if (found == rule.indices.end()) return text("`{", index, "}` has no `[", index, "]` at the parameter");
      rule.tensor.slots.push_back(static_cast<uint32_t>(found - rule.indices.begin()));
      rule.tensor.pieces.emplace_back();
      name.remove_prefix(end + 1);
      // A number must be seen to end: `{l}{e}` and `{l}5` could be read in two ways.
      if (!name.empty() && (name.front() == '{' || is_digit(name.front())))
        return text("`{", index, "}` is followed by a digit or another index");
    }
    return std::nullopt;
  }

  std::optional<std::string> option(Rule& rule) {
    const std::string name = identifier();
    if (name == "transposed") {
      if (std::exchange(rule.transposed, true)) return "`transposed` occurs twice";
      return std::nullopt;
    }
    if (name != "as") return "`transposed` or `as` expected after `,`";
    const std::string type = identifier();
    const auto dtype = elem_from_name(type);
    if (!dtype) return text("unknown element type ", printable(type));
    if (rule.as) return "`as` occurs twice";
    rule.as = dtype;
    return std::nullopt;
  }

  std::string_view rest_;
};

}  // namespace

std::string NamePattern::name(std::span<const uint64_t> values) const {
  std::string out = pieces[0];
  for (size_t i = 0; i < slots.size(); ++i) out += std::to_string(values[slots[i]]) + pieces[i + 1];
  return out;
}

const Rule* BindingMap::find(std::string_view field) const {
  const auto found =
      std::lower_bound(rules.begin(), rules.end(), field,
                       [](const Rule& rule, std::string_view key) { return rule.field < key; });
  return found != rules.end() && found->field == field ? &*found : nullptr;
}

ParsedMap parse_binding_map(std::string_view source) {
  ParsedMap out;
  std::map<std::string, uint32_t> first_line;
  uint32_t number = 0;
  const auto report = [&](std::string message) {
    out.errors.push_back({code::map, text("line ", number, ": ", message)});
  };
  while (!source.empty() && out.errors.size() < limits::map_errors) {
    ++number;
    const size_t end = std::min(source.find('\n'), source.size());
    std::string_view line = source.substr(0, end);
    source.remove_prefix(std::min(end + 1, source.size()));
    if (line.size() > limits::map_line) {
      report(text("longer than ", limits::map_line, " bytes"));
      continue;
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    LineParser parser(without_comment(line));
    if (parser.at_end()) continue;
    Rule rule;
    rule.line = number;
    if (auto error = parser.parse(rule)) {
      report(*error);
      continue;
    }
    const auto [first, is_new] = first_line.try_emplace(rule.field, number);
    if (is_new)
      out.map.rules.push_back(std::move(rule));
    else
      report(text("parameter ", printable(rule.field), " has a rule already, in line ", first->second));
  }
  std::sort(out.map.rules.begin(), out.map.rules.end(),
            [](const Rule& a, const Rule& b) { return a.field < b.field; });
  return out;
}

}  // namespace axon::weights
