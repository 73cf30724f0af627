// What every sub-command of etcc shares: the common options, how diagnostics are shown, and the exit
// statuses.
//
// Result on stdout, talk on stderr. Exit 0 ok, 1 the user's error, 2 usage, 3 failed at run time, 70 a bug of
// ours.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline.h"
#include "source/render.h"
#include "tools/files.h"

namespace axon::tools {

enum Exit : int { ok = 0, user_error = 1, usage = 2, run_error = 3, bug = 70 };

struct CommonOptions {
  std::string file;
  std::string root;                  ///< where the file was found; empty: it was given itself
  std::vector<std::string> defines;  ///< -D name=value
  std::vector<std::string> library;  ///< --library DIR
  std::vector<std::string> entries;  ///< --entry NAME
  std::string error_format = "human";
  std::string color = "auto";
  std::string schedule{plan::schedules[0].name};
  std::string target{"cpu"};  ///< --target
  std::string level;          ///< --level; empty where it is left out
  bool prints = false;        ///< the command prints on stdout itself
  bool time_passes = false;
  bool quiet = false, verbose = false;
  size_t max_errors = source::limits::diagnostics_shown;
  std::vector<std::string> deny;  ///< --deny CODE
};

/// Adds FILE and the options that say how to compile and how to talk.
void add_common(CLI::App&, CommonOptions&);
/// Of these, the options of how to compile, and of how to talk.
void add_compile(CLI::App&, CommonOptions&);
void add_talk(CLI::App&, CommonOptions&);
void add_library(CLI::App&, CommonOptions&);  ///< --library alone

/// Directories of library modules: --library first, then the standard library, which the environment variable
/// AXON_STDLIB names, or is beside the executable.
std::vector<std::string> library_directories(const CommonOptions&);

/// Reads the file (`-` is stdin) into a new compilation; null, with the exit status in `status`, when it
/// cannot be read or an option makes no sense. The diagnostics of reading are shown. `text`: what is in the
/// file, where that was read already.
std::unique_ptr<Compilation> open(const CommonOptions&, int& status,
                                  std::optional<std::string> text = std::nullopt);

/// How diagnostics look on stderr.
source::RenderOptions render_options(const CommonOptions&);

/// Shows what has been reported, on stderr (json and sarif: on stdout, unless `prints`), and gives the exit
/// status for it.
int report(const source::Diagnostics&, const source::SourceManager&, const CommonOptions&);
int report(const Compilation&, const CommonOptions&);
/// find_sources() (files.h); what is missing is shown. The exit status for it.
int find(const std::vector<std::string>& paths, std::vector<SourcePath>& files, const CommonOptions&);
/// The options for one of them.
CommonOptions options_for(const SourcePath&, const CommonOptions&);

// One function per sub-command: registers it and returns what to call when it was chosen.
using Command = std::function<int()>;
Command add_check(CLI::App&);
Command add_build(CLI::App&);
Command add_run(CLI::App&);
Command add_calibrate(CLI::App&);
Command add_bench(CLI::App&);
Command add_weights(CLI::App&);
Command add_verify(CLI::App&);
Command add_tiles(CLI::App&);
Command add_explain(CLI::App&);
Command add_fmt(CLI::App&);
Command add_test(CLI::App&);
Command add_doc(CLI::App&);
Command add_lsp(CLI::App&);
Command add_query(CLI::App&);
Command add_repl(CLI::App&);

}  // namespace axon::tools
