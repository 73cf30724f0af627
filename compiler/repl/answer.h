// What the REPL answers to a phrase.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "repl/evaluator.h"
#include "source/diagnostic.h"

namespace axon::repl {

/// A name with its type: of a definition, or of `it`.
struct Typed {
  std::string name, type;
};

/// What of the text is a table: its head, and rows as long as that.
struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

struct Answer {
  enum class Kind : uint8_t {
    nothing,
    definition,
    value,
    type,
    text,
    error,
    interrupted,
    quit
  } kind = Kind::nothing;
  std::string text;          ///< all of it, as a terminal shows it; ends with a line break unless empty
  std::vector<Typed> types;  ///< what was defined, or what the expression is
  std::vector<Value> values;
  std::string page;                       ///< HTML that shows more than the text; empty where there is none
  Table table;                            ///< no head where there is none
  std::vector<std::string> broken;        ///< definitions that no longer check
  std::vector<source::Diagnostic> found;  ///< of an error: what was wrong with the phrase
  bool failed() const { return kind == Kind::error; }
};

/// The words of a text with one blank between them.
std::string in_one_line(std::string_view text);

Answer text_answer(std::string text);
Answer error_answer(std::string text);
/// The rows, under the head if that is shown, each column as wide as its widest entry; numbers to the right.
/// `name : type`, the names padded to one width, in lines of at most 80 columns where the types have a place
/// to break.
std::string lines_of(const std::vector<Typed>& types);
Answer table_answer(Table table, bool with_head = true);

}  // namespace axon::repl
