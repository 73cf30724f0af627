// The C interface over the C++ classes: null checks, statuses, and the one place where exceptions end.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>

#include "axon/axon.h"
#include "host/call.h"
#include "host/for_tools.h"
#include "host/limits.h"
#include "host/versions.h"
#include "host/weights/elements.h"
#include "host/weights/output_file.h"

using axon::Elem;
using axon::host::Failure;
using axon::host::misuse;
using axon::host::printable;
using axon::host::Status;
using axon::host::text;
namespace host = axon::host;
namespace weights = axon::weights;

struct axon_error {
  Failure failure;
};
struct axon_tensor {
  host::Memory memory;
  axon_elem elem;
  int32_t rank;
  int64_t shape[AXON_MAX_RANK];
};
struct axon_bundle {
  std::shared_ptr<host::Bundle> bundle;
};
struct axon_parameters {
  std::shared_ptr<host::Parameters> parameters;
};
struct axon_runtime {
  std::shared_ptr<host::Runtime> runtime;
};
struct axon_call {
  std::unique_ptr<host::Call> call;
  mutable std::atomic_flag in_use = ATOMIC_FLAG_INIT;  ///< a thread is inside of one of its functions
};

namespace {

axon_status fail(axon_error* error, Failure failure) {
  const axon_status status = failure.status;
  if (error) error->failure = std::move(failure);
  return status;
}

axon_status finish(axon_error* error, Status status) {
  return status ? fail(error, std::move(*status)) : AXON_OK;
}

/// Runs `body`, which returns a Status; being out of memory is one, too.
template <class Body>
axon_status guarded(axon_error* error, Body body) {
  try {
    return finish(error, body());
  } catch (const std::bad_alloc&) {
    if (error) {
      error->failure.status = AXON_SYSTEM;
      error->failure.code = host::code::system;  // short strings need no memory
      error->failure.text = "out of memory";
    }
    return AXON_SYSTEM;
  }
}

Failure null_argument() {
  return misuse("a null pointer where a handle, a name or room for a result is needed");
}

template <class Handle, class Value>
Status hand_out(host::Result<Value> value, Handle** out) {
  if (!value) return std::move(value.failure());
  *out = new Handle{std::move(*value)};
  return std::nullopt;
}

Elem elem_of(axon_elem elem) { return static_cast<Elem>(elem); }
bool is_elem(axon_elem elem) {
  return std::ranges::any_of(axon::all_elems, [&](Elem e) { return static_cast<axon_elem>(e) == elem; });
}

const host::Entry& entry_of(const axon_entry* entry) { return *reinterpret_cast<const host::Entry*>(entry); }
const axon_entry* handle_of(const host::Entry& entry) { return reinterpret_cast<const axon_entry*>(&entry); }

axon_status hand_out_port(const std::vector<host::Port>& ports, size_t index, axon_port* out,
                          axon_error* error) {
  if (index >= ports.size()) return fail(error, misuse(text("number ", index, " of only ", ports.size())));
  const host::Port& port = ports[index];
  *out = {port.path.c_str(),      port.kind, port.elem, static_cast<int32_t>(port.shape.size()),
          port.shape_text.data(), port.state};
  return AXON_OK;
}

axon_status hand_out_strides(const std::vector<host::Port>& ports, size_t index, const char* const** out,
                             axon_error* error) {
  if (index >= ports.size()) return fail(error, misuse(text("number ", index, " of only ", ports.size())));
  const host::Port& port = ports[index];
  *out = port.strides.empty() ? nullptr : port.stride_text.data();
  return AXON_OK;
}

/// Runs `body(host::Call&)`, which returns a Status. Two threads inside of one call would mix what they set:
/// the second is refused, and so is a forked process whose parent was inside.
template <class Body>
axon_status with_call(const axon_call* call, axon_error* error, Body body) {
  if (!call) return fail(error, null_argument());
  if (call->in_use.test_and_set(std::memory_order_acquire))
    return fail(error, misuse("the call is in use: each thread needs a call of its own"));
  const axon_status status = guarded(error, [&] { return body(*call->call); });
  call->in_use.clear(std::memory_order_release);
  return status;
}

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

/// Arrays in memory as a weights file.
host::Result<weights::TensorFile> file_of_arrays(const char* const* names, const axon_view* arrays,
                                                 size_t count) {
  weights::TensorFile out;
  for (size_t i = 0; i < count; ++i) {
    const axon_view& array = arrays[i];
    if (!names[i] || !is_elem(array.elem) || array.rank < 0 || array.rank > AXON_MAX_RANK ||
        (array.rank && !array.shape))
      return misuse(text("array ", i, " has no name, element type or shape"));
    weights::Tensor tensor{names[i], elem_of(array.elem),     {array.shape, array.shape + array.rank}, 0,
                           0,        static_cast<uint32_t>(i)};
    const auto bytes =
        weights::byte_count(tensor.shape, tensor.dtype);  // negative extents are too large ones there
    if (!bytes) return host::bad_weights(bytes.error());
    if (!array.data && *bytes > 0) return misuse(text("array ", printable(names[i]), " has no data"));
    const auto* const data = static_cast<const uint8_t*>(array.data);
    out.files.push_back(weights::File::from_memory(names[i], std::vector<uint8_t>(data, data + *bytes)));
    tensor.end = *bytes;
    out.table.tensors.push_back(std::move(tensor));
  }
  auto& tensors = out.table.tensors;
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (size_t i = 1; i < tensors.size(); ++i)
    if (tensors[i].name == tensors[i - 1].name)
      return misuse(text("two arrays are named ", printable(tensors[i].name)));
  return out;
}

}  // namespace

axon_status host::open_entry(const axon_bundle* bundle, const axon_entry* entry, axon_bundle** out,
                             axon_error* error) {
  return guarded(error, [&]() -> Status {
    *out = new axon_bundle{with_entry_alone(*bundle->bundle, entry_of(entry))};
    return std::nullopt;
  });
}

axon_status host::check_call(axon_call* call, axon_error* error) {
  return with_call(call, error, [](host::Call& it) { return it.check(); });
}

extern "C" {

void axon_get_version(axon_version* out) {
  if (out)
    *out = {AXON_VERSION_MAJOR, AXON_VERSION_MINOR, AXON_VERSION_PATCH, host::container_formats.newest,
            host::kernel_interfaces.newest};
}

const char* axon_status_name(axon_status status) {
  switch (status) {
    case AXON_OK:
      return "ok";
    case AXON_MISUSE:
      return "misuse";
    case AXON_BAD_BUNDLE:
      return "bad bundle";
    case AXON_BAD_WEIGHTS:
      return "bad weights";
    case AXON_BAD_ARGUMENT:
      return "bad argument";
    case AXON_CHECK_FAILED:
      return "check failed";
    case AXON_HANG:
      return "hang";
    case AXON_SYSTEM:
      return "system";
  }
  return "unknown";
}

int axon_status_exit_code(axon_status status) {
  if (status == AXON_OK) return 0;
  return status == AXON_CHECK_FAILED || status == AXON_HANG || status == AXON_SYSTEM ? 3 : 1;
}

axon_error* axon_error_create(void) { return new (std::nothrow) axon_error; }
void axon_error_destroy(axon_error* error) { delete error; }
axon_status axon_error_status(const axon_error* error) { return error ? error->failure.status : AXON_OK; }
const char* axon_error_code(const axon_error* error) { return error ? error->failure.code.c_str() : ""; }
const char* axon_error_text(const axon_error* error) { return error ? error->failure.text.c_str() : ""; }

// ---- tensors ----

const char* axon_elem_name(axon_elem elem) {
  return is_elem(elem) ? axon::elem_name(elem_of(elem)).data() : nullptr;
}
size_t axon_elem_bytes(axon_elem elem) {
  return is_elem(elem) ? static_cast<size_t>(axon::elem_bytes(elem_of(elem))) : 0;
}

axon_status axon_tensor_create(axon_elem elem, int32_t rank, const int64_t* shape, axon_tensor** out,
                               axon_error* error) {
  if (!out || (rank > 0 && !shape)) return fail(error, null_argument());
  return guarded(error, [&]() -> Status {
    if (!is_elem(elem) || rank < 0 || rank > AXON_MAX_RANK)
      return misuse("no element type, or an impossible rank");
    const std::vector<uint64_t> extents(shape, shape + rank);  // negative extents are too large ones there
    const auto bytes = weights::byte_count(extents, elem_of(elem));
    if (!bytes) return Failure{AXON_BAD_ARGUMENT, host::code::shape, bytes.error().message};
    auto memory = host::Memory::allocate(*bytes ? *bytes : 1);
    if (!memory) return host::system_failure(text("cannot get ", *bytes, " bytes for a tensor"));
    auto* const tensor = new axon_tensor{std::move(*memory), elem, rank, {}};
    std::copy(shape, shape + rank, tensor->shape);
    *out = tensor;
    return std::nullopt;
  });
}

void axon_tensor_destroy(axon_tensor* tensor) { delete tensor; }

axon_view axon_tensor_view(const axon_tensor* tensor) {
  if (!tensor) return {nullptr, AXON_F32, 0, nullptr};
  return {tensor->memory.data(), tensor->elem, tensor->rank, tensor->shape};
}

// ---- bundles ----

axon_status axon_open(const char* path, axon_bundle** out, axon_error* error) {
  if (!path || !out) return fail(error, null_argument());
  return guarded(error, [&] { return hand_out(host::open_bundle(path), out); });
}

axon_status axon_open_memory(const void* bytes, size_t size, axon_bundle** out, axon_error* error) {
  if (!bytes || !out) return fail(error, null_argument());
  return guarded(error, [&] { return hand_out(host::load_bundle(host::Bytes(bytes, size)), out); });
}

void axon_bundle_destroy(axon_bundle* bundle) { delete bundle; }
const char* axon_bundle_level(const axon_bundle* bundle) {
  return bundle && bundle->bundle->image ? bundle->bundle->image->level().c_str() : "";
}
const char* axon_bundle_compiler(const axon_bundle* bundle) {
  return bundle ? bundle->bundle->manifest.compiler.c_str() : "";
}
const char* axon_bundle_source(const axon_bundle* bundle) {
  return bundle ? bundle->bundle->manifest.source.c_str() : "";
}
size_t axon_bundle_entry_count(const axon_bundle* bundle) {
  return bundle ? bundle->bundle->manifest.entries.size() : 0;
}

const axon_entry* axon_bundle_entry(const axon_bundle* bundle, size_t index) {
  return index < axon_bundle_entry_count(bundle) ? handle_of(bundle->bundle->manifest.entries[index])
                                                 : nullptr;
}

const axon_entry* axon_bundle_find(const axon_bundle* bundle, const char* name) {
  const host::Entry* const entry = bundle && name ? bundle->bundle->find(name) : nullptr;
  return entry ? handle_of(*entry) : nullptr;
}

const char* axon_entry_name(const axon_entry* entry) { return entry ? entry_of(entry).name.c_str() : ""; }
const char* axon_entry_doc(const axon_entry* entry) { return entry ? entry_of(entry).doc.c_str() : ""; }
size_t axon_entry_input_count(const axon_entry* entry) { return entry ? entry_of(entry).inputs.size() : 0; }
size_t axon_entry_result_count(const axon_entry* entry) { return entry ? entry_of(entry).results.size() : 0; }
size_t axon_entry_size_count(const axon_entry* entry) { return entry ? entry_of(entry).sizes.size() : 0; }

axon_status axon_entry_input(const axon_entry* entry, size_t index, axon_port* out, axon_error* error) {
  if (!entry || !out) return fail(error, null_argument());
  return hand_out_port(entry_of(entry).inputs, index, out, error);
}

axon_status axon_entry_result(const axon_entry* entry, size_t index, axon_port* out, axon_error* error) {
  if (!entry || !out) return fail(error, null_argument());
  return hand_out_port(entry_of(entry).results, index, out, error);
}

axon_status axon_entry_input_strides(const axon_entry* entry, size_t index, const char* const** strides,
                                     axon_error* error) {
  if (!entry || !strides) return fail(error, null_argument());
  return hand_out_strides(entry_of(entry).inputs, index, strides, error);
}

axon_status axon_entry_result_strides(const axon_entry* entry, size_t index, const char* const** strides,
                                      axon_error* error) {
  if (!entry || !strides) return fail(error, null_argument());
  return hand_out_strides(entry_of(entry).results, index, strides, error);
}

axon_status axon_entry_size(const axon_entry* entry, size_t index, const char** name, axon_size_from* from,
                            axon_error* error) {
  if (!entry) return fail(error, null_argument());
  const auto& sizes = entry_of(entry).sizes;
  if (index >= sizes.size()) return fail(error, misuse(text("number ", index, " of only ", sizes.size())));
  if (name) *name = sizes[index].name.c_str();
  if (from) *from = sizes[index].from;
  return AXON_OK;
}

axon_status axon_entry_input_shape(const axon_entry* entry, size_t input, const char* const* names,
                                   const int64_t* values, size_t count, int64_t* shape, axon_error* error) {
  if (!entry || !shape || (count > 0 && (!names || !values))) return fail(error, null_argument());
  return guarded(error, [&]() -> Status {
    const host::Entry& of = entry_of(entry);
    if (input >= of.inputs.size()) return misuse(text("number ", input, " of only ", of.inputs.size()));
    host::SizeTable sizes(of);
    for (size_t i = 0; i < count; ++i)
      for (size_t s = 0; s < of.sizes.size(); ++s)
        if (names[i] && of.sizes[s].name == names[i]) sizes.set(s, values[i]);
    const host::Port& port = of.inputs[input];
    for (size_t axis = 0; axis < port.shape.size(); ++axis) {
      if (!sizes.knows(port.shape[axis]))
        return misuse(text(host::axis_text(port, axis), " is ", port.shape_text[axis],
                           ", and not all of its sizes are given"));
      if (!port.shape[axis].evaluate(sizes.values(), shape[axis]) || shape[axis] < 0)
        return sizes.bad_formula(port.shape[axis]);
    }
    return std::nullopt;
  });
}

// ---- weights ----

axon_status axon_bind(const axon_bundle* bundle, const char* const* files, size_t file_count, const char* map,
                      axon_parameters** out, axon_error* error) {
  return axon_bind_each(bundle, nullptr, files, file_count, map, out, error);
}

axon_status axon_bind_each(const axon_bundle* bundle, const char* const* parameters, const char* const* files,
                           size_t count, const char* map, axon_parameters** out, axon_error* error) {
  if (!bundle || !out || (count && !files)) return fail(error, null_argument());
  return guarded(error, [&]() -> Status {
    std::vector<host::WeightFile> named;
    for (size_t i = 0; i < count; ++i) {
      if (!files[i]) return null_argument();
      named.push_back({files[i], parameters && parameters[i] ? parameters[i] : ""});
    }
    if (auto failure = host::check_parameters(*bundle->bundle, named)) return failure;
    auto file = host::open_weight_files(named);
    if (!file) return std::move(file.failure());
    return hand_out(host::bind_parameters(bundle->bundle, std::move(*file), map ? map : ""), out);
  });
}

axon_status axon_bind_arrays(const axon_bundle* bundle, const char* const* names, const axon_view* arrays,
                             size_t count, const char* map, axon_parameters** out, axon_error* error) {
  if (!bundle || !out || (count && (!names || !arrays))) return fail(error, null_argument());
  return guarded(error, [&]() -> Status {
    auto file = file_of_arrays(names, arrays, count);
    if (!file) return std::move(file.failure());
    return hand_out(host::bind_parameters(bundle->bundle, std::move(*file), map ? map : ""), out);
  });
}

void axon_parameters_destroy(axon_parameters* parameters) { delete parameters; }
size_t axon_parameters_copied_bytes(const axon_parameters* parameters) {
  return parameters ? parameters->parameters->copied_bytes : 0;
}

const char* axon_parameters_metadata(const axon_parameters* parameters, const char* name) {
  if (!parameters || !name) return nullptr;
  const auto& metadata = parameters->parameters->metadata;
  const auto found = metadata.find(name);
  return found == metadata.end() ? nullptr : found->second.c_str();
}

axon_status axon_parameters_shape(const axon_parameters* parameters, const char* entry, const char* input,
                                  int64_t* shape, axon_error* error) {
  if (!parameters || !entry || !input || !shape) return fail(error, null_argument());
  return guarded(error, [&]() -> Status {
    const host::Entry* const found = parameters->parameters->bundle->find(entry);
    if (!found) return misuse(text("the bundle has no entry ", printable(entry)));
    for (const host::Port& port : found->inputs) {
      if (port.path != input) continue;
      auto extents = host::input_shape(*parameters->parameters, *found, port);
      if (!extents) return std::move(extents.failure());
      std::copy(extents->begin(), extents->end(), shape);
      return std::nullopt;
    }
    return misuse(text(printable(entry), " has no input ", printable(input)));
  });
}

axon_status axon_entry_input_layout(const axon_entry* entry, size_t input, const axon_parameters* parameters,
                                    const char* const* names, const int64_t* values, size_t count,
                                    int64_t* shape, int64_t* strides, axon_error* error) {
  if (!entry || !shape || !strides || (count > 0 && (!names || !values))) return fail(error, null_argument());
  return guarded(error, [&]() -> Status {
    const host::Entry& of = entry_of(entry);
    if (input >= of.inputs.size()) return misuse(text("number ", input, " of only ", of.inputs.size()));
    const host::Parameters* const bound = parameters ? parameters->parameters.get() : nullptr;
    if (bound && bound->bundle->find(of.name) != &of)
      return misuse("the weights were bound to another bundle");
    std::vector<host::GivenSize> given;
    for (size_t i = 0; i < count; ++i) {
      if (!names[i]) return null_argument();
      given.push_back({names[i], values[i]});
    }
    return host::input_layout(of, of.inputs[input], bound, given, shape, strides);
  });
}

// ---- workers ----

axon_status axon_runtime_create(uint32_t workers, axon_runtime** out, axon_error* error) {
  if (!out) return fail(error, null_argument());
  return guarded(error, [&] { return hand_out(host::create_runtime(workers), out); });
}

void axon_runtime_destroy(axon_runtime* runtime) { delete runtime; }
uint32_t axon_runtime_workers(const axon_runtime* runtime) {
  return runtime ? runtime->runtime->pool->workers() : 0;
}

void axon_runtime_set_watchdog(axon_runtime* runtime, double seconds) {
  if (runtime) runtime->runtime->pool->services().set_limit(seconds);
}

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
