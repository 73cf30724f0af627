// etcc repl: phrases on stdin, answers on stdout. On a terminal with a prompt, history and completion; else
// without anything but answers, so that `etcc repl < in > out` can be compared. --json: json.h.
#include <fmt/format.h>
#include <llvm/LineEditor/LineEditor.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "base/interrupt.h"
#include "page/saved.h"
#include "repl/complete.h"
#include "repl/json.h"
#include "repl/phrase.h"
#include "tools/child.h"
#include "tools/common.h"

namespace axon::tools {

namespace {

std::atomic<bool> interrupted{false};
std::atomic<bool> reading{false};  // is the next line being read?
sem_t woken;                       // sem_post is one of the few calls that a signal handler may make

void on_interrupt(int) {
  interrupted = true;
  ::sem_post(&woken);
}

void end_read(int) {}

/// Ctrl-C ends what the session computes, also what it asks a solver, and the read of a line: one that comes
/// just before the read itself does not end it, so the read is interrupted until it has ended. Its thread
/// never ends: the process does.
class CtrlC : public base::Interrupt {
 public:
  CtrlC() {
    ::sem_init(&woken, 0, 0);
    struct sigaction action {};
    action.sa_handler = on_interrupt;  // no SA_RESTART: a read of the next line ends
    ::sigaction(SIGINT, &action, nullptr);
    action.sa_handler = end_read;
    ::sigaction(SIGUSR1, &action, nullptr);
    std::thread(&CtrlC::follow, this, ::pthread_self()).detach();
  }
  void poll() override {
    if (interrupted) throw base::Cancelled{};
  }
  void leave(const std::function<void()>& stop) override {
    const std::lock_guard lock(lock_);
    stop_ = stop;
    if (interrupted) stop_();
  }
  void enter() override {
    const std::lock_guard lock(lock_);
    stop_ = nullptr;
  }

 private:
  [[noreturn]] void follow(pthread_t reader) {
    for (;;) {
      if (::sem_wait(&woken) != 0) continue;
      {
        const std::lock_guard lock(lock_);
        if (stop_) stop_();
      }
      while (interrupted && reading) {
        ::pthread_kill(reader, SIGUSR1);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  }

  std::mutex lock_;
  std::function<void()> stop_;
};

/// What an interrupt does to the line that is being read.
enum class OnInterrupt { keep, give_up };

/// A line of stdin without its end; nothing at the end of all, and for a line that an interrupt gave up.
std::optional<std::string> read_line(OnInterrupt on_interrupt) {
  std::string line;
  for (;;) {
    const int c = std::getc(stdin);
    if (c == '\n') break;
    if (c != EOF) {
      line += static_cast<char>(c);
    } else if (std::ferror(stdin) && errno == EINTR) {
      std::clearerr(stdin);
      if (on_interrupt == OnInterrupt::give_up && interrupted) return std::nullopt;
    } else {
      if (line.empty()) return std::nullopt;
      break;
    }
  }
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

/// Where the history is kept: a file that only its user can read; empty where there is no place for it.
std::string history_file() {
  namespace fs = std::filesystem;
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder;
  if (state && *state)
    folder = state;
  else if (home && *home)
    folder = fs::path(home) / ".local" / "state";
  else
    return "";
  folder /= "axon";
  std::error_code failed;
  fs::create_directories(folder, failed);
  return failed ? "" : (folder / "repl_history").string();
}

/// Whether the terminal moves its cursor. Others (a buffer of Emacs) have prompts, and edit lines themselves:
/// a line editor would say each line again.
bool can_edit() {
  const char* term = std::getenv("TERM");
  return term && *term && std::string_view(term) != "dumb";
}

/// Lines of a terminal, or of a file.
class Lines {
 public:
  explicit Lines(repl::Repl& repl) : terminal_(::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO)) {
    if (!terminal_ || !can_edit()) return;
    std::setlocale(LC_CTYPE, "");  // else the editor takes bytes for characters
    ::umask(077);
    editor_ = std::make_unique<llvm::LineEditor>("axon", history_file());
    editor_->loadHistory();
    editor_->setListCompleter([&repl](llvm::StringRef text, size_t at) {
      const std::string before = text.take_front(at).str();
      size_t begin = 0;
      std::vector<llvm::LineEditor::Completion> all;
      for (const std::string& word : repl::complete(repl, before, begin))
        all.emplace_back(word.substr(before.size() - begin), word);
      return all;
    });
  }
  ~Lines() {
    if (editor_) editor_->saveHistory();
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  bool terminal() const { return terminal_; }
  /// The line is the next one again.
  void put_back(std::string line) { again_ = std::move(line); }
  std::optional<std::string> next(bool more) {
    if (again_) return std::exchange(again_, std::nullopt);
    const char* prompt = more ? "....> " : "axon> ";
    if (editor_) {
      editor_->setPrompt(prompt);
      return editor_->readLine();
    }
    if (!terminal_) return read_line(OnInterrupt::keep);
    fmt::print("{}", prompt);
    std::fflush(stdout);
    return read_line(OnInterrupt::give_up);
  }

 private:
  bool terminal_;
  std::unique_ptr<llvm::LineEditor> editor_;
  std::optional<std::string> again_;
};

/// The next phrase. An empty line or a command ends one that is not finished, unless `:{` opens it, and
/// Ctrl-C gives it up; nullopt at the end.
std::optional<std::string> next_phrase(Lines& lines) {
  std::string phrase;
  for (bool more = false;; more = true) {
    reading = lines.terminal();
    const auto line = lines.next(more);
    reading = false;
    if (!line && interrupted && lines.terminal()) {
      interrupted = false;
      fmt::print("\n");
      return "";
    }
    if (!line) return more && !phrase.empty() ? std::optional(phrase) : std::nullopt;
    const bool enclosed = more && repl::is_enclosed(phrase);
    if (more && !enclosed && repl::begins_command(*line)) {
      lines.put_back(*line);
      return phrase;
    }
    phrase += (phrase.empty() ? "" : "\n") + *line;
    if ((more && !enclosed && line->empty()) || !repl::is_unfinished(phrase)) return phrase;
  }
}

/// Whether some answer was an error.
bool talk(repl::Repl& repl) {
  Lines lines(repl);
  bool failed = false;
  repl.on_output([](std::string_view said) {
    fmt::print("{}", said);
    std::fflush(stdout);
  });
  while (const auto phrase = next_phrase(lines)) {
    interrupted = false;
    const repl::Answer answer = repl.answer(*phrase);
    fmt::print("{}", answer.text);
    if (lines.terminal() && !answer.page.empty())
      if (const std::string path = page::saved(answer.page, "it"); !path.empty())
        fmt::print("page file://{}\n", path);
    std::fflush(stdout);
    failed |= answer.failed();
    if (answer.kind == repl::Answer::Kind::quit) break;
  }
  return failed && !lines.terminal();
}

void serve(repl::Repl& repl) {
  for (bool quit = false; !quit;) {
    const auto line = read_line(OnInterrupt::keep);
    if (!line) return;
    interrupted = false;
    fmt::print("{}\n", repl::answer_json(repl, *line, quit));
    std::fflush(stdout);
  }
}

}  // namespace

Command add_repl(CLI::App& app) {
  auto options = std::make_shared<CommonOptions>();
  auto json = std::make_shared<bool>(false);
  add_library(app, *options);
  app.add_option("FILE", options->file, "a file to load first");
  app.add_option("--color", options->color, "colours of errors")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("--json", *json, "one JSON object a line in, one a line out");
  return [options, json] {
    CtrlC& ctrl_c = *new CtrlC;  // for as long as its thread
    const base::Interruptible listening(ctrl_c);
    source::RenderOptions render = render_options(*options);
    if (!::isatty(STDOUT_FILENO) && options->color == "auto") render.color = false;
    ChildEvaluator evaluator(library_directories(*options), interrupted);
    repl::Repl repl(library_directories(*options), &evaluator, render);
    bool failed = false;
    if (!options->file.empty()) {
      const repl::Answer answer = repl.answer(":load " + options->file);
      fmt::print(*json ? stderr : stdout, "{}", answer.text);
      failed = answer.failed();
    }
    if (*json)
      serve(repl);
    else
      failed |= talk(repl);
    return static_cast<int>(failed ? user_error : ok);
  };
}

}  // namespace axon::tools
