// What shapes of tensors say of a program's sizes, gathered one parameter at a time.
//
// Invariant: the sizes of every entry that are known follow from what was taken; nothing that contradicts
// them is taken. Of sizes that only a call tells, such as heads, products may be known: `h*k` is 12.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/manifest.h"

namespace axon::tools {

class Facts {
 public:
  /// The sizes in the metadata of files are known from the start.
  Facts(const host::Manifest&, const std::map<std::string, int64_t>& metadata);

  /// Can the weight have this shape? Where it can, `take` makes known what follows.
  bool fits(size_t weight, const std::vector<uint64_t>& shape) const;
  void take(size_t weight, const std::vector<uint64_t>& shape);
  /// An extent of the weight, where all sizes in it are known.
  std::optional<uint64_t> extent(size_t weight, size_t axis) const;
  /// What the program says of an axis: `2*h*k`.
  std::string text(size_t weight, size_t axis) const;
  /// How often something new became known.
  size_t version() const { return version_; }

 private:
  struct Use {
    size_t entry;
    const host::Port* port;
  };
  struct Values {
    std::vector<std::optional<int64_t>> sizes;
    std::map<uint64_t, int64_t> products;  ///< by the open sizes in them, as bits
    bool operator==(const Values&) const = default;
  };

  /// A dimension of this extent; `changed` when something new follows. False for a contradiction.
  static bool apply(const host::Dim&, int64_t extent, Values&, bool& changed);
  static bool apply(const host::Port&, const std::vector<uint64_t>& shape, Values&);

  std::vector<std::vector<Use>> uses_;  ///< by weight
  std::vector<Values> values_;          ///< by entry
  size_t version_ = 0;
};

}  // namespace axon::tools
