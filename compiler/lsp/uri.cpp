// See uri.h.
#include "lsp/uri.h"

#include <fmt/format.h>

#include <filesystem>

namespace axon::lsp {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    char byte = text[i];
    if (byte == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      byte = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (byte == '\0') return std::nullopt;
    out += byte;
  }
  return out;
}

}  // namespace

std::optional<std::string> path_of_uri(const std::string& uri) {
  const size_t colon = uri.find(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  if (uri.compare(0, colon, "file") != 0)
    return uri.find('\0') == std::string::npos ? std::optional(uri) : std::nullopt;
  std::string_view rest = std::string_view(uri).substr(colon + 1);
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const size_t slash = rest.find('/');  // a host, which is this one
    if (slash == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(slash);
  }
  auto path = decoded(rest);
  return path && path->starts_with('/') ? path : std::nullopt;
}

std::string uri_of_path(const std::string& path) {
  std::error_code failed;
  const std::string absolute = std::filesystem::absolute(path, failed).lexically_normal().string();
  std::string out = "file://";
  for (const char c : failed ? path : absolute) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) ||
                       std::string_view("/-_.~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace axon::lsp
