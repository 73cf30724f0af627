// What the words and signs of the language mean that no module declares.
#pragma once
#include <string>

namespace axon::repl {

/// Lines about a keyword, a sign or an element type; empty for anything else.
std::string word_documentation(const std::string& word);

}  // namespace axon::repl
