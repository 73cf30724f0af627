// The examples of documentation comments, `--| >>> f 1`, as declarations whose names can be looked at.
//
// In: a loaded file. Out: its text with each example as a value behind it, to be checked as a trial
// (session::Session::with_text), and where a place of that text stands in the file. Invariant: the names of
// an example stand for what they do when `etcc test` runs it, in the scope of its file.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "session/session.h"

namespace axon::query {

class ExampleText {
 public:
  ExampleText(const session::Session& session, const std::string& path);
  const std::string& text() const { return text_; }
  /// Whether an example has the word.
  bool mentions(std::string_view word) const;
  /// Of a place in the value that was made of an example, the one in the example; nothing for any other.
  std::optional<source::Span> in_example(source::Span place) const;
  /// Of a place in an example, the one in the value; nothing for any other.
  std::optional<source::Span> in_value(source::Span place) const;

 private:
  struct Example {
    source::Span span;    ///< in the file
    uint32_t value_from;  ///< where the text of the example begins in the value
  };
  std::string text_;
  std::vector<Example> examples_;
};

}  // namespace axon::query
