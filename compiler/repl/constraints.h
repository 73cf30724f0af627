// What a function requires, and what an error means, in words.
#pragma once
#include <string>
#include <vector>

#include "repl/answer.h"
#include "session/session.h"

namespace axon::repl {

/// The type of a declaration without errors, and each condition in it with what it comes from.
Answer constraints_of(const std::string& name, const session::Entry& entry,
                      const source::SourceManager& sources);

/// What is known of the errors, and the page of each code.
std::string explanation(const std::vector<source::Diagnostic>& errors);

}  // namespace axon::repl
