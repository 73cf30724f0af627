// See files.h.
#include "source/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "source/limits.h"

namespace axon::source {

namespace fs = std::filesystem;

/// In pieces, so that a small file costs little; one byte more than allowed is enough to see that it is too
/// large.
std::optional<std::string> read_bytes(int descriptor) {
  std::string text, piece(64u << 10, '\0');
  while (text.size() <= limits::file_bytes) {
    const ssize_t count = ::read(descriptor, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    text.append(piece, 0, static_cast<size_t>(count));
  }
  text.shrink_to_fit();
  return text;
}

std::optional<std::string> read_bytes(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  auto text = read_bytes(descriptor);
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  return text;
}

fs::path real_path(const fs::path& path) {
  std::error_code failed;
  fs::path out = fs::weakly_canonical(fs::absolute(path, failed), failed).lexically_normal();
  if (!out.has_filename()) out = out.parent_path();  // a trailing slash
  return failed ? fs::path() : out;
}

std::string file_identity(const std::string& path) {
  const fs::path real = real_path(path);
  std::error_code ignored;
  return real.empty() ? fs::absolute(path, ignored).lexically_normal().string() : real.string();
}

const fs::path& Paths::real(const fs::path& path) {
  const auto [known, is_new] = real_.try_emplace(path.string());
  if (is_new) known->second = real_path(path);
  return known->second;
}

const std::string& Paths::identity(const std::string& path) {
  const auto [known, is_new] = identities_.try_emplace(path);
  if (is_new) known->second = file_identity(path);
  return known->second;
}

void Paths::forget() {
  real_.clear();
  identities_.clear();
}

}  // namespace axon::source
