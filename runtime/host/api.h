// What the files of the C interface (api*.cpp) share: the handles, how failures become statuses, and the one
// place where exceptions end.
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "axon/axon.h"
#include "host/call.h"
#include "host/error.h"
#include "host/strided.h"

struct axon_error {
  axon::host::Failure failure;
};
struct axon_tensor {
  axon::host::Memory memory;
  axon_elem elem;
  int32_t rank;
  int64_t shape[AXON_MAX_RANK];
};
struct axon_bundle {
  std::shared_ptr<axon::host::Bundle> bundle;
};
struct axon_parameters {
  std::shared_ptr<axon::host::Parameters> parameters;
};
struct axon_runtime {
  std::shared_ptr<axon::host::Runtime> runtime;
};
struct axon_call {
  std::unique_ptr<axon::host::Call> call;
  mutable std::atomic_flag in_use = ATOMIC_FLAG_INIT;  ///< a thread is inside of one of its functions
};

namespace axon::host::api {

inline axon_status fail(axon_error* error, Failure failure) {
  const axon_status status = failure.status;
  if (error) error->failure = std::move(failure);
  return status;
}

inline axon_status finish(axon_error* error, Status status) {
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
      error->failure.code = code::system;  // short strings need no memory
      error->failure.text = "out of memory";
    }
    return AXON_SYSTEM;
  }
}

inline Failure null_argument() {
  return misuse("a null pointer where a handle, a name or room for a result is needed");
}

template <class Handle, class Value>
Status hand_out(Result<Value> value, Handle** out) {
  if (!value) return std::move(value.failure());
  *out = new Handle{std::move(*value)};
  return std::nullopt;
}

inline Elem elem_of(axon_elem elem) { return static_cast<Elem>(elem); }
inline bool is_elem(axon_elem elem) {
  return std::ranges::any_of(axon::all_elems, [&](Elem e) { return static_cast<axon_elem>(e) == elem; });
}

/// Why there is no tensor of a shape.
inline std::string no_shape(const int64_t* shape, int32_t rank) {
  return shape_text(shape, static_cast<size_t>(rank)) + " is no shape of a tensor";
}

inline const Entry& entry_of(const axon_entry* entry) { return *reinterpret_cast<const Entry*>(entry); }
inline const axon_entry* handle_of(const Entry& entry) { return reinterpret_cast<const axon_entry*>(&entry); }

/// Runs `body(Call&)`, which returns a Status. Two threads inside of one call would mix what they set:
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

}  // namespace axon::host::api
