// See saved.h.
#include "page/saved.h"

#include <stdlib.h>

#include <cctype>
#include <filesystem>
#include <fstream>

namespace axon::page {

namespace {

namespace fs = std::filesystem;

/// Made when the first page is saved; empty where it cannot be.
const std::string& folder() {
  static const std::string made = [] {
    std::error_code failed;
    std::string name = (fs::temp_directory_path(failed) / "axon-XXXXXX").string();
    return !failed && ::mkdtemp(name.data()) ? name : std::string();
  }();
  return made;
}

/// With `_` for what a file's name should not have.
std::string plain(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
  return name;
}

}  // namespace

std::string saved(const std::string& page, const std::string& name) {
  if (folder().empty()) return "";
  const fs::path path = fs::path(folder()) / (plain(name) + ".html"), written = path.string() + ".new";
  std::ofstream out(written, std::ios::binary);
  out << page;
  out.close();
  std::error_code failed;
  if (out) fs::rename(written, path, failed);
  if (out && !failed) return path.string();
  fs::remove(written, failed);
  return "";
}

}  // namespace axon::page
