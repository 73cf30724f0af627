// etcc calibrate BUNDLE [ENTRY ..] NAME=SIZE ..: measures what the kernels of entries cost on this machine,
// for arguments of these sizes, and writes BUNDLE.costs, by which launches choose their workers.
//
// Contents do not matter to most kernels: floats are random, everything else is zeros. With --check the
// entries are run, too, and what was measured stands beside what the costs predict.
#include <axon/axon.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>

#include "host/weights/elements.h"
#include "tools/arguments.h"
#include "tools/common.h"

namespace axon::tools {

namespace {

using source::Code;
using Sizes = std::map<std::string, int64_t>;

struct CalibrateOptions {
  CommonOptions common;  ///< how to talk
  std::string bundle;
  std::vector<std::string> rest;  ///< entries, and NAME=SIZE
  uint32_t workers = 0;
  double seconds = 0.1;
  bool check = false;
};

template <class T, void (*destroy)(T*)>
struct Destroy {
  void operator()(T* handle) const { destroy(handle); }
};
template <class T, void (*destroy)(T*)>
using Handle = std::unique_ptr<T, Destroy<T, destroy>>;
using Call = Handle<axon_call, axon_call_destroy>;

/// What went wrong, thrown to where it is reported; the texts are the runtime's.
struct Problem {
  std::string code, text;
};

class Calibration {
 public:
  Calibration(const CalibrateOptions& o, Sizes sizes) : o_(o), sizes_(std::move(sizes)) {}

  void run(std::vector<std::string> entries) {
    open();
    if (entries.empty())
      for (const axon_entry* entry : all_entries()) entries.emplace_back(axon_entry_name(entry));
    check_sizes(entries);
    bind();
    measure(entries);
    if (!o_.check) return;
    open();  // with the costs
    bind();
    fmt::print("{:24} {:>7} {:>12} {:>12} {:>9}\n", "entry", "workers", "predicted ms", "measured ms",
               "ratio");
    for (const std::string& name : entries) check(name);
  }

 private:
  void must(axon_status status) const {
    if (status != AXON_OK) throw Problem{axon_error_code(error_.get()), axon_error_text(error_.get())};
  }

  void open() {
    axon_bundle* bundle = nullptr;
    must(axon_open(o_.bundle.c_str(), &bundle, error_.get()));
    bundle_.reset(bundle);
  }

  const axon_entry* find(const std::string& name) const {
    if (const axon_entry* entry = axon_bundle_find(bundle_.get(), name.c_str())) return entry;
    throw Problem{"E0801", fmt::format("`{}` has no entry `{}`", o_.bundle, name)};
  }

  std::vector<const axon_entry*> all_entries() const {
    std::vector<const axon_entry*> entries;
    for (size_t e = 0; e < axon_bundle_entry_count(bundle_.get()); ++e)
      entries.push_back(axon_bundle_entry(bundle_.get(), e));
    return entries;
  }

  /// Every size of the entries but those that the data decides is given, and no other than the bundle has.
  void check_sizes(const std::vector<std::string>& entries) const {
    Sizes unknown = sizes_;
    for (const std::string& name : entries) {
      const axon_entry* const entry = find(name);
      std::string missing;
      for (size_t s = 0; s < axon_entry_size_count(entry); ++s) {
        const char* size = nullptr;
        axon_size_from from;
        must(axon_entry_size(entry, s, &size, &from, error_.get()));
        if (from != AXON_FROM_DATA && !sizes_.contains(size))
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
  axon_view array_for(const axon_entry* entry, size_t input, const axon_port& port) {
    int64_t shape[AXON_MAX_RANK] = {};
    std::vector<const char*> names;
    std::vector<int64_t> values;
    for (const auto& [name, value] : sizes_) {
      names.push_back(name.c_str());
      values.push_back(value);
    }
    must(
        axon_entry_input_shape(entry, input, names.data(), values.data(), names.size(), shape, error_.get()));
    axon_tensor* tensor = nullptr;
    must(axon_tensor_create(port.elem, port.rank, shape, &tensor, error_.get()));
    tensors_.emplace_back(tensor);
    const axon_view view = axon_tensor_view(tensor);
    size_t count = 1;
    for (int32_t a = 0; a < view.rank; ++a) count *= static_cast<size_t>(view.shape[a]);
    fill(view, count);
    return view;
  }

  /// Floats: a prime number of random values, again and again.
  void fill(const axon_view& view, size_t count) {
    const auto elem = static_cast<Elem>(view.elem);
    if (!is_float(elem)) return;
    constexpr size_t period = 4099;
    std::uniform_real_distribution<float> values(-0.1F, 0.1F);
    std::vector<float> some(period);
    for (float& value : some) value = values(random_);
    const auto bytes = static_cast<size_t>(elem_bytes(elem));
    auto* const out = static_cast<uint8_t*>(view.data);
    for (size_t i = 0; i < count; i += period)
      weights::convert(Elem::f32, some.data(), elem, out + i * bytes, std::min(period, count - i));
  }

  /// The weights of the bundle; those of one entry alone are not bound.
  void bind() {
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

  Call call_of(const std::string& name, axon_runtime* runtime) {
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
        must(axon_call_set_at(made, i, &view, error_.get()));
      }
    }
    return call;
  }

  Handle<axon_runtime, axon_runtime_destroy> runtime_of(uint32_t workers) const {
    axon_runtime* runtime = nullptr;
    must(axon_runtime_create(workers, &runtime, error_.get()));
    return Handle<axon_runtime, axon_runtime_destroy>(runtime);
  }

  void measure(const std::vector<std::string>& entries) {
    const auto runtime = runtime_of(o_.workers);
    std::vector<Call> calls;
    std::vector<axon_call*> handles;
    for (const std::string& name : entries) {
      calls.push_back(call_of(name, runtime.get()));
      handles.push_back(calls.back().get());
    }
    must(axon_calibrate(handles.data(), handles.size(), o_.seconds, (o_.bundle + ".costs").c_str(),
                        error_.get()));
  }

  /// Predicted and measured times with one worker, and with all.
  void check(const std::string& name) {
    const uint32_t all = axon_runtime_workers(runtime_of(o_.workers).get());
    for (uint32_t workers = 1;; workers = all) {
      const auto runtime = runtime_of(workers);
      const Call call = call_of(name, runtime.get());
      double predicted = 0;
      const double measured = median_time(call.get());
      must(axon_call_predict(call.get(), workers, &predicted, error_.get()));
      fmt::print("{:24} {:7} {:12.4f} {:12.4f} {:9.2f}\n", name, workers, predicted * 1e-6, measured * 1e-6,
                 predicted / measured);
      if (workers == all) break;
    }
  }

  /// Of runs after one that warms up.
  double median_time(axon_call* call) const {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    const Clock::time_point begin = Clock::now();
    must(axon_call_run(call, error_.get()));
    do {
      const Clock::time_point start = Clock::now();
      must(axon_call_run(call, error_.get()));
      times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
    } while (times.size() < 3 || (times.size() < 1000 && Clock::now() - begin < std::chrono::seconds(1)));
    std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
  }

  const CalibrateOptions& o_;
  const Sizes sizes_;
  Handle<axon_error, axon_error_destroy> error_{axon_error_create()};
  Handle<axon_bundle, axon_bundle_destroy> bundle_;
  Handle<axon_parameters, axon_parameters_destroy> weights_;
  std::vector<Handle<axon_tensor, axon_tensor_destroy>> tensors_;  ///< what calls borrow
  std::mt19937 random_{1};
};

}  // namespace

Command add_calibrate(CLI::App& app) {
  auto o = std::make_shared<CalibrateOptions>();
  app.add_option("BUNDLE", o->bundle, "a bundle that `etcc build` has made; BUNDLE.costs is written")
      ->required();
  app.add_option("ARGUMENT", o->rest, "entries (none: all of them), and the sizes of their arguments, n=12");
  app.add_option("--workers", o->workers, "the most worker threads; 0: as many as there are CPUs");
  app.add_option("--seconds", o->seconds, "for each kernel with one worker, and with all")
      ->check(CLI::Range(0.0, 60.0));
  app.add_flag("--check", o->check, "run the entries, and compare times with predictions");
  add_talk(app, o->common);
  return [o] {
    std::vector<std::string> entries;
    Sizes sizes;
    if (!sort_words(o->rest, entries, sizes)) return static_cast<int>(usage);
    source::Diagnostics diagnostics;
    const source::SourceManager sources;
    o->common.prints = true;
    try {
      Calibration(*o, sizes).run(entries);
    } catch (const Problem& problem) {
      const auto code = source::code_from_name(problem.code);
      diagnostics.report(source::error(code.value_or(Code::E0801), {}, problem.text));
    }
    return report(diagnostics, sources, o->common);
  };
}

}  // namespace axon::tools
