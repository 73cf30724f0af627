// The commands of the REPL: one row for each, one function that answers it.
//
// `:help`, completion and the documentation are made of the rows. To add a command: a function, a row in
// commands.cpp.
#pragma once
#include <string>
#include <vector>

#include "repl/answer.h"

namespace axon::repl {

class Repl;

struct Command {
  const char* name;       ///< `type`, for `:type`
  const char* arguments;  ///< as the help shows them; empty: none
  const char* help;       ///< one line
  enum class Takes : uint8_t { nothing, optional, required } takes;
  Answer (*answer)(Repl& repl, const std::string& argument);
  bool is_about_sizes = false;  ///< `:why` then is about its answer
  /// What completion offers behind it.
  enum class Completes : uint8_t {
    expressions,
    names,
    files,
    codes,
    modules,
    settings,
    nothing
  } completes = Completes::expressions;
};

const std::vector<Command>& commands();

/// What is known of a definition, a module or what it declares, an operator, or a word of the language; empty
/// where there is none.
std::string documentation(Repl& repl, const std::string& name);

/// The command of the name, or the only one that begins so; else null, and why in `problem`.
const Command* find_command(const std::string& name, std::string& problem);

}  // namespace axon::repl
