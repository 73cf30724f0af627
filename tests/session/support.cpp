// See support.h.
#include "support.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace axon::session {

namespace fs = std::filesystem;

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> programs(const std::vector<std::string>& folders) {
  std::vector<std::string> out;
  for (const std::string& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(AXON_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".axn") out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::string summary(const source::Diagnostics& found, const source::SourceManager& sources) {
  std::vector<std::string> all;
  for (const source::Diagnostic& d : found.in_order_of_report()) {
    std::string one = fmt::format("{} {} {} {}\n", sources.describe(d.primary.span), code_name(d.code),
                                  d.headline(), d.primary.text);
    for (const source::Label& l : d.secondary)
      if (!l.text.starts_with("together with"))
        one += fmt::format("  {} {}\n", sources.describe(l.span), l.text);
    for (const source::Note& n : d.notes) one += fmt::format("  {}: {}\n", n.kind, n.text);
    all.push_back(one + d.body + "\n");
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return fmt::format("{}", fmt::join(all, ""));
}

std::vector<std::string> library() { return {AXON_SOURCE_DIR "/stdlib"}; }

std::string answer(Session& session, const std::string& path) {
  const source::Diagnostics found = session.check(path);
  return session.types(path) + summary(found, session.sources());
}

}  // namespace axon::session
