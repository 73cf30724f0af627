// What tasks touch, by enumeration: every point of a tile, of the binders and of the locals, for given sizes.
#pragma once
#include <string>

#include "brute_force.h"

namespace axon::task {

/// An element that a task reads or stores outside of all boxes that it declares; "" when there is none. Of
/// each type some tasks are looked at, the first and the last among them.
std::string undeclared(const Program&, const Concrete&);
/// An element that two tasks of one type touch in one iteration, and one of them stores; "" when there is
/// none. What both store is looked at elsewhere (verify_types.cpp).
std::string shared(const Program&, const Concrete&);

}  // namespace axon::task
