#include "attempt.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>

#include "base/bug.h"
#include "bindings.h"
#include "format/format.h"
#include "source/render.h"

namespace axon::mutation {

namespace {

constexpr double check_seconds = 5;      ///< of processor time, for what `etcc check` does
constexpr long check_megabytes = 1'000;  ///< of memory, for the same
constexpr rlim_t all_seconds = 60, all_bytes = rlim_t{6} << 30;

/// The child: tells the parent what it begins, and at the end what it found.
class Attempt {
 public:
  Attempt(const Program& program, uint64_t seed, int pipe) : program_(program), random_(seed), pipe_(pipe) {}

  void run() {
    try {
      stages();
    } catch (const base::InternalError& e) {
      tell('F', e.what());
    } catch (const std::exception& e) {
      tell('F', fmt::format("exception: {}", e.what()));
    }
  }

 private:
  void tell(char what, const std::string& text) const {
    std::string line = what + text;
    for (char& c : line)
      if (c == '\n') c = ' ';
    line += '\n';
    if (write(pipe_, line.data(), line.size()) < 0) _exit(3);
  }
  void begin(const std::string& stage) const { tell('S', stage); }

  void stages() {
    begin("fmt");
    format();
    CompileOptions options = differential::for_levels();
    options.library = {AXON_SOURCE_DIR "/stdlib"};
    Compilation c(options);
    c.file = c.sources.add(program_.name, program_.text, c.diagnostics);
    if (c.diagnostics.has_errors()) return tell('R', "");
    const bool fits = advance(c, "core") && has_entry(c) && choose_entry(c) && advance(c, "inplace");
    const double seconds = static_cast<double>(clock()) / CLOCKS_PER_SEC;
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    if (seconds > check_seconds) return tell('F', fmt::format("check took {:.1f} s", seconds));
    if (used.ru_maxrss / 1024 > check_megabytes)
      return tell('F', fmt::format("check took {} MB", used.ru_maxrss / 1024));
    if (c.diagnostics.has_errors()) return tell('R', "");
    if (!fits) return tell('A', "");
    if (!advance(c, "proof"))
      return tell('F', "refused late: " + source::render_short(c.diagnostics, c.sources));
    execute(c.options);
  }

  /// The text in the style is in the style, and means the same to the parser.
  void format() const {
    const auto formatted = [](const std::string& text) -> std::optional<std::string> {
      source::SourceManager sources;
      source::Diagnostics diagnostics;
      const source::FileId id = sources.add("f.axn", text, diagnostics);
      if (diagnostics.has_errors()) return std::nullopt;
      return format::format(sources[id], diagnostics);
    };
    const auto once = formatted(program_.text);
    if (!once) return;
    const auto twice = formatted(*once);
    if (!twice) return tell('F', "what fmt writes does not parse");
    if (*twice != *once) tell('F', "fmt changes what fmt wrote");
  }

  bool advance(Compilation& c, const std::string& last) {
    while (next_ < axon::stages().size()) {
      const Stage& stage = axon::stages()[next_++];
      begin(stage.name);
      stage.run(c);
      if (c.diagnostics.has_errors()) return false;
      if (last == stage.name) return true;
    }
    return true;
  }

  static bool is_entry(const Compilation& c, core::GlobalId id) {
    return c.core->globals[id].kind == core::Global::Kind::entry;
  }
  static bool has_entry(const Compilation& c) {
    return std::any_of(c.core->own.begin(), c.core->own.end(), [&](auto id) { return is_entry(c, id); });
  }
  bool choose_entry(Compilation& c) {
    std::vector<std::string> names;
    for (core::GlobalId id : c.core->own)
      if (is_entry(c, id)) names.push_back(c.core->globals[id].name);
    c.options.entries = {names[random_() % names.size()]};
    return true;
  }

  /// Sizes for every name of one, small, with 0 and 1 among them.
  differential::Sizes sizes_for(const graph::Graph& g) {
    static constexpr int64_t values[] = {0, 1, 2, 2, 3, 3, 4, 5, 8, 17};
    differential::Sizes sizes;
    for (const graph::Size& s : g.sizes) sizes[s.name] = values[random_() % std::size(values)];
    return sizes;
  }

  static bool can_run(const graph::Graph& g) {
    const auto readable = [](base::Elem e) { return e != base::Elem::f8e4m3 && e != base::Elem::f8e5m2; };
    for (const graph::Size& s : g.sizes)
      if (s.from == graph::Size::From::parameter) return false;
    for (const graph::Input& i : g.inputs)
      if (!readable(i.type.elem)) return false;
    for (const graph::Result& r : g.results)
      if (!readable(g.type(r.value).elem)) return false;
    return true;
  }

  void execute(const CompileOptions& options) {
    begin("bundle");
    const differential::Compiled compiled(program_.text, options, "bundle", program_.name);
    if (!compiled.error().empty()) return tell('F', "refused late: " + compiled.error());
    const std::string entry = compiled.compilation().entries.front().name;
    if (!can_run(compiled.meaning(entry))) return tell('A', "");
    for (int round = 0; round < 3; ++round) {
      const differential::Sizes sizes = sizes_for(compiled.meaning(entry));
      std::string at;
      for (const auto& [name, value] : sizes) at += fmt::format(" {}={}", name, value);
      begin("inputs" + at);
      const differential::Inputs inputs = differential::make_inputs(
          compiled.meaning(entry), sizes, 1 + static_cast<int64_t>(random_() % 6), random_());
      const auto is_tensor = [](const graph::Tensor& t) {  // of w - 1 rows, for instance, with w = 0
        return std::none_of(t.shape.begin(), t.shape.end(), [](int64_t size) { return size < 0; });
      };
      if (!std::all_of(inputs.begin(), inputs.end(), is_tensor)) continue;
      if (!compare(compiled, entry, inputs, at)) return;
    }
    tell('D', "");
  }

  bool compare(const differential::Compiled& compiled, const std::string& entry,
               const differential::Inputs& inputs, const std::string& at) {
    using differential::first_difference;
    begin("interpret" + at);
    const auto meaning = compiled.interpret(entry, inputs, graph::Precision::f64);
    const auto storage = compiled.interpret(entry, inputs, graph::Precision::storage);
    // Where rounding decides, there is nothing to compare with.
    if (meaning.gave_up || storage.gave_up || !first_difference(storage, meaning, storage).empty())
      return true;
    const auto fails = [&](const char* who, const std::string& difference) {
      tell('F', fmt::format("{} differs:{} {} ({})", who, at, difference, entry));
      return false;
    };
    begin("simulate" + at);
    const auto simulated = compiled.simulate(entry, inputs, random_());
    if (const auto d = first_difference(simulated, meaning, storage); !simulated.gave_up && !d.empty())
      return fails("the simulator", d);
    begin("native" + at);
    const differential::Loaded loaded(compiled, {{entry, inputs}});
    if (!loaded.error().empty()) {
      if (meaning.error.empty()) return fails("loading", loaded.error());
      return true;
    }
    for (const uint32_t workers : {1, 3})
      if (const auto d = first_difference(loaded.run(entry, inputs, workers), meaning, storage); !d.empty())
        return fails("native code", d);
    return true;
  }

  const Program& program_;
  std::mt19937_64 random_;
  int pipe_;
  size_t next_ = 0;  ///< stage
};

void limit(int what, rlim_t value) {
  const rlimit limits{value, value};
  setrlimit(what, &limits);
}

std::string read_all(int pipe) {
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(pipe, part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(n));
  return text;
}

/// What the lines of a child and its end say.
Verdict verdict_of(const std::string& told, int status) {
  Verdict v;
  bool ended = false;
  for (size_t at = 0; at < told.size();) {
    const size_t end = std::min(told.find('\n', at), told.size());
    const std::string text = told.substr(at + 1, end - at - 1);
    switch (told[at]) {
      case 'S':
        v.stage = text;
        break;
      case 'F':
        if (v.kind != Verdict::Kind::finding) v.text = text;
        v.kind = Verdict::Kind::finding;
        ended = true;
        break;
      case 'R':
      case 'A':
      case 'D':
        ended = true;
        if (v.kind == Verdict::Kind::finding) break;
        v.kind = told[at] == 'R'   ? Verdict::Kind::refused
                 : told[at] == 'A' ? Verdict::Kind::accepted
                                   : Verdict::Kind::ran;
        break;
    }
    at = end + 1;
  }
  if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0) return v;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const bool slow = signal == SIGXCPU || signal == SIGKILL;
  if (slow && (v.stage.starts_with("interpret") || v.stage.starts_with("simulate"))) {
    v.kind = Verdict::Kind::accepted;  // a program that takes long, and says nothing of the compiler
    return v;
  }
  v.kind = Verdict::Kind::finding;
  v.text = slow     ? "takes more than its time"
           : signal ? fmt::format("died of signal {}", signal)
                    : fmt::format("ended with status {}", status);
  return v;
}

}  // namespace

Verdict attempt(const Program& program, uint64_t seed) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) {
    close(ends[0]);
    if (!std::freopen("/dev/null", "w", stdout) || !std::freopen("/dev/null", "w", stderr)) _exit(2);
    limit(RLIMIT_CPU, all_seconds);
    limit(RLIMIT_AS, all_bytes);
    limit(RLIMIT_CORE, 0);
    Attempt(program, seed, ends[1]).run();
    _exit(0);
  }
  close(ends[1]);
  const std::string told = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return verdict_of(told, status);
}

}  // namespace axon::mutation
