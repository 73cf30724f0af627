// See complete.h.
#include "repl/complete.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "query/modules_on_disk.h"
#include "repl/commands.h"
#include "repl/repl.h"

namespace axon::repl {

namespace {

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

/// The name with points in it that ends before `end`.
std::string path_before(const std::string& text, size_t end) {
  size_t begin = end;
  while (begin > 0 && (in_word(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  return text.substr(begin, end - begin);
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

std::vector<std::string> words(Repl& repl) {
  std::vector<std::string> all = repl.definitions().names();
#define KEYWORD(kind, spelling) all.emplace_back(spelling);
#define SYMBOL(kind, spelling)
#define CLASS(kind, description)
#include "syntax/tokens.def"
  return all;
}

/// All that could stand there, whatever of it is typed already.
std::vector<std::string> candidates(Repl& repl, const std::string& text, size_t& begin) {
  const size_t space = text.find_first_of(" \t");
  if (text.starts_with(':') && space == std::string::npos) {
    begin = 1;
    std::vector<std::string> all;
    for (const Command& c : commands()) all.emplace_back(c.name);
    return all;
  }
  std::string problem;
  const Command* command = text.starts_with(':') ? find_command(text.substr(1, space - 1), problem) : nullptr;
  const auto kind = command ? command->completes : Command::Completes::names;
  if (kind == Command::Completes::files) {
    begin = text.find_last_of(" \t/") + 1;
    const size_t path = text.find_last_of(" \t", begin) + 1;
    return files_in(text.substr(path, begin - path));
  }
  if (kind == Command::Completes::modules) {
    begin = text.find_last_of(" \t") + 1;
    return modules(repl);
  }
  while (begin > 0 && in_word(text[begin - 1])) --begin;
  if (kind == Command::Completes::codes) return codes();
  if (kind == Command::Completes::settings) return settings(text, begin);
  if (begin > 0 && text[begin - 1] == '.') return repl.definitions().fields_of(path_before(text, begin - 1));
  return words(repl);
}

}  // namespace

std::vector<std::string> complete(Repl& repl, const std::string& text, size_t& begin) {
  begin = text.size();
  std::vector<std::string> all = candidates(repl, text, begin);
  const std::string typed = text.substr(begin);
  std::erase_if(all, [&](const std::string& word) { return !word.starts_with(typed); });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace axon::repl
