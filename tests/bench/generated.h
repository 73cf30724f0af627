// A file of 2,000 lines that uses the library, and edits of each of its declarations that leave it right.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace axon::bench {

std::vector<std::string> declarations();
std::string joined(const std::vector<std::string>& parts);

/// The declaration with another body, or with another signature; nothing where it has none.
std::optional<std::string> with_another_body(std::string declaration);
std::optional<std::string> with_another_signature(std::string declaration);
/// The first declaration, which many use, with another signature; how many those are.
std::string shared_with_another_signature();
size_t users_of_shared(const std::vector<std::string>& parts);

}  // namespace axon::bench
