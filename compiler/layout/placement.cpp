// See placement.h.
#include "layout/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "layout/evaluate.h"

namespace axon::layout {

namespace {

using Digit = Placement::Digit;

/// The digits of a placement with what stands below each on its own axis, and its stride in memory.
struct Placed {
  Digit digit;
  int64_t below = 1;
  Dim extent, stride;
};

std::vector<Digit> digits_of(const Placement& p, size_t rank) {
  if (!p.is_row_major()) return p.digits;
  std::vector<Digit> all(rank);
  for (size_t a = 0; a < rank; ++a) all[a].axis = static_cast<uint32_t>(a);
  return all;
}

std::vector<Placed> placed(const Placement& p, const Shape& shape) {
  const std::vector<int64_t> multiples = multiples_of(p, shape.size());
  std::vector<int64_t> below(shape.size(), 1);
  std::vector<Placed> out;
  Dim stride(1);
  const std::vector<Digit> digits = digits_of(p, shape.size());
  for (size_t i = digits.size(); i-- > 0;) {
    const Digit& digit = digits[i];
    const Dim extent =
        digit.extent > 0 ? Dim(digit.extent) : shape::cdiv(shape[digit.axis], Dim(multiples[digit.axis]));
    out.push_back({digit, below[digit.axis], extent, stride});
    stride = stride * extent;
    if (digit.extent > 0) below[digit.axis] *= digit.extent;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  bool accept(char c) {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  template <class T>
  bool number(T& out) {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace

Placement panels(size_t rank, const PanelAxes& axes, int64_t columns) {
  Placement out;
  for (uint32_t a = 0; a < rank; ++a)
    if (a != axes.column && a != axes.depth) out.digits.push_back({a, 0});
  out.digits.insert(out.digits.end(), {{axes.column, 0}, {axes.depth, 0}, {axes.column, columns}});
  return out;
}

Placement panels(size_t rank, int64_t columns) {
  const auto last = static_cast<uint32_t>(rank - 1);
  return panels(rank, {last, last - 1}, columns);
}

std::optional<std::string> why_ill_formed(const Placement& p, size_t rank) {
  if (p.is_row_major()) return std::nullopt;
  constexpr int64_t most = 4096;
  std::vector<int64_t> multiples(rank, 0);  // 0: nothing of the axis has come yet
  for (const Digit& digit : p.digits) {
    if (digit.axis >= rank) return fmt::format("there is no axis {}", digit.axis);
    int64_t& multiple = multiples[digit.axis];
    if ((digit.extent == 0) != (multiple == 0))
      return fmt::format("axis {} begins with what is left of it, once", digit.axis);
    if (digit.extent < 0 || digit.extent > most || multiple * digit.extent > most)
      return fmt::format("axis {} is rounded up to at most {} positions", digit.axis, most);
    multiple = digit.extent == 0 ? 1 : multiple * digit.extent;
  }
  for (size_t a = 0; a < rank; ++a)
    if (multiples[a] == 0) return fmt::format("axis {} has no digit", a);
  return std::nullopt;
}

std::vector<int64_t> multiples_of(const Placement& p, size_t rank) {
  std::vector<int64_t> multiples(rank, 1);
  for (const Digit& digit : p.digits)
    if (digit.extent > 0) multiples[digit.axis] *= digit.extent;
  return multiples;
}

Layout layout_of(const Placement& p, const Shape& shape) {
  if (p.stated) return *p.stated;
  const std::vector<Placed> all = placed(p, shape);
  Layout out;
  for (size_t a = 0; a < shape.size(); ++a)
    for (const Placed& one : all)
      if (one.digit.axis == a) out.shards.push_back({one.extent, one.stride, {}});
  return out;
}

Dim offset_of(const Placement& p, const Shape& shape, const std::vector<Dim>& index) {
  if (p.stated) return apply(*p.stated, shape, index)[Axis()];
  Dim sum;
  for (const Placed& one : placed(p, shape)) {
    Dim digit = shape::floor_div(index[one.digit.axis], Dim(one.below));
    if (one.digit.extent > 0) digit = shape::mod(digit, Dim(one.digit.extent));
    sum = sum + digit * one.stride;
  }
  return sum;
}

Dim elements_of(const Placement& p, const Shape& shape) {
  if (p.stated) return shape::max(span_on(*p.stated, Axis()), 0);
  return product(rounded_up(shape, multiples_of(p, shape.size())));
}

std::string print(const Placement& p) {
  std::vector<std::string> parts(p.digits.size());
  std::vector<int64_t> below;
  for (size_t i = p.digits.size(); i-- > 0;) {
    const Digit& digit = p.digits[i];
    if (below.size() <= digit.axis) below.resize(digit.axis + 1, 1);
    int64_t& under = below[digit.axis];
    parts[i] = fmt::format("{}", digit.axis);
    if (under > 1) parts[i] += fmt::format("/{}", under);
    if (digit.extent > 0) parts[i] += fmt::format("%{}", digit.extent), under *= digit.extent;
  }
  return fmt::format("({})", fmt::join(parts, ", "));
}

std::optional<Placement> parse_placement(std::string_view& text) {
  Reader in(text);
  Placement out;
  if (!in.accept('(')) return std::nullopt;
  if (!in.accept(')')) {
    do {
      Digit digit;
      int64_t below = 1;  // told by the digits that follow
      if (!in.number(digit.axis) || (in.accept('/') && !in.number(below)) ||
          (in.accept('%') && !in.number(digit.extent)))
        return std::nullopt;
      out.digits.push_back(digit);
    } while (in.accept(','));
    if (!in.accept(')')) return std::nullopt;
  }
  std::string_view taken = text.substr(0, text.size() - in.rest().size());
  while (!taken.empty() && taken.front() == ' ') taken.remove_prefix(1);
  uint32_t axes = 0;
  for (const Digit& digit : out.digits) axes = std::max(axes, digit.axis + 1);
  if (axes > 64 || why_ill_formed(out, axes) || print(out) != taken) return std::nullopt;
  text = in.rest();
  return out;
}

}  // namespace axon::layout
