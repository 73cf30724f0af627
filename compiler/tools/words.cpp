// See words.h.
#include "tools/words.h"

namespace axon::tools {

namespace {

/// The words of a validator that describes itself as {a,b,c}.
std::vector<std::string> choices_of(const std::string& type) {
  std::vector<std::string> choices;
  const size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return choices;
  choices.emplace_back();
  for (char c : type.substr(open + 1, close - open - 1)) {
    if (c == ',')
      choices.emplace_back();
    else
      choices.back() += c;
  }
  return choices;
}

}  // namespace

Verb words_of(const CLI::App& app) {
  Verb verb{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    Word word;
    for (const std::string& name : option->get_snames()) word.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) word.names.push_back("--" + name);
    const bool positional = !option->nonpositional();
    if (positional) word.names.push_back(option->get_name(true));
    const std::string type = option->get_type_name();
    word.what = option->get_description();
    word.takes_value = option->get_items_expected_max() > 0;
    if (word.takes_value) word.value = type.substr(0, type.find(':'));
    word.choices = choices_of(type);
    word.required = option->get_required();
    word.repeated = option->get_expected_max() > 1;
    (positional ? verb.positionals : verb.options).push_back(std::move(word));
  }
  return verb;
}

std::vector<Verb> verbs_of(const CLI::App& app) {
  std::vector<Verb> verbs;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(words_of(*sub));
  return verbs;
}

}  // namespace axon::tools
