// See text.h.
#include "layout/text.h"

#include <fmt/format.h>

#include <cctype>
#include <utility>

namespace axon::layout {

// ---- Printing ----

namespace {

/// In parentheses where a space outside of any shows that it is more than one factor.
std::string print_size(std::string text) {
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ' ' && depth == 0) return "(" + text + ")";
  }
  return text;
}

using SizeText = std::function<std::string(const Dim&)>;

std::string print_stride(const Iter& iter, const SizeText& size) {
  return print_size(size(iter.stride)) + (iter.axis == Axis() ? "" : "@" + iter.axis.name);
}

std::string print_iters(const char* name, const std::vector<Iter>& iters, const SizeText& size) {
  if (iters.empty()) return fmt::format("{}[]", name);
  std::string from, to;
  for (const Iter& iter : iters) {
    from += (from.empty() ? "" : ",") + print_size(size(iter.extent));
    to += (to.empty() ? "" : ",") + print_stride(iter, size);
  }
  if (iters.size() > 1) return fmt::format("{}[({}):({})]", name, from, to);
  // One extent in parentheses is read as a list of one.
  if (from.starts_with('(')) to = "(" + to + ")";
  return fmt::format("{}[{}:{}]", name, from, to);
}

}  // namespace

std::string print(const Layout& layout, const SizeText& size) {
  std::string out = print_iters("S", layout.shards, size);
  if (!layout.replicas.empty()) out += " + " + print_iters("R", layout.replicas, size);
  for (const auto& [axis, amount] : layout.offset)
    if (!amount.is(0)) out += fmt::format(" + {}@{}", print_size(size(amount)), axis.name);
  return out;
}
std::string print(const Layout& layout) {
  return print(layout, [](const Dim& size) { return size.str(); });
}

std::string print(const Swizzled& tile) {
  const Swizzle& s = tile.swizzle;
  return print(tile.layout) + (s.bits == 0 ? "" : fmt::format(" ^ ({},{},{})", s.base, s.bits, s.shift));
}

// ---- Parsing ----

namespace {

class Parser {
 public:
  Parser(std::string_view text, const shape::NameLookup& names, const Axes& axes)
      : text_(text), names_(names), axes_(axes) {}

  /// The whole text.
  std::optional<Swizzled> tile(bool may_be_swizzled) {
    Swizzled out;
    if (!layout(out.layout)) return std::nullopt;
    if (may_be_swizzled && accept('^') && !swizzle(out.swizzle)) return std::nullopt;
    if (at_ != text_.size()) return fail("`+` or the end of the layout is expected"), std::nullopt;
    at_ = 0;
    if (auto why = why_ill_formed(out.layout, axes_)) return fail(*why), std::nullopt;
    return out;
  }
  const ParseError& error() const { return error_; }

 private:
  bool layout(Layout& out) {
    skip_space();
    if (!expect('S') || !expect('[') || !shards(out.shards)) return false;
    while (accept('+'))
      if (!(at_replicas() ? replicas(out.replicas) : offset(out))) return false;
    return true;
  }

  bool swizzle(Swizzle& out) {
    const size_t begin = at_;
    std::vector<Dim> numbers;
    if (!expect('(') || !list(numbers) || !expect(')')) return false;
    const size_t end = std::exchange(at_, begin);
    std::vector<int> values;
    for (const Dim& number : numbers)
      if (const auto value = number.constant(); value >= 0 && value < 64)
        values.push_back(static_cast<int>(*value));
    if (numbers.size() != 3 || values.size() != 3) return fail("a swizzle has three small numbers, (M,B,S)");
    if (values[1] > 0) out = {values[0], values[1], values[2]};
    if (auto why = why_ill_formed(out)) return fail(*why);
    at_ = end;
    return true;
  }

  bool shards(std::vector<Iter>& out) {
    if (accept(']')) return true;
    const bool tuple = accept('(');
    std::vector<Dim> sizes;
    if (!list(sizes)) return false;
    if (!tuple && accept(']')) {
      out = row_major(sizes).shards;
      return true;
    }
    return strides(tuple, sizes, out);
  }
  bool replicas(std::vector<Iter>& out) {
    accept('R');
    accept('[');
    if (!out.empty()) return fail("replicas are stated once");
    const bool tuple = accept('(');
    std::vector<Dim> sizes;
    return list(sizes) && strides(tuple, sizes, out);
  }

  /// What follows the extents: `):(4@lane,1)]`, `:4@lane]`.
  bool strides(bool tuple, const std::vector<Dim>& sizes, std::vector<Iter>& out) {
    if (!tuple && sizes.size() > 1) return fail("several extents stand in parentheses before their strides");
    if ((tuple && !expect(')')) || !expect(':') || (tuple && !expect('('))) return false;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (i > 0 && !expect(',')) return false;
      Iter iter{sizes[i], 0, {}};
      if (!size(iter.stride) || (accept('@') && !axis(iter.axis))) return false;
      out.push_back(std::move(iter));
    }
    return (!tuple || expect(')')) && expect(']');
  }

  bool offset(Layout& out) {
    Dim amount;
    Axis on;
    if (!size(amount) || !expect('@') || !axis(on)) return false;
    add_offset(out, on, amount);
    return true;
  }

  bool list(std::vector<Dim>& out) {
    do {
      Dim one;
      if (!size(one)) return false;
      out.push_back(one);
    } while (accept(','));
    return true;
  }
  bool size(Dim& out) {
    ParseError error;
    const auto value = shape::parse_dim_prefix(text_, at_, names_, &error);
    if (!value) {
      at_ = error.offset;
      return fail(error.message);
    }
    out = *value;
    return true;
  }
  bool axis(Axis& out) {
    skip_space();
    size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_'))
      ++end;
    if (end == at_) return fail("an axis is expected");
    out.name = text_.substr(at_, end - at_);
    if (!axes_.find(out)) return fail(fmt::format("no axis is called `{}`", out.name));
    at_ = end;
    return true;
  }

  bool at_replicas() {
    skip_space();
    size_t next = at_ + 1;
    while (next < text_.size() && text_[next] == ' ') ++next;
    return at_ < text_.size() && text_[at_] == 'R' && next < text_.size() && text_[next] == '[';
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_space();
    return true;
  }
  bool expect(char c) { return accept(c) || fail(fmt::format("`{}` is expected", c)); }
  bool fail(std::string message) {
    if (error_.message.empty()) error_ = {at_, std::move(message)};
    return false;
  }

  std::string_view text_;
  const shape::NameLookup& names_;
  const Axes& axes_;
  size_t at_ = 0;
  ParseError error_;
};

}  // namespace

std::optional<Swizzled> parse_swizzled(std::string_view text, const shape::NameLookup& names,
                                       const Axes& axes, ParseError* error) {
  Parser parser(text, names, axes);
  auto tile = parser.tile(true);
  if (!tile && error) *error = parser.error();
  return tile;
}

std::optional<Layout> parse(std::string_view text, const shape::NameLookup& names, const Axes& axes,
                            ParseError* error) {
  Parser parser(text, names, axes);
  const auto tile = parser.tile(false);
  if (!tile && error) *error = parser.error();
  return tile ? std::optional(tile->layout) : std::nullopt;
}

std::optional<Layout> parse(std::string_view text, ParseError* error) {
  const shape::NameLookup none = [](std::string_view) { return std::nullopt; };
  return parse(text, none, {}, error);
}

}  // namespace axon::layout
