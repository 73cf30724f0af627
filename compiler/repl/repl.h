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
#include "repl/shape_query.h"

namespace axon::repl {

struct Settings {
  bool values = true;  ///< expressions are evaluated
  bool types = true;   ///< and their types shown
};

class Repl {
 public:
  /// Without an evaluator, expressions are typed only.
  Repl(std::vector<std::string> library, Evaluator* evaluator, source::RenderOptions render = {})
      : definitions_(std::move(library), render), shapes_(render), evaluator_(evaluator) {}

  Answer answer(const std::string& phrase);
  Definitions& definitions() { return definitions_; }
  ShapeQuery& shapes() { return shapes_; }
  Settings& settings() { return settings_; }
  Evaluator* evaluator() { return evaluator_; }
  void on_output(Evaluator::Said said) { said_ = std::move(said); }
  std::string loaded;  ///< the file of the last `:load`

  Answer define(const std::string& phrase);
  Answer evaluate(const std::string& expression, bool timed);
  Answer type(const std::string& expression);
  Answer stage(const std::string& stage, const std::string& expression,
               const std::vector<std::pair<std::string, int64_t>>& sizes = {});
  /// The type of a function that is applied to shapes (shape_call.h).
  Answer shape(const std::string& call);
  /// What the type of a function requires, and where that comes from.
  Answer constraints(const std::string& name);
  /// How the last answer that was a verdict came about.
  Answer why();

 private:
  Answer answer_to(const std::string& phrase);
  Answer command(const std::string& text);
  Answer run(const std::string& expression, Answer answer, bool timed);
  Evaluation computed(const std::string& expression);
  /// Runs the tests among the definitions of a phrase, and says what became of each.
  std::string tested(const std::string& phrase, const std::vector<Item>& items);

  Definitions definitions_;
  ShapeQuery shapes_;
  Evaluator* evaluator_;
  Evaluator::Said said_;
  /// What `:why` is about: a question about sizes, a function applied to shapes, or an error.
  enum class About : uint8_t { sizes, shape, error } about_ = About::sizes;
  std::string shape_why_;
  std::vector<source::Diagnostic> errors_;
  Settings settings_;
  unsigned count_ = 0;  ///< of expressions
};

/// Of a phrase with errors.
Answer refusal(const Definitions::Outcome& outcome);
/// What a change did to other definitions.
std::string consequences(const Definitions::Outcome& outcome);

}  // namespace axon::repl
