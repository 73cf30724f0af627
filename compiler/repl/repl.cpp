// See repl.h.
#include "repl/repl.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/bug.h"
#include "base/interrupt.h"
#include "repl/commands.h"
#include "syntax/tokens.h"

namespace axon::repl {

namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// `name : type`, the names padded to one width.
std::string lines_of(const std::vector<Typed>& types) {
  size_t width = 0;
  for (const Typed& t : types) width = std::max(width, t.name.size());
  std::string text;
  for (const Typed& t : types) text += fmt::format("{:<{}} : {}\n", t.name, width, t.type);
  return text;
}

/// What a change did to other definitions.
std::string consequences(const Definitions::Outcome& outcome) {
  std::string text;
  for (const std::string& name : outcome.mended) text += fmt::format("`{}` checks again\n", name);
  for (const std::string& name : outcome.broken) text += fmt::format("`{}` no longer checks\n", name);
  return text + outcome.broken_errors;
}

/// A value of such a type is data of sizes that are known.
bool has_value(const std::string& type) {
  if (type == "?" || type.find("->") != std::string::npos) return false;
  return type.find("..") == std::string::npos;
}

}  // namespace

Answer text_answer(std::string text) {
  Answer answer;
  answer.kind = Answer::Kind::text;
  answer.text = std::move(text);
  return answer;
}

Answer error_answer(std::string text) {
  Answer answer = text_answer(std::move(text));
  answer.kind = Answer::Kind::error;
  return answer;
}

Answer Repl::answer(const std::string& phrase) {
  try {
    switch (kind_of(phrase)) {
      case PhraseKind::empty:
        return {};
      case PhraseKind::command:
        return command(trimmed(phrase));
      case PhraseKind::definitions:
        return define(trimmed(phrase));
      case PhraseKind::expression:
        return evaluate(trimmed(phrase), false);
    }
  } catch (const base::Cancelled&) {
    Answer answer = text_answer("interrupted\n");
    answer.kind = Answer::Kind::interrupted;
    return answer;
  } catch (const base::InternalError& e) {
    return error_answer(
        fmt::format("error: {}\nThis is a bug in the compiler. The definitions are kept.\n", e.what()));
  }
  return {};
}

Answer Repl::define(const std::string& phrase) {
  const Definitions::Outcome outcome = definitions_.define(phrase);
  if (!outcome.errors.empty()) return error_answer(outcome.warnings + outcome.errors);
  Answer answer;
  answer.kind = Answer::Kind::definition;
  answer.types = outcome.types;
  answer.broken = outcome.broken;
  answer.text = outcome.warnings + (settings_.types ? lines_of(outcome.types) : "") + consequences(outcome);
  return answer;
}

Answer Repl::type(const std::string& expression) {
  const auto outcome = definitions_.evaluate(expression, fmt::format("it_{}", count_ + 1), false);
  if (!outcome.errors.empty()) return error_answer(outcome.errors);
  Answer answer = text_answer("");
  answer.kind = Answer::Kind::type;
  if (!outcome.types.empty()) answer.types = {{expression, outcome.types[0].type}};
  answer.text = lines_of(answer.types);
  return answer;
}

Answer Repl::evaluate(const std::string& expression, bool timed) {
  const std::string name = fmt::format("it_{}", count_ + 1);
  const auto outcome = definitions_.evaluate(expression, name, false);
  if (!outcome.errors.empty()) return error_answer(outcome.warnings + outcome.errors);
  Answer answer;
  answer.kind = Answer::Kind::value;
  answer.types = {{"it", outcome.types.empty() ? "?" : outcome.types[0].type}};
  answer.text = outcome.warnings + (settings_.types ? lines_of(answer.types) : "");
  if (evaluator_ && settings_.values && has_value(answer.types[0].type)) {
    answer = run(expression, std::move(answer), timed);
    if (answer.failed() || answer.kind == Answer::Kind::interrupted) return answer;
  }
  definitions_.evaluate(expression, name, true);
  definitions_.set_it(name);
  ++count_;
  return answer;
}

Answer Repl::run(const std::string& expression, Answer answer, bool timed) {
  if (const std::string broken = definitions_.broken_in(expression); !broken.empty())
    return error_answer(fmt::format("error: `{}` no longer checks\n", broken));
  const std::string entry = fmt::format("it_{}", count_ + 1);
  const Program program{definitions_.path(), definitions_.program(entry, expression), entry};
  Evaluation evaluation = evaluator_->evaluate(
      program, said_ ? said_ : [](std::string_view) {});
  if (evaluation.interrupted) throw base::Cancelled{};
  if (!evaluation.error.empty()) {
    answer.kind = Answer::Kind::error;
    answer.text += evaluation.error;
    return answer;
  }
  // An element type that was left open, as that of a literal, is known by now.
  if (answer.types[0].type.starts_with("'") && evaluation.values.size() == 1) {
    answer.types[0].type = evaluation.values[0].type;
    if (settings_.types) answer.text = lines_of(answer.types);
  }
  for (const Value& value : evaluation.values) {
    if (evaluation.values.size() > 1) answer.text += fmt::format("{} : {} =\n", value.name, value.type);
    answer.text += value.text + "\n";
  }
  if (timed)
    answer.text +=
        fmt::format("compiled in {:.1f} ms, ran in {:.3f} ms\n", evaluation.compiled, evaluation.ran);
  answer.values = std::move(evaluation.values);
  return answer;
}

Answer Repl::stage(const std::string& stage, const std::string& expression) {
  if (!evaluator_) return error_answer("error: nothing is compiled here\n");
  if (const std::string broken = definitions_.broken_in(expression); !broken.empty())
    return error_answer(fmt::format("error: `{}` no longer checks\n", broken));
  Program program{definitions_.path(), definitions_.program(), expression};
  if (!definitions_.defines(expression) ||
      definitions_.program().find("entry " + expression) == std::string::npos) {
    const auto outcome = definitions_.evaluate(expression, fmt::format("it_{}", count_ + 1), false);
    if (!outcome.errors.empty()) return error_answer(outcome.errors);
    program.entry = fmt::format("it_{}", count_ + 1);
    program.text = definitions_.program(program.entry, expression);
  }
  Evaluation evaluation = evaluator_->stage(program, stage);
  if (evaluation.interrupted) throw base::Cancelled{};
  if (!evaluation.error.empty()) return error_answer(evaluation.error);
  return text_answer(evaluation.values.empty() ? "" : evaluation.values[0].text);
}

Answer Repl::command(const std::string& text) {
  std::string name, argument;
  if (text[0] == '?') {
    argument = trimmed(text.substr(1));
    name = argument.empty() ? "help" : "doc";
  } else {
    const size_t end = std::min(text.find_first_of(" \t\n", 1), text.size());
    name = text.substr(1, end - 1);
    argument = trimmed(text.substr(end));
  }
  std::string problem;
  const Command* command = find_command(name, problem);
  if (!command) return error_answer(problem);
  const bool misused = (command->takes == Command::Takes::nothing && !argument.empty()) ||
                       (command->takes == Command::Takes::required && argument.empty());
  if (misused)
    return error_answer(fmt::format("error: expected `:{}{}{}`\n", command->name,
                                    *command->arguments ? " " : "", command->arguments));
  return command->answer(*this, argument);
}

std::vector<std::string> Repl::complete(const std::string& text, size_t& begin) const {
  begin = text.size();
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
  };
  const size_t space = text.find_first_of(" \t");
  std::string problem;
  const Command* command = text.starts_with(':') && space != std::string::npos
                               ? find_command(text.substr(1, space - 1), problem)
                               : nullptr;
  std::vector<std::string> all;
  if (text.starts_with(':') && space == std::string::npos) {
    begin = 1;
    for (const Command& c : commands()) all.emplace_back(c.name);
  } else if (command && command->takes_path) {
    begin = text.find_last_of(" \t/") + 1;
    const std::string given = text.substr(text.find_last_of(" \t", begin) + 1);
    const std::string folder = given.substr(0, given.rfind('/') + 1);
    std::error_code failed;
    for (const auto& file : std::filesystem::directory_iterator(folder.empty() ? "." : folder, failed))
      if (file.is_directory(failed) || file.path().extension() == ".axn")
        all.push_back(file.path().filename().string() + (file.is_directory(failed) ? "/" : ""));
  } else {
    while (begin > 0 && in_word(text[begin - 1])) --begin;
    all = definitions_.names();
#define KEYWORD(kind, spelling) all.emplace_back(spelling);
#define SYMBOL(kind, spelling)
#define CLASS(kind, description)
#include "syntax/tokens.def"
  }
  const std::string typed = text.substr(begin);
  std::erase_if(all, [&](const std::string& word) { return !word.starts_with(typed); });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace axon::repl
