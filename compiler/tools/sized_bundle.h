// A bundle whose entries are called with arguments that are made up for sizes: what is measured.
//
// In: a bundle, and numbers for the sizes of some of its entries. Out: calls that can run. Contents do not
// matter to most kernels: floats are random, the same ones each time, and everything else is zeros.
#pragma once
#include <axon/axon.h>

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tools/handles.h"

namespace axon::tools {

using Sizes = std::map<std::string, int64_t>;

class SizedBundle {
 public:
  explicit SizedBundle(Sizes sizes) : sizes_(std::move(sizes)) {}

  /// Opens a file, or bytes, in the place of the bundle that was there. Its calls are gone, and its weights
  /// are to be bound.
  void open(const std::string& path);
  void open_bytes(const std::string& bytes);

  std::vector<std::string> entry_names() const;
  /// Every size of the entries but those that the data decides is given, and no other than the bundle has.
  void check_sizes(const std::vector<std::string>& entries) const;
  /// The weights of the bundle; those of one entry alone are not bound.
  void bind();
  Call call_of(const std::string& entry, axon_runtime*);

  /// Throws unless the status of a call of the runtime with error() is AXON_OK.
  void must(axon_status status) const;
  axon_error* error() const { return error_.get(); }
  const axon_bundle* bundle() const { return bundle_.get(); }
  const axon_entry* find(const std::string& name) const;

 private:
  void take(axon_bundle*);
  std::vector<const axon_entry*> all_entries() const;
  axon_view array_for(const axon_entry*, size_t input, const axon_port&);
  void fill(const axon_view&, size_t count);

  const Sizes sizes_;
  std::string path_;  ///< empty: from bytes
  Error error_{axon_error_create()};
  BundleHandle bundle_;
  Parameters weights_;
  std::vector<Handle<axon_tensor, axon_tensor_destroy>> tensors_;  ///< what calls borrow
  std::mt19937 random_{1};
};

/// Nanoseconds of each run of the call for about so many seconds, after one that warms up. `after_each` is
/// told what a run took.
std::vector<double> times_of(const SizedBundle&, axon_call*, double seconds, size_t most_runs,
                             const std::function<void(double)>& after_each = nullptr);
double median(std::vector<double>);

}  // namespace axon::tools
