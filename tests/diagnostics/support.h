// A program through everything that reports: text, names and types, and the graphs of its entries.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/elaborate.h"
#include "source/diagnostic.h"
#include "source/render.h"
#include "syntax/parse.h"

namespace axon::source {

struct Checked {
  std::unique_ptr<SourceManager> sources = std::make_unique<SourceManager>();
  std::unique_ptr<Diagnostics> diagnostics = std::make_unique<Diagnostics>();
  FileId file;
  std::unique_ptr<core::LibraryLoader> loader;
  std::unique_ptr<syntax::File> syntax;
  core::Program program;

  std::string human() const { return render_human(*diagnostics, *sources, {.max_errors = 0}); }
  std::set<std::string> codes() const;
};

/// Checks a text; entries are lowered too when nothing was reported before.
Checked check(std::string text, const std::string& name = "test.axn");
Checked check_file(const std::string& path);

std::string read(const std::filesystem::path& path);
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            const std::string& extension);
std::vector<std::string> lines_of(std::string_view text);
/// The text with the edit made in it.
std::string edited(const std::string& text, const Edit& edit);

}  // namespace axon::source
