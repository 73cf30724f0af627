// What finds a constraint again when others are left out: its place and its words, not its number.
#pragma once
#include <string>

#include "core/constraint.h"

namespace axon::core {

std::string key_of(const Why& why);

}  // namespace axon::core
