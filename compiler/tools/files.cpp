// See files.h.
#include "tools/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "host/weights/output_file.h"

namespace axon::tools {

namespace fs = std::filesystem;

namespace {

void find_below(const std::string& folder, std::vector<SourcePath>& files) {
  std::vector<std::string> found;
  std::error_code ignored;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, ignored), end;
  for (; at != end; at.increment(ignored)) {
    const bool hidden = at->path().filename().string().starts_with('.');
    if (hidden && at->is_directory(ignored)) at.disable_recursion_pending();
    if (!hidden && at->path().extension() == ".axn" && at->is_regular_file(ignored))
      found.push_back(at->path().string());
  }
  std::sort(found.begin(), found.end());
  for (std::string& file : found) files.push_back({std::move(file), folder});
}

}  // namespace

void find_sources(const std::vector<std::string>& paths, std::vector<SourcePath>& files,
                  source::Diagnostics& diagnostics) {
  std::error_code ignored;
  for (const std::string& path : paths) {
    if (fs::is_directory(path, ignored)) {
      find_below(path, files);
    } else if (path == "-" || fs::exists(path, ignored)) {
      files.push_back({path, ""});
    } else {
      diagnostics.report(
          source::error(source::Code::E0005, {}, fmt::format("there is no file or directory `{}`", path)));
    }
  }
}

bool write_file(const std::string& path, const std::string& bytes, source::Diagnostics& diagnostics) {
  std::string problem;
  if (path == "-") {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() || std::fflush(stdout) != 0)
      problem = fmt::format("cannot write to stdout: {}", std::strerror(errno));
  } else if (const auto error = weights::write_file(path, weights::Bytes(bytes))) {
    problem = error->message;
  }
  if (!problem.empty()) diagnostics.report(source::error(source::Code::E0701, {}, problem));
  return problem.empty();
}

}  // namespace axon::tools
