// See cost_text.h.
#include "page/cost_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "page/cost.h"
#include "page/expressions.h"
#include "target/cost_model.h"
#include "task/names.h"

namespace axon::page {

namespace {

using shape::Dim;

/// The sizes by variable; what the data decides has its bound where that is known.
std::optional<shape::Substitution> substitution(const plan::Variant& v, const GivenSizes& given,
                                                std::string& problem) {
  shape::Substitution out;
  std::vector<std::string> names;
  for (const graph::Size& size : v.program.graph->sizes) names.push_back(fmt::format("`{}`", size.name));
  for (const auto& [name, value] : given) {
    const size_t before = out.size();
    for (const graph::Size& size : v.program.graph->sizes)
      if (size.name == name) out[size.var] = Dim(value);
    if (out.size() != before) continue;
    problem = names.empty()
                  ? fmt::format("`{}` is no size of it: it has none", name)
                  : fmt::format("`{}` is no size of it; its sizes are {}", name, fmt::join(names, ", "));
    return std::nullopt;
  }
  for (const plan::DataSize& d : v.data_sizes) {
    const graph::Size& size = v.program.graph->sizes[d.size];
    if (!size.is_unbounded()) out.try_emplace(size.var, size.equation.substitute(out));
  }
  return out;
}

/// The first fact that the sizes break, as text.
std::string broken(const plan::Variant& v, const shape::Substitution& sizes, const task::Names& names) {
  for (const shape::Fact& f : v.program.facts) {
    const auto lhs = f.lhs.substitute(sizes).constant(), rhs = f.rhs.substitute(sizes).constant();
    if (lhs && rhs && !shape::holds(f.relation, *lhs, *rhs)) return names("", {f}).substr(2);
  }
  return "";
}

/// 1234567 as 1,234,567.
std::string grouped(int64_t n) {
  std::string digits = std::to_string(n);
  for (size_t at = digits.size(); at > 3 + (n < 0 ? 1 : 0); at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string formula(const Dim& d, const task::Names& names) {
  if (shape::overflowed(d)) return "more than 64 bits hold";
  const auto number = d.constant();
  return number ? grouped(*number) : names(d);
}

std::string floor_text(const Dim& operations, const Dim& bytes) {
  const target::CostModel machine;
  const auto all = operations.constant(), moved = bytes.constant();
  if (!all || !moved || shape::overflowed(operations) || shape::overflowed(bytes))
    return fmt::format("the longer of operations / {} and bytes / {}, in ns", machine.operations,
                       machine.bytes);
  const double computing = target::floor_time(machine, static_cast<double>(*all), 0, 1),
               moving = target::floor_time(machine, 0, static_cast<double>(*moved), 1);
  return fmt::format("{} on one worker, set by its {}", time_text(std::max(computing, moving)),
                     computing >= moving ? "operations" : "bytes");
}

}  // namespace

std::string time_text(double nanoseconds) {
  static constexpr const char* units[] = {"ns", "us", "ms", "s"};
  size_t unit = 0;
  for (; unit < 3 && nanoseconds >= 1000; ++unit) nanoseconds /= 1000;
  return fmt::format("{:.3g} {}", nanoseconds, units[unit]);
}

std::string cost_text(const plan::Variant& v, const GivenSizes& given, std::string& problem) {
  const task::Names names(v.program);
  const auto sizes = substitution(v, given, problem);
  if (!sizes) return "";
  if (const std::string fact = broken(v, *sizes, names); !fact.empty()) {
    problem = fmt::format("it refuses these sizes: `{}` does not hold", fact);
    return "";
  }
  const Cost cost = least_cost(v.program);
  const Dim operations = cost.operations.substitute(*sizes), bytes = cost.bytes.substitute(*sizes);
  return fmt::format("operations  {}\nbytes       {}\nfloor       {}\n", formula(operations, names),
                     formula(bytes, names), floor_text(operations, bytes));
}

std::string cost_line(const plan::Variant& v) {
  const task::Names names(v.program);
  const Cost cost = least_cost(v.program);
  return fmt::format("{} operations, at least {} bytes", formula(cost.operations, names),
                     formula(cost.bytes, names));
}

}  // namespace axon::page
