// The C interface: calls, their costs and traces.
#include "host/api.h"
#include "host/for_tools.h"
#include "host/weights/output_file.h"

namespace host = axon::host;
namespace weights = axon::weights;
using namespace axon::host::api;
using axon::host::misuse;
using axon::host::printable;
using axon::host::Status;
using axon::host::text;

namespace {

/// The same with the input that a path names: `body(host::Call&, size_t)`.
template <class Body>
axon_status with_input(axon_call* call, const char* path, axon_error* error, Body body) {
  if (!path) return fail(error, null_argument());
  return with_call(call, error, [&](host::Call& it) -> Status {
    const int32_t input = it.find_input(path);
    if (input < 0) return misuse(text(printable(it.entry().name), " has no input ", printable(path)));
    return body(it, static_cast<size_t>(input));
  });
}

}  // namespace

axon_status host::check_call(axon_call* call, axon_error* error) {
  return with_call(call, error, [](host::Call& it) { return it.check(); });
}

extern "C" {

// ---- calls ----

axon_status axon_call_create(const axon_bundle* bundle, const char* entry, const axon_parameters* parameters,
                             axon_runtime* runtime, axon_call** out, axon_error* error) {
  if (!bundle || !entry || !out) return fail(error, null_argument());
  return guarded(error, [&]() -> Status {
    std::shared_ptr<host::Runtime> workers = runtime ? runtime->runtime : nullptr;
    if (!workers) {
      auto single = host::create_runtime(1);
      if (!single) return std::move(single.failure());
      workers = *single;
    }
    return hand_out(
        host::Call::create(bundle->bundle, entry, parameters ? parameters->parameters : nullptr, workers),
        out);
  });
}

void axon_call_destroy(axon_call* call) { delete call; }

axon_status axon_call_set_size(axon_call* call, const char* name, int64_t value, axon_error* error) {
  if (!name) return fail(error, null_argument());
  return with_call(call, error, [&](host::Call& it) { return it.set_size(name, value); });
}

int32_t axon_call_find(const axon_call* call, const char* path) {
  return call && path ? call->call->find_input(path) : -1;
}

axon_status axon_call_set(axon_call* call, const char* path, const axon_view* view, axon_error* error) {
  if (!view) return fail(error, null_argument());
  return with_input(call, path, error, [&](host::Call& it, size_t input) { return it.set(input, *view); });
}

axon_status axon_call_set_at(axon_call* call, size_t input, const axon_view* view, axon_error* error) {
  if (!view) return fail(error, null_argument());
  return with_call(call, error, [&](host::Call& it) { return it.set(input, *view); });
}

axon_status axon_call_set_strided(axon_call* call, const char* path, const axon_view* view,
                                  const int64_t* strides, axon_error* error) {
  if (!view || !strides) return fail(error, null_argument());
  return with_input(call, path, error,
                    [&](host::Call& it, size_t input) { return it.set(input, *view, strides); });
}

axon_status axon_call_set_strided_at(axon_call* call, size_t input, const axon_view* view,
                                     const int64_t* strides, axon_error* error) {
  if (!view || !strides) return fail(error, null_argument());
  return with_call(call, error, [&](host::Call& it) { return it.set(input, *view, strides); });
}

axon_status axon_call_set_copy(axon_call* call, const char* path, const axon_view* view,
                               const int64_t* strides, axon_error* error) {
  if (!view) return fail(error, null_argument());
  return with_input(call, path, error,
                    [&](host::Call& it, size_t input) { return it.set_copy(input, *view, strides); });
}

axon_status axon_call_set_copy_at(axon_call* call, size_t input, const axon_view* view,
                                  const int64_t* strides, axon_error* error) {
  if (!view) return fail(error, null_argument());
  return with_call(call, error, [&](host::Call& it) { return it.set_copy(input, *view, strides); });
}

axon_status axon_call_set_int(axon_call* call, const char* path, int64_t value, axon_error* error) {
  return with_input(call, path, error,
                    [&](host::Call& it, size_t input) { return it.set_integer(input, value); });
}

axon_status axon_call_set_int_at(axon_call* call, size_t input, int64_t value, axon_error* error) {
  return with_call(call, error, [&](host::Call& it) { return it.set_integer(input, value); });
}

axon_status axon_call_set_float(axon_call* call, const char* path, double value, axon_error* error) {
  return with_input(call, path, error,
                    [&](host::Call& it, size_t input) { return it.set_real(input, value); });
}

axon_status axon_call_set_float_at(axon_call* call, size_t input, double value, axon_error* error) {
  return with_call(call, error, [&](host::Call& it) { return it.set_real(input, value); });
}

axon_status axon_call_clear(axon_call* call, axon_error* error) {
  return with_call(call, error, [&](host::Call& it) -> Status {
    it.clear();
    return std::nullopt;
  });
}

axon_status axon_call_run(axon_call* call, axon_error* error) {
  return with_call(call, error, [&](host::Call& it) { return it.run(); });
}

axon_status axon_call_result(const axon_call* call, size_t result, axon_view* out, axon_error* error) {
  if (!out) return fail(error, null_argument());
  return with_call(call, error, [&](host::Call& it) { return it.result(result, *out); });
}

axon_status axon_call_result_strides(const axon_call* call, size_t result, int64_t* strides,
                                     axon_error* error) {
  if (!strides) return fail(error, null_argument());
  return with_call(call, error, [&](host::Call& it) { return it.result_strides(result, strides); });
}

axon_status axon_call_take_result(axon_call* call, size_t result, axon_tensor** out, axon_error* error) {
  if (!out) return fail(error, null_argument());
  return with_call(call, error, [&](host::Call& it) -> Status {
    axon_view view{};
    if (auto failure = it.result(result, view)) return failure;
    auto tensor = std::make_unique<axon_tensor>(axon_tensor{{}, view.elem, view.rank, {}});
    std::copy_n(view.shape, view.rank, tensor->shape);
    if (auto failure = it.take_result(result, tensor->memory)) return failure;
    *out = tensor.release();
    return std::nullopt;
  });
}

axon_status axon_call_copy_result(const axon_call* call, size_t result, void* to, axon_error* error) {
  if (!to) return fail(error, null_argument());
  return with_call(call, error, [&](host::Call& it) { return it.copy_result(result, to); });
}

axon_status axon_call_size(const axon_call* call, const char* name, int64_t* out, axon_error* error) {
  if (!name || !out) return fail(error, null_argument());
  return with_call(call, error, [&](host::Call& it) { return it.size(name, *out); });
}

axon_status axon_call_get_statistics(const axon_call* call, axon_call_statistics* out, axon_error* error) {
  if (!out) return fail(error, null_argument());
  return with_call(call, error, [&](host::Call& it) -> Status {
    *out = it.statistics();
    return std::nullopt;
  });
}

// ---- costs ----

axon_status axon_calibrate(axon_call* const* calls, size_t count, double seconds, const char* path,
                           axon_error* error) {
  if (!path || (count > 0 && !calls)) return fail(error, null_argument());
  if (count == 0) return fail(error, misuse("no calls to calibrate"));
  if (!(seconds >= 0 && seconds <= 3600))  // nor for NaN
    return fail(error, misuse("each part is measured for 0 to 3600 seconds"));
  host::Costs costs;
  const host::Bundle* bundle = nullptr;
  for (size_t i = 0; i < count; ++i) {
    const axon_status status = with_call(calls[i], error, [&](host::Call& it) -> Status {
      if (bundle && bundle != &it.bundle()) return misuse("the calls are of different bundles");
      bundle = &it.bundle();
      return it.calibrate(seconds, costs);
    });
    if (status != AXON_OK) return status;
  }
  return guarded(error, [&]() -> Status {
    const std::string out = host::print_costs(costs, bundle->manifest_hash, bundle->image->level());
    if (auto failed = weights::write_file(path, weights::Bytes(out)))
      return host::system_failure(failed->message);
    return std::nullopt;
  });
}

axon_status axon_call_predict(const axon_call* call, uint32_t workers, double* nanoseconds,
                              axon_error* error) {
  if (!nanoseconds) return fail(error, null_argument());
  return with_call(call, error, [&](host::Call& it) { return it.predict(workers, *nanoseconds); });
}

// ---- traces ----

axon_status axon_call_trace(axon_call* call, size_t runs, axon_error* error) {
  return with_call(call, error, [&](host::Call& it) { return it.trace(runs); });
}

axon_status axon_call_traced(const axon_call* call, uint32_t worker, const axon_task_run** runs,
                             size_t* count, size_t* lost, axon_error* error) {
  if (!runs || !count || !lost) return fail(error, null_argument());
  return with_call(call, error, [&](host::Call& it) -> Status {
    const host::Trace* const trace = it.traced();
    if (!trace) return misuse("no tasks are noted: axon_call_trace says that they are to be");
    if (worker >= trace->workers())
      return misuse(text("worker ", worker, " of a runtime with only ", trace->workers()));
    *runs = trace->runs(worker).data();
    *count = trace->runs(worker).size();
    *lost = trace->lost(worker);
    return std::nullopt;
  });
}

void axon_call_on_debug(axon_call* call, axon_debug_function function, void* user) {
  if (call) call->call->on_debug(function, user);
}

}  // extern "C"
