// Parser for binding maps (binding.h), and what a map says of a field. Errors name their line; parsing goes
// on with the next one.
#include <algorithm>
#include <charconv>

#include "host/weights/binding.h"
#include "host/weights/limits.h"
#include "host/weights/map_line.h"

namespace axon::weights {
namespace {

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

/// Takes what stands for a character of a name: `{{`, `}}`, `{*}`, or `{0x0a}`, a byte; nullopt where the
/// text begins with something else.
std::optional<char> take_escape(std::string_view& name) {
  constexpr size_t byte_length = 6;  // {0x0a}
  const auto take = [&](size_t length, char c) { return name.remove_prefix(length), c; };
  if (name.starts_with("{{") || name.starts_with("}}")) return take(2, name[0]);
  if (name.starts_with("{*}")) return take(3, '*');
  if (!name.starts_with("{0x") || name.size() < byte_length || name[byte_length - 1] != '}')
    return std::nullopt;
  unsigned byte = 0;
  const auto [end, error] = std::from_chars(name.data() + 3, name.data() + byte_length - 1, byte, 16);
  if (error != std::errc() || end != name.data() + byte_length - 1) return std::nullopt;
  return take(byte_length, static_cast<char>(byte));
}

/// A name without indices and `*`; nullopt where it has some.
std::optional<std::string> without_escapes(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    if (const auto c = take_escape(name)) {
      out += *c;
      continue;
    }
    if (name[0] == '{' || name[0] == '}' || name[0] == '*') return std::nullopt;
    out += name[0];
    name.remove_prefix(1);
  }
  return out;
}

/// A line that holds for the whole map, if it is one: `prefix`, `words` and `all` may be parameters, too.
std::string statement(LineReader line) {
  std::string word = line.identifier();
  const bool is_keyword = word == "prefix" || word == "words" || word == "all";
  if (!is_keyword || line.rest().empty() || !is_space(line.rest().front()) || line.at_end()) return "";
  return line.take("<-") || line.take("[") || line.take(",") ? "" : word;
}

Complaint read_prefix(LineReader& line, BindingMap& map) {
  if (!map.prefix.empty()) return "`prefix` occurs twice";
  if (auto error = line.name(map.prefix, "a prefix expected")) return error;
  return line.end();
}

Complaint read_all(LineReader& line, BindingMap& map) {
  Elem type{};
  if (line.identifier() != "as") return "`as` expected after `all`";
  if (map.as) return "`all as` occurs twice";
  if (auto error = line.type(type)) return error;
  map.as = type;
  return line.end();
}

Complaint read_words(LineReader& line, BindingMap& map) {
  do {
    const std::string word = line.word([](char c) { return is_letter(c) || is_digit(c) || c == '\''; });
    std::string meaning;
    if (word.empty()) return "a name between two dots expected";
    if (!line.take("=")) return text("`=` expected after ", printable(word));
    if (auto error = line.name(meaning, "a part of a tensor's name expected after `=`")) return error;
    const auto literal = without_escapes(meaning);
    if (!literal) return text("what ", printable(word), " is written as has no `{`, `}` or `*`");
    if (!map.words.emplace(word, *literal).second) return text("word ", printable(word), " occurs twice");
  } while (line.take(","));
  return line.end();
}

class RuleReader {
 public:
  explicit RuleReader(LineReader& line) : line_(line) {}

  Complaint read(Rule& rule) {
    do {
      if (auto error = field(rule)) return error;
    } while (line_.take(","));
    if (!line_.take("<-")) return "`<-` expected after the parameter";
    do {
      if (auto error = tensor(rule)) return error;
    } while (line_.take("+"));
    while (line_.take(","))
      if (auto error = option(rule)) return error;
    if (auto error = line_.end()) return error;
    return check(rule);
  }

 private:
  Complaint field(Rule& rule) {
    std::string field =
        line_.word([](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '\'' || c == '*'; });
    if (field.empty()) return "a parameter's name expected";
    if (std::count(field.begin(), field.end(), '*') > 1) return "more than one `*` in a parameter";
    std::vector<std::string> found;
    if (auto error = indices(found)) return error;
    if (!rule.fields.empty() && found != rule.indices)
      return "the parameters of one rule have different indices";
    if (rule.fields.size() == limits::map_parts) return text("more than ", limits::map_parts, " parameters");
    rule.indices = std::move(found);
    rule.fields.push_back(std::move(field));
    if ((rule.fields.back().find('*') != std::string::npos) != rule.has_star())
      return "a `*` in some of the parameters only";
    return std::nullopt;
  }

  Complaint indices(std::vector<std::string>& out) {
    if (!line_.take("[")) return std::nullopt;
    do {
      std::string index = line_.identifier();
      if (index.empty() || !is_letter(index[0])) return "an index name expected within `[ ]`";
      if (std::find(out.begin(), out.end(), index) != out.end())
        return text("index ", printable(index), " occurs twice");
      if (out.size() == limits::map_indices) return text("more than ", limits::map_indices, " indices");
      out.push_back(std::move(index));
    } while (line_.take(","));
    if (!line_.take("]")) return "`]` expected after the indices";
    return std::nullopt;
  }

  Complaint tensor(Rule& rule) {
    std::string name;
    if (auto error = line_.name(name, "a tensor's name expected after `<-`")) return error;
    if (rule.tensors.size() == limits::map_parts) return text("more than ", limits::map_parts, " tensors");
    NamePattern& out = rule.tensors.emplace_back();
    if (auto error = pattern(name, rule, out)) return error;
    const auto uses = [&](uint32_t slot) {
      return std::find(out.slots.begin(), out.slots.end(), slot) != out.slots.end();
    };
    for (uint32_t i = 0; i < rule.indices.size(); ++i)
      if (!uses(i)) return text("the tensor's name does not use `{", rule.indices[i], "}`");
    if (rule.has_star() && !uses(NamePattern::star)) return "the tensor's name does not use `*`";
    return std::nullopt;
  }

  Complaint pattern(std::string_view name, const Rule& rule, NamePattern& out) {
    out.pieces.emplace_back();
    while (!name.empty()) {
      if (const auto escaped = take_escape(name)) {
        out.pieces.back() += *escaped;
        continue;
      }
      const char c = name.front();
      if (c == '}') return "`}` without `{` in the tensor's name";
      if (c == '{') {
        if (auto error = index(name, rule, out)) return error;
        continue;
      }
      name.remove_prefix(1);
      if (c == '*' && rule.has_star()) {
        out.slots.push_back(NamePattern::star);
        out.pieces.emplace_back();
      } else {
        out.pieces.back() += c;
      }
    }
    return std::nullopt;
  }

  Complaint index(std::string_view& name, const Rule& rule, NamePattern& out) {
    const size_t end = name.find('}');
    if (end == name.npos) return "`{` without `}` in the tensor's name";
    const std::string_view index = name.substr(1, end - 1);
    const auto found = std::find(rule.indices.begin(), rule.indices.end(), index);
    if (found == rule.indices.end()) return text("`{", index, "}` has no `[", index, "]` at the parameter");
    out.slots.push_back(static_cast<uint32_t>(found - rule.indices.begin()));
    out.pieces.emplace_back();
    name.remove_prefix(end + 1);
    // A number must be seen to end: `{l}{e}` and `{l}5` could be read in two ways.
    std::string_view rest = name;
    const auto escaped = take_escape(rest);
    if (escaped ? is_digit(*escaped) : !name.empty() && (name.front() == '{' || is_digit(name.front())))
      return text("`{", index, "}` is followed by a digit or another index");
    return std::nullopt;
  }

  Complaint option(Rule& rule) {
    const std::string name = line_.identifier();
    if (name == "transposed") {
      if (std::exchange(rule.transposed, true)) return "`transposed` occurs twice";
      return std::nullopt;
    }
    if (name == "summed") {
      if (std::exchange(rule.summed, true)) return "`summed` occurs twice";
      return std::nullopt;
    }
    if (name == "axes") {
      if (rule.axes) return "`axes` occurs twice";
      return read_axes(line_, rule.axes.emplace());
    }
    if (name == "split" || name == "joined") return cut(name, name == "split" ? rule.split : rule.joined);
    if (name != "as") return "`transposed`, `axes`, `summed`, `split`, `joined` or `as` expected after `,`";
    Elem type{};
    if (auto error = line_.type(type)) return error;
    if (rule.as) return "`as` occurs twice";
    rule.as = type;
    return std::nullopt;
  }

  Complaint cut(const std::string& name, std::optional<Cut>& out) {
    if (out) return text("`", name, "` occurs twice");
    out.emplace();
    const std::string axis = line_.identifier();
    uint64_t number = 0;
    if (axis == "axis") {
      if (auto error = size(number)) return error;
      if (number >= limits::rank) return text("there is no axis ", number);
      out->number = static_cast<uint32_t>(number);
    } else if (axis != "rows" && axis != "columns") {
      return text("`rows`, `columns` or `axis` expected after `", name, "`");
    }
    out->axis = axis == "axis" ? Cut::Axis::numbered : axis == "rows" ? Cut::Axis::rows : Cut::Axis::columns;
    while (!line_.at_end() && is_digit(line_.rest().front())) {
      if (auto error = size(number)) return error;
      if (out->sizes.size() == limits::map_parts) return text("more than ", limits::map_parts, " sizes");
      out->sizes.push_back(number);
    }
    if (!line_.at_end() && is_letter(line_.rest().front())) {
      if (line_.identifier() != "repeated") return "a size or `repeated` expected";
      if (out->sizes.empty()) return "`repeated` needs the sizes of one round before it";
      out->repeated = true;
    }
    return std::nullopt;
  }

  Complaint size(uint64_t& out) {
    const std::string digits = line_.word(is_digit);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (digits.empty()) return "a number expected after `axis`";
    if (error != std::errc() || out > limits::extent) return text(digits, " is over the limit of a size");
    return std::nullopt;
  }

  /// What holds between the parts of a rule.
  Complaint check(const Rule& rule) {
    const size_t fields = rule.fields.size(), tensors = rule.tensors.size();
    if (rule.transposed && rule.axes)
      return "`transposed` and `axes` both order the axes: one of them is enough";
    if (rule.summed && tensors == 1) return "`summed` needs several tensors: NAME + NAME";
    if (rule.summed && rule.joined) return "tensors are summed or joined, not both";
    if (fields > 1 && tensors > 1 && !rule.summed)
      return "a rule splits a tensor or joins tensors, not both; a sum of tensors, `, summed`, may be split";
    if (fields > 1 && !rule.split)
      return "several parameters share a tensor: `, split rows` or `, split columns` expected";
    if (tensors > 1 && !rule.joined && !rule.summed)
      return "several tensors make one parameter: `, joined rows`, `, joined columns` or `, summed` expected";
    if (rule.split && fields == 1) return "`split` needs several parameters";
    if (rule.joined && tensors == 1) return "`joined` needs several tensors: NAME + NAME";
    for (const auto& [cut, parts] : {std::pair(&rule.split, fields), std::pair(&rule.joined, tensors)})
      if (*cut && !(*cut)->sizes.empty() && (*cut)->sizes.size() != parts)
        return text(parts, " sizes expected, one for each part, and not ", (*cut)->sizes.size());
    return std::nullopt;
  }

  LineReader& line_;
};

/// Reads one line that is not empty into the map.
Complaint read_line(LineReader& line, uint32_t number, BindingMap& map) {
  if (const std::string word = statement(line); !word.empty()) {
    line.identifier();
    return word == "prefix" ? read_prefix(line, map)
           : word == "all"  ? read_all(line, map)
                            : read_words(line, map);
  }
  Rule rule;
  rule.line = number;
  if (auto error = RuleReader(line).read(rule)) return error;
  for (const std::string& field : rule.fields)
    if (std::count(rule.fields.begin(), rule.fields.end(), field) > 1)
      return text("parameter ", printable(field), " occurs twice");
  return map.add(std::move(rule));
}

/// What `*` stands for in `pattern`, so that it is the field; nullopt where it is another.
std::optional<std::string_view> star_of(std::string_view pattern, std::string_view field) {
  const size_t at = pattern.find('*');
  const std::string_view before = pattern.substr(0, at), after = pattern.substr(at + 1);
  if (field.size() <= before.size() + after.size() || !field.starts_with(before) || !field.ends_with(after))
    return std::nullopt;
  return field.substr(before.size(), field.size() - before.size() - after.size());
}

/// Each name between dots as `words` have it.
std::string translated(const std::map<std::string, std::string, std::less<>>& words, std::string_view path) {
  std::string out;
  while (true) {
    const size_t dot = std::min(path.find('.'), path.size());
    const auto found = words.find(path.substr(0, dot));
    out += found == words.end() ? path.substr(0, dot) : std::string_view(found->second);
    if (dot == path.size()) return out;
    out += '.';
    path.remove_prefix(dot + 1);
  }
}

}  // namespace

std::string map_name(std::string_view name) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (size_t at = 0; at < name.size();) {
    const size_t bytes = printed_bytes(name.substr(at));
    const char c = name[at];
    if (bytes == 0)
      out += text("{0x", digits[static_cast<unsigned char>(c) >> 4], digits[c & 15], "}");
    else if (c == '{' || c == '}')
      out.append(2, c);
    else
      out += c == '*' ? "{*}" : name.substr(at, bytes);
    at += std::max<size_t>(bytes, 1);
  }
  return out;
}

std::string quoted_name(std::string_view name) {
  if (name.find_first_of(" \t,+\"") == name.npos && !name.starts_with("--")) return std::string(name);
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string_view(&c, 1);
  return out + "\"";
}

std::string NamePattern::name(std::span<const uint64_t> values) const {
  std::string out = pieces[0];
  for (size_t i = 0; i < slots.size(); ++i) out += std::to_string(values[slots[i]]) + pieces[i + 1];
  return out;
}

NamePattern NamePattern::filled(std::string_view prefix, std::string_view star_text) const {
  NamePattern out;
  out.pieces.emplace_back(text(prefix, pieces[0]));
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] == star) {
      out.pieces.back() += text(star_text, pieces[i + 1]);
    } else {
      out.slots.push_back(slots[i]);
      out.pieces.push_back(pieces[i + 1]);
    }
  }
  return out;
}

BindingMap::Match BindingMap::find(std::string_view field) const {
  Match out;
  if (const auto found = places_.find(field); found != places_.end()) {
    out = {&rules_[found->second.first], found->second.second, ""};
    return out;
  }
  size_t longest = 0;
  for (const auto& [rule, part] : stars_) {
    const std::string& pattern = rules_[rule].fields[part];
    if (pattern.size() <= longest) continue;
    if (const auto star = star_of(pattern, field)) {
      longest = pattern.size();
      out = {&rules_[rule], part, std::string(*star)};
    }
  }
  return out;
}

std::vector<std::string> BindingMap::fronts(std::string_view parameter) const {
  std::vector<std::string> out = {prefix};
  if (!prefix.empty()) out.emplace_back();
  for (size_t i = 0, count = parameter.empty() ? 0 : out.size(); i < count; ++i)
    out.push_back(text(parameter, ".", out[i]));
  return out;
}

std::vector<NamePattern> BindingMap::names(const Match& match, std::string_view field,
                                           std::string_view front) const {
  if (!match.rule) return {NamePattern{{text(front, field)}, {}}};
  std::vector<NamePattern> out;
  for (const NamePattern& tensor : match.rule->tensors)
    out.push_back(tensor.filled(front, translated(words, match.star)));
  return out;
}

std::optional<std::string> BindingMap::add(Rule rule) {
  for (const std::string& field : rule.fields)
    if (const auto found = places_.find(field); found != places_.end())
      return text("parameter ", printable(field), " has a rule already, in line ",
                  rules_[found->second.first].line);
  const auto number = static_cast<uint32_t>(rules_.size());
  for (uint32_t part = 0; part < rule.fields.size(); ++part) {
    places_.emplace(rule.fields[part], Place(number, part));
    if (rule.has_star()) stars_.emplace_back(number, part);
  }
  rules_.push_back(std::move(rule));
  return std::nullopt;
}

ParsedMap parse_binding_map(std::string_view source) {
  ParsedMap out;
  uint32_t number = 0, stars = 0;
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
    LineReader reader(without_comment(line));
    if (reader.at_end()) continue;
    const size_t rules = out.map.rules().size();
    if (auto error = read_line(reader, number, out.map)) report(*error);
    stars += out.map.rules().size() > rules && out.map.rules().back().has_star();
    if (stars <= limits::map_stars) continue;
    report(text("more than ", limits::map_stars, " rules with `*`"));
    break;
  }
  return out;
}

}  // namespace axon::weights
