// See complete.h.
#include "repl/complete.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "query/modules_on_disk.h"
#include "repl/commands.h"
#include "repl/phrase.h"
#include "repl/repl.h"
#include "syntax/tokens.h"

namespace axon::repl {

namespace {

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

/// Folders, and files of the language, in the folder that a path begins with.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> all;
  std::error_code failed;
  for (const auto& file : std::filesystem::directory_iterator(folder.empty() ? "." : folder, failed))
    if (file.is_directory(failed) || file.path().extension() == ".axn")
      all.push_back(file.path().filename().string() + (file.is_directory(failed) ? "/" : ""));
  return all;
}

std::vector<std::string> codes() {
  std::vector<std::string> all;
  for (const source::Code code : source::all_codes()) all.emplace_back(source::code_name(code));
  return all;
}

/// Those of the library, and what is imported.
std::vector<std::string> modules(Repl& repl) {
  std::vector<std::string> all = query::library_modules(repl.definitions().session());
  all.emplace_back("prelude");
  for (std::string& name : repl.definitions().imports()) all.push_back(std::move(name));
  return all;
}

/// The name of a setting, or behind one what it can be.
std::vector<std::string> settings(const std::string& text, size_t begin) {
  const std::string before = text.substr(0, begin);
  const size_t last = before.find_last_not_of(" \t");
  if (before.find_first_of(" \t") < last) return {"on", "off"};
  return {"types", "values"};
}

/// The words of the language, or those of them alone that begin a declaration.
std::vector<std::string> keywords(bool of_declarations) {
  std::vector<std::string> all;
  const auto add = [&](syntax::TokenKind kind, const char* word) {
    if (!of_declarations || syntax::opens_declaration(kind)) all.emplace_back(word);
  };
#define KEYWORD(kind, spelling) add(syntax::TokenKind::kind, spelling);
#define SYMBOL(kind, spelling)
#define CLASS(kind, description)
#include "syntax/tokens.def"
  return all;
}

std::vector<std::string> all_of_both(std::vector<std::string> all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Names, and the words of the language.
std::vector<std::string> words(Repl& repl) {
  return all_of_both(repl.definitions().names(), keywords(false));
}

/// What may stand in a phrase for its last word; where that is the first one, a definition may begin.
std::vector<std::string> in_phrase(Repl& repl, const std::string& phrase, size_t word) {
  std::vector<std::string> all = repl.definitions().completions(phrase, word);
  return word == 0 ? all_of_both(std::move(all), keywords(true)) : all;
}

/// Behind a command: what it takes. `begin`: of the last word.
std::vector<std::string> arguments(Repl& repl, const Command& command, const std::string& text,
                                   size_t& begin) {
  using Completes = Command::Completes;
  if (command.completes == Completes::files) begin = text.find_last_of(" \t/") + 1;
  if (command.completes == Completes::modules) begin = text.find_last_of(" \t") + 1;
  const size_t path = text.find_last_of(" \t", begin) + 1, space = text.find_first_of(" \t") + 1;
  if (command.takes == Command::Takes::nothing) return {};
  switch (command.completes) {
    case Completes::expressions:
      return repl.definitions().completions(text.substr(space), begin - space);
    case Completes::names:
      return words(repl);
    case Completes::files:
      return files_in(text.substr(path, begin - path));
    case Completes::codes:
      return codes();
    case Completes::modules:
      return modules(repl);
    case Completes::settings:
      return settings(text, begin);
    case Completes::nothing:
      return {};
  }
  return {};
}

/// All that could stand for the last word of a phrase, whatever of it is typed already.
std::vector<std::string> candidates(Repl& repl, const std::string& text, size_t& begin) {
  while (begin > 0 && in_word(text[begin - 1])) --begin;
  if (text.starts_with('?')) return words(repl);
  if (!text.starts_with(':')) return in_phrase(repl, text, begin);
  const size_t space = text.find_first_of(" \t");
  if (space == std::string::npos) {
    begin = 1;
    std::vector<std::string> all;
    for (const Command& c : commands()) all.emplace_back(c.name);
    return all;
  }
  std::string problem;
  const Command* command = find_command(text.substr(1, space - 1), problem);
  return command ? arguments(repl, *command, text, begin) : std::vector<std::string>();
}

}  // namespace

std::vector<std::string> complete(Repl& repl, const std::string& text, size_t& begin) {
  // Of several phrases, the last one.
  const std::vector<std::string> phrases = phrases_of(text);
  const bool ends_so = !phrases.empty() && text.ends_with(phrases.back());
  const std::string phrase = ends_so ? phrases.back() : text;
  const size_t before = text.size() - phrase.size();
  begin = phrase.size();
  std::vector<std::string> all = candidates(repl, phrase, begin);
  begin += before;
  const std::string typed = text.substr(begin);
  std::erase_if(all, [&](const std::string& word) { return !word.starts_with(typed); });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace axon::repl
