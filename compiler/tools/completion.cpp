// See completion.h.
#include "tools/completion.h"

#include <fmt/format.h>

#include <vector>

#include "tools/words.h"

namespace axon::tools {

namespace {

std::string joined(const std::vector<std::string>& all, const char* between) {
  return fmt::format("{}", fmt::join(all, between));
}

std::vector<std::string> names_of(const std::vector<Word>& words) {
  std::vector<std::string> names;
  for (const Word& word : words) names.insert(names.end(), word.names.begin(), word.names.end());
  return names;
}

/// Text between single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash_script(const std::vector<Verb>& verbs, const std::vector<Word>& own) {
  std::vector<std::string> names = names_of(own);
  for (const Verb& verb : verbs) names.push_back(verb.name);
  std::string cases;
  for (const Verb& verb : verbs) {
    cases += fmt::format("    {})\n      case \"$before\" in\n", verb.name);
    for (const Word& word : verb.options) {
      if (!word.takes_value) continue;
      const std::string reply = word.choices.empty()
                                    ? "mapfile -t COMPREPLY < <(compgen -f -- \"$word\")"
                                    : fmt::format("mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\")",
                                                  quoted(joined(word.choices, " ")));
      cases += fmt::format("        {}) {}; return ;;\n", joined(word.names, "|"), reply);
    }
    cases += fmt::format("      esac\n      options={} ;;\n", quoted(joined(names_of(verb.options), " ")));
  }
  return fmt::format(R"(# Completion of etcc for bash: source <(etcc --completion bash)
_etcc() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options=
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W {} -- "$word")
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}}
complete -o filenames -F _etcc etcc
)",
                     quoted(joined(names, " ")), cases);
}

/// `-D` and `--define` as what _arguments wants for them.
std::string zsh_options(const std::vector<Word>& words) {
  std::string out;
  for (const Word& word : words) {
    std::string what;
    for (char c : word.what)
      what += c == '[' || c == ']' || c == ':' ? std::string("\\") + c : std::string(1, c);
    std::string value;
    if (word.takes_value)
      value = word.choices.empty() ? ":value:_files" : ":value:(" + joined(word.choices, " ") + ")";
    for (const std::string& name : word.names)
      out += " \\\n        " + quoted(name + "[" + what + "]" + value);
  }
  return out;
}

std::string zsh_script(const std::vector<Verb>& verbs, const std::vector<Word>& own) {
  std::string names, cases;
  for (const Verb& verb : verbs) {
    names += "    " + quoted(verb.name + ":" + verb.what) + "\n";
    cases += fmt::format("    {})\n      _arguments{} \\\n        '*:file:_files' ;;\n", verb.name,
                         zsh_options(verb.options));
  }
  for (const Word& word : own)
    for (const std::string& name : word.names) names += "    " + quoted(name + ":" + word.what) + "\n";
  return fmt::format(R"(#compdef etcc
# Completion of etcc for zsh: put it into a folder of $fpath under the name _etcc.
_etcc() {{
  local -a verbs
  verbs=(
{}  )
  if (( CURRENT == 2 )); then
    _describe 'command' verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
{}  esac
}}
_etcc "$@"
)",
                     names, cases);
}

std::string fish_option(const std::string& condition, const Word& word) {
  std::string out = "complete -c etcc -n " + quoted(condition);
  for (const std::string& name : word.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (word.takes_value) out += word.choices.empty() ? " -r" : " -x -a " + quoted(joined(word.choices, " "));
  return out + " -d " + quoted(word.what) + "\n";
}

std::string fish_script(const std::vector<Verb>& verbs, const std::vector<Word>& own) {
  std::string out =
      "# Completion of etcc for fish: etcc --completion fish > ~/.config/fish/completions/etcc.fish\n";
  for (const Word& word : own) out += fish_option("__fish_use_subcommand", word);
  for (const Verb& verb : verbs) {
    out += fmt::format("complete -c etcc -n __fish_use_subcommand -f -a {} -d {}\n", verb.name,
                       quoted(verb.what));
    for (const Word& word : verb.options)
      out += fish_option("__fish_seen_subcommand_from " + verb.name, word);
  }
  return out;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  const std::vector<Verb> verbs = verbs_of(app);
  const std::vector<Word> own = words_of(app).options;
  if (shell == "bash") return bash_script(verbs, own);
  return shell == "zsh" ? zsh_script(verbs, own) : fish_script(verbs, own);
}

}  // namespace axon::tools
