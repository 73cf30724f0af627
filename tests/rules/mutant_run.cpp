#include "mutant_run.h"

#include <fmt/format.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <regex>
#include <sstream>
#include <unordered_map>

#include "base/rule.h"
#include "plan/verify.h"
#include "task/random_graphs.h"
#include "task/simulate.h"

namespace axon {

namespace {

struct Rules {
  std::optional<rules::Mutant> mutant;
  std::unordered_map<const char*, bool> is_mutant;  ///< by the literal's address: asked very often
  std::set<std::string>* asked = nullptr;
};

Rules& current() {
  static Rules rules;
  return rules;
}

void set_mutant(std::optional<rules::Mutant> mutant) {
  current().mutant = std::move(mutant);
  current().is_mutant.clear();
}

}  // namespace

bool base::rule(const char* name, bool condition) {
  Rules& rules = current();
  const auto [it, added] = rules.is_mutant.try_emplace(name, false);
  if (added) {
    if (rules.asked) rules.asked->insert(name);
    it->second = rules.mutant && rules.mutant->rule == name;
  }
  return it->second ? rules.mutant->always : condition;
}

namespace rules {

using task::Example;
using task::Program;

namespace {

constexpr time_t seconds = 8;    ///< of processor time that a program may take
constexpr uint64_t orders = 12;  ///< tried per binding

struct Made {
  plan::Variant variant;
  std::string text;         ///< without the certificate
  std::string certificate;  ///< and with it
};

/// What is known of programs that other mutants have made: by the subject's name, and the texts.
std::map<std::pair<std::string, size_t>, Verdict>& judged() {
  static std::map<std::pair<std::string, size_t>, Verdict> verdicts;
  return verdicts;
}

Made make(const Example& example) {
  Made made{plan::from_task(task::program_of(example), "entry", plan::Schedule::events), {}, {}};
  plan::Plan plan;
  plan.graph = &example.graph;
  plan.variants.push_back(std::move(made.variant));
  made.certificate = task::print(plan.variants[0].program);
  Program waits = plan.variants[0].program;
  waits.certificate.clear();
  made.text = task::print(waits) + plan::print(plan);
  made.variant = std::move(plan.variants[0]);
  return made;
}

/// What some order of the tasks makes of the program that it should not; "" when nothing is found.
std::string simulated(const Example& example, const plan::Variant& variant) {
  for (const auto& binding : example.bindings) {
    const auto inputs = task::inputs_for(example.graph, binding, 3);
    const auto parameters = task::parameters_of(example.graph, binding);
    const auto expected = graph::interpret(example.graph, inputs, parameters, graph::Precision::f64);
    task::SimulateOptions options;
    options.precision = graph::Precision::f64;
    for (const auto& slot : variant.slots) options.arena.push_back({slot.buffer, slot.above});
    for (options.seed = 1; options.seed <= orders; ++options.seed) {
      std::string text =
          task::difference(expected, task::simulate(variant.program, inputs, parameters, options));
      if (!text.empty()) return text + " (" + task::text_of(example.graph, binding) + ")";
    }
  }
  return {};
}

Verdict judged(const Made& made, const Subject& subject) {
  const auto refused = task::unproved(made.variant.program);
  if (!refused.empty()) return {Fate::refused, refused[0]};
  for (const task::Obligation& o : plan::verify(made.variant))
    if (!o.proved) return {Fate::refused, o.what};
  const std::string wrong = simulated(*subject.example, made.variant);
  if (!wrong.empty()) return {Fate::different, wrong};
  return {Fate::harmless, {}};
}

/// A verdict as a line, with what stands for the program; the first mutant that makes it judges it.
std::string line_of(const Mutant& mutant, const Subject& subject) {
  if (!subject.asked.contains(mutant.rule)) return fmt::format("{} 0\n", static_cast<int>(Fate::same));
  set_mutant(mutant);
  const Made made = make(*subject.example);
  set_mutant(std::nullopt);
  if (made.text == subject.text) return fmt::format("{} 0\n", static_cast<int>(Fate::same));
  const size_t program = std::hash<std::string>()(made.text + made.certificate);
  const auto known = judged().find({subject.name, program});
  Verdict verdict = known == judged().end() ? judged(made, subject) : known->second;
  std::replace(verdict.why.begin(), verdict.why.end(), '\n', ' ');
  return fmt::format("{} {} {}\n", static_cast<int>(verdict.fate), program, verdict.why);
}

/// Judges subjects from `next` on in a process that may end at any of them; each verdict is a line.
std::string judged_in_child(const Mutant& mutant, const std::vector<Subject>& subjects, size_t next,
                            bool to_first) {
  int both[2];
  if (pipe(both) != 0) return {};
  const auto [in, out] = both;
  const pid_t child = fork();
  if (child == 0) {
    close(in);
    std::freopen("/dev/null", "w", stderr);
    for (size_t s = next; s < subjects.size(); ++s) {
      const itimerval limit{{0, 0}, {seconds, 0}};
      setitimer(ITIMER_PROF, &limit, nullptr);
      const std::string line = line_of(mutant, subjects[s]);
      if (write(out, line.data(), line.size()) < 0) break;
      if (to_first && ends(static_cast<Fate>(line[0] - '0'))) break;
    }
    _exit(0);
  }
  close(out);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(in, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(in);
  waitpid(child, nullptr, 0);
  return text;
}

Subject subject_of(std::string name, task::ExamplePtr example) {
  Subject subject{std::move(name), std::move(example), {}, {}};
  if (!subject.example) return subject;
  set_mutant(std::nullopt);
  current().asked = &subject.asked;
  subject.text = make(*subject.example).text;
  current().asked = nullptr;
  return subject;
}

}  // namespace

std::vector<Verdict> try_mutant(const Mutant& mutant, const std::vector<Subject>& subjects, bool to_first) {
  std::vector<Verdict> verdicts;
  const auto is_over = [&] {
    return verdicts.size() == subjects.size() ||
           (to_first && !verdicts.empty() && ends(verdicts.back().fate));
  };
  while (!is_over()) {
    std::stringstream lines(judged_in_child(mutant, subjects, verdicts.size(), to_first));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      int fate = 0;
      size_t program = 0;
      Verdict verdict;
      words >> fate >> program;
      verdict.fate = static_cast<Fate>(fate);
      std::getline(words >> std::ws, verdict.why);
      if (program != 0) judged().emplace(std::pair{subjects[verdicts.size()].name, program}, verdict);
      verdicts.push_back(std::move(verdict));
    }
    if (!is_over()) verdicts.push_back({Fate::stopped, {}});
  }
  return verdicts;
}

std::vector<Subject> examples() {
  std::vector<Subject> subjects;
  for (const std::string& name : task::example_names())
    subjects.push_back(subject_of(name, task::load_example(name)));
  return subjects;
}

std::vector<Subject> random_subjects(uint64_t first, size_t count) {
  std::vector<Subject> subjects;
  for (uint64_t seed = first; seed < first + count; ++seed)
    subjects.push_back(subject_of(fmt::format("random {}", seed),
                                  task::make_example("random", task::random_graph(seed),
                                                     "tiling rows 2 columns 4 panel 2 points 6\n"
                                                     "sizes m=5 d=3 n=2 v=2\n"
                                                     "sizes m=4 d=9 n=3 v=7\n"
                                                     "sizes m=0 d=2 n=1 v=1\n"
                                                     "sizes m=4 d=1 n=0 v=3\n")));
  return subjects;
}

std::vector<std::string> all_rules() {
  std::vector<std::string> names;
  static const std::regex use("AXON_RULE\\((\\w+),");
  for (const std::string folder : {"task", "plan"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(AXON_SOURCE_DIR) + "/compiler/" + folder)) {
      if (entry.path().extension() != ".cpp") continue;
      const std::string text = task::read_file(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), use), end; it != end; ++it)
        names.push_back((*it)[1]);
    }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace rules

}  // namespace axon
