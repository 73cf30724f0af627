// What a user types at once: a command, definitions, or an expression.
//
// In: the text of a phrase. Out: what it is, and whether more has to follow. Invariant: nothing is reported;
// that is the business of the check.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axon::repl {

enum class PhraseKind : uint8_t { empty, command, definitions, expression };
PhraseKind kind_of(const std::string& text);

/// A bracket is open, a `let` has no `in`, or something follows by all means: more lines belong to it.
bool is_unfinished(const std::string& text);

/// A command ends what stands before it, finished or not: `:` and a letter at the margin.
bool begins_command(const std::string& line);

/// The phrases of a text of several, such as a cell of a notebook: each begins at the margin, where the one
/// before is finished, and takes the lines behind it that do not. Definitions that follow each other are one.
std::vector<std::string> phrases_of(const std::string& text);

/// A piece of a file: one declaration with what stands before it.
struct Item {
  std::string name;           ///< of a test: the word and its title
  bool is_type = false;       ///< a type, a layout or an import: of another kind than values
  bool is_signature = false;  ///< `val name : type`, which the definition follows
  std::string text;
  bool same_as(const Item& o) const {
    return !name.empty() && name == o.name && is_type == o.is_type && is_signature == o.is_signature;
  }
};
std::vector<Item> items_of(const std::string& text);

/// Where the name stands as a word of its own: offsets.
std::vector<size_t> places_of(const std::string& text, std::string_view name);

}  // namespace axon::repl
