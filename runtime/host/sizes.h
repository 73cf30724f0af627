// The sizes of an entry: their values, how they follow from shapes, and the words for where they came from.
//
// Sizes are found in the manifest's order. One that stands in an axis is solved for in closed form: the
// equation is linear in it or in a power of it; division and roots must be exact. There is no search and no
// solver.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/manifest.h"

namespace axon::host {

class SizeTable {
 public:
  explicit SizeTable(const Entry& entry) : entry_(&entry), values_(entry.sizes.size(), 0) {}

  const int64_t* values() const { return values_.data(); }
  size_t count() const { return values_.size(); }
  int64_t operator[](size_t size) const { return values_[size]; }
  uint64_t known() const { return known_; }
  bool knows(const Dim& dim) const { return (dim.mask() & ~known_) == 0; }

  /// True when the size was unknown or had another value.
  bool set(size_t size, int64_t value, bool from_metadata = false);
  /// The same of a value that others agree on; `origin` says who: "by `x` and `y`".
  void set_agreed(size_t size, int64_t value, std::string origin);
  /// Solves the size's equation for an axis of this extent, or of this stride; everything else in it is
  /// known. `changed` as for set().
  Status solve(size_t size, int64_t extent, bool& changed);

  /// `d` is 4 (from axis 1 of `x`); for other than single sizes, `2*d` is 8 (d = 4 from axis 1 of `x`).
  std::string explain(const Dim&) const;
  /// d = 4 from axis 1 of `x`; h = 2 as given. All known sizes in the mask.
  std::string origins(uint64_t mask) const;
  /// The same behind a blank and in brackets; empty where no size in the mask is known.
  std::string origins_in_brackets(uint64_t mask) const;
  /// [n, 2*d] = [3, ?]
  std::string shape(const std::vector<Dim>&) const;
  /// What an axis of an input has by the sizes, all of which are known; a failure where no axis has that.
  Status extent(const Port&, size_t axis, int64_t& out) const;
  /// The failure of a formula that cannot be evaluated.
  Failure bad_formula(const Dim&) const;
  /// The words for a fact that does not hold, with the values of both sides where they leave room for them,
  /// else after them.
  std::string check_text(const Check&, Wide lhs, Wide rhs) const;
  /// "from axis 1 of `x`", "as given", "as the data decides"
  std::string origin(size_t size) const;

 private:
  /// What a size is seen of: axis 1 of `x`, the stride of axis 1 of `x`.
  std::string seen_text(const Size&) const;

  const Entry* entry_;
  std::vector<int64_t> values_;
  uint64_t known_ = 0, from_metadata_ = 0;
  std::map<size_t, std::string> agreed_;  ///< whose origin is not the size's rule
};

/// axis 1 of `w`
std::string axis_text(const Port&, size_t axis);
std::string shape_text(const int64_t* shape, size_t rank);

}  // namespace axon::host
