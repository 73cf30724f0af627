// The REPL: definitions that accumulate, expressions that are typed and evaluated, commands.
//
// In: phrases, one by one. Out: an Answer for each. Invariant: an answer depends on the phrases before it
// alone, and no phrase ends the REPL but `:quit`.
#pragma once
#include <string>
#include <vector>

#include "repl/answer.h"
#include "repl/definitions.h"
#include "repl/evaluator.h"

namespace axon::repl {

struct Settings {
  bool values = true;  ///< expressions are evaluated
  bool types = true;   ///< and their types shown
};

class Repl {
 public:
  /// Without an evaluator, expressions are typed only.
  Repl(std::vector<std::string> library, Evaluator* evaluator, source::RenderOptions render = {})
      : definitions_(std::move(library), render), evaluator_(evaluator) {}

  Answer answer(const std::string& phrase);
  /// What could stand where the text ends: whole words, with the offset at which they begin.
  std::vector<std::string> complete(const std::string& text, size_t& begin) const;

  Definitions& definitions() { return definitions_; }
  Settings& settings() { return settings_; }
  Evaluator* evaluator() { return evaluator_; }
  void on_output(Evaluator::Said said) { said_ = std::move(said); }
  std::string loaded;  ///< the file of the last `:load`

  Answer define(const std::string& phrase);
  Answer evaluate(const std::string& expression, bool timed);
  Answer type(const std::string& expression);
  Answer stage(const std::string& stage, const std::string& expression);

 private:
  Answer command(const std::string& text);
  Answer run(const std::string& expression, Answer answer, bool timed);

  Definitions definitions_;
  Evaluator* evaluator_;
  Evaluator::Said said_;
  Settings settings_;
  unsigned count_ = 0;  ///< of expressions
};

Answer text_answer(std::string text);
Answer error_answer(std::string text);

}  // namespace axon::repl
