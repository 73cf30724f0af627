// Kernels in which each thread makes one word of another.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support.h"

namespace axon::emulator {

using Words = std::vector<uint32_t>;

/// Each thread has its number %i, and a word %x of its own, and makes %r.
std::string per_thread(const std::string& declarations, const std::string& body);

/// What each thread of a block makes of its word, in a kernel of `out` and `in`. Anything found is a failure.
Words results(const std::string& text, Words in, size_t shared_bytes = 0);
Words results(const std::string& declarations, const std::string& body, const Words& in);

/// A word for each number; the numbers themselves if nothing else is said.
Words counted(size_t count);
Words counted(size_t count, const std::function<uint32_t(uint32_t)>& of);

}  // namespace axon::emulator
