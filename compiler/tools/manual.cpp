// See manual.h.
#include "tools/manual.h"

#include <fmt/format.h>

#include "tools/common.h"
#include "tools/words.h"

namespace axon::tools {

namespace {

/// Text as roff prints it: as it is, with dashes that can be copied.
std::string roff(const std::string& text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\n')
      out += "\n.br\n";
    else
      out += c;
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

/// FILE, [NAME=VALUE ...]
std::string positional_text(const Word& word) {
  const std::string text = italic(word.names[0]) + (word.repeated ? " ..." : "");
  return word.required ? text : "[" + text + "]";
}

/// TEXT ..., or one|of|these
std::string value_text(const Word& word) {
  if (word.choices.empty()) return italic(word.value) + (word.repeated ? " ..." : "");
  std::string out;
  for (const std::string& choice : word.choices)
    out += (out.empty() ? "" : "|\\:") + bold(choice);  // a line may end behind the bar
  return out;
}

std::string names_text(const Word& word) {
  std::string out;
  for (const std::string& name : word.names) out += (out.empty() ? "" : ", ") + bold(name);
  if (word.takes_value) return out + " " + value_text(word);
  return word.choices.empty() ? out : out + "[=" + value_text(word) + "]";  // a flag that may have a value
}

std::string listed(const std::string& tag, const std::string& what) {
  return fmt::format(".TP\n{}\n{}\n", tag, roff(what));
}

std::string options_text(const Verb& verb) {
  std::string out;
  for (const Word& word : verb.positionals) out += listed(italic(word.names[0]), word.what);
  for (const Word& word : verb.options) out += listed(names_text(word), word.what);
  return out;
}

/// etcc build [OPTIONS] FILE
std::string usage_text(const std::string& program, const Verb& verb) {
  std::string out = bold(program + " " + verb.name) + " [" + italic("OPTIONS") + "]";
  for (const Word& word : verb.positionals) out += " " + positional_text(word);
  return out;
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& version) {
  const Verb own = words_of(app);
  const std::vector<Verb> verbs = verbs_of(app);
  std::string usages, commands;
  for (const Verb& verb : verbs) {
    const std::string usage = usage_text(own.name, verb);
    usages += (usages.empty() ? "" : ".br\n") + usage + "\n";
    commands +=
        fmt::format(".SS {}\n{}\n.PP\n{}\n{}", roff(verb.name), roff(verb.what), usage, options_text(verb));
  }
  return fmt::format(
      ".TH {} 1 \"\" \"axon {}\" \"Axon\"\n.ad l\n.nh\n"
      ".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}.SH OPTIONS\n{}.SH COMMANDS\n{}.SH EXIT STATUS\n{}{}{}{}{}",
      "ETCC", roff(version), own.name, roff(own.what), usages, options_text(own), commands,
      listed(std::to_string(ok), "success"), listed(std::to_string(user_error), "an error in what was given"),
      listed(std::to_string(usage), "a command line that cannot be read"),
      listed(std::to_string(run_error), "a program that failed while it ran"),
      listed(std::to_string(bug), "a bug of the compiler"));
}

}  // namespace axon::tools
