// The words of a command line, out of the table that reads it: what completion offers and the manual lists.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace axon::tools {

/// An option, or a word without a name.
struct Word {
  std::vector<std::string>
      names;  ///< with their dashes: -D, --define; of a word without one, what it is: FILE
  std::string what;
  std::string value;  ///< what kind of value it takes, TEXT; empty for none
  std::vector<std::string> choices;
  bool takes_value = false, required = false, repeated = false;
};

struct Verb {
  std::string name, what;
  std::vector<Word> options, positionals;
};

/// The words of etcc itself, or of one of its sub-commands.
Verb words_of(const CLI::App&);
/// Those of its sub-commands, in their order.
std::vector<Verb> verbs_of(const CLI::App&);

}  // namespace axon::tools
