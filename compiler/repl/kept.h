// The definitions of a REPL as one text.
//
// In: items in order. Out: the text of a program, where each stands in it, and which of them use which by
// name. Invariant: a definition that was not typed as such, such as that of a value, says how much of it was
// made.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "repl/phrase.h"
#include "source/diagnostic.h"

namespace axon::repl {

struct Kept {
  Item item;
  bool loaded = false;  ///< from a file
  bool hidden = false;  ///< a value that was typed
};
/// Where a definition stands in a text: its first byte, and the one behind it.
struct KeptRange {
  size_t begin, end;
  const Kept* kept;
};
using KeptRanges = std::vector<KeptRange>;

/// A definition of which what stands before the text was not typed.
Item made(const std::string& name, const std::string& before, const std::string& text);
std::string joined(const std::vector<Kept>& all, KeptRanges* ranges = nullptr);
/// Whether the name is that of a value that was typed.
bool is_value_of(const std::vector<Kept>& all, const std::string& name);
/// These, and the definitions that use them through values that were typed, which have no name of their own.
std::set<std::string> with_users_of_values(std::set<std::string> names, const std::vector<Kept>& all);
/// Of an error of that item, the item that it is an error of. Those from `fresh` on are a phrase. A circle is
/// closed by the phrase, since there was none before: the error becomes one of the definition in the phrase.
size_t blamed(source::Diagnostic& error, size_t item, const std::vector<Kept>& all, size_t fresh,
              const KeptRanges& ranges);

}  // namespace axon::repl
