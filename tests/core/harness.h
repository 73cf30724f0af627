// Runs elaboration on a file or a piece of text, with the real library, and keeps what tests look at.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/elaborate.h"
#include "core/print.h"
#include "source/render.h"
#include "syntax/parse.h"

namespace axon::core {

struct Checked {
  std::unique_ptr<source::SourceManager> sources = std::make_unique<source::SourceManager>();
  std::unique_ptr<source::Diagnostics> diagnostics = std::make_unique<source::Diagnostics>();
  std::unique_ptr<LibraryLoader> loader;
  std::unique_ptr<syntax::File> file;
  Program program;

  std::string errors() const { return source::render_human(*diagnostics, *sources); }
  std::string type_of(const std::string& name) const;
  const Global& global(const std::string& name) const { return program.globals[program.find(name)]; }
};

/// `path`: where imports are looked for.
Checked check_text(const std::string& text, const Options& options = {},
                   const std::string& path = "test.axn");
Checked check_file(const std::string& path);
/// Under its whole path, with more directories of library modules.
Checked check_path(const std::string& path, const std::vector<std::string>& library);

std::string read(const std::string& path);
std::vector<std::string> files_in(const std::string& folder, const std::string& extension);
/// Compares with a golden file beside the test; writes it instead when AXON_BLESS is set.
void expect_golden(const std::string& path, const std::string& text);

}  // namespace axon::core
