// See repl.h.
#include "repl/repl.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bug.h"
#include "base/interrupt.h"
#include "query/typed.h"
#include "repl/applied_type.h"
#include "repl/commands.h"
#include "repl/constraints.h"
#include "repl/lexed.h"
#include "repl/shape_call.h"

namespace axon::repl {

namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// A value of such a type is data of sizes that are known.
bool has_value(const std::string& type) {
  if (type == "?" || type == "string" || type.find("->") != std::string::npos) return false;
  return type.find("..") == std::string::npos;
}

/// One string, which is its own value; what else is one is not known before it is run.
bool is_literal_string(const std::string& expression) {
  const Lexed lexed(expression);
  return lexed.tokens.size() == 1 && lexed.tokens[0].kind == syntax::TokenKind::STR;
}

}  // namespace

std::string consequences(const Definitions::Outcome& outcome) {
  std::string text;
  for (const std::string& name : outcome.mended) text += fmt::format("`{}` checks again\n", name);
  for (const std::string& name : outcome.broken) text += fmt::format("`{}` no longer checks\n", name);
  return text + outcome.broken_errors;
}

Answer refusal(const Definitions::Outcome& outcome) {
  Answer answer = error_answer(outcome.warnings + outcome.errors);
  answer.found = outcome.found;
  return answer;
}

Answer Repl::answer(const std::string& phrase) {
  Answer answer = answer_to(phrase);
  if (!answer.found.empty()) {
    about_ = About::error;
    errors_ = answer.found;
  } else if (answer.failed() && about_ == About::error) {
    errors_.clear();  // what is asked about is this one, of which no more is known
  }
  return answer;
}

Answer Repl::answer_to(const std::string& typed) {
  const std::string phrase = inside_of(typed);
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
  const std::vector<Item> items = items_of(phrase);
  if (std::any_of(items.begin(), items.end(), [](const Item& item) { return item.name == "it"; }))
    return error_answer("error: `it` is the name of the last value, which no definition takes\n");
  const Definitions::Outcome outcome = definitions_.define(phrase);
  if (!outcome.errors.empty()) return refusal(outcome);
  Answer answer;
  answer.kind = Answer::Kind::definition;
  answer.types = outcome.types;
  answer.broken = outcome.broken;
  answer.text = outcome.warnings + (settings_.types ? lines_of(outcome.types) : "") + consequences(outcome);
  if (evaluator_ && settings_.values) answer.text += tested(phrase, items);
  return answer;
}

std::string Repl::tested(const std::string& phrase, const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) {
    const std::string body = body_of_test(item);
    if (body.empty() || !definitions_.broken_in(body).empty()) continue;
    const Evaluation found = computed(blank(phrase.substr(0, item.at)) + body);
    const std::string value = found.values.size() == 1 ? found.values[0].text : "";
    if (value == "true")
      text += fmt::format("passed {}\n", item.name);
    else
      text += fmt::format(
          "FAILED {}\n{}", item.name,
          found.error.empty() ? fmt::format("  expected: true\n  found:    {}\n", value) : found.error);
  }
  return text;
}

Answer Repl::type(const std::string& expression) {
  if (const std::string declared = definitions_.type_of_name(expression); !declared.empty()) {
    Answer answer = text_answer(lines_of({{expression, declared}}));
    answer.kind = Answer::Kind::type;
    answer.types = {{expression, declared}};
    return answer;
  }
  const auto outcome = definitions_.evaluate(expression, fmt::format("it_{}", count_ + 1), false);
  if (!outcome.errors.empty()) return refusal(outcome);
  if (Answer why = definitions_.why_broken(expression); why.failed()) return why;
  Answer answer = text_answer("");
  answer.kind = Answer::Kind::type;
  if (!outcome.types.empty()) answer.types = {{expression, outcome.types[0].type}};
  answer.text = lines_of(answer.types);
  return answer;
}

Answer Repl::evaluate(const std::string& expression, bool timed) {
  const std::string name = fmt::format("it_{}", count_ + 1);
  const auto outcome = definitions_.evaluate(expression, name, false);
  if (!outcome.errors.empty()) {
    Answer answer = refusal(outcome);
    if (const std::string meant = definition_meant_by(expression); !meant.empty())
      answer.text += fmt::format("help: to define it\n    | {}\n", meant);
    return answer;
  }
  if (Answer why = definitions_.why_broken(expression); why.failed()) return why;
  Answer answer;
  answer.kind = Answer::Kind::value;
  answer.types = {{"it", outcome.types.empty() ? "?" : outcome.types[0].type}};
  answer.text = outcome.warnings + (settings_.types ? lines_of(answer.types) : "");
  if (settings_.values && is_literal_string(expression)) answer.text += expression + "\n";
  if (evaluator_ && settings_.values && has_value(answer.types[0].type)) {
    answer = run(expression, std::move(answer), timed);
    if (answer.failed() || answer.kind == Answer::Kind::interrupted) return answer;
  }
  definitions_.evaluate(expression, name, true);
  definitions_.set_it(name);
  ++count_;
  return answer;
}

Evaluation Repl::computed(const std::string& expression) {
  const Program program{definitions_.path(), definitions_.program(expression), definitions_.entry()};
  Evaluation evaluation = evaluator_->evaluate(
      program, said_ ? said_ : [](std::string_view) {});
  if (evaluation.interrupted) throw base::Cancelled{};
  evaluation.error += definitions_.as_typed(evaluation.found, expression);
  return evaluation;
}

Answer Repl::run(const std::string& expression, Answer answer, bool timed) {
  if (const auto outcome = definitions_.run_check(expression); !outcome.errors.empty())
    return refusal(outcome);
  Evaluation evaluation = computed(expression);
  if (!evaluation.error.empty()) {
    answer.kind = Answer::Kind::error;
    answer.text += evaluation.error;
    answer.found = std::move(evaluation.found.diagnostics);
    return answer;
  }
  // An element type that was left open, as that of a literal, is known by now, and so is a size that the data
  // decides. The parts of a record or a tuple show their own.
  const std::string& type = answer.types[0].type;
  const bool is_tensor = type.find_first_of("{(") == std::string::npos;
  if (is_tensor && type.find('\'') != std::string::npos && evaluation.values.size() == 1) {
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

Answer Repl::stage(const std::string& stage, const std::string& expression,
                   const std::vector<std::pair<std::string, int64_t>>& sizes) {
  if (!evaluator_) return error_answer("error: nothing is compiled here\n");
  if (Answer why = definitions_.why_broken(expression); why.failed()) return why;
  Program program{definitions_.path(), definitions_.program(), expression};
  size_t parameters = 0;
  if (!definitions_.defines(expression) ||
      definitions_.program().find("entry " + expression) == std::string::npos) {
    parameters = definitions_.parameters_of(expression);
    if (const auto outcome = definitions_.run_check(expression, parameters); !outcome.errors.empty())
      return refusal(outcome);
    program.entry = definitions_.entry();
    program.text = definitions_.program(expression, parameters);
  }
  program.sizes = sizes;
  Evaluation evaluation = evaluator_->stage(program, stage);
  if (evaluation.interrupted) throw base::Cancelled{};
  if (evaluation.failed()) {
    Answer answer =
        error_answer(evaluation.error + definitions_.as_typed(evaluation.found, expression, parameters));
    answer.found = std::move(evaluation.found.diagnostics);
    return answer;
  }
  Answer answer = text_answer(evaluation.values.empty() ? "" : evaluation.values[0].text);
  answer.page = std::move(evaluation.page);
  return answer;
}

Answer Repl::shape(const std::string& text) {
  ShapeCall call =
      read_shape_call(text, [&](const std::string& name) { return definitions_.is_value(name); });
  if (!call.error.empty()) return error_answer(call.error);
  const std::string name = definitions_.free_name("query");
  const auto function = definitions_.find(call.function);
  if (function && function->record && function->record->checked)
    call.take_numbers(number_types(*function->record));
  const ShapeQuery::Assumed assumed = shapes_.assumed_of(call.sizes);
  AppliedType applied;
  const auto outcome = definitions_.probe(
      call.declaration(name, assumed.beside, assumed.conditions), name, [&](const session::Record& record) {
        const size_t first = assumed.beside.empty() ? 0 : 1;
        applied = applied_type(record, first, call.given, assumed.conditions);
      });
  if (!outcome.errors.empty()) return refusal(outcome);
  about_ = About::shape;
  shape_why_ = applied.why;
  Answer answer = text_answer("");
  answer.kind = Answer::Kind::type;
  answer.types = {{text, applied.type}};
  answer.text = query::declaration_text(text, applied.type) + "\n";
  if (answer.text.find('\n') + 1 < answer.text.size())  // the question has a line of its own then
    answer.text = text + "\n" + query::declaration_text(" ", applied.type) + "\n";
  return answer;
}

Answer Repl::constraints(const std::string& name) {
  const auto entry = definitions_.find(name);
  if (!entry || !entry->decl || entry->key.space != core::DeclKey::Space::values)
    return error_answer(fmt::format("error: no function is called `{}`\n", name));
  if (Answer why = definitions_.why_broken(name); why.failed()) return why;
  if (!entry->record || !entry->record->good)
    return error_answer(fmt::format("error: `{}` does not check\n", name));
  return constraints_of(name, *entry, definitions_.session().sources());
}

Answer Repl::why() {
  switch (about_) {
    case About::sizes:
      return shapes_.why();
    case About::shape:
      return text_answer(shape_why_);
    case About::error:
      if (errors_.empty()) return error_answer("error: no more is known of the last error\n");
      return text_answer(explanation(errors_));
  }
  return {};
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
  if (command->is_about_sizes) about_ = About::sizes;
  return command->answer(*this, argument);
}

}  // namespace axon::repl
