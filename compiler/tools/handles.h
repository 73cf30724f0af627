// The runtime's handles as values that destroy themselves, and its errors as exceptions.
#pragma once
#include <axon/axon.h>

#include <memory>
#include <string>

#include "source/diagnostic.h"

namespace axon::tools {

template <class T, void (*destroy)(T*)>
struct Destroy {
  void operator()(T* handle) const { destroy(handle); }
};
template <class T, void (*destroy)(T*)>
using Handle = std::unique_ptr<T, Destroy<T, destroy>>;
using BundleHandle = Handle<axon_bundle, axon_bundle_destroy>;
using Call = Handle<axon_call, axon_call_destroy>;
using Error = Handle<axon_error, axon_error_destroy>;
using Parameters = Handle<axon_parameters, axon_parameters_destroy>;
using Runtime = Handle<axon_runtime, axon_runtime_destroy>;

/// What went wrong, thrown to where it is reported; most texts are the runtime's.
struct Problem {
  std::string code, text;
  int exit = 1;  ///< the status that a command exits with
};
source::Diagnostic diagnostic_of(const Problem&);

/// Throws unless the status is AXON_OK; `error` has what went wrong.
void must(axon_status status, const axon_error* error);

Runtime runtime_of(uint32_t workers);

}  // namespace axon::tools
