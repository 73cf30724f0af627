// Single elements of arrays in memory: read as they are written on a command line, and shown.
#pragma once
#include <axon/axon.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace axon::tools {

/// Stores the number that is written. Integers keep every bit, floats round once, to nearest. False when the
/// type has no such number: too large for it, a fraction or an exponent for an integer, `true` for anything
/// but a bool.
bool store_written(std::string_view text, axon_elem, uint8_t* out);

/// An element as `etcc run` prints it; floats as short as they round-trip.
std::string element_text(axon_elem, const uint8_t* at);

}  // namespace axon::tools
