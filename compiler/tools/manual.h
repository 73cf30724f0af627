// The manual page of etcc, made from the table of options, so that it says what `--help` says.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace axon::tools {

/// The page etcc(1), for man. Lines of the description of `app` and of its sub-commands are its text.
std::string manual_page(const CLI::App& app, const std::string& version);

}  // namespace axon::tools
