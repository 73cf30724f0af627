// See commands.h.
#include "repl/commands.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>

#include "base/contains.h"
#include "core/elaborator.h"
#include "query/complete.h"
#include "query/typed.h"
#include "repl/repl.h"
#include "repl/words.h"
#include "source/explain.h"
#include "source/files.h"

namespace axon::repl {

namespace {

Answer help(Repl&, const std::string&) {
  size_t width = 0;
  for (const Command& c : commands()) width = std::max(width, std::strlen(c.name) + std::strlen(c.arguments));
  std::string text = "An expression is evaluated, a definition is kept; `it` is the last value.\n\n";
  for (const Command& c : commands())
    text += fmt::format(":{:<{}}  {}\n", fmt::format("{} {}", c.name, c.arguments), width + 1, c.help);
  return text_answer(text +
                     "\n?name is `:doc name`. Commands can be cut short: `:t` is `:type`.\n"
                     ":{ and :} enclose a phrase of several lines.\n");
}

Answer type(Repl& repl, const std::string& e) { return repl.type(e); }
Answer graph(Repl& repl, const std::string& e) { return repl.stage("graph", e); }
Answer tasks(Repl& repl, const std::string& e) { return repl.stage("tasks", e); }
Answer plan(Repl& repl, const std::string& e) { return repl.stage("plan", e); }
Answer llvm(Repl& repl, const std::string& e) { return repl.stage("llvm", e); }

/// Takes the words NAME=NUMBER at the end of a text away from it, and gives them in their order.
std::vector<std::pair<std::string, int64_t>> take_sizes(std::string& text) {
  std::vector<std::pair<std::string, int64_t>> sizes;
  static const std::regex size(R"(\s+([A-Za-z_]\w*)=(\d{1,18})\s*$)");
  for (std::smatch found; std::regex_search(text, found, size);) {
    sizes.insert(sizes.begin(), {found[1], std::stoll(found[2])});
    text = found.prefix();
  }
  return sizes;
}

Answer cost(Repl& repl, const std::string& argument) {
  std::string expression = argument;
  const auto sizes = take_sizes(expression);
  return repl.stage("cost", expression, sizes);
}

Answer time(Repl& repl, const std::string& e) { return repl.evaluate(e, true); }

Answer load(Repl& repl, const std::string& path) {
  const auto text = source::read_bytes(path);
  if (!text) return error_answer(fmt::format("error: cannot read `{}`: {}\n", path, std::strerror(errno)));
  repl.loaded = path;
  const auto outcome = repl.definitions().load(path, *text);
  if (!outcome.errors.empty()) return refusal(outcome);
  Answer answer = text_answer(outcome.warnings + consequences(outcome));
  answer.broken = outcome.broken;
  const size_t count = repl.definitions().loaded();
  answer.text += fmt::format("{} definition{} of {}\n", count, count == 1 ? "" : "s", path);
  return answer;
}

Answer reload(Repl& repl, const std::string&) {
  if (repl.loaded.empty()) return error_answer("error: no file was loaded\n");
  return load(repl, repl.loaded);
}

Answer assume(Repl& repl, const std::string& c) { return repl.shapes().assume(c); }
Answer facts(Repl& repl, const std::string&) { return repl.shapes().facts(); }
Answer forget(Repl& repl, const std::string& which) { return repl.shapes().forget(which); }
Answer prove(Repl& repl, const std::string& c) { return repl.shapes().prove(c); }
Answer solve(Repl& repl, const std::string& c) { return repl.shapes().solve(c); }
Answer more(Repl& repl, const std::string&) { return repl.shapes().more(); }
Answer shape(Repl& repl, const std::string& call) { return repl.shape(call); }
Answer constraints(Repl& repl, const std::string& name) { return repl.constraints(name); }
Answer why(Repl& repl, const std::string&) { return repl.why(); }

/// The file of a module, by the name that it is imported under here or has in the library; empty where there
/// is none.
std::string file_of_module(Repl& repl, const std::string& module) {
  session::Session& session = repl.definitions().session();
  std::string imported = session.imported(repl.definitions().path(), module);
  if (!imported.empty()) return imported;
  if (const syntax::Text* const loaded = session.documents().load(module))
    for (const std::string& path : session.documents().paths())
      if (&session.documents().find(path)->text() == loaded) return path;
  return "";
}

/// The values that a file has for others, in order.
std::vector<core::DeclKey> values_of(session::Session& session, const std::string& path) {
  session.check(path);
  std::vector<core::DeclKey> out;
  for (const session::Entry& entry : session.declarations(path)) {
    const bool hidden = entry.decl->is_private || syntax::as<syntax::TestDecl>(*entry.decl);
    if (entry.key.space == core::DeclKey::Space::values && !hidden && !base::contains(out, entry.key))
      out.push_back(entry.key);
  }
  return out;
}

Answer browse(Repl& repl, const std::string& module) {
  if (module.empty()) {
    std::string text;
    for (const std::string& other : repl.definitions().others()) text += other + "\n";
    text += lines_of(repl.definitions().types());
    return text_answer(text.empty() ? "nothing is defined\n" : text);
  }
  session::Session& session = repl.definitions().session();
  std::vector<core::DeclKey> values;
  if (module == "prelude") {  // what is seen without import, wherever it is declared
    session.check_visible(repl.definitions().path());
    values = session.prelude();
  } else {
    const std::string path = file_of_module(repl, module);
    if (path.empty()) return error_answer(fmt::format("error: there is no module `{}`\n", module));
    values = values_of(session, path);
  }
  std::string text;
  for (const core::DeclKey& key : values)
    text += query::declaration_text(key.name, query::type_of_declared(session, key)) + "\n";
  return text_answer(text);
}

/// What a module says of itself; empty where there is none of the name.
std::string module_documentation(Repl& repl, const std::string& module) {
  const std::string path = file_of_module(repl, module);
  if (path.empty()) return "";
  const syntax::Text& text = repl.definitions().session().documents().find(path)->text();
  std::string said = text.parts.empty() ? "" : text.parts[0]->doc;
  while (said.ends_with('\n')) said.pop_back();
  return fmt::format("module {}\n{}{}`:browse {}` lists what it declares.\n", module, said,
                     said.empty() ? "" : "\n", module);
}

/// Of `module.name`, whether the module is imported or not.
std::string member_documentation(Repl& repl, const std::string& name) {
  const size_t point = name.rfind('.');
  const std::string path = point == std::string::npos ? "" : file_of_module(repl, name.substr(0, point));
  if (path.empty()) return "";
  session::Session& session = repl.definitions().session();
  session.check(path);
  for (const session::Entry& entry : session.declarations(path))
    if (entry.key.name == name.substr(point + 1) && !entry.decl->is_private)
      return repl.definitions().documentation(name, entry);
  return "";
}

Answer doc(Repl& repl, const std::string& name) {
  if (const std::string text = documentation(repl, name); !text.empty()) return text_answer(text);
  const auto near = core::nearest(name, repl.definitions().names());
  return error_answer(fmt::format("error: nothing is called `{}`{}\n", name,
                                  near ? fmt::format("; is `{}` meant?", *near) : ""));
}

Answer explain(Repl&, const std::string& code) {
  if (code.empty()) return text_answer(source::explain_all());
  std::string name = code;
  if (name.starts_with('e')) name[0] = 'E';
  const auto known = source::code_from_name(name);
  if (!known) return error_answer(fmt::format("error: there is no code {}; `:explain` lists all\n", code));
  return text_answer(source::explain(*known));
}

Answer save(Repl& repl, const std::string& path) {
  std::string problem;
  const auto folder = std::filesystem::absolute(path).parent_path();
  const std::string text = repl.definitions().source(folder.string(), problem);
  if (!problem.empty()) return error_answer(problem);
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return error_answer(fmt::format("error: cannot write `{}`: {}\n", path, std::strerror(errno)));
  return text_answer(fmt::format("saved to {}\n", path));
}

Answer set(Repl& repl, const std::string& text) {
  Settings& s = repl.settings();
  const std::pair<const char*, bool*> all[] = {{"types", &s.types}, {"values", &s.values}};
  std::string shown;
  for (const auto& [name, value] : all) {
    for (const bool on : {true, false})
      if (text == fmt::format("{} {}", name, on ? "on" : "off")) {
        *value = on;
        return text_answer("");
      }
    shown += fmt::format("{:<6} {}\n", name, *value ? "on" : "off");
  }
  if (text.empty()) return text_answer(shown);
  return error_answer("error: expected `:set types on|off` or `:set values on|off`\n");
}

Answer quit(Repl&, const std::string&) {
  Answer answer;
  answer.kind = Answer::Kind::quit;
  return answer;
}

}  // namespace

std::string documentation(Repl& repl, const std::string& name) {
  std::string text = repl.definitions().documentation(name);
  if (text.empty()) text = word_documentation(name);
  if (text.empty()) text = member_documentation(repl, name);
  if (text.empty()) text = module_documentation(repl, name);
  return text;
}

const std::vector<Command>& commands() {
  using Takes = Command::Takes;
  using Completes = Command::Completes;
  static const std::vector<Command> all = {
      {"type", "e", "the type of an expression, which is not evaluated", Takes::required, type},
      {"shape", "f [m, n] _", "the type of a function applied to shapes; `_` stays open", Takes::required,
       shape},
      {"assume", "condition", "keeps facts about sizes, such as `n % 8 == 0`", Takes::required, assume, true,
       Completes::nothing},
      {"facts", "", "what is assumed", Takes::nothing, facts},
      {"forget", "[numbers]", "gives up those facts, or all", Takes::optional, forget, false,
       Completes::nothing},
      {"prove", "condition", "whether it follows for all sizes", Takes::required, prove, true,
       Completes::nothing},
      {"solve", "condition", "the sizes that satisfy it", Takes::required, solve, true, Completes::nothing},
      {"more", "", "more of these", Takes::nothing, more, true},
      {"why", "", "how the last answer was found, or what the last error means", Takes::nothing, why},
      {"constraints", "f", "what a function requires, and why", Takes::required, constraints, false,
       Completes::names},
      {"load", "file", "takes the definitions of a file", Takes::required, load, false, Completes::files},
      {"reload", "", "reads that file again", Takes::nothing, reload},
      {"browse", "[module]", "what is defined here, or by a module", Takes::optional, browse, false,
       Completes::modules},
      {"doc", "name", "the documentation of a name", Takes::required, doc, false, Completes::names},
      {"graph", "e", "an expression or entry as a graph of tensors, and as a page", Takes::required, graph},
      {"tasks", "e", "its tasks and events", Takes::required, tasks},
      {"plan", "e", "the order of its tasks, and their memory", Takes::required, plan},
      {"llvm", "e", "its code", Takes::required, llvm},
      {"cost", "e [n=4096]", "its operations, bytes and least time, for sizes or as formulas",
       Takes::required, cost},
      {"time", "e", "evaluates, and says how long that took", Takes::required, time},
      {"explain", "[code]", "what an error code such as E0312 means", Takes::optional, explain, false,
       Completes::codes},
      {"save", "file", "writes the definitions to a file", Takes::required, save, false, Completes::files},
      {"set", "[name on|off]", "what is shown: types, values", Takes::optional, set, false,
       Completes::settings},
      {"help", "", "this list", Takes::nothing, help},
      {"quit", "", "ends", Takes::nothing, quit},
  };
  return all;
}

const Command* find_command(const std::string& name, std::string& problem) {
  std::vector<const Command*> found;
  std::vector<std::string> names;
  for (const Command& c : commands()) {
    if (c.name == name) return &c;
    if (!name.empty() && std::string(c.name).starts_with(name)) found.push_back(&c);
    names.emplace_back(c.name);
  }
  if (found.size() == 1 || (found.size() > 1 && name.size() == 1)) return found[0];
  if (found.size() > 1) {
    std::string list;
    for (const Command* c : found) list += fmt::format("{}`:{}`", list.empty() ? "" : ", ", c->name);
    problem = fmt::format("error: `:{}` can be {}\n", name, list);
    return nullptr;
  }
  const auto near = core::nearest(name, names);
  problem = fmt::format("error: there is no command `:{}`; {}\n", name,
                        near ? fmt::format("is `:{}` meant?", *near) : "`:help` lists all");
  return nullptr;
}

}  // namespace axon::repl
