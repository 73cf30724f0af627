// Digests: what stands for bytes where these would be too long.
#pragma once
#include <string>
#include <string_view>

namespace axon::image {

/// 64 hexadecimal digits, by BLAKE3: nobody can find other bytes that have the same.
std::string digest(std::string_view bytes);

}  // namespace axon::image
