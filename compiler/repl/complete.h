// What could stand where a text ends.
#pragma once
#include <string>
#include <vector>

namespace axon::repl {

class Repl;

/// Whole words, sorted, with the offset at which they begin: commands behind a colon, fields behind a point,
/// files, codes of errors, or names and words of the language.
std::vector<std::string> complete(Repl& repl, const std::string& text, size_t& begin);

}  // namespace axon::repl
