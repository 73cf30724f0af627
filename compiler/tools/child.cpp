// See child.h.
#include "tools/child.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>

#include "base/bug.h"
#include "page/cost_text.h"
#include "page/page.h"
#include "page/planned.h"
#include "pipeline.h"
#include "target/machine.h"
#include "tools/evaluate.h"

namespace axon::tools {

using Json = nlohmann::json;
using repl::Evaluation;

namespace {

std::string to_json(const Evaluation& e, const std::string& found) {
  Json values = Json::array();
  for (const repl::Value& v : e.values) values.push_back({v.name, v.type, v.text});
  const Json all = {{"error", e.error}, {"found", found},         {"values", values},
                    {"page", e.page},   {"compiled", e.compiled}, {"ran", e.ran}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// nullopt for what a child wrote that came to an end.
std::optional<Evaluation> from_json(const std::string& text) {
  const Json all = Json::parse(text, nullptr, false);
  if (!all.is_object()) return std::nullopt;
  Evaluation e;
  e.error = all["error"];
  e.found = repl::read_found(all["found"]);
  for (const Json& v : all["values"]) e.values.push_back({v[0], v[1], v[2]});
  e.page = all["page"];
  e.compiled = all["compiled"];
  e.ran = all["ran"];
  return e;
}

double milliseconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since).count();
}

void write_all(int descriptor, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(descriptor, text.data() + done, text.size() - done);
    if (n <= 0) return;
    done += static_cast<size_t>(n);
  }
}

std::string death(int status) {
  if (!WIFSIGNALED(status))
    return fmt::format("error: the evaluation ended with status {}\n", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  if (signal == SIGKILL) return "error: the evaluation was killed; was that too much memory?\n";
  return fmt::format("error: the evaluation was ended by a signal: {}\n", ::strsignal(signal));
}

/// Both ends of a pipe, closed when they are not needed.
struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { static_cast<void>(::pipe(ends) == 0); }
  ~Pipe() {
    close(0);
    close(1);
  }
  void close(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

}  // namespace

namespace {

/// The entry of a program that has got to its core, from there to its plan; null, with what is wrong
/// reported.
std::unique_ptr<const page::Planned> plan_of(const Compilation& c, const std::string& entry,
                                             source::Diagnostics& diagnostics) {
  return page::planned(*c.core, c.core->find(entry), c.sources, diagnostics);
}

std::string page_of(const Compilation& c, const std::string& entry) {
  source::Diagnostics ignored;  // what is refused behind the graph has no page
  const auto made = plan_of(c, entry, ignored);
  return made ? page::html({*c.core, c.core->find(entry), c.sources, c.file, made->plan, &made->written})
              : "";
}

/// What the entry costs; what is wrong with it becomes `found`, with the sizes the error.
Evaluation cost_of(Compilation& c, const repl::Program& program, std::string& found) {
  Evaluation e;
  const auto made = axon::run(c, "core") ? plan_of(c, program.entry, c.diagnostics) : nullptr;
  if (!made) {
    found = repl::found_json(c.diagnostics, c.sources);
    return e;
  }
  std::string problem;
  const std::string text = page::cost_text(made->plan.variants.back(), program.sizes, problem);
  if (!problem.empty()) e.error = fmt::format("error: {}\n", problem);
  e.values.push_back({"cost", "", text});
  return e;
}

}  // namespace

/// What the child does: all of the compiler, and the program. What is found in it becomes `found`.
Evaluation ChildEvaluator::compute(const repl::Program& program, const std::string& stage,
                                   std::string& found) const {
  Evaluation e;
  CompileOptions options;
  options.library = library_;
  options.entries = {program.entry};
  options.levels = {std::string(target::loaded_machine().name)};
  Compilation c(std::move(options));
  c.file = c.sources.add(program.path, program.text, c.diagnostics);
  if (stage == "cost") return cost_of(c, program, found);
  const auto begin = std::chrono::steady_clock::now();
  if (!axon::run(c, stage.empty() ? "bundle" : stage)) {
    found = repl::found_json(c.diagnostics, c.sources);
    return e;
  }
  e.compiled = milliseconds(begin);
  if (!stage.empty()) {
    e.values.push_back({stage, "", find_stage(stage)->print(c)});
    if (stage == "graph") e.page = page_of(c, program.entry);
    return e;
  }
  const Native native(c.bundle);
  const auto start = std::chrono::steady_clock::now();
  const Values values = native.run(c.entries[0].graph);
  e.ran = milliseconds(start);
  if (!values.error.empty()) {
    if (const auto code = source::code_from_name(values.code)) {
      source::Diagnostics all;
      all.report(source::error(*code, {}, values.error));
      found = repl::found_json(all, c.sources);
    } else {
      e.error = fmt::format("error: {}\n", values.error);
    }
    return e;
  }
  for (size_t r = 0; r < values.tensors.size(); ++r) {
    Values one;
    one.names = {values.names[r]};
    one.tensors = {values.tensors[r]};
    std::string shape;
    for (int64_t extent : values.tensors[r].shape)
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    e.values.push_back({values.names[r],
                        fmt::format("{}{}", base::elem_name(values.tensors[r].elem),
                                    values.tensors[r].shape.empty() ? "" : "[" + shape + "]"),
                        text_of(one, false)});
  }
  return e;
}

Evaluation ChildEvaluator::in_child(const repl::Program& program, const std::string& stage,
                                    const Said& said) {
  Evaluation failed;
  Pipe result, output;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    failed.error = fmt::format("error: cannot start an evaluation: {}\n", std::strerror(errno));
    return failed;
  }
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setpgid(0, 0);  // a Ctrl-C is for the parent, who ends the child
    ::signal(SIGINT, SIG_DFL);
    ::dup2(output.ends[1], STDOUT_FILENO);
    ::dup2(output.ends[1], STDERR_FILENO);
    Evaluation e;
    std::string found;
    try {
      e = compute(program, stage, found);
    } catch (const base::InternalError& bug) {
      e.error =
          fmt::format("error: {}\nThis is a bug in the compiler. The definitions are kept.\n", bug.what());
    } catch (const std::bad_alloc&) {
      e.error = "error: the evaluation takes more memory than there is\n";
    }
    std::fflush(nullptr);
    write_all(result.ends[1], to_json(e, found));
    std::_Exit(0);
  }
  result.close(1);
  output.close(1);
  std::string text;
  pollfd both[2] = {{result.ends[0], POLLIN, 0}, {output.ends[0], POLLIN, 0}};
  while (both[0].fd >= 0 || both[1].fd >= 0) {
    // A signal may come before poll() waits: it does not wait for long.
    if (interrupted_) ::kill(child, SIGKILL);
    if (::poll(both, 2, 100) < 0) continue;
    for (pollfd& one : both) {
      if (one.fd < 0 || one.revents == 0) continue;
      char buffer[65536];
      const ssize_t n = ::read(one.fd, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0)
        one.fd = -1;
      else if (&one == both)
        text.append(buffer, static_cast<size_t>(n));
      else
        said({buffer, static_cast<size_t>(n)});
    }
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (interrupted_) {
    failed.interrupted = true;
    return failed;
  }
  if (auto evaluation = from_json(text)) return std::move(*evaluation);
  failed.error = death(status);
  return failed;
}

Evaluation ChildEvaluator::evaluate(const repl::Program& program, const Said& said) {
  return in_child(program, "", said);
}

Evaluation ChildEvaluator::stage(const repl::Program& program, const std::string& stage) {
  return in_child(program, stage, [](std::string_view) {});
}

}  // namespace axon::tools
