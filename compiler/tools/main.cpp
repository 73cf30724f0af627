// etcc: one binary, sub-commands as verbs. Each sub-command is a file beside this one.
//
// A bug of the compiler (InternalError) ends here: what was asked for is printed so that it can be run again,
// exit 70.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/bug.h"
#include "tools/common.h"
#include "tools/completion.h"
#include "tools/git_hash.h"

namespace {

void print_reproducer(int argc, char** argv, const char* what) {
  fmt::print(
      stderr,
      "etcc: {}\nThis is a bug in the compiler. Please report it with the input file and this command:\n ",
      what);
  for (int i = 0; i < argc; ++i) fmt::print(stderr, " {}", argv[i]);
  fmt::print(stderr, "\n");
}

}  // namespace

int main(int argc, char** argv) {
  using namespace axon::tools;
  CLI::App app("Axon: tensor programs, shapes inferred, compiled to event-tensor megakernels.", "etcc");
  app.set_version_flag("--version", "axon " AXON_VERSION " (" AXON_GIT_HASH ", LLVM " AXON_LLVM_VERSION
                                    ", Z3 " AXON_Z3_VERSION ")");
  std::string shell;
  app.add_option("--completion", shell, "print a script that completes commands and options")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.require_subcommand(0, 1);
  std::vector<std::pair<CLI::App*, Command>> commands;
  const auto add = [&](const char* name, const char* what, Command (*make)(CLI::App&)) {
    CLI::App* sub = app.add_subcommand(name, what);
    commands.emplace_back(sub, make(*sub));
  };
  add("check", "check a file; --types prints the inferred type of every declaration", add_check);
  add("build", "compile the entries of a file into one bundle, or print any stage with --emit", add_build);
  add("run", "compile an entry and run it: NAME=VALUE, values are numbers, @file.npy, @file.safetensors",
      add_run);
  add("verify", "prove that the tasks of every entry are ordered, for all sizes", add_verify);
  add("fmt", "format files in the one style; --check lists those that are not", add_fmt);
  add("test", "evaluate the examples in documentation and the test declarations of files", add_test);
  add("doc", "write a browsable reference of modules", add_doc);
  add("explain", "explain a diagnostic code", add_explain);
  try {
    app.parse(argc, argv);
    for (const auto& [sub, command] : commands)
      if (sub->parsed()) return command();
    if (shell.empty()) throw CLI::RequiredError("A subcommand");
    fmt::print("{}", completion_script(app, shell));
    return ok;
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? ok : usage;
  } catch (const axon::base::InternalError& e) {
    print_reproducer(argc, argv, e.what());
    return bug;
  }
  return usage;
}
