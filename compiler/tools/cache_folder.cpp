// See cache_folder.h.
#include "tools/cache_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "host/weights/output_file.h"

namespace axon::tools {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t usual_limit = uint64_t{1} << 30;
/// A temporary file that is older was left by a process that was ended.
constexpr std::chrono::hours longest_write{1};

/// As the XDG base directory specification has it: relative paths are ignored.
std::string folder_of_user() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache == '/') return std::string(cache) + "/axon";
  const char* const home = std::getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.cache/axon" : "";
}

/// Makes the folder and those above it that are missing, for the user alone. False, with errno, on failure.
bool make_folder(const fs::path& folder) {
  const auto made = [&] { return ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST; };
  if (made()) return true;
  const fs::path above = folder.parent_path();
  return errno == ENOENT && above != folder && make_folder(above) && made();
}

/// Empty, or why others than the user could have put something there.
std::string distrusted(const std::string& folder) {
  struct stat link {
  }, status{};
  if (::lstat(folder.c_str(), &link) != 0 || ::stat(folder.c_str(), &status) != 0)
    return std::strerror(errno);
  if (!S_ISDIR(status.st_mode)) return "it is no directory";
  if (link.st_uid != ::geteuid() || status.st_uid != ::geteuid()) return "it belongs to another user";
  if ((status.st_mode & 0022) != 0) return "others can write to it";
  return "";
}

/// Does something stand there that no run has kept: a link, a pipe? Behind them are files that are not the
/// cache's to read or replace.
bool is_foreign(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

}  // namespace

std::optional<uint64_t> bytes_from_text(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, number);
  const std::string_view unit(stopped, static_cast<size_t>(end - stopped));
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (problem != std::errc() || shift < 0 || number > UINT64_MAX >> shift) return std::nullopt;
  return number << shift;
}

std::optional<CacheFolder> CacheFolder::open(std::string& why) {
  uint64_t limit = usual_limit;
  if (const char* const given = std::getenv("AXON_CACHE_SIZE"); given && *given) {
    const auto bytes = bytes_from_text(given);
    if (!bytes)
      return why = fmt::format("AXON_CACHE_SIZE is `{}`, and no size as 500M is one", given), std::nullopt;
    limit = *bytes;
  }
  const std::string folder = folder_of_user();
  if (folder.empty()) return why = "there is no home directory", std::nullopt;
  if (!make_folder(folder)) {
    why = fmt::format("cannot make `{}`: {}", folder, std::strerror(errno));
    return std::nullopt;
  }
  if (const std::string reason = distrusted(folder); !reason.empty()) {
    why = fmt::format("`{}` is not used: {}", folder, reason);
    return std::nullopt;
  }
  return CacheFolder(folder, limit);
}

std::shared_ptr<weights::File> CacheFolder::find(const std::string& name) const {
  const std::string path = path_of(name);
  if (is_foreign(path)) return nullptr;
  const auto file = weights::File::open(path);
  if (!file) return nullptr;
  ::utimensat(AT_FDCWD, path.c_str(), nullptr,
              0);  // fails where nothing can be written: then nothing goes, either
  return *file;
}

bool CacheFolder::put(const std::string& name, std::string_view bytes, std::string& why) const {
  if (bytes.size() > limit_)
    return why = fmt::format("{} bytes are more than AXON_CACHE_SIZE", bytes.size()), false;
  const std::string path = path_of(name);
  if (is_foreign(path)) ::unlink(path.c_str());  // of a directory this fails, and so does what follows
  if (const auto error = weights::write_file(path, weights::Bytes(bytes))) return why = error->message, false;
  make_room();
  return true;
}

/// Another process may do the same at the same time: what is gone already is no failure.
void CacheFolder::make_room() const {
  struct Kept {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<Kept> all;
  uint64_t total = 0;
  std::error_code ignored;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator at(folder_, ignored), end; !ignored && at != end; at.increment(ignored)) {
    std::error_code gone;
    const fs::path& path = at->path();
    const auto used = fs::last_write_time(path, gone);
    const uint64_t bytes = gone ? 0 : fs::file_size(path, gone);
    if (gone) continue;
    if (path.extension() == ".tmp" && now - used > longest_write) fs::remove(path, gone);
    if (path.extension() != ".code") continue;
    all.push_back({used, bytes, path});
    total += bytes;
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  for (const Kept& kept : all) {
    if (total <= limit_) return;
    fs::remove(kept.path, ignored);
    total -= kept.bytes;
  }
}

}  // namespace axon::tools
