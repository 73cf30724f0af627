// A loop that orders: the device sorts a row in its own memory (runtime/device/order.h), and asks for keys by
// a function, which runs iterations of the loop.
//
// In: a loop, and those around it, outermost first. Out: a call of the device at the frame's insertion point,
// and that function. Invariant: the function reads what its caller has put into an array: tensors, sizes,
// coordinates and loops. What it stores are keys alone.
#pragma once
#include <vector>

#include "module/tiles/context.h"

namespace axon::module::tiles {

void emit_order(Context&, const tile::Loop&, const std::vector<const tile::Loop*>& around);

}  // namespace axon::module::tiles
