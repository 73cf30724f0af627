// etcc: one binary, sub-commands as verbs. Each sub-command is a file beside this one.
//
// What no sub-command can answer for itself ends here. A bug of the compiler (InternalError): what was asked
// for is printed so that it can be run again, exit 70. Memory that runs out, and results that stdout did not
// take: an error like others, exit 1.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/bug.h"
#include "tools/common.h"
#include "tools/completion.h"
#include "tools/git_hash.h"
#include "tools/manual.h"

namespace {

using namespace axon::tools;
using axon::source::Code;

void print_reproducer(int argc, char** argv, const char* what) {
  fmt::print(
      stderr,
      "etcc: {}\nThis is a bug in the compiler. Please report it with the input file and this command:\n ",
      what);
  for (int i = 0; i < argc; ++i) fmt::print(stderr, " {}", argv[i]);
  fmt::print(stderr, "\n");
}

/// Of stdin, stdout and stderr, what is closed becomes a descriptor that fails when it is used: else the next
/// file that is opened would get its number, and what is meant for stdout would go there.
void open_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Axon: tensor programs, shapes inferred, compiled to event-tensor megakernels.", "etcc");
  app.set_version_flag("--version", "axon " AXON_VERSION " (" AXON_GIT_HASH ", LLVM " AXON_LLVM_VERSION
                                    ", Z3 " AXON_Z3_VERSION ")");
  std::string shell;
  app.add_option("--completion", shell, "print a script that completes commands and options")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  bool manual = false;
  app.add_flag("--manual", manual, "print the manual page: etcc --manual | man -l -");
  app.require_subcommand(0, 1);
  std::vector<std::pair<CLI::App*, Command>> commands;
  const auto add = [&](const char* name, const char* what, Command (*make)(CLI::App&)) {
    CLI::App* sub = app.add_subcommand(name, what);
    commands.emplace_back(sub, make(*sub));
  };
  add("check", "check a file; --types prints the inferred type of every declaration", add_check);
  add("build", "compile the entries of a file into one bundle, or print any stage with --emit", add_build);
  add("run",
      "run an entry of a program or a bundle: NAME=VALUE, values are numbers, @file.npy, @file.safetensors",
      add_run);
  add("calibrate",
      "measure what a bundle's kernels cost on this machine, so that launches choose their workers",
      add_calibrate);
  add("bench", "measure an entry and its tasks beside the least that they take on this machine", add_bench);
  add("weights",
      "propose which tensors of a checkpoint become which weights of a program, or show what a map binds",
      add_weights);
  add("verify", "prove that the tasks of every entry are ordered, for all sizes", add_verify);
  add("tiles", "prove, run or print a tile program: what one task does on one machine", add_tiles);
  add("fmt", "format files in the one style; --check lists those that are not", add_fmt);
  add("test", "evaluate the examples in documentation and the test declarations of files", add_test);
  add("doc", "write a browsable reference of modules", add_doc);
  add("repl", "evaluate phrases one by one: types, shapes, values", add_repl);
  add("lsp", "serve editors: diagnostics, symbols, formatting, repairs", add_lsp);
  add("query", "answer what an editor asks of a place in a file", add_query);
  add("explain", "explain a diagnostic code, a type or an error at a place, or write an entry as a page",
      add_explain);
  try {
    app.parse(argc, argv);
    for (const auto& [sub, command] : commands)
      if (sub->parsed()) return command();
    if (shell.empty() && !manual) throw CLI::RequiredError("A subcommand");
    fmt::print("{}", manual ? manual_page(app, AXON_VERSION) : completion_script(app, shell));
    return ok;
  } catch (const CLI::ParseError& e) {
    std::ostringstream out, err;
    const int code = app.exit(e, out, err);
    fmt::print("{}", out.str());
    fmt::print(stderr, "{}", err.str());
    return code == 0 ? ok : usage;
  }
}

int failed(Code code, const std::string& message) {
  fmt::print(stderr, "error[{}]: {}\n", axon::source::code_name(code), message);
  return user_error;
}

/// A result that was not written is none: the status is then that of an error.
int finish(int status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return status;
  failed(Code::E0701, fmt::format("cannot write to stdout: {}", std::strerror(errno != 0 ? errno : EIO)));
  return status == ok ? user_error : status;
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  try {
    return finish(parse_and_run(argc, argv));
  } catch (const axon::base::InternalError& e) {
    print_reproducer(argc, argv, e.what());
    return bug;
  } catch (const std::bad_alloc&) {
    return failed(Code::E0593, std::string(axon::source::code_title(Code::E0593)));
  } catch (const std::system_error& e) {  // what fmt::print throws when stdout does not take the text
    return failed(Code::E0701, fmt::format("cannot write to stdout: {}", e.code().message()));
  }
}
