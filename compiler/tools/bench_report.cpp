// See bench_report.h.
#include "tools/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "page/cost_text.h"

namespace axon::tools {

namespace {

using nlohmann::ordered_json;

/// 12345678 as 12.3M; nothing that is known, as a dash.
std::string amount(const std::optional<double>& number) {
  if (!number) return "-";
  static constexpr const char* units[] = {"", "k", "M", "G", "T", "P", "E"};
  double rest = *number;
  size_t unit = 0;
  for (; unit < 6 && rest >= 1000; ++unit) rest /= 1000;
  return unit == 0 ? fmt::format("{:.0f}", rest) : fmt::format("{:.3g}{}", rest, units[unit]);
}

std::string row(const Figures& f, size_t width) {
  const auto ratio = f.ratio();
  return fmt::format("{:{}} {:>7} {:>9} {:>9} {:>6} {:>10} {:>7} {:>7} {:>7}\n", f.name, width,
                     amount(f.tasks), page::time_text(f.time), f.floor ? page::time_text(f.floor->time) : "-",
                     ratio ? fmt::format("{:.0f} %", 100 * *ratio) : "-",
                     f.floor ? bound_name(f.floor->by) : "-", amount(f.bytes), amount(f.operations),
                     amount(f.boxes));
}

ordered_json json_of(const std::optional<double>& number) {
  return number ? ordered_json(*number) : ordered_json(nullptr);
}

/// What the entry and its types have in common.
void add_figures_to(ordered_json& out, const Figures& f) {
  out["tasks"] = json_of(f.tasks);
  out["time"] = f.time;
  out["busy"] = f.busy;
  out["floor"] = f.floor ? ordered_json(f.floor->time) : ordered_json(nullptr);
  out["by"] = f.floor ? ordered_json(bound_name(f.floor->by)) : ordered_json(nullptr);
  out["ratio"] = json_of(f.ratio());
  out["bytes"] = json_of(f.bytes);
  out["outside"] = json_of(f.outside);
  out["operations"] = json_of(f.operations);
  out["boxes"] = json_of(f.boxes);
}

std::string dumped(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string benchmark_table(const Benchmark& b) {
  const Measured& m = b.measured;
  size_t width = std::max<size_t>(b.entry.size(), 9);
  std::vector<const Figures*> types;
  for (const Figures& type : b.types) {
    types.push_back(&type);
    width = std::max(width, type.name.size());
  }
  std::string text =
      fmt::format("{:{}} {:>7} {:>9} {:>9} {:>6} {:>10} {:>7} {:>7} {:>7}\n", "tasks of", width, "number",
                  "time", "floor", "ratio", "set by", "bytes", "ops", "boxes");
  std::stable_sort(types.begin(), types.end(),
                   [](const Figures* x, const Figures* y) { return x->time > y->time; });
  for (const Figures* type : types) text += row(*type, width);
  text += fmt::format("{:{}} {:>7} {:>9}\n", "(no task)", width, "",
                      page::time_text(m.fastest.time - b.whole.busy / m.workers));
  text += row(b.whole, width);
  text += fmt::format(
      "\n{} worker{} of {}; medians of {} launches, for types of {} traced ones, which take {}\n", m.workers,
      m.workers == 1 ? "" : "s", b.level, m.launches, m.traced_launches, page::time_text(m.traced_time));
  text += fmt::format("probed: {} multiply-adds a second", amount(b.rates->multiply_adds()));
  for (const auto& [size, rate] : b.rates->bandwidths())
    text += fmt::format(", {}B/s over {}B", amount(rate), amount(static_cast<double>(size)));
  text += "\n";
  if (m.fastest.lost > 0)
    text +=
        fmt::format("{} runs of tasks had no room in the trace: times of types lack them\n", m.fastest.lost);
  return text;
}

std::string benchmark_json(const Benchmark& b) {
  const Measured& m = b.measured;
  ordered_json sizes = ordered_json::object(), types = ordered_json::array(),
               bandwidths = ordered_json::array();
  for (const auto& [name, value] : m.sizes) sizes[name] = value;
  for (const Figures& type : b.types) {
    types.push_back({{"name", type.name}, {"family", type.family}});
    add_figures_to(types.back(), type);
  }
  for (const auto& [size, rate] : b.rates->bandwidths())
    bandwidths.push_back({{"bytes", size}, {"rate", rate}});
  ordered_json out = {
      {"format", 1},
      {"file", b.file},
      {"entry", b.entry},
      {"level", b.level},
      {"workers", m.workers},
      {"launches", m.launches},
      {"sizes", std::move(sizes)},
      {"probes", {{"multiply_adds", b.rates->multiply_adds()}, {"bandwidths", std::move(bandwidths)}}},
      {"traced",
       {{"launches", m.traced_launches},
        {"time", m.traced_time},
        {"fastest", m.fastest.time},
        {"lost", m.fastest.lost}}}};
  add_figures_to(out, b.whole);
  out["types"] = std::move(types);
  return dumped(out, 1);
}

}  // namespace axon::tools
