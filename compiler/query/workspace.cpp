// See workspace.h.
#include "query/workspace.h"

#include <algorithm>
#include <filesystem>

#include "base/interrupt.h"
#include "source/files.h"

namespace axon::query {

namespace fs = std::filesystem;
using session::Session;

namespace {

constexpr size_t most_files = 500;
constexpr size_t most_looked_at = 20'000;  // files and folders
constexpr uint64_t most_bytes = 1u << 20;  // of one file

void add_files(const std::string& folder, std::vector<std::string>& out) {
  std::error_code failed;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, failed);
  size_t looked_at = 0;
  std::vector<std::string> found;
  for (; !failed && at != fs::recursive_directory_iterator() && looked_at < most_looked_at;
       at.increment(failed)) {
    base::poll();
    ++looked_at;
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (name.starts_with(".") || name == "node_modules") {
      at.disable_recursion_pending();
      continue;
    }
    if (at->path().extension() == ".axn" && at->is_regular_file(ignored) && !at->is_symlink(ignored) &&
        at->file_size(ignored) <= most_bytes)
      found.push_back(at->path().string());
  }
  out.insert(out.end(), found.begin(), found.end());
}

}  // namespace

bool has_word(std::string_view text, std::string_view word) {
  const auto is_letter = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

void Workspace::set_folders(std::vector<std::string> folders) {
  folders_ = std::move(folders);
  look_again();
}

const std::vector<std::string>& Workspace::files() {
  if (files_) return *files_;
  std::vector<std::string> found;
  for (const std::string& folder : folders_) add_files(folder, found);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.size() > most_files) found.resize(most_files);
  files_ = std::move(found);
  return *files_;
}

std::map<std::string, source::Diagnostics> check_files(Session& session,
                                                       const std::vector<std::string>& files,
                                                       const std::string& word) {
  std::map<std::string, source::Diagnostics> out;
  std::vector<std::string> all = session.documents().paths();
  for (const std::string& file : files) {
    if (session.documents().find(file)) continue;
    const auto text = word.empty() ? std::nullopt : source::read_bytes(file);
    if (word.empty() || (text && has_word(*text, word))) all.push_back(file);
  }
  for (const std::string& path : all) {
    const syntax::Text* const text = session.documents().read(path);
    if (!text) continue;
    if (session.documents().is_library(path)) continue;
    if (word.empty() || has_word(session.sources()[text->source].text(), word))
      out.emplace(path, session.check(path));
  }
  return out;
}

}  // namespace axon::query
