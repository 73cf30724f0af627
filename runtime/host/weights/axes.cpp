// See axes.h.
#include "host/weights/axes.h"

#include <algorithm>
#include <charconv>

#include "host/weights/limits.h"
#include "host/weights/span.h"

namespace axon::weights {
namespace {

/// One side after the other; the second has the names of the first.
class AxesReader {
 public:
  AxesReader(LineReader& line, AxesPattern& out) : line_(line), out_(out) {}

  Complaint read() {
    if (auto error = side(out_.from)) return error;
    if (!line_.take("->")) return "`->` expected behind the axes of the tensor";
    if (auto error = side(out_.to)) return error;
    for (const uint32_t name : names_in(out_.from))
      if (auto error = check_other_side(name, out_.to)) return error;
    for (const uint32_t name : names_in(out_.to))
      if (auto error = check_other_side(name, out_.from)) return error;
    return std::nullopt;
  }

 private:
  /// Axes up to what ends them; there may be none.
  Complaint side(std::vector<AxesPattern::Axis>& out) {
    seen_.clear();
    while (!line_.at_end() && line_.rest().front() != ',' && line_.rest().front() != '-') {
      if (out.size() == limits::rank) return text("more than ", limits::rank, " axes");
      out.emplace_back();
      if (line_.take("(")) {
        while (!line_.take(")"))
          if (auto error = name(out.back(), "an axis's name or `)` expected")) return error;
        if (out.back().empty()) return "no axis within `( )`";
      } else if (line_.rest().front() == '1') {
        line_.take("1");
      } else if (auto error =
                     name(out.back(), "an axis's name, `1` or `(` expected, as in `axes d h k -> d (h k)`")) {
        return error;
      }
    }
    return std::nullopt;
  }

  Complaint name(AxesPattern::Axis& out, const char* expected) {
    const std::string word = line_.identifier();
    if (word.empty() || !is_letter(word[0])) return expected;
    const auto found = std::find(out_.names.begin(), out_.names.end(), word);
    const auto number = static_cast<uint32_t>(found - out_.names.begin());
    if (found == out_.names.end()) {
      if (number == limits::rank) return text("more than ", limits::rank, " axes");
      out_.names.push_back(word);
      out_.sizes.emplace_back();
    }
    if (std::find(seen_.begin(), seen_.end(), number) != seen_.end())
      return text("axis ", printable(word), " occurs twice on one side of `->`");
    seen_.push_back(number);
    out.push_back(number);
    return line_.take("=") ? size(out_.sizes[number], word) : std::nullopt;
  }

  Complaint size(std::optional<uint64_t>& out, const std::string& name) {
    const std::string digits = line_.word(is_digit);
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty()) return text("a size expected after `", name, "=`");
    if (error != std::errc() || value > limits::extent) return text(digits, " is over the limit of a size");
    if (out && *out != value) return text("axis `", name, "` is ", *out, " and ", value);
    out = value;
    return std::nullopt;
  }

  static std::vector<uint32_t> names_in(const std::vector<AxesPattern::Axis>& side) {
    std::vector<uint32_t> out;
    for (const AxesPattern::Axis& axis : side) out.insert(out.end(), axis.begin(), axis.end());
    return out;
  }
  Complaint check_other_side(uint32_t name, const std::vector<AxesPattern::Axis>& other) const {
    const std::vector<uint32_t> names = names_in(other);
    if (std::find(names.begin(), names.end(), name) != names.end()) return std::nullopt;
    return text("axis `", out_.names[name], "` stands on one side of `->` only");
  }

  LineReader& line_;
  AxesPattern& out_;
  std::vector<uint32_t> seen_;  ///< of the side that is read
};

std::string text_of(const AxesPattern& pattern, const std::vector<AxesPattern::Axis>& side, bool with_sizes) {
  std::string out;
  for (const AxesPattern::Axis& axis : side) {
    std::string names;
    for (const uint32_t name : axis) {
      names += text(names.empty() ? "" : " ", pattern.names[name]);
      if (with_sizes && pattern.sizes[name]) names += text("=", *pattern.sizes[name]);
    }
    out += text(" ", axis.empty() ? "1" : axis.size() == 1 ? names : text("(", names, ")"));
  }
  return out;
}

/// The names of an axis get their extents; or what is wrong.
Complaint divide(const AxesPattern& pattern, const AxesPattern::Axis& axis, uint64_t extent,
                 std::vector<uint64_t>& extents) {
  uint64_t known = 1;
  std::optional<uint32_t> open;
  for (const uint32_t name : axis) {
    if (!pattern.sizes[name] && open)
      return text(extent, ", and how it is divided is open: state a size, as in `(", pattern.names[*open],
                  "=2 ", pattern.names[name], ")`, in ");
    if (!pattern.sizes[name]) open = name;
    const auto next = checked_mul(known, pattern.sizes[name].value_or(1));
    if (!next) return text(extent, ", and not as large as in ");
    known = *next;
    extents[name] = pattern.sizes[name].value_or(0);
  }
  if (!open && known != extent) return text(extent, ", and not ", known, " as in ");
  if (open && (known == 0 || extent % known != 0))
    return text(extent, ", and not a multiple of ", known, " as in ");
  if (open) extents[*open] = extent / known;
  return std::nullopt;
}

bool is_reordered(const AxesPattern& pattern, const std::vector<uint64_t>& extents) {
  std::vector<uint32_t> orders[2];
  for (const bool to : {false, true})
    for (const AxesPattern::Axis& axis : to ? pattern.to : pattern.from)
      for (const uint32_t name : axis)
        if (extents[name] != 1) orders[to].push_back(name);
  return orders[0] != orders[1];
}

}  // namespace

Complaint read_axes(LineReader& line, AxesPattern& out) { return AxesReader(line, out).read(); }

std::string text_of(const AxesPattern& pattern) {
  return text("axes", text_of(pattern, pattern.from, true), " ->", text_of(pattern, pattern.to, false));
}

AxesPattern pattern_of(std::span<const uint64_t> shape, std::span<const uint32_t> order) {
  AxesPattern out;
  for (uint32_t axis = 0; axis < shape.size(); ++axis) {
    out.from.emplace_back();
    if (std::find(order.begin(), order.end(), axis) == order.end()) continue;
    out.from.back().push_back(static_cast<uint32_t>(out.names.size()));
    out.names.emplace_back(1, static_cast<char>('a' + out.names.size()));
    out.sizes.emplace_back();
  }
  for (const uint32_t axis : order) out.to.push_back(out.from[axis]);
  return out;
}

std::optional<AxesPattern> leaving_out_ones(std::span<const uint64_t> shape, size_t rank) {
  if (rank >= shape.size()) return std::nullopt;
  size_t left_out = shape.size() - rank;
  std::vector<uint32_t> order;
  for (uint32_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1 && left_out > 0)
      --left_out;
    else
      order.push_back(axis);
  return left_out == 0 ? std::optional(pattern_of(shape, order)) : std::nullopt;
}

Result<Arranged> arranged(const AxesPattern& pattern, std::span<const uint64_t> shape) {
  const std::string as_text = text("`", text_of(pattern), "`");
  if (shape.size() != pattern.from.size())
    return Error{code::binding, text("which has ", shape.size(), shape.size() == 1 ? " axis" : " axes",
                                     ", and ", as_text, " is for ", pattern.from.size())};
  Arranged out;
  out.extents.assign(pattern.names.size(), 1);
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (auto wrong = divide(pattern, pattern.from[axis], shape[axis], out.extents))
      return Error{code::binding, text("whose axis ", axis, " is ", *wrong, as_text)};
  for (const AxesPattern::Axis& axis : pattern.to) {
    uint64_t extent = 1;
    for (const uint32_t name : axis) {
      const auto next = checked_mul(extent, out.extents[name]);
      if (!next || *next > limits::extent)
        return Error{code::binding, text("which has too many elements for ", as_text)};
      extent = *next;
    }
    out.shape.push_back(extent);
  }
  out.reordered = is_reordered(pattern, out.extents);
  return out;
}

}  // namespace axon::weights
