// A compiled language model, driven through the C interface alone.
//
// In: a bundle whose entries `prefill` and `decode` are those of examples/models/llama.axn, and weights for
// it. Out: logits. No size of a model stands here: the shapes of the cache and of the vocabulary come from
// the weights, its element type from the bundle, epsilon and the rotary base from the weights' metadata.
// Every function that can fail throws Failure, which carries the status that the program exits with.
#pragma once
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "axon/axon.h"

namespace axon::examples {

struct Failure : std::runtime_error {
  explicit Failure(const std::string& what, int status = 1, const std::string& code = "")
      : std::runtime_error((code.empty() ? "error: " : "error[" + code + "]: ") + what),
        exit_status(status) {}
  int exit_status;
};

/// One of the library's handles.
template <class T, void (*destroy)(T*)>
struct Destroy {
  void operator()(T* handle) const { destroy(handle); }
};
template <class T, void (*destroy)(T*)>
using Handle = std::unique_ptr<T, Destroy<T, destroy>>;

struct ModelFiles {
  std::string bundle, weights, map;
  uint32_t workers = 0;
};

class Model {
 public:
  explicit Model(const ModelFiles&);

  int64_t vocabulary() const { return vocabulary_; }
  int64_t positions() const { return positions_; }  ///< that the cache holds
  const char* level() const { return axon_bundle_level(bundle_.get()); }

  /// Logits of the last of the tokens, which stand at positions 0, 1, ...
  const std::vector<float>& prefill(const std::vector<int32_t>& tokens);
  /// Logits of a token at a position; everything before it has been fed.
  const std::vector<float>& decode(int32_t token, int64_t position);
  /// What the last decode() did.
  axon_call_statistics statistics() const;

 private:
  using Bundle = Handle<axon_bundle, axon_bundle_destroy>;
  using Parameters = Handle<axon_parameters, axon_parameters_destroy>;
  using Runtime = Handle<axon_runtime, axon_runtime_destroy>;
  using Call = Handle<axon_call, axon_call_destroy>;
  using Tensor = Handle<axon_tensor, axon_tensor_destroy>;
  using Error = Handle<axon_error, axon_error_destroy>;

  void check(axon_status) const;
  /// An input of `decode`, which `prefill` has, too.
  axon_port port(const std::string& path) const;
  std::vector<int64_t> shape_of(const axon_port&) const;
  double metadata(const char* name) const;
  Tensor make_state(const axon_port&) const;
  Call make_call(const char* entry) const;
  const std::vector<float>& run(axon_call*);

  Error error_{axon_error_create()};
  Bundle bundle_;
  Parameters parameters_;
  Runtime runtime_;
  Tensor keys_, values_;
  Call prefill_, decode_;
  int64_t vocabulary_ = 0, positions_ = 0;
  std::vector<float> logits_;
};

}  // namespace axon::examples
