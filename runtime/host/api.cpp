// The C interface over the C++ classes: versions, statuses and errors, tensors, workers.
#include "host/api.h"

#include "host/versions.h"
#include "host/weights/tensor_file.h"

namespace host = axon::host;
namespace weights = axon::weights;
using namespace axon::host::api;
using axon::host::Failure;
using axon::host::misuse;
using axon::host::Status;
using axon::host::text;

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
    const auto bytes = host::dense_bytes({nullptr, elem, rank, shape});
    if (!bytes) return Failure{AXON_BAD_ARGUMENT, host::code::shape, no_shape(shape, rank)};
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

}  // extern "C"
