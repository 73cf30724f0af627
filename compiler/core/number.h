// The numbers that an element type holds: which literals fit it.
#pragma once
#include <string>

#include "base/elem.h"

namespace axon::core {

struct NumberRange {
  double least, most;
  std::string text;  ///< "0 to 255"
  bool holds(double value) const { return least <= value && value <= most; }
};

/// Of i64 and bool everything: the syntax refuses integers of more than 64 bits.
NumberRange range_of(base::Elem);

}  // namespace axon::core
