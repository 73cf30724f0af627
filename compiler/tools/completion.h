// Completion for shells, made from the table of options, so that it knows all of them.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace axon::tools {

/// The script for `bash`, `zsh` or `fish`. Its names are those of the sub-commands and options of `app`;
/// where a value has choices, they are offered, else files.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace axon::tools
