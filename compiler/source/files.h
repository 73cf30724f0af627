// Files on disk: their bytes, and which two paths are one file.
//
// In: paths and open files. Out: bytes as they are, and paths without links. Invariant: no more of a file is
// read than shows that it is larger than limits::file_bytes, so one without an end is read, too.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>

namespace axon::source {

/// nullopt, and errno says why, where it cannot be read.
std::optional<std::string> read_bytes(int descriptor);
std::optional<std::string> read_bytes(const std::string& path);

/// The path without symbolic links, as far as it exists; empty when links go round in a circle.
std::filesystem::path real_path(const std::filesystem::path& path);
/// Equal for two paths of one file. Where links go round in a circle, a path is what it says.
std::string file_identity(const std::string& path);

/// The same, each path looked up on the disk once until what was found is forgotten.
class Paths {
 public:
  const std::filesystem::path& real(const std::filesystem::path& path);
  const std::string& identity(const std::string& path);
  void forget();

 private:
  std::unordered_map<std::string, std::filesystem::path> real_;
  std::unordered_map<std::string, std::string> identities_;
};

}  // namespace axon::source
