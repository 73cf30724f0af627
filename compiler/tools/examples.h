// The examples in a file: `--| >>> e` in documentation, and `test "title" = e`.
//
// An example is evaluated in the scope of its file: with_examples() is the file's text with an entry for each
// behind it, and repetitions() leads from a place in such an entry back to where the example is written. What
// an example should give is the comment lines under it, up to an empty one or the next example; an example
// without such lines, and a test, is a bool that must be true.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "source/diagnostic.h"
#include "syntax/ast.h"

namespace axon::tools {

struct Example {
  source::Span span;     ///< of the expression, where it is written
  std::string title;     ///< of a test; empty for documentation
  std::string expected;  ///< lines; empty: true is expected
  std::string entry;     ///< the entry that evaluates it
  uint32_t made = 0;     ///< where the entry begins in with_examples()
  uint32_t begin = 0;    ///< where its expression begins there
};

/// In source order. A file with syntax errors has those of its documentation.
std::vector<Example> find_examples(const syntax::File& tree, const source::SourceFile& file);

/// `scope`, then the examples as entries; sets where each begins.
std::string with_examples(std::string scope, const source::SourceFile& file, std::vector<Example>& examples);

/// The example that a place of with_examples() belongs to; null when it is in the file itself.
const Example* example_at(const std::vector<Example>& examples, uint32_t offset);

/// The entries, as what with_examples() repeats of the file.
std::vector<source::Repetition> repetitions(const std::vector<Example>& examples);

/// The diagnostic with its places moved to where they were written first.
source::Diagnostic shown_at_first(source::Diagnostic diagnostic, const source::SourceManager& sources);

/// Does a printed value say the same as what is expected? Words and brackets must agree, white space does not
/// matter. A number agrees when the expected one is it, rounded to the digits that are written; a few units
/// in the last place of an f32 make no difference.
bool agrees(const std::string& found, const std::string& expected);

}  // namespace axon::tools
