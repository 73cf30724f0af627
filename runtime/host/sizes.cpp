// Solving and explaining sizes (sizes.h).
#include "host/sizes.h"

#include <algorithm>
#include <cmath>

#include "host/limits.h"

namespace axon::host {
namespace {

/// The whole number whose power this is, if there is one. value >= 0.
std::optional<int64_t> root(int64_t value, uint32_t power) {
  if (power == 1) return value;
  const auto guess = static_cast<int64_t>(std::llround(std::pow(static_cast<double>(value), 1.0 / power)));
  for (int64_t candidate = std::max<int64_t>(guess - 1, 0); candidate <= guess + 1; ++candidate) {
    int64_t product = 1;
    bool overflow = false;
    for (uint32_t i = 0; i < power; ++i) overflow |= __builtin_mul_overflow(product, candidate, &product);
    if (!overflow && product == value) return candidate;
  }
  return std::nullopt;
}

}  // namespace

std::string SizeTable::seen_text(const Size& rule) const {
  const std::string axis = axis_text(entry_->inputs[rule.input], rule.axis);
  return rule.from == AXON_FROM_STRIDE ? "the stride of " + axis : axis;
}

bool SizeTable::set(size_t size, int64_t value, bool from_metadata) {
  const uint64_t bit = uint64_t{1} << size;
  const bool changed = !(known_ & bit) || values_[size] != value;
  values_[size] = value;
  known_ |= bit;
  from_metadata_ = from_metadata ? from_metadata_ | bit : from_metadata_ & ~bit;
  return changed;
}

void SizeTable::set_agreed(size_t size, int64_t value, std::string origin) {
  set(size, value);
  agreed_[size] = std::move(origin);
}

Status SizeTable::solve(size_t size, int64_t extent, bool& changed) {
  const Size& rule = entry_->sizes[size];
  const auto fail = [&](std::string what) {
    const uint64_t others = rule.equation.mask() & ~(uint64_t{1} << size);
    return Failure{AXON_BAD_ARGUMENT, rule.from == AXON_FROM_STRIDE ? code::strides : code::shape,
                   text(seen_text(rule), " is ", extent, ", ", std::move(what), origins_in_brackets(others))};
  };
  const int64_t before = values_[size];
  int64_t at_zero = 0, at_one = 0, factor = 0, rest = 0, value = 0, check = 0;
  values_[size] = 0;
  bool exact = rule.equation.evaluate(values_.data(), at_zero);
  values_[size] = 1;
  exact = exact && rule.equation.evaluate(values_.data(), at_one) &&
          !__builtin_sub_overflow(at_one, at_zero, &factor) &&
          !__builtin_sub_overflow(extent, at_zero, &rest);
  values_[size] = before;
  if (!exact) return fail(text("for which `", rule.equation.str(), "` cannot be computed"));
  if (factor == 0 && rest == 0)
    return fail(text("which leaves `", rule.name, "` undetermined in `", rule.equation.str(), "`"));
  const bool divides =
      factor != 0 && !(factor == -1 && rest == INT64_MIN) && rest % factor == 0 && rest / factor >= 0;
  const std::optional<int64_t> found = divides ? root(rest / factor, rule.power) : std::nullopt;
  if (found) values_[size] = value = *found;
  const bool solves = found && rule.equation.evaluate(values_.data(), check) && check == extent;
  values_[size] = before;
  if (!solves)
    return fail(text("which is not `", rule.equation.str(), extent < 0 ? "`: no size is negative" : "`"));
  changed = set(size, value);
  return std::nullopt;
}

std::string SizeTable::origin(size_t size) const {
  const Size& rule = entry_->sizes[size];
  if (const auto agreed = agreed_.find(size); agreed != agreed_.end()) return agreed->second;
  if (from_metadata_ >> size & 1) return "from the metadata of the weights";
  if (rule.from == AXON_FROM_AXIS || rule.from == AXON_FROM_STRIDE) return "from " + seen_text(rule);
  if (rule.from == AXON_FROM_DATA)
    return rule.unbounded ? "as the data decides" : "at most, as the data decides";
  return "as given";
}

std::string SizeTable::explain(const Dim& dim) const {
  int64_t value = 0;
  const std::string result = dim.evaluate(values_.data(), value) ? std::to_string(value) : "too large";
  if (dim.as_size() >= 0) return text("`", dim.str(), "` is ", result, " (", origin(dim.as_size()), ")");
  if (dim.mask() == 0) return text("must be ", result);
  return text("`", dim.str(), "` is ", result, origins_in_brackets(dim.mask()));
}

std::string SizeTable::origins(uint64_t mask) const {
  std::string out;
  for (size_t size = 0; size < values_.size(); ++size)
    if (mask & known_ & uint64_t{1} << size)
      out += text(out.empty() ? "" : "; ", entry_->sizes[size].name, " = ", values_[size], " ", origin(size));
  return out;
}

std::string SizeTable::origins_in_brackets(uint64_t mask) const {
  const std::string all = origins(mask);
  return all.empty() ? "" : text(" (", all, ")");
}

Status SizeTable::extent(const Port& port, size_t axis, int64_t& out) const {
  const Dim& dim = port.shape[axis];
  if (!dim.evaluate(values_.data(), out)) return bad_formula(dim);
  if (out >= 0 && out <= static_cast<int64_t>(limits::extent)) return std::nullopt;
  return Failure{AXON_BAD_ARGUMENT, code::requirement,
                 text(axis_text(port, axis), ", `", dim.str(), "`, would be ", out,
                      origins_in_brackets(dim.mask()), ": an axis has 0 to ", limits::extent, " elements")};
}

Failure SizeTable::bad_formula(const Dim& dim) const {
  return {AXON_BAD_ARGUMENT, code::requirement,
          text("`", dim.str(), "` cannot be computed for these sizes", origins_in_brackets(dim.mask()))};
}

std::string SizeTable::check_text(const Check& check, Wide lhs, Wide rhs) const {
  const Fact& fact = *check.fact;
  std::string out = check.message;
  if (!fill_sides(out, wide_text(lhs), wide_text(rhs)))
    out += text(": `", fact.lhs.str(), " ", relation_text(fact.relation), " ", fact.rhs.str(),
                "` does not hold for ", wide_text(lhs), " and ", wide_text(rhs));
  return out + origins_in_brackets(fact.mask());
}

std::string SizeTable::shape(const std::vector<Dim>& dims) const {
  std::string names, values;
  for (const Dim& dim : dims) {
    int64_t value = 0;
    names += (names.empty() ? "" : ", ") + dim.str();
    values += (values.empty() ? "" : ", ") +
              (knows(dim) && dim.evaluate(values_.data(), value) ? std::to_string(value) : std::string("?"));
  }
  return names == values ? text("[", names, "]") : text("[", names, "] = [", values, "]");
}

std::string axis_text(const Port& port, size_t axis) {
  return text("axis ", axis, " of ", printable(port.path));
}

std::string shape_text(const int64_t* shape, size_t rank) {
  std::string out;
  for (size_t i = 0; i < rank; ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return text("[", out, "]");
}

}  // namespace axon::host
