// File names and the URIs that editors have for them.
#pragma once
#include <optional>
#include <string>

namespace axon::lsp {

/// The path of a `file:` URI; of another scheme, such as `untitled:`, the URI itself, which names a file that
/// is on no disk. Nothing for what is no URI, or means a byte that no file name has.
std::optional<std::string> path_of_uri(const std::string& uri);
/// The `file:` URI of an absolute path, or of one in the current directory.
std::string uri_of_path(const std::string& path);

}  // namespace axon::lsp
