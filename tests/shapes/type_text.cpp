// See type_text.h. The reader follows what the printer writes: it is no parser of the whole language.
#include "type_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "shape/parse.h"

namespace axon::corpus {
namespace {

using shape::Dim;
using shape::Fact;
using shape::Var;

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Reader {
 public:
  Reader(const std::string& text, TypeText& out) : text_(text), out_(out) {}

  void type_and_facts() {
    while (skip_space(), at_ < text_.size()) {
      if (looking_at("where ")) {
        at_ += 6;
        facts(text_.size());
        break;
      }
      piece();
    }
    std::sort(intos_.begin(), intos_.end(), [](const Into& a, const Into& b) { return a.order < b.order; });
    for (const Into& i : intos_) {
      out_.skeleton.insert(out_.skeleton.end(), i.skeleton.begin(), i.skeleton.end());
      out_.sizes.insert(out_.sizes.end(), i.sizes.begin(), i.sizes.end());
    }
  }

  /// Facts separated by commas, up to a place in the text.
  void facts(size_t end) {
    while (at_ < end) {
      size_t stop = at_;
      for (int depth = 0; stop < end && (depth || text_[stop] != ','); ++stop)
        depth += (text_[stop] == '(' || text_[stop] == '[') - (text_[stop] == ')' || text_[stop] == ']');
      const std::string one = trim(text_.substr(at_, stop - at_));
      if (one.find(" into ") != std::string::npos) {
        into(one);
      } else if (!one.starts_with("'")) {  // the class of an element type is no matter of shapes
        fact(one);
      }
      at_ = std::min(stop + 1, end);
    }
  }

 private:
  struct Into {
    size_t order;
    std::vector<std::string> skeleton;
    std::vector<Dim> sizes;
  };

  static std::string trim(std::string s) {
    const size_t first = s.find_first_not_of(" \n");
    if (first == std::string::npos) return "";
    return s.substr(first, s.find_last_not_of(" \n") - first + 1);
  }
  bool looking_at(const std::string& word) const { return text_.compare(at_, word.size(), word) == 0; }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  std::string word() {
    const size_t begin = at_;
    while (at_ < text_.size() && word_char(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  void problem(const std::string& what) {
    if (out_.problem.empty()) out_.problem = fmt::format("{} in `{}`", what, text_);
    at_ = text_.size();
  }

  /// Shape, element and row variables are numbered as they appear.
  size_t number_of(const std::string& kind, const std::string& name) {
    auto& names = variables_[kind];
    return names.try_emplace(name, names.size()).first->second;
  }

  Dim dim(const std::string& text) {
    auto named = [&](std::string_view name) -> std::optional<Dim> {
      auto [it, added] = out_.names.try_emplace(std::string(name));
      if (added) it->second = shape::fresh_var(std::string(name));
      return Dim(it->second);
    };
    shape::DimParseError error;
    auto result = shape::parse_dim(text, named, &error);
    if (!result) problem(fmt::format("`{}` is no size ({})", text, error.message));
    return result.value_or(Dim());
  }

  void fact(const std::string& text) {
    for (const char* sign : {"<=", ">=", "==", "!=", "<", ">"}) {
      const size_t at = text.find(sign);
      if (at == std::string::npos) continue;
      const std::string s = sign;
      const Dim lhs = dim(text.substr(0, at)), rhs = dim(text.substr(at + s.size()));
      if (s == "<=") out_.facts.push_back(shape::at_most(lhs, rhs));
      if (s == ">=") out_.facts.push_back(shape::at_least(lhs, rhs));
      if (s == "==") out_.facts.push_back(shape::equal(lhs, rhs));
      if (s == "!=") out_.facts.push_back({lhs, shape::Relation::ne, rhs});
      if (s == "<") out_.facts.push_back(shape::less(lhs, rhs));
      if (s == ">") out_.facts.push_back(shape::less(rhs, lhs));
      return;
    }
    problem(fmt::format("`{}` states nothing", text));
  }

  /// `..c into [..(a|b), m, n]`
  void into(const std::string& text) {
    TypeText part;
    part.names = out_.names;
    Reader reader(text, part);
    reader.variables_ = variables_;
    Into result{0, {"into"}, {}};
    reader.at_ = 2;
    result.order = reader.number_of("shape", reader.word());
    result.skeleton.push_back(std::to_string(result.order));
    reader.skip_space();
    reader.at_ += 5;
    reader.piece();
    result.skeleton.insert(result.skeleton.end(), part.skeleton.begin(), part.skeleton.end());
    result.sizes = part.sizes;
    out_.names = part.names;
    variables_ = reader.variables_;
    if (!part.problem.empty()) problem(part.problem);
    intos_.push_back(result);
  }

  /// `..a` or `..(a|b)`, the dots read.
  void spread(const std::string& kind) {
    std::vector<size_t> parts;
    if (text_[at_] == '(') {
      while (text_[at_] == '(' || text_[at_] == '|') {
        ++at_;
        parts.push_back(number_of(kind, word()));
      }
      ++at_;
    } else {
      parts.push_back(number_of(kind, word()));
    }
    std::sort(parts.begin(), parts.end());
    out_.skeleton.push_back(fmt::format("..{}", fmt::join(parts, "|")));
  }

  /// The items between brackets: sizes, spreads, and for a stack or an alias also types.
  void items() {
    ++at_;
    out_.skeleton.push_back("[");
    while (skip_space(), at_ < text_.size() && text_[at_] != ']') {
      const char c = text_[at_];
      if (looking_at("..")) {
        at_ += 2;
        spread("shape");
      } else if (c == '\'' || c == '{' || std::isupper(static_cast<unsigned char>(c)) || element_type()) {
        while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ']') piece();
      } else {
        size_t end = at_;
        for (int depth = 0; end < text_.size() && (depth || (text_[end] != ',' && text_[end] != ']')); ++end)
          depth += (text_[end] == '(') - (text_[end] == ')');
        size(text_.substr(at_, end - at_));
        at_ = end;
      }
      skip_space();
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
    }
    ++at_;
    out_.skeleton.push_back("]");
  }

  bool element_type() const {
    size_t end = at_;
    while (end < text_.size() && word_char(text_[end])) ++end;
    static const std::vector<std::string> all{"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i64",
                                              "i32", "i16", "i8",  "u32",  "u8",     "bool"};
    return std::find(all.begin(), all.end(), text_.substr(at_, end - at_)) != all.end();
  }

  void size(const std::string& text) {
    out_.skeleton.push_back("#");
    out_.sizes.push_back(dim(text));
  }

  void piece() {
    skip_space();
    if (at_ >= text_.size()) return;
    const char c = text_[at_];
    if (c == '\'') {
      ++at_;
      out_.skeleton.push_back(fmt::format("'{}", number_of("type", word())));
      if (looking_at("[]")) at_ += 2;  // an element type that stands alone
    } else if (c == '[') {
      items();
    } else if (looking_at("..")) {
      at_ += 2;
      spread("row");
    } else if (c == '?') {
      existential();
    } else if (c == '(' && named_scalar()) {
      ++at_;
      size(word());
      while (text_[at_] != ')') ++at_;
      ++at_;
      out_.skeleton.push_back("scalar");
    } else if (word_char(c)) {
      out_.skeleton.push_back(word());
    } else {
      out_.skeleton.emplace_back(1, c);
      ++at_;
    }
  }

  bool named_scalar() const {
    size_t end = at_ + 1;
    while (end < text_.size() && word_char(text_[end])) ++end;
    return end > at_ + 1 && text_.compare(end, 6, " : i64") == 0;
  }

  /// `?k <= n. ` or `?k. `
  void existential() {
    ++at_;
    const size_t begin = at_, end = text_.find(". ", at_);
    if (end == std::string::npos) return problem("`?` without its end");
    const std::string name = word();
    out_.skeleton.push_back("?");
    size(name);
    at_ = begin;
    if (begin + name.size() < end) facts(end);
    at_ = end + 2;
  }

  const std::string& text_;
  TypeText& out_;
  size_t at_ = 0;
  std::map<std::string, std::map<std::string, size_t>> variables_;
  std::vector<Into> intos_;
};

/// Do the sizes agree, under what is said of them?
bool agree(const TypeText& a, const TypeText& b, const shape::Substitution& names) {
  std::vector<Fact> known = b.facts;
  for (const auto& [name, v] : b.names) known.push_back(shape::at_least(Dim(v), 0));
  for (size_t i = 0; i < a.sizes.size(); ++i) {
    const Dim size = a.sizes[i].substitute(names);
    if (size == b.sizes[i]) continue;
    if (b.facts.empty()) return false;
    if (shape::prove(known, shape::equal(size, b.sizes[i])).verdict != shape::Verdict::proved) return false;
  }
  return true;
}

/// Renames the sizes of `a` to those of `b`, each to one of its own, so that all sizes agree.
bool match(const TypeText& a, const TypeText& b, std::vector<Var> open, std::vector<Var> free,
           shape::Substitution& names) {
  if (open.empty()) return agree(a, b, names);
  const Var v = open.back();
  open.pop_back();
  for (size_t i = 0; i < free.size(); ++i) {
    std::vector<Var> rest = free;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    names[v] = Dim(free[i]);
    if (match(a, b, open, rest, names)) return true;
    names.erase(v);
  }
  return false;
}

/// The names that are plain sizes on both sides decide most; the rest is tried out.
std::optional<shape::Substitution> rename(const TypeText& a, const TypeText& b) {
  shape::Substitution names;
  std::vector<Var> open, free;
  auto take = [](std::vector<Var>& list, Var v) {
    if (std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
  };
  auto used = [&](Var v) {
    return std::any_of(names.begin(), names.end(), [&](const auto& n) { return n.second == Dim(v); });
  };
  for (size_t i = 0; i < a.sizes.size(); ++i) {
    const auto x = a.sizes[i].as_var(), y = b.sizes[i].as_var();
    if (x && y && !names.count(*x)) {
      if (used(*y)) return std::nullopt;  // two names would become one
      names.emplace(*x, Dim(*y));
    }
  }
  for (const auto& [name, v] : a.names)
    if (!names.count(v)) take(open, v);
  for (const auto& [name, v] : b.names)
    if (!used(v)) take(free, v);
  if (open.size() > free.size() || open.size() > 6) return std::nullopt;
  return match(a, b, open, free, names) ? std::optional(names) : std::nullopt;
}

}  // namespace

TypeText read_type(const std::string& text) {
  TypeText out;
  Reader(text, out).type_and_facts();
  return out;
}

std::vector<Fact> read_facts(const std::string& text, TypeText& scope) {
  TypeText part;
  part.names = scope.names;
  Reader(text, part).facts(text.size());
  scope.names = part.names;
  if (scope.problem.empty()) scope.problem = part.problem;
  return part.facts;
}

std::string compare_facts(const std::vector<Fact>& expected, const std::vector<Fact>& found,
                          const std::map<std::string, Var>& names) {
  auto missing = [&](const std::vector<Fact>& from, const std::vector<Fact>& wanted) -> std::string {
    std::vector<Fact> known = from;
    for (const auto& [name, v] : names) known.push_back(shape::at_least(Dim(v), 0));
    for (const Fact& f : wanted)
      if (shape::prove(known, f).verdict != shape::Verdict::proved) return f.str();
    return "";
  };
  if (const std::string text = missing(found, expected); !text.empty())
    return fmt::format("`{}` should be asked for, and is not", text);
  if (const std::string text = missing(expected, found); !text.empty())
    return fmt::format("`{}` is asked for, and should not be", text);
  return "";
}

std::string compare_types(const std::string& expected, const std::string& found) {
  TypeText a = read_type(expected), b = read_type(found);
  if (!a.problem.empty()) return a.problem;
  if (!b.problem.empty()) return b.problem;
  if (a.skeleton != b.skeleton) return "another structure";
  const auto names = rename(a, b);
  if (!names) return "the sizes are others";
  std::vector<Fact> renamed;
  for (const Fact& f : a.facts)
    renamed.push_back({f.lhs.substitute(*names), f.relation, f.rhs.substitute(*names)});
  return compare_facts(renamed, b.facts, b.names);
}

}  // namespace axon::corpus
