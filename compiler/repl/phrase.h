// What a user types at once: a command, definitions, or an expression.
//
// In: the text of a phrase. Out: what it is, and whether more has to follow. Invariant: nothing is reported;
// that is the business of the check.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axon::repl {

enum class PhraseKind : uint8_t { empty, command, definitions, expression };
PhraseKind kind_of(const std::string& text);

/// The first line is `:{`: all lines belong to it up to `:}`, whatever they hold.
bool is_enclosed(const std::string& text);
/// What stands between `:{` and `:}`; of any other text, all of it.
std::string inside_of(const std::string& text);

/// A bracket or what encloses it is open, or nothing is wrong with it but that it ends: more lines belong to
/// it.
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
  size_t at = 0;    ///< where the text begins in what was typed
  size_t made = 0;  ///< how many bytes stand before it that were not typed
  bool same_as(const Item& o) const {
    return !name.empty() && name == o.name && is_type == o.is_type && is_signature == o.is_signature;
  }
};
/// With a line break between them, the texts of the items are that text; the last one keeps its own. A
/// comment at the end of a line belongs to what stands before it.
std::vector<Item> items_of(const std::string& text);
/// The item without comments around it.
std::string declaration_of(const Item& item);
/// The characters but line breaks as blanks: what stands behind them keeps its place.
std::string blank(const std::string& text);
/// The expression of a test, at its place in the item; empty of any other item.
std::string body_of_test(const Item& item);
/// An import of a file that lies beside `from`, as a program in the folder `to` has to write it; nothing
/// where it cannot, since the file lies outside of that folder. Any other item as it is.
std::optional<std::string> moved_import(const Item& item, const std::string& from, const std::string& to);

/// The definition that a phrase such as `x = 1.0`, `f x = x` or `let x = 1.0` was meant to be, its first
/// line; empty for any other.
std::string definition_meant_by(const std::string& text);

/// Where the name stands as a word of its own: offsets.
std::vector<size_t> places_of(const std::string& text, std::string_view name);

}  // namespace axon::repl
