// Programs of the tree, and what a check says of one, as text.
#pragma once
#include <string>
#include <vector>

#include "session/session.h"

namespace axon::session {

std::string read(const std::string& path);
std::vector<std::string> programs(const std::vector<std::string>& folders);
/// Place, code, words and labels of each, sorted; without what is offered, and without the other constraints
/// of a failure, which are looked for in the first errors of a file only.
std::string summary(const source::Diagnostics& found, const source::SourceManager& sources);
/// The types and the summary of a check, after which no file is open that was not before.
std::string answer(Session& session, const std::string& path);
std::vector<std::string> library();

}  // namespace axon::session
