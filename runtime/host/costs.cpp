// See costs.h.
#include "host/costs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "host/cost.h"

namespace axon::host {

namespace {

using nlohmann::ordered_json;

constexpr int format = 1;
constexpr double most_workers = 1 << 16;

std::string text_of(uint64_t hash) {
  char out[17];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(hash));
  return out;
}

/// A number of nanoseconds; a bad one makes the text a damaged one.
double time_in(const ordered_json& object, const char* key) {
  const auto at = object.find(key);
  const double value = at != object.end() && at->is_number() ? at->get<double>() : -1;
  return std::isfinite(value) && value >= 0 ? value : -1;
}

bool says(const ordered_json& object, const char* key, const ordered_json& value) {
  const auto at = object.find(key);
  return at != object.end() && *at == value;
}

}  // namespace

double Costs::time(const KernelCost& kernel, double work, uint32_t workers, uint32_t all) {
  if (workers <= 1 || all <= 1) return work * kernel.one;
  if (workers >= all || kernel.all <= 0) return work * kernel.all;
  const double gain = kernel.one / kernel.all - 1;
  return work * kernel.one / (1 + gain * (workers - 1) / (all - 1));
}

std::optional<double> Costs::predict(const Variant& variant, const int64_t* sizes, int64_t handoffs,
                                     uint32_t workers) const {
  double sum = workers > 1 ? static_cast<double>(handoffs) * handoff : 0;
  for (const Kernel& kernel : variant.kernels) {
    const auto cost = kernels.find(kernel.symbol);
    int64_t work = 0;
    if (cost == kernels.end() || !kernel.work.evaluate(sizes, work) || work < 0) return std::nullopt;
    sum += time(cost->second, static_cast<double>(work), workers, this->workers);
  }
  return sum;
}

std::optional<uint32_t> Costs::fastest(const Variant& variant, const int64_t* sizes, int64_t handoffs,
                                       uint32_t most) const {
  std::optional<uint32_t> best;
  double least = 0;
  for (const uint32_t candidate : worker_candidates(most)) {
    const auto predicted = predict(variant, sizes, handoffs, candidate);
    if (!predicted) return std::nullopt;
    if (!best || *predicted < least) best = candidate, least = *predicted;
  }
  return best;
}

std::string print_costs(const Costs& costs, uint64_t bundle, const std::string& level) {
  ordered_json kernels = ordered_json::object();
  for (const auto& [symbol, kernel] : costs.kernels)
    kernels[symbol] = {{"name", kernel.name}, {"one", kernel.one}, {"all", kernel.all}};
  const ordered_json out = {{"axon_costs", format},     {"bundle", text_of(bundle)},
                            {"level", level},           {"workers", costs.workers},
                            {"handoff", costs.handoff}, {"kernels", std::move(kernels)}};
  return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::shared_ptr<const Costs> read_costs(weights::Bytes text, uint64_t bundle, const std::string& level) {
  const ordered_json in =
      ordered_json::parse(text.data(), text.data() + text.size(), nullptr, /*allow_exceptions=*/false);
  if (!in.is_object() || !says(in, "axon_costs", format) || !says(in, "bundle", text_of(bundle)) ||
      !says(in, "level", level))
    return nullptr;
  auto costs = std::make_shared<Costs>();
  const double workers = time_in(in, "workers");
  costs->handoff = time_in(in, "handoff");
  const auto kernels = in.find("kernels");
  if (workers < 1 || workers > most_workers || costs->handoff < 0 || kernels == in.end() ||
      !kernels->is_object())
    return nullptr;
  costs->workers = static_cast<uint32_t>(workers);
  for (const auto& [symbol, item] : kernels->items()) {
    if (!item.is_object()) return nullptr;
    const auto name = item.find("name");
    const KernelCost kernel{name != item.end() && name->is_string() ? name->get<std::string>() : "",
                            time_in(item, "one"), time_in(item, "all")};
    if (kernel.one < 0 || kernel.all < 0) return nullptr;
    costs->kernels.emplace(symbol, kernel);
  }
  return costs;
}

std::string costs_path(const std::string& bundle) { return bundle + ".costs"; }

}  // namespace axon::host
