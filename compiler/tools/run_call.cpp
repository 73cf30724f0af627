// See run_call.h.
#include "tools/run_call.h"

#include <algorithm>

#include "host/for_tools.h"

namespace axon::tools {

std::vector<NamedView> results_of(const axon_entry* entry) {
  std::vector<NamedView> results(axon_entry_result_count(entry));
  for (size_t r = 0; r < results.size(); ++r) {
    axon_port port{};
    axon_entry_result(entry, r, &port, nullptr);
    results[r] = {*port.path ? port.path : "result", {nullptr, port.elem, 0, nullptr}};
  }
  return results;
}

void RunCall::open(const std::string& path) {
  axon_bundle* bundle = nullptr;
  must(axon_open(path.c_str(), &bundle, error_.get()));
  bundle_.reset(bundle);
}

void RunCall::open_bytes(std::string_view bytes) {
  axon_bundle* bundle = nullptr;
  must(axon_open_memory(bytes.data(), bytes.size(), &bundle, error_.get()));
  bundle_.reset(bundle);
}

bool RunCall::choose(const std::string& name) {
  const axon_entry* const entry = axon_bundle_find(bundle_.get(), name.c_str());
  if (!entry) return false;
  axon_bundle* bundle = nullptr;
  must(host::open_entry(bundle_.get(), entry, &bundle, error_.get()));
  bundle_.reset(bundle);
  entry_ = axon_bundle_entry(bundle, 0);
  return true;
}

std::vector<std::string> RunCall::entry_names() const {
  std::vector<std::string> names;
  for (size_t e = 0; e < axon_bundle_entry_count(bundle_.get()); ++e)
    names.emplace_back(axon_entry_name(axon_bundle_entry(bundle_.get(), e)));
  return names;
}

void RunCall::bind(const GivenValues& values, const std::string& map) {
  weights_.reset();
  if (values.weights.empty()) return;
  std::vector<const char*> parameters, paths;
  for (const auto& [parameter, path] : values.weights) {
    parameters.push_back(parameter.c_str());
    paths.push_back(path.c_str());
  }
  const std::string rules = values.map.empty() ? map : map + "\n" + values.map;
  axon_parameters* weights = nullptr;
  must(axon_bind_each(bundle_.get(), parameters.data(), paths.data(), paths.size(), rules.c_str(), &weights,
                      error_.get()));
  weights_.reset(weights);
}

void RunCall::set(GivenValues& values, const std::string& map) {
  bind(values, map);
  axon_call* call = nullptr;
  must(axon_call_create(bundle_.get(), axon_entry_name(entry_), weights_.get(), runtime_.get(), &call,
                        error_.get()));
  call_.reset(call);
  for (const auto& [name, size] : values.sizes)
    must(axon_call_set_size(call, name.c_str(), size, error_.get()));
  for (size_t i = 0; i < axon_entry_input_count(entry_); ++i) {
    axon_port port;
    must(axon_entry_input(entry_, i, &port, error_.get()));
    const auto array = values.arrays.find(port.path);
    if (array != values.arrays.end()) set_input(i, port, array->second);
  }
}

/// Where the program states how the input lies, its elements are brought there.
void RunCall::set_input(size_t index, const axon_port& port, Array& array) {
  const axon_view view = array.view();
  const char* const* strides = nullptr;
  must(axon_entry_input_strides(entry_, index, &strides, error_.get()));
  must(strides ? axon_call_set_copy(call_.get(), port.path, &view, nullptr, error_.get())
               : axon_call_set(call_.get(), port.path, &view, error_.get()));
}

void RunCall::check() { must(host::check_call(call_.get(), error_.get())); }

void RunCall::run() { must(axon_call_run(call_.get(), error_.get())); }

std::vector<NamedView> RunCall::results() {
  auto results = results_of(entry_);
  for (size_t r = 0; r < results.size(); ++r) {
    must(axon_call_result(call_.get(), r, &results[r].second, error_.get()));
    make_row_major(r, results[r].second);
  }
  return results;
}

/// A result that lies as the program states becomes a copy.
void RunCall::make_row_major(size_t index, axon_view& view) {
  const char* const* strides = nullptr;
  must(axon_entry_result_strides(entry_, index, &strides, error_.get()));
  if (!strides) return;
  size_t bytes = axon_elem_bytes(view.elem);
  for (int32_t a = 0; a < view.rank; ++a) bytes *= static_cast<size_t>(view.shape[a]);
  auto& copy = copies_.emplace_back(std::max<size_t>(bytes, 1));
  view.data = copy.data();
  must(axon_call_copy_result(call_.get(), index, copy.data(), error_.get()));
}

}  // namespace axon::tools
