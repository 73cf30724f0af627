// See sized_bundle.h.
#include "tools/sized_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "host/weights/elements.h"

namespace axon::tools {

void SizedBundle::must(axon_status status) const { tools::must(status, error_.get()); }

void SizedBundle::open(const std::string& path) {
  axon_bundle* bundle = nullptr;
  must(axon_open(path.c_str(), &bundle, error_.get()));
  path_ = path;
  take(bundle);
}

void SizedBundle::open_bytes(const std::string& bytes) {
  axon_bundle* bundle = nullptr;
  must(axon_open_memory(bytes.data(), bytes.size(), &bundle, error_.get()));
  take(bundle);
}

void SizedBundle::take(axon_bundle* bundle) {
  bundle_.reset(bundle);
  weights_.reset();
  tensors_.clear();
}

const axon_entry* SizedBundle::find(const std::string& name) const {
  if (const axon_entry* entry = axon_bundle_find(bundle_.get(), name.c_str())) return entry;
  throw Problem{"E0801", fmt::format("`{}` has no entry `{}`", path_, name)};
}

std::vector<const axon_entry*> SizedBundle::all_entries() const {
  std::vector<const axon_entry*> entries;
  for (size_t e = 0; e < axon_bundle_entry_count(bundle_.get()); ++e)
    entries.push_back(axon_bundle_entry(bundle_.get(), e));
  return entries;
}

std::vector<std::string> SizedBundle::entry_names() const {
  std::vector<std::string> names;
  for (const axon_entry* entry : all_entries()) names.emplace_back(axon_entry_name(entry));
  return names;
}

void SizedBundle::check_sizes(const std::vector<std::string>& entries) const {
  Sizes unknown = sizes_;
  for (const std::string& name : entries) {
    const axon_entry* const entry = find(name);
    std::string missing;
    for (size_t s = 0; s < axon_entry_size_count(entry); ++s) {
      const char* size = nullptr;
      axon_size_from from;
      must(axon_entry_size(entry, s, &size, &from, error_.get()));
      if (from != AXON_FROM_DATA && from != AXON_FROM_STRIDE && !sizes_.contains(size))
        missing += fmt::format("{}`{}`", missing.empty() ? "" : ", ", size);
    }
    if (!missing.empty())
      throw Problem{"E0821", fmt::format("`{}` has sizes that are not given: {}", name, missing)};
  }
  for (const axon_entry* entry : all_entries())
    for (size_t s = 0; s < axon_entry_size_count(entry); ++s) {
      const char* size = nullptr;
      must(axon_entry_size(entry, s, &size, nullptr, error_.get()));
      unknown.erase(size);
    }
  if (!unknown.empty())
    throw Problem{"E0801", fmt::format("no entry has a size `{}`", unknown.begin()->first)};
}

/// An array of the input's shape at the sizes.
axon_view SizedBundle::array_for(const axon_entry* entry, size_t input, const axon_port& port) {
  int64_t shape[AXON_MAX_RANK] = {};
  std::vector<const char*> names;
  std::vector<int64_t> values;
  for (const auto& [name, value] : sizes_) {
    names.push_back(name.c_str());
    values.push_back(value);
  }
  must(axon_entry_input_shape(entry, input, names.data(), values.data(), names.size(), shape, error_.get()));
  axon_tensor* tensor = nullptr;
  must(axon_tensor_create(port.elem, port.rank, shape, &tensor, error_.get()));
  tensors_.emplace_back(tensor);
  const axon_view view = axon_tensor_view(tensor);
  size_t count = 1;
  for (int32_t a = 0; a < view.rank; ++a) count *= static_cast<size_t>(view.shape[a]);
  fill(view, count);
  return view;
}

/// Floats: a prime number of random values around 0, again and again; a number that stands alone, which is
/// often a scale or what keeps a root from 0, is positive.
void SizedBundle::fill(const axon_view& view, size_t count) {
  const auto elem = static_cast<Elem>(view.elem);
  if (!is_float(elem)) return;
  constexpr size_t period = 4099;
  std::uniform_real_distribution<float> values(-0.1F, 0.1F);
  std::vector<float> some(period);
  for (float& value : some) value = values(random_);
  if (view.rank == 0) some[0] = std::abs(some[0]);
  const auto bytes = static_cast<size_t>(elem_bytes(elem));
  auto* const out = static_cast<uint8_t*>(view.data);
  for (size_t i = 0; i < count; i += period)
    weights::convert(Elem::f32, some.data(), elem, out + i * bytes, std::min(period, count - i));
}

void SizedBundle::bind() {
  std::map<std::string, axon_view> weights;
  for (const axon_entry* entry : all_entries()) {
    for (size_t i = 0; i < axon_entry_input_count(entry); ++i) {
      axon_port port;
      must(axon_entry_input(entry, i, &port, error_.get()));
      if (port.kind == AXON_WEIGHT && !weights.contains(port.path))
        weights[port.path] = array_for(entry, i, port);
    }
  }
  std::vector<const char*> names;
  std::vector<axon_view> arrays;
  for (const auto& [name, array] : weights) {
    names.push_back(name.c_str());
    arrays.push_back(array);
  }
  weights_.reset();
  if (names.empty()) return;
  axon_parameters* bound = nullptr;
  must(axon_bind_arrays(bundle_.get(), names.data(), arrays.data(), names.size(), nullptr, &bound,
                        error_.get()));
  weights_.reset(bound);
  tensors_.clear();  // they were copied
}

Call SizedBundle::call_of(const std::string& name, axon_runtime* runtime) {
  axon_call* made = nullptr;
  must(axon_call_create(bundle_.get(), name.c_str(), weights_.get(), runtime, &made, error_.get()));
  Call call(made);
  const axon_entry* const entry = find(name);
  for (size_t s = 0; s < axon_entry_size_count(entry); ++s) {
    const char* size = nullptr;
    axon_size_from from;
    must(axon_entry_size(entry, s, &size, &from, error_.get()));
    if (from == AXON_FROM_PARAMETER && sizes_.contains(size))
      must(axon_call_set_size(made, size, sizes_.at(size), error_.get()));
  }
  for (size_t i = 0; i < axon_entry_input_count(entry); ++i) {
    axon_port port;
    must(axon_entry_input(entry, i, &port, error_.get()));
    if (port.kind == AXON_SIZE) {
      const auto value = sizes_.find(port.path);
      must(axon_call_set_int_at(made, i, value == sizes_.end() ? 0 : value->second, error_.get()));
    } else if (port.kind != AXON_WEIGHT) {
      const axon_view view = array_for(entry, i, port);
      const char* const* strides = nullptr;
      must(axon_entry_input_strides(entry, i, &strides, error_.get()));
      must(strides ? axon_call_set_copy_at(made, i, &view, nullptr, error_.get())
                   : axon_call_set_at(made, i, &view, error_.get()));
    }
  }
  return call;
}

std::vector<double> times_of(const SizedBundle& of, axon_call* call, double seconds, size_t most_runs,
                             const std::function<void(double)>& after_each) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t least_runs = 3;
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  of.must(axon_call_run(call, of.error()));
  do {
    const Clock::time_point start = Clock::now();
    of.must(axon_call_run(call, of.error()));
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
    if (after_each) after_each(times.back());
  } while (
      times.size() < least_runs ||
      (times.size() < most_runs && std::chrono::duration<double>(Clock::now() - begin).count() < seconds));
  return times;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace axon::tools
